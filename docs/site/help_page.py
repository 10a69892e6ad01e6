"""Turns the complete help of a command, on standard input, into a page: help_page.py COMMAND <help >page.md

Groups of options become headings with definition lists, which fit a phone and are searched; the rest stays as it is.
"""
import re
import sys

WIDTH = 80  # of the help's lines


def escaped(text):
    """Returns text as Markdown, with `commands` as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        parts = [text.replace("`", "\\`")]
    return "`".join(part if k % 2 else re.sub(r"([\\*_\[\]<>|$~#])", r"\\\1", part) for k, part in enumerate(parts))


def joined(lines):
    """Joins the lines of a paragraph, except where the help begins a new line although the next word would fit."""
    out = lines[0].strip()
    for before, line in zip(lines, lines[1:]):
        fits = len(before) + 1 + len(line.split()[0]) <= WIDTH
        out += ("\v" if fits else "\n") + line.strip()
    return escaped(out).replace("\v", "\\\n").replace("\n", "\n  ")


def option_list(lines):
    """Returns the definition list of options."""
    out, name, text = [], None, []
    for line in lines + ["  -"]:
        option = re.match(r"  (-.*?)(?:  +(\S.*))?$", line)
        if option:
            if name:
                index = ["```{index} " + re.match(r"[^ ,]*", name)[0], "```", ""]  # which the search finds first
                out += [*index, f"`{name}`", ": " + joined(text or [" "]), ""]
            name, text = option[1], [" " * option.start(2) + option[2]] if option[2] else []
        else:
            text.append(line)
    return out


def group(lines):
    """Returns the body of a group: its options, or its lines as they are."""
    if re.match(r"  --?\w", lines[0]) and all(re.match(r"  -|    ", line) for line in lines):
        return option_list(lines)
    return ["```", *lines, "```"]


def page(command, text):
    usage, *blocks = [block.split("\n") for block in re.split(r"\n\n+", text.strip("\n"))]
    out = [f"# saddle {command}", "", "```", *usage, "```"]
    for lines in blocks:
        out.append("")
        if re.match(r"[A-Z][^:]*:$", lines[0]) and len(lines) > 1:
            out += ["## " + escaped(lines[0][:-1]), "", *group(lines[1:])]
        elif lines[0].startswith(" "):
            out += group(lines)
        else:
            out.append(joined(lines).replace("\n  ", "\n"))
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    print(page(sys.argv[1], sys.stdin.read()), end="")
