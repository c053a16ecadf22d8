"""Links of a URDF that fixed joints make one body: their inertia counts together.

Files give placeholders to links that only carry others (all entries 1e-6), cameras and antennas inertias that no body
has, rods no moment about their axis. By itself such a link can't be read; what moves is the body that it is part of.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from zwang.errors import DeclarationError

Array = NDArray[np.float64]
LeftOut = tuple[str, str, str]
ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
POSITIVE = 1e-9
"""Part of the largest principal moment that the least must have, and by which it may exceed the sum of the others."""


class LinkInertia(NamedTuple):
    """Mass, centre of mass (3,), and inertia (3, 3) about it, in the axes of a link."""

    mass: float
    at: Array
    inertia: Array


def joined(root: Any, path: Path, left: list[LeftOut], *, floating: bool) -> None:
    """Give what fixed joints hold together to one link, in place, where the inertia of a link is none by itself.

    What is fixed to the ground needs none; with `floating` the base is not.
    """
    try:
        _join(root, path, left, floating)
    except (ValueError, TypeError) as error:
        raise DeclarationError(f"{path}: a number of a link or joint can't be read: {error}. Correct it.") from None


def _join(root: Any, path: Path, left: list[LeftOut], floating: bool) -> None:
    links = {link.get("name", ""): link for link in root.iter("link")}
    fixed, moving = {}, set()
    for joint in root.iter("joint"):
        ends = [joint.find(end) for end in ("child", "parent")]
        child, parent = ("" if end is None else end.get("link", "") for end in ends)
        if joint.get("type") == "fixed" and child in links and parent in links:
            fixed[child] = parent, *_placed(joint)
        else:
            moving.add(child)
    groups: dict[str, dict[str, tuple[Array, Array]]] = {}
    for name in links:
        top, at, turn = _carried(name, fixed)
        groups.setdefault(top, {})[name] = at, turn
    for top, members in groups.items():
        solids = {name: found for name in members if (found := _solid(links[name])) is not None}
        odd = [name for name, solid in solids.items() if not _is_inertia(solid.inertia)]
        if not odd:
            continue
        whole = _together([_seen(solids[name], *members[name]) for name in solids])
        sound = _is_inertia(whole.inertia)
        if not sound and (floating or top in moving):
            worst = max(odd, key=lambda name: _excess(solids[name].inertia))
            raise DeclarationError(_words(path, worst, solids, whole))
        _give(links, top, members, whole if sound else None)
        left += [("inertia", name, f"is none by itself: all that is fixed to '{top}' counts together") for name in odd]


def _numbers(text: str | None) -> Array:
    return np.array([float(item) for item in (text or "0 0 0").split()])


def _placed(element: Any) -> tuple[Array, Array]:
    """Return place and axes that the <origin> of an element gives."""
    origin = element.find("origin")
    if origin is None:
        return np.zeros(3), np.eye(3)
    a, b, c = _numbers(origin.get("rpy"))
    about_x = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    about_y = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    about_z = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    return _numbers(origin.get("xyz")), about_z @ about_y @ about_x


def _carried(name: str, fixed: dict[str, tuple[str, Array, Array]]) -> tuple[str, Array, Array]:
    """Return the first of the links that fixed joints hold together, and the place of a link in its frame."""
    at, turn = np.zeros(3), np.eye(3)
    seen = {name}
    while name in fixed:
        name, place, axes = fixed[name]
        if name in seen:  # a ring of joints: MuJoCo says so
            break
        seen.add(name)
        at, turn = place + axes @ at, axes @ turn
    return name, at, turn


def _solid(link: Any) -> LinkInertia | None:
    """Return what the <inertial> of a link says; None without one."""
    given = link.find("inertial")
    mass, inertia = (None, None) if given is None else (given.find("mass"), given.find("inertia"))
    if mass is None or inertia is None:
        return None
    xx, xy, xz, yy, yz, zz = (float(inertia.get(entry, 0.0)) for entry in ENTRIES)
    at, turn = _placed(given)
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return LinkInertia(float(mass.get("value", 0.0)), at, turn @ matrix @ turn.T)


def _is_inertia(inertia: Array) -> bool:
    """Whether principal moments are positive, and none exceeds the sum of the others."""
    if not np.isfinite(inertia).all():
        return True  # that is for MuJoCo to say
    low, middle, high = np.linalg.eigvalsh(inertia)
    return bool(low > POSITIVE * high and low + middle >= (1 - POSITIVE) * high)


def _excess(inertia: Array) -> float:
    """Return by how much principal moments miss those of a body."""
    low, middle, high = np.linalg.eigvalsh(inertia)
    return float(max(-low, high - low - middle))


def _seen(solid: LinkInertia, at: Array, turn: Array) -> LinkInertia:
    return LinkInertia(solid.mass, at + turn @ solid.at, turn @ solid.inertia @ turn.T)


def _together(solids: list[LinkInertia]) -> LinkInertia:
    """Return the solid that several are, in one frame."""
    mass = sum(solid.mass for solid in solids)
    at = np.sum([solid.mass * solid.at for solid in solids], axis=0) / (mass or 1.0)
    inertia = np.zeros((3, 3))
    for solid in solids:
        arm = solid.at - at
        inertia += solid.inertia + solid.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return LinkInertia(mass, at, inertia)


def _give(links: dict[str, Any], top: str, members: dict[str, tuple[Array, Array]], whole: LinkInertia | None) -> None:
    """Put one <inertial>, and the forms of all members, into the first of them."""
    for name, (at, turn) in members.items():
        link = links[name]
        for given in link.findall("inertial"):
            link.remove(given)
        if name == top:
            continue
        for form in link.findall("collision"):
            place, axes = _placed(form)
            for origin in form.findall("origin"):
                form.remove(origin)
            _set_origin(form, at + turn @ place, turn @ axes)
            link.remove(form)
            links[top].append(form)
    if whole is None:
        return
    own = ElementTree.SubElement(links[top], "inertial")
    _set_origin(own, whole.at, np.eye(3))
    ElementTree.SubElement(own, "mass", value=repr(float(whole.mass)))
    entries = whole.inertia[np.triu_indices(3)]
    values = {entry: repr(float(value)) for entry, value in zip(ENTRIES, entries, strict=True)}
    ElementTree.SubElement(own, "inertia", values)


def _set_origin(element: Any, at: Array, turn: Array) -> None:
    pitch = float(np.arctan2(-turn[2, 0], np.hypot(turn[0, 0], turn[1, 0])))
    roll, yaw = float(np.arctan2(turn[2, 1], turn[2, 2])), float(np.arctan2(turn[1, 0], turn[0, 0]))
    if np.hypot(turn[0, 0], turn[1, 0]) < 1e-12:  # pitch of a quarter turn: one angle of the two is free
        roll, yaw = float(np.arctan2(-turn[1, 2], turn[1, 1])), 0.0
    texts = {name: " ".join(map(repr, map(float, of))) for name, of in (("xyz", at), ("rpy", (roll, pitch, yaw)))}
    ElementTree.SubElement(element, "origin", texts)


def _words(path: Path, odd: str, solids: dict[str, LinkInertia], whole: LinkInertia) -> str:
    moments = [np.linalg.eigvalsh(one.inertia) for one in (solids[odd], whole)]
    told, both = (", ".join(f"{value:.4g}" for value in item) for item in moments)
    also = f" (with all that is fixed to it {both})" if len(solids) > 1 else ""
    return (
        f"{path}: the inertia of link '{odd}' has the principal moments {told} kg m2{also}; a body that moves has "
        "positive ones, none of which exceeds the sum of the other two. Correct its <inertia>."
    )
