"""How Sphinx makes the site; scripts/site calls it."""
import pathlib
import re

project = "Saddle"
author = "The Saddle authors"
copyright = "the Saddle authors, MIT license"  # Sphinx's name for it
root_doc = "docs/index"
extensions = ["myst_parser"]
exclude_patterns = [".github"]
myst_heading_anchors = 4
# A page that the README links to by a path that is not a page, such as a source file, is offered as a download.
suppress_warnings = ["myst.header"]
html_theme = "furo"
html_title = "Saddle"
html_copy_source = False
html_show_sphinx = False
highlight_language = "none"  # blocks without a language are commands and what they print


def explicit_ids(path):
    """The ids that a page gives to places that are not headings."""
    return set(re.findall(r'<a id="([^"]+)"', path.read_text(encoding="utf-8"))) if path.is_file() else set()


def on_source_read(app, name, source):
    """Links to explicit ids become HTML: MyST resolves only those to headings."""
    page = pathlib.Path(app.srcdir, name + ".md")

    def link(match):
        text, target, anchor = match.groups()
        if anchor not in explicit_ids(page.parent / target if target else page):
            return match.group(0)
        return '<a href="%s#%s">%s</a>' % (re.sub(r"\.md$", ".html", target), anchor, text)

    source[0] = re.sub(r"\[([^\]\n]+)\]\(([\w./-]*)#([\w-]+)\)", link, source[0])


def setup(app):
    app.connect("source-read", on_source_read)
