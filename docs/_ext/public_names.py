"""Write the list behind the reference pages from the package itself, so that no public name is forgotten."""

from __future__ import annotations

import inspect
import types
from pathlib import Path

GROUPS = ("Functions", "Classes", "Exceptions", "Modules", "Constants")


def kind(value: object) -> str:
    """Say under which heading of the reference a public object stands."""
    if inspect.isclass(value):
        return "Exceptions" if issubclass(value, BaseException) else "Classes"
    if isinstance(value, types.ModuleType):
        return "Modules"
    return "Functions" if callable(value) else "Constants"


def page(package: types.ModuleType) -> str:
    """Return the reference page of the names in ``package.__all__``, grouped by kind."""
    groups: dict[str, list[str]] = {group: [] for group in GROUPS}
    for name in package.__all__:
        try:
            groups[kind(getattr(package, name))].append(name)
        except ImportError as error:  # the pages can still be built; tests/test_docs_static.py misses the name
            print(f"reference: zwang.{name} is left out: {error}")
    text = f"Public names\n============\n\n.. currentmodule:: {package.__name__}\n"
    for group, names in groups.items():
        if not names:
            continue
        text += f"\n{group}\n{'-' * len(group)}\n\n"
        if group == "Constants":  # instances of other people's classes: their inherited members are no page of ours
            text += "".join(f".. autodata:: {name}\n   :no-value:\n\n" for name in names)
        else:
            text += ".. autosummary::\n   :toctree:\n   :nosignatures:\n\n" + "".join(f"   {name}\n" for name in names)
    return text


def write(package: types.ModuleType, path: Path) -> None:
    """Write the page where it differs from what is there: Sphinx rebuilds what is newer."""
    text = page(package)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
