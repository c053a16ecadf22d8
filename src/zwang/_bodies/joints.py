"""A joint as it is told: its own arguments, checked, one set of options for each coordinate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp

from zwang._bodies.parts import KINDS, JointPart
from zwang._bodies.values import Values
from zwang._declare.given import components
from zwang._declare.vectors import Vector
from zwang.errors import DeclarationError, nearest

OPTIONS = ("limits", "restitution", "stiffness", "rest", "damping", "friction", "armature")
BEARING = ("radius", "length")
AXIS = {
    "revolute": "axis",
    "prismatic": "axis",
    "cylindrical": "axis",
    "screw": "axis",
    "universal": "axes",
    "planar": "normal",
}
"""How the axis of a kind of joint is called; the others have none."""


def joint_part(
    kind: str,
    name: str,
    bodies: tuple[str, str],
    given: Mapping[str, Any],
    closes: bool,
    values: Values,
    whose: str,
) -> JointPart:
    """Return a joint of a kind, with what was given for it."""
    where = f"{whose}: {kind} '{name}'"
    count = len(KINDS[kind])
    allowed = ["at", *([AXIS[kind]] if kind in AXIS else []), *(["pitch"] if kind == "screw" else [])]
    allowed += [*OPTIONS, *BEARING] if count else []
    for key in given:
        if key not in allowed:
            raise DeclarationError(f"{where}: it takes no '{key}'. {nearest(key, allowed)}")
    bearing = _bearing(kind, given, values, where)
    local = _in_pairs(given)
    if local and not closes:
        raise DeclarationError(
            f"{where}: at= and axis= are pairs only where a loop is closed, by close('{kind}', '{name}', ...)."
        )
    if local and kind in ("prismatic", "fixed"):
        raise DeclarationError(
            f"{where}: pairs of places and axes don't say how a {kind} joint is turned. Place the bodies such that the "
            "reference configuration closes this loop."
        )
    at = _both(given.get("at", (0, 0, 0)), local, lambda item: values.vector(item, f"{where}: at"))
    axes = _axes(kind, given, local, values, where)
    pitch = values(given["pitch"], f"{where}: pitch") if "pitch" in given else None
    if kind == "screw" and pitch is None:
        raise DeclarationError(f"{where} lacks pitch= [m/rad].")
    options = tuple(_options(given, place, count, values, where) for place in range(count))
    return JointPart(kind, name, *bodies, at, axes, pitch, options, closes, local, *bearing)


def _bearing(kind: str, given: Mapping[str, Any], values: Values, where: str) -> tuple[Any, Any]:
    """Return radius and length of a joint whose friction goes with its own force, None and None of others."""
    radius, length = (
        None if given.get(key) is None else values(given[key], f"{where}: {key}", above=0) for key in BEARING
    )
    if radius is None and length is None:
        return None, None
    if kind not in ("revolute", "prismatic"):
        raise DeclarationError(
            f"{where}: radius= and length= belong to revolute and prismatic joints. Give friction= as a bound, without "
            "them."
        )
    if kind == "revolute" and radius is None:
        raise DeclarationError(f"{where}: length= needs the radius at which its journals rub. Give radius= [m].")
    if kind == "prismatic" and (length is None or radius is not None):
        raise DeclarationError(
            f"{where}: the friction of a guide goes with its length alone, which its moments are carried over. Give "
            "length= [m] and no radius=."
        )
    friction = given.get("friction", 0)
    if isinstance(friction, (int, float)) and friction == 0:
        raise DeclarationError(f"{where}: radius= and length= need a coefficient of friction. Give friction= mu.")
    return radius, length


def _in_pairs(given: Mapping[str, Any]) -> bool:
    at = given.get("at")
    return at is not None and not isinstance(at, (str, sp.MatrixBase)) and hasattr(at, "__len__") and len(at) == 2


def _both(given: Any, local: bool, read: Any) -> Any:
    """Return what each body has: the same, or one of a pair each."""
    if not local:
        found = read(given)
        return found, found
    return read(given[0]), read(given[1])


def _axes(
    kind: str, given: Mapping[str, Any], local: bool, values: Values, where: str
) -> tuple[tuple[Vector, ...], tuple[Vector, ...]]:
    if kind not in AXIS:
        return (), ()
    word = AXIS[kind]
    if word not in given:
        raise DeclarationError(f"{where} lacks {word}=, the direction of its {'axes' if word == 'axes' else 'axis'}.")

    def read(item: Any) -> tuple[Vector, ...]:
        if kind != "universal":
            return (values.axis(item, f"{where}: {word}"),)
        pair = components(item) or []
        if len(pair) != 2:
            raise DeclarationError(
                f"{where}: axes= needs two directions, that on the first body and that on the second."
            )
        first, second = (values.axis(one, f"{where}: axes") for one in pair)
        crossed = [first[i] * second[j] - first[j] * second[i] for i, j in ((1, 2), (2, 0), (0, 1))]
        if all(sp.simplify(one) == 0 for one in crossed):
            raise DeclarationError(f"{where}: its two axes are parallel. Use a revolute joint, or another axis.")
        return first, second

    found: tuple[tuple[Vector, ...], tuple[Vector, ...]] = _both(given[word], local, read)
    return found


def _options(given: Mapping[str, Any], place: int, count: int, values: Values, where: str) -> dict[str, Any]:
    """Return the options of one coordinate; where there are several they come in tuples."""

    def pick(key: str, default: Any) -> Any:
        item = given.get(key, default)
        items = None if count == 1 else components(item)
        if count == 1 or item is None or (items is None and item == default):
            return item
        if items is None or len(items) != count:
            raise DeclarationError(
                f"{where}: {key}= needs {count} items, one for each coordinate; it was {item!r:.60}."
            )
        return items[place]

    found: dict[str, Any] = {"limits": _limits(pick("limits", None), values, where)}
    bounce = pick("restitution", None)
    found["restitution"] = None if bounce is None else values(bounce, f"{where}: restitution", least=0)
    found["rest"] = values(pick("rest", 0), f"{where}: rest")
    for key in ("stiffness", "damping", "friction", "armature"):
        found[key] = values(pick(key, 0), f"{where}: {key}", least=0)
    return found


def _limits(given: Any, values: Values, where: str) -> tuple[Any, Any] | None:
    if given is None:
        return None
    items = components(given) or []
    if len(items) != 2 or items == [None, None]:
        raise DeclarationError(
            f"{where}: limits= is a pair (low, high), one of them may be None; it was {given!r:.60}."
        )
    low, high = (None if item is None else values(item, f"{where}: limits") for item in items)
    if low is not None and high is not None and low.is_number and high.is_number and low >= high:
        raise DeclarationError(f"{where}: its lower limit {low} is not below the upper one {high}.")
    return low, high
