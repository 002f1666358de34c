"""Sphinx extension: pages that the site has beside those of this folder.

Before a build it writes, into ``docs/generated``, the rulebook of every shipped ruleset, a reference page for each
package of ``interpreter`` and a copy of ``CONTRIBUTING.md``. While pages are read it gives the start page and the index
of error codes their tables of contents, so that these pages stay plain Markdown.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import interpreter
from interpreter.pages.html import html_of
from interpreter.pages.markdown import markdown_of
from interpreter.pages.rulebook import rulebook_of

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
GENERATED = DOCS / "generated"
EXTRA = GENERATED / "extra"
PACKAGE = ROOT / "interpreter"
IN_SITE = ("germany-2018", "germany-2004", "bsw-germany", "outpost", "goofspiel")
"""The rulebooks that become pages of the site, and so can be searched: one for each edition."""


def setup(app: Any) -> dict[str, Any]:
    """Connect the extension to a Sphinx application."""
    app.connect("builder-inited", lambda app: write_pages())
    app.connect("source-read", add_contents)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_pages() -> None:
    """Write all generated pages; delete those that are no longer needed."""
    pages = {"contributing.md": contributing(), **rulebooks(), **reference()}
    GENERATED.mkdir(exist_ok=True)
    for path in GENERATED.rglob("*.md"):
        if str(path.relative_to(GENERATED)) not in pages:
            path.unlink()
    for name, text in pages.items():
        path = GENERATED / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def contributing() -> str:
    """Return ``CONTRIBUTING.md`` with links that lead from the folder ``generated``."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return re.sub(r"\]\(docs/", "](../", text)


def rulebooks() -> dict[str, str]:
    """Return the rulebooks of ``IN_SITE`` as pages, and one page that lists all shipped rulesets.

    The other rulebooks are written as single HTML files below ``EXTRA``: they are large, and mostly alike.
    """
    pages, rows = {}, []
    folder = EXTRA / "rulebooks"
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((ROOT / "rulesets").glob("*/*.yaml")):
        if not re.search(r"^ruleset:", path.read_text(encoding="utf-8"), re.MULTILINE):
            continue
        book = rulebook_of(interpreter.load(path.stem), None, None)
        if path.stem in IN_SITE:
            pages[f"rulebooks/{path.stem}.md"] = with_targets(markdown_of(book), path.stem)
            link = f"[{book.title}]({path.stem}.md)"
        else:
            (folder / f"{path.stem}.html").write_text(html_of(book), encoding="utf-8")
            link = f'<a href="../../rulebooks/{path.stem}.html">{book.title}</a>'
        rows.append(f"| {link} | `{path.stem}` |")
    table = "\n".join(["| ruleset | id |", "|---|---|", *rows])
    head = "# Rulebooks\n\nThe shipped rulesets as books, written by `regelwerk rulebook`."
    pages["rulebooks/index.md"] = f"{head}\n\n{table}\n\n{toctree('', [Path(name).stem for name in pages])}\n"
    return pages


def with_targets(text: str, prefix: str) -> str:
    """Turn the HTML anchors of a book into targets that Sphinx knows and checks.

    Ids get the prefix, since targets are shared by all pages of the site. The list of contents is left out: the theme
    shows one.
    """
    text = re.sub(r"\n## Contents\n.*?(?=\n<a id=)", "\n", text, count=1, flags=re.DOTALL)
    text = re.sub(r'<a id="([^"]+)"></a>\n', rf"({prefix}-\1)=", text)
    return re.sub(r"\]\(#", f"](#{prefix}-", text)


def reference() -> dict[str, str]:
    """Return reference pages: the public names, and one page for each package."""
    public = [name for name in interpreter.__all__ if name != "__version__"]
    body = [f".. autofunction:: interpreter.{name}" if name == "load" else class_of(name) for name in public]
    others = "A game also hands out these objects:"
    handed_out = [class_of("Decision"), class_of("Option"), class_of("Result"), class_of("Log")]
    packages = sorted(path.parent for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE)
    names = [".".join(path.relative_to(ROOT).parts) for path in packages]
    pages = {f"api/{name}.md": package_page(name, path) for name, path in zip(names, packages, strict=True)}
    head = (
        "# API reference\n\nThe public names of `interpreter`. [Python](../../python.md) introduces them with examples."
    )
    listing = "## Internal packages\n\nFor contributors; [architecture](../../architecture.md) says what each one does."
    parts = [head, rst(body), others, rst([part for part in handed_out if part]), listing, toctree("", names)]
    pages["api/index.md"] = "\n\n".join(parts) + "\n"
    return pages


def class_of(name: str) -> str:
    """Return the directive for a class by its name, wherever it is defined; an empty string if there is none."""
    home = getattr(interpreter, name, None)
    if home is None:
        from interpreter.engine import decision, game

        home = getattr(game, name, None) or getattr(decision, name, None)
    return f".. autoclass:: {home.__module__}.{home.__name__}\n   :members:\n" if home else ""


def package_page(name: str, path: Path) -> str:
    """Return the reference page of a package: its modules with their public classes and functions."""
    modules = sorted(file.stem for file in path.glob("*.py") if file.stem not in ("__init__", "__main__"))
    parts = [f"# `{name}`", rst([f".. automodule:: {name}"])]
    for module in modules:
        parts += [f"## `{module}`", rst([f".. automodule:: {name}.{module}\n   :members:\n   :noindex:\n"])]
    return "\n\n".join(parts) + "\n"


def rst(directives: list[str]) -> str:
    """Return directives in reStructuredText as a block of Markdown."""
    return "```{eval-rst}\n" + "\n\n".join(directives) + "\n```"


def toctree(caption: str, names: list[str]) -> str:
    """Return a hidden table of contents."""
    options = ":hidden:\n" + (f":caption: {caption}\n" if caption else "")
    return f"```{{toctree}}\n{options}\n" + "\n".join(names) + "\n```"


def add_contents(app: Any, name: str, source: list[str]) -> None:
    """Add tables of contents to the start page, made of its links, and to the index of error codes."""
    if name == "index":
        sections = re.split(r"^## ", source[0], flags=re.MULTILINE)[1:]
        trees = [(section.partition("\n")[0], re.findall(r"\]\(([^)#]+)\.md\)", section)) for section in sections]
        source[0] += "\n" + "\n\n".join(toctree(caption, names) for caption, names in trees)
    elif name == "sentences":
        source[0] = source[0].replace("(../CONTRIBUTING.md)", "(generated/contributing.md)")
    elif name == "errors/README":
        source[0] += "\n" + toctree("", sorted(path.stem for path in (DOCS / "errors").glob("[A-Z][0-9]*.md")))
