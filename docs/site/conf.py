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
myst_enable_extensions = ["deflist"]  # the options of a command
# A page that the README links to by a path that is not a page, such as a source file, is offered as a download.
suppress_warnings = ["myst.header"]
html_theme = "furo"
html_title = "Saddle"
# Debian's Furo has lost its colours for readers whose system is dark, so they are given here.
html_theme_options = {
    "dark_css_variables": {
        "color-problematic": "#ee5151",
        "color-foreground-primary": "#ffffffcc",
        "color-foreground-secondary": "#9ca0a5",
        "color-foreground-muted": "#81868d",
        "color-foreground-border": "#666666",
        "color-background-primary": "#131416",
        "color-background-secondary": "#1a1c1e",
        "color-background-hover": "#1e2124ff",
        "color-background-hover--transparent": "#1e212400",
        "color-background-border": "#303335",
        "color-background-item": "#444",
        "color-brand-primary": "#2b8cee",
        "color-brand-content": "#368ce2",
        "color-highlighted-background": "#083563",
        "color-highlight-on-target": "#333300",
        "color-admonition-background": "#18181a",
        "color-card-background": "#18181a",
    },
}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_search_scorer = str(pathlib.Path(__file__).with_name("scorer.js"))
html_copy_source = False
html_show_sphinx = False
smartquotes_action = "q"  # two hyphens are the beginning of an option
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

    source[0] = re.sub(r"\[((?:[^\]\n]|\n(?!\n))+)\]\(([\w./-]*)#([\w-]+)\)", link, source[0])


def on_doctree_read(app, doctree):
    """The first page is a table of contents and needs none beside it."""
    if app.env.docname == root_doc:
        app.env.metadata[root_doc]["hide-toc"] = True


def setup(app):
    app.connect("doctree-read", on_doctree_read)
    app.connect("source-read", on_source_read)
