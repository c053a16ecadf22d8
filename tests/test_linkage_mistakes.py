"""Mistakes in declaring a linkage: what was given, what was needed, the nearest cure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import zwang as zw


def base() -> zw.Linkage:
    return zw.Linkage("m").ground("A", 0, 0).ground("D", 1, 0).points("B C", mass=1).bar("A", "B", 1)


MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: zw.Linkage(""), "the name must be a printable text"),
    (lambda: zw.Linkage("m", distances="lenght"), "unknown distances='lenght'. Did you mean 'length'?"),
    (lambda: zw.Linkage("m", gravity=9.81), "gravity: two components are needed, such as (0, -9.81)"),
    (lambda: zw.Linkage("m", gravity=(0, 0, -9.81)), "gravity: two components are needed; 3 were given"),
    (lambda: base().bar("B", "E", 1), "there is no point 'E'. "),
    (lambda: base().bar("B", "B", 1), "it joins the point 'B' to itself"),
    (lambda: base().bar("A", "D", 1), "both ends belong to the ground"),
    (lambda: base().bar("B", "A", 2), "there is a bar between 'B' and 'A' already"),
    (lambda: base().bar("B", "C", 0), "length must be greater than 0; it was given 0"),
    (lambda: base().bar("B", "C", 1, mass=-1), "mass must not be less than 0; it was given -1"),
    (lambda: base().bar("B", "C", 1, mass=1, fraction=0.2), "is not uniform: give inertia= too"),
    (lambda: base().bar("B", "C", 1, angle="2phi"), "angle must start with a letter"),
    (lambda: base().bar("B", "C", float("nan")), "a finite real number is needed"),
    (lambda: base().bar("B", "C", [1]), "a number, a symbol, an expression or a text is needed"),
    (lambda: base().bar("B", "C", zw.t + 1), "it depends on time"),
    (lambda: base().bar("B", "C", zw.coordinates("x y")[0][0]), "it depends on the coordinate 'x'"),
    (lambda: base().point("B"), "there is a point 'B' already"),
    (lambda: base().point("B'"), "the name of a point must start with a letter"),
    (lambda: base().point("P", fraction=0.5), "need the bar that carries it"),
    (lambda: base().point("P", on=("B", "C"), fraction=0.5), "there is no bar between ('B', 'C'). Bars: A-B."),
    (lambda: base().points(" "), "no name was given"),
    (lambda: base().chain("B C", lengths=(1, 2)), "2 points need 1 lengths; 2 given"),
    (lambda: base().pin("B", "A", name="A-B"), "two parts are called 'A-B'"),
    (lambda: base().guide("C", "1 + a"), "the curve must depend on x and y"),
    (lambda: base().guide("C", 3), "the curve must be a function of (x, y) or a text"),
    (lambda: base().guide("C", "x", restitution=0), "restitution= goes with unilateral=True"),
    (lambda: base().slider("C"), "give the line by direction=(dx, dy) or by along=('A', 'B')"),
    (lambda: base().slider("C", direction=(0, 0)), "direction= is zero"),
    (lambda: base().force("C", lambda *_: (1,)).system(), "the force at 'C' must have two components"),
    (lambda: base().system(coordinates="cartesan"), "unknown coordinates='cartesan'. Did you mean 'cartesian'?"),
    (lambda: base().system(coordinates="joint"), "the point 'C' is not joined to the ground"),
    (lambda: zw.Linkage("m").ground("A", 0, 0).system(), "has no point that can move"),
    (
        lambda: zw.Linkage("m").ground("A", 0, 0).point("B").pin("A", "B").system(coordinates="joint"),
        "has no bar that can turn",
    ),
    (lambda: base().point("E").bar("C", "E", 1).system(), "the point 'E' has no inertia in Cartesian coordinates"),
    (lambda: base().points("E F").bar("E", "F", 1, mass=1, inertia=0).system(), "the point 'E' has no inertia"),
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES, ids=[message[:40] for _, message in MISTAKES])
def test_a_mistake_is_answered_with_what_was_needed(mistake: Callable[[], Any], message: str) -> None:
    with pytest.raises(zw.DeclarationError) as caught:
        mistake()
    assert message in str(caught.value)
    assert str(caught.value).startswith("Linkage")
