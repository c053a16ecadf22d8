"""Units as texts: kept outside equality and digest, checked where all symbols of a term have one."""

from __future__ import annotations

import pytest
import sympy as sp

import zwang as zw

(X, PHI), (VX, W) = zw.coordinates("x phi", angles="phi")
M, G, L, K, C = zw.parameters("m g l k c")
UNITS = {"x": "m", "phi": "rad", "m": "kg", "g": "m/s**2", "l": "m", "k": "N/m", "c": "N*s/m"}


def cart(**changes) -> zw.System:
    given = {
        "name": "cart",
        "kinetic": M * (VX + L * W * sp.cos(PHI)) ** 2 / 2 + M * (L * W * sp.sin(PHI)) ** 2 / 2,
        "potential": K * X**2 / 2 - M * G * L * sp.cos(PHI),
        "forces": {X: -C * VX},
        "units": UNITS,
    }
    return zw.System(**(given | changes))


def test_units_that_agree_are_kept_outside_equality_and_digest(tmp_path) -> None:
    system = cart()
    assert system == cart(units=None) and system.digest == cart(units=None).digest
    assert system.units["k"] == "N/m"
    system.save(tmp_path / "cart.toml")
    assert dict(zw.load(tmp_path / "cart.toml").units) == UNITS
    assert system.replace(forces={}).units["m"] == "kg"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"potential": K * X**2 / 2 + M * G}, "the term"),
        ({"units": UNITS | {"g": "m/s"}}, "the term"),
        ({"potential": K * X**2 / 2 * sp.cos(X) + M * G * X}, "the argument of cos has the dimension m"),
        ({"units": UNITS | {"g": "parsec"}}, "is no unit known here"),
        ({"units": UNITS | {"g": "m + s"}}, "units= of 'g'"),
        ({"units": {"z": "m"}}, "which the system doesn't have"),
        ({"units": {"x": 3}}, "must be a text"),
        ({"units": [1]}, "units= must be a mapping"),
        ({"units": UNITS | {"v_x": "m"}}, "it is the rate of 'x'"),
        ({"units": {"x": "m", "m": "kg", "k": "N"}, "kinetic": M * VX**2 / 2 + M * W**2 * X**2,
          "potential": K * X**2}, "the kinetic energy has"),
    ],
)  # fmt: skip
def test_units_that_disagree_name_the_term(changes, words: str) -> None:
    if words == "the kinetic energy has":
        changes = {**changes, "units": {**changes["units"], "phi": "rad"}, "forces": {}}
    with pytest.raises(zw.DeclarationError, match=words):
        cart(**changes)


def test_what_has_no_unit_is_not_checked() -> None:
    assert cart(units={"x": "m", "m": "kg"}).units["x"] == "m"
    assert cart(potential=K * (X - 1) ** 2 / 2 + M * G * X).units
