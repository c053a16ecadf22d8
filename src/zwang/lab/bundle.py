"""The page as one script: for exported pages, which have no server, and for notebooks.

Each module becomes a function that returns what it exports, in the order in which they import each other.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

MODULES = (
    "elements",
    "painter",
    "solid",
    "surface",
    "inputs",
    "state",
    "transport",
    "plots",
    "systems",
    "parameters",
    "drawing",
    "space",
    "reactions",
    "map",
    "motion",
    "realize",
    "papers",
    "take",
    "keys",
    "main",
)
"""The modules of the page, each after those that it imports."""
_IMPORT = re.compile(r'^import (\{[^}]*\}|\w+) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (const|class) (\w+)", re.MULTILINE)


def read(name: str) -> str:
    """Return the text of a file of the page."""
    return resources.files("zwang.lab").joinpath("page", name).read_text(encoding="utf-8")


def wrapped(name: str, text: str) -> str:
    r"""Return a module as a constant that holds what it exports.

    Examples
    --------
    >>> print(wrapped("b", 'import { x } from "./a.js";\nexport const y = x + 1;\n'))
    const module_b = (() => {
    const { x } = module_a;
    const y = x + 1;
    return { y };
    })();
    """
    names = [found[1] for found in _EXPORT.findall(text)]
    text = _IMPORT.sub(lambda found: f"const {found[1]} = module_{found[2]};", text)
    text = _EXPORT.sub(r"\1 \2", text).strip()
    return f"const module_{name} = (() => {{\n{text}\nreturn {{ {', '.join(names)} }};\n}})();"


@cache
def script(*, spatial: bool = False) -> str:
    """Return all modules as one script; `module_main` has what the page exports.

    Parameters
    ----------
    spatial : bool
        Whether the library that draws solids is in it.
    """
    plots = read("uplot/uPlot.esm.js")
    licence = read("uplot/LICENSE")
    plots = plots.replace("export { uPlot as default };", "return uPlot;")
    parts = [f"/* uPlot\n{licence}*/\nconst module_uplot = (() => {{\n{plots}\n}})();"]
    if spatial:
        parts.append(f"/* three.js\n{read('three/LICENSE')}*/\nglobalThis.ZWANG_THREE = (() => {{\n{_solids()}\n}})();")
    return "\n".join([*parts, *(wrapped(name, read(f"{name}.js")) for name in MODULES)])


def _solids() -> str:
    """Return the library that draws solids as the body of a function that returns its names."""
    text, _, names = read("three/three.js").rstrip().rstrip(";").rpartition("export{")
    pairs = [item.split(" as ") for item in names.rstrip("}").split(",")]
    return text + "return {" + ",".join(f"{outside}:{inside}" for inside, outside in pairs) + "};"


def style() -> str:
    """Return the style of the page and of its plots."""
    return read("uplot/uPlot.min.css") + "\n" + read("lab.css")
