"""Sphinx configuration: the pages of this folder, an API reference from docstrings, and the shipped rulebooks.

Build the site with ``pip install -e '.[docs]' && sphinx-build -W docs site``.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]
os.environ["NO_COLOR"] = "1"

import interpreter  # noqa: E402

for module, source, name in (
    ("interpreter.drawing.game_charts", "matplotlib.axes", "Axes"),
    ("interpreter.pages.comparison", "interpreter.compare.ablation", "Alone"),
    ("interpreter.pages.page", "interpreter.reading.statements", "Statement"),
    ("interpreter.lowering.constants", "interpreter.lowering.watches", "Watch"),
):  # signatures of records are evaluated, so types that are imported for type checkers alone have to exist
    vars(import_module(module))[name] = getattr(import_module(source), name)

project = "Regelwerk"
author = "the Regelwerk authors"
copyright = "the Regelwerk authors"
version = release = interpreter.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.githubpages", "site_pages"]
exclude_patterns = ["examples/**/rulesets"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = []
myst_heading_anchors = 4
nitpicky = False
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_mock_imports = ["js", "pyodide"]  # modules of a browser

html_theme = "furo"
html_title = f"Regelwerk {version}"
html_theme_options: dict[str, Any] = {"source_directory": "docs/", "top_of_page_buttons": []}
html_copy_source = False
html_show_sourcelink = False
html_extra_path = ["generated/extra"]
(ROOT / "docs" / "generated" / "extra").mkdir(parents=True, exist_ok=True)
