"""Sphinx: MyST pages, numpydoc reference, a gallery of examples that run; everything shows offline."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import paper_pages  # noqa: E402
import public_names  # noqa: E402
import rooms  # noqa: E402
import systems_page  # noqa: E402

import zwang  # noqa: E402

public_names.write(zwang, HERE / "reference" / "generated" / "index.rst")
paper_pages.write(HERE / "papers", HERE.parent / "ledger.json")
systems_page.write(HERE / "systems.md", HERE / "generated")
rooms.write(HERE.parent / "src" / "zwang", HERE.parent / "pyproject.toml", HERE / "generated" / "rooms.svg")

project = "zwang"
author = "the zwang developers"
copyright = "the zwang developers"
version = release = zwang.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
exclude_patterns = ["_build", "_ext", "_templates", "examples/*.ipynb", "examples/*.zip"]
root_doc = "index"

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

templates_path = ["_templates"]
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings give types with their shapes and units
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "examples",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "write_computation_times": False,
    "show_memory": False,
    "min_reported_time": 1,
    "remove_config_comments": True,
}

# Doctest needs a blank line before the closing fence; a reader doesn't.
highlight_options = {"python": {"stripnl": True}}

html_theme = "furo"
html_title = "zwang"
html_static_path = ["_static"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
