"""The part of a model file that tells of bodies in space: tables as their builder was told, in texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from zwang.errors import DeclarationError, nearest

AXES = ("axis", "axes", "normal")
OPTIONS = ("limits", "restitution", "stiffness", "rest", "damping", "friction", "armature", "radius", "length")
TABLES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "body": (("name", "mass", "inertia"), ("at", "turned")),
    "joint": (("kind", "name", "first", "second"), ("at", *AXES, "pitch", *OPTIONS, "closes")),
    "point": (("name", "on", "at"), ()),
    "shape": (
        ("name", "on", "form"),
        ("at", "turned", "radius", "length", "a", "b", "c", "points", "normal", "offset", "expr"),
    ),
    "contact": (("first", "second"), ("name", "friction", "restitution")),
    "spring": (("first", "second"), ("name", "stiffness", "length", "damping")),
    "relation": (("name", "expr"), ()),
    "motor": (("joint", "value"), ()),
    "load": (("point", "force"), ("name", "axes")),
    "push": (("name", "force", "along"), ()),
}
"""The keys that an entry of each table must and may have."""
FRAMES = ("joint", "cartesian")
CHANGED = ("constraints", "forces", "potential", "loads")


def checked_bodies(plain: Mapping[str, Any], where: str, text: Callable[[Any, str], str]) -> dict[str, Any]:
    """Return the tables of bodies with texts for numbers, or raise at the first mistake."""
    found: dict[str, Any] = {"gravity": _nested(plain.get("gravity", [0, 0, 0]), f"{where}: 'gravity'", text)}
    frame = plain.get("frame", "joint")
    if frame not in FRAMES:
        raise DeclarationError(f"{where}: frame = {frame!r:.40} is unknown. {nearest(str(frame), FRAMES)}")
    found["frame"] = frame
    changed = plain.get("changed", [])
    if not isinstance(changed, (list, tuple)) or any(item not in CHANGED for item in changed):
        raise DeclarationError(f"{where}: 'changed' lists some of {', '.join(CHANGED)}; it is {changed!r:.60}.")
    found["changed"] = list(changed)
    for key, (needed, optional) in TABLES.items():
        found[key] = []
        entries = plain.get(key, [])
        if not isinstance(entries, (list, tuple)):
            raise DeclarationError(f"{where}: '{key}' must be a list of tables [[{key}]]; it is {entries!r:.40}.")
        for index, entry in enumerate(entries):
            place = f"{where}: {key} {index + 1}"
            if not isinstance(entry, Mapping):
                raise DeclarationError(f"{place} must be a table; it is {entry!r:.40}.")
            for name in entry:
                if name not in (*needed, *optional):
                    known = nearest(str(name), (*needed, *optional))
                    raise DeclarationError(f"{place} has the unknown key '{name}'. {known}")
            for name in needed:
                if name not in entry:
                    raise DeclarationError(f"{place} lacks the key '{name}'. Add {name} = ...")
            found[key].append({name: _nested(value, f"{place}: '{name}'", text) for name, value in entry.items()})
    return found


def _nested(value: Any, place: str, text: Callable[[Any, str], str]) -> Any:
    """Return a text, a truth, or lists of such."""
    if isinstance(value, (list, tuple)):
        return [_nested(item, place, text) for item in value]
    return value if isinstance(value, bool) else text(value, place)
