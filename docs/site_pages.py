"""Sphinx extension: pages that the site has beside those of this folder.

Before a build it writes, into ``docs/generated``, the rulebook of every shipped ruleset, a reference page for each
package of ``interpreter`` and a copy of ``CONTRIBUTING.md``, and the static studio into the site's folder ``studio``.
While pages are read it gives the start page and the index of error codes their tables of contents, and complete files
in examples a link that opens them in the studio, so that these pages stay plain Markdown.
"""

from __future__ import annotations

import re
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import interpreter
from interpreter.base.extras import Unavailable
from interpreter.pages.html import html_of
from interpreter.pages.markdown import markdown_of
from interpreter.pages.rulebook import rulebook_of
from interpreter.studio.packing import in_link, packed
from tests.samples import files_at
from tests.studio.parts import exported

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
GENERATED = DOCS / "generated"
EXTRA = GENERATED / "extra"
PACKAGE = ROOT / "interpreter"
IN_SITE = ("germany-2018", "outpost", "goofspiel")
"""The rulebooks that become pages of the site, and so can be searched: one for each family."""
STUDIO = "studio"
"""Folder of the studio in the site."""
TRY_IT = {"index": "## Tutorials\n", "tutorials/studio": "## 1. "}
"""Pages with a link to the studio, and what it stands before."""


def setup(app: Any) -> dict[str, Any]:
    """Connect the extension to a Sphinx application."""
    app.connect("builder-inited", lambda app: write_pages())
    app.connect("builder-inited", lambda app: write_studio(Path(app.outdir)) if app.builder.format == "html" else None)
    app.connect("env-get-outdated", outdated)
    app.connect("source-read", add_contents)
    app.connect("source-read", lambda app, name, source: add_studio(name, source) if has_studio(app) else None)
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


def write_studio(site: Path) -> None:
    """Write the studio into a site. Where Pyodide is not to be had, the site is made without it, and a note says so."""
    folder = site / STUDIO
    shutil.rmtree(folder, ignore_errors=True)
    try:
        import_module("interpreter.studio.site")  # fails without the extra `web`
        shutil.copytree(exported(), folder)
    except (ImportError, Unavailable) as error:
        print(f"the site is made without the studio: {error}", file=sys.stderr)


def has_studio(app: Any) -> bool:
    """Return whether the site has the studio, so that links may lead there."""
    return app.builder.format == "html" and Path(app.outdir, STUDIO, "index.html").is_file()


def outdated(app: Any, env: Any, *_: object) -> list[str]:
    """Return the pages to read again: all, if links to the studio come or go."""
    before, env.has_studio = getattr(env, "has_studio", None), has_studio(app)
    return [] if env.has_studio is before else sorted(env.found_docs)


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
    """Turn HTML anchors into targets; add tables of contents to the start page and to the index of error codes."""
    source[0] = re.sub(r'^<a id="([^"]+)"></a>', r"(\1)=\n", source[0], flags=re.MULTILINE)
    if name == "index":
        sections = re.split(r"^## ", source[0], flags=re.MULTILINE)[1:]
        trees = [(section.partition("\n")[0], re.findall(r"\]\(([^)#]+)\.md\)", section)) for section in sections]
        source[0] += "\n" + "\n\n".join(toctree(caption, names) for caption, names in trees)
    elif name == "sentences":
        source[0] = source[0].replace("(../CONTRIBUTING.md)", "(generated/contributing.md)")
    elif name == "errors/README":
        source[0] += "\n" + toctree("", sorted(path.stem for path in (DOCS / "errors").glob("[A-Z][0-9]*.md")))


def add_studio(name: str, source: list[str]) -> None:
    """Add a link to the studio to pages of ``TRY_IT``, and one after each example that is a whole file.

    The studio then shows the files of the page so far. The file of the example is the first, which is opened.
    """
    page, home = source[0], "../" * name.count("/") + f"{STUDIO}/index.html"
    added = []
    for block, files in files_at(page):
        pack = in_link(packed({block.name: files.pop(block.name), **files}))
        added.append((block.end + len("```\n"), f'<a href="{home}#pack={pack}">Open in the studio</a>'))
    if name in TRY_IT:
        added.append(
            (page.index(TRY_IT[name]), f'<a href="{home}">Try it</a> in your browser, without an installation.')
        )
    for place, link in sorted(added, reverse=True):
        page = f"{page[:place]}\n<p>{link}</p>\n\n{page[place:]}"
    source[0] = page
