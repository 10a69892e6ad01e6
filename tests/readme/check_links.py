#!/usr/bin/env python3
"""check_links.py SOURCE: every link between pages leads to a file and, after a #, to a heading or an id of it; and
the README is short."""
import os
import re
import sys

MOST_WORDS = 1000  # of README.md
SKIPPED = re.compile(r"^(build|\.git$|out$)")


def pages(source):
    """Returns the Markdown files of the repository, without build directories."""
    for folder, folders, files in os.walk(source):
        folders[:] = sorted(name for name in folders if not SKIPPED.match(name))
        for name in sorted(files):
            if name.endswith(".md"):
                yield os.path.join(folder, name)


def anchors(text):
    """Returns the ids of a page: those that repository hosts generate for its headings, and explicit ones."""
    found = set(re.findall(r'<a id="([^"]+)"', text))
    for heading in re.findall(r"^#+ +(.+?) *$", re.sub(r"(?ms)^```.*?^```", "", text), re.M):
        words = re.sub(r"<[^>]*>", "", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
    return found


def main():
    source = os.path.abspath(sys.argv[1])
    texts = {}
    for path in pages(source):
        with open(path, encoding="utf-8") as page:
            texts[path] = page.read()
    good = bad = 0
    for path, text in texts.items():
        prose = re.sub(r"(?ms)^```.*?^```", "", text)
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"\]\(\s+", "](", prose)):
            name, _, anchor = target.partition("#")
            if "://" in target:
                continue
            there = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if os.path.exists(there) and (not anchor or anchor in anchors(texts.get(there, ""))):
                good += 1
            else:
                bad += 1
                print("FAIL %s: %s leads nowhere" % (os.path.relpath(path, source), target))
    words = len(texts[os.path.join(source, "README.md")].split())
    if words > MOST_WORDS:
        bad += 1
        print("FAIL README.md has %d words, more than %d: what is new can be a link" % (words, MOST_WORDS))
    print("checks: %d passed, %d failed" % (good, bad))
    return 0 if bad == 0 and good > 100 else 1


if __name__ == "__main__":
    sys.exit(main())
