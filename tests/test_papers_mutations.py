"""The ledger can fail: a sign flipped in a gallery system changes the verdict of at least one claim about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

import zwang as zw
from zwang import papers

# The systems whose mutations are tried here; each has claims that take well under a second.
SYSTEMS = (
    "atwood",
    "atwood_changing_length",
    "circle_particle",
    "crossing",
    "ellipse_pendulum",
    "ellipse_pendulum_cartesian",
    "ellipse_pendulum_friction",
    "kozlov_neishtadt",
    "ladder",
    "painleve_rod",
    "painleve_rod_tip",
    "pyramid",
    "sleigh",
    "speed_limit",
    "tangency",
    "two_particles",
)


def mutants(system: zw.System) -> Iterator[tuple[str, zw.System]]:
    """Give the system with the sign of one part flipped: potential, a force, a constraint, a slip."""
    if system.potential:
        yield "potential", system.replace(potential=-system.potential)
    if system.force is not None and any(system.force):
        yield "force", system.replace(force=-sp.Matrix(system.force))
    for coordinate in system.forces:
        forces = {**system.forces, coordinate: -system.forces[coordinate]}
        yield f"force on {coordinate}", system.replace(forces=forces)
    for place, item in enumerate(system.constraints):
        others = list(system.constraints)
        for what, changed in mutated(item):
            others[place] = changed
            yield f"{what} of {item.name}", system.replace(constraints=others)


def mutated(item: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(item, zw.Friction):
        yield "sign", replace(item, expr=-item.expr)
    law = getattr(item, "friction", None)
    if law is not None:
        yield "slip", replace(item, friction=replace(law, slip=tuple(-part for part in law.slip)))
    if isinstance(item, zw.Friction):
        yield "bound", replace(item, bound=2 * item.bound)


BY_DAY = {
    "atwood: sign of string", "atwood_changing_length: sign of string", "circle_particle: force on y",
    "crossing: slip of curve", "ellipse_pendulum: potential", "ellipse_pendulum_cartesian: sign of ellipse",
    "ellipse_pendulum_friction: slip of ellipse", "kozlov_neishtadt: force on y", "ladder: sign of wall",
    "painleve_rod: sign of tip", "painleve_rod_tip: force on x", "pyramid: force on q2", "sleigh: sign of blade",
    "speed_limit: sign of limit", "tangency: slip of curve", "two_particles: bound of particle2",
}  # fmt: skip
"""One mutation of each system."""


def cases() -> Iterator[Any]:
    for name in SYSTEMS:
        for what, system in mutants(zw.gallery.get(name).system):
            case = f"{name}: {what}"
            yield pytest.param(name, what, system, id=case, marks=() if case in BY_DAY else pytest.mark.nightly)


def cheap_first(name: str) -> list[papers.Claim]:
    """The quick claims that ask this system; searches, whose names are known, last."""
    long = ("regions", "cyclic", "symbol", "rest", "turning", "unique", "condition", "equilibrium", "rising", "pozhar")
    asking = [item for item in papers.claims() if name in item.systems and item.profile == "quick"]
    return sorted(asking, key=lambda item: any(word in item.id for word in long))


@pytest.mark.parametrize(("name", "what", "system"), cases())
def test_a_flipped_sign_changes_a_verdict(name: str, what: str, system: zw.System) -> None:
    assert any(item.run(systems={name: system}).verdict is not item.recorded for item in cheap_first(name)), what


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_system_itself_put_in_its_place_changes_nothing(name: str) -> None:
    item = cheap_first(name)[0]
    assert item.run(systems={name: zw.gallery.get(name).system}).agrees
