"""Mistakes that people make in their first week: each is told with what was given, what was needed, and the cure."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import zwang as zw
from zwang.cli import main


@pytest.fixture(scope="module")
def motion():
    entry = zw.gallery.get("ellipse_pendulum")
    return zw.simulate(entry.system, entry.state, entry.params, until=0.01)


@pytest.mark.parametrize(
    ("group", "wrong", "right"),
    [("reactions", "elipse", "ellipse"), ("energy", "totl", "total"), ("reaction_range", "ellips", "ellipse")],
)
def test_an_unknown_name_in_a_motion_is_answered_with_the_nearest(motion, group, wrong, right):
    with pytest.raises(KeyError, match=f"ellipse_pendulum: the .* have no '{wrong}'. Did you mean '{right}'"):
        getattr(motion, group)[wrong]
    with pytest.raises(AttributeError, match=f"ellipse_pendulum: the .* have no '{wrong}'. Did you mean '{right}'"):
        getattr(getattr(motion, group), wrong)
    with pytest.raises(KeyError, match="have no 'zzz'. Known: '"):
        getattr(motion, group)["zzz"]


def test_an_unknown_name_among_modes_is_answered_too(motion):
    entry = zw.gallery.get("ladder")
    solution = zw.reactions(entry.system, entry.state, entry.params).solutions[0]
    for modes, known in ((motion.modes[0], "ellipse"), (solution.modes, "floor")):
        with pytest.raises(KeyError, match=f"The modes have no 'zzz'. Known: '{known}'"):
            modes["zzz"]


def test_ranges_are_a_mapping_of_contacts():
    entry = zw.gallery.get("ladder")
    found = zw.reactions(entry.system, entry.state, entry.params).solutions[0].ranges
    assert list(found) == list(found.keys()) == ["floor", "wall"]
    assert dict(found.items())["wall"] == found["wall"] == found.values()[1]
    assert len(found) == 2
    with pytest.raises(KeyError, match="The ranges have no 'wal'. Did you mean 'wall'"):
        found["wal"]


@pytest.mark.parametrize("given", ["zw.Bilateral", "text", "number"])
def test_one_constraint_needs_a_list_too(given):
    (x,), (v,) = zw.coordinates(["x"])
    one = {"zw.Bilateral": zw.Bilateral(x - 1), "text": "x - 1", "number": 3}[given]
    with pytest.raises(zw.DeclarationError, match=r"constraints= needs a list, of one constraint too: constraints=\["):
        zw.System(kinetic=v**2 / 2, constraints=one)


@pytest.mark.parametrize("wrong", [1.5, -0.1])
def test_restitution_beyond_its_range_is_told_where_it_is_declared(wrong):
    (x,), _ = zw.coordinates(["x"])
    with pytest.raises(zw.DeclarationError, match=f"Unilateral 'floor': restitution= is {wrong}, needed a number"):
        zw.Unilateral(x, restitution=wrong, name="floor")


def test_restitution_of_a_parameter_beyond_its_range_names_the_contact():
    (x,), (v,) = zw.coordinates(["x"])
    ball = zw.System(kinetic=v**2 / 2, potential=x, constraints=[zw.Unilateral(x, restitution="e", name="floor")])
    with pytest.raises(zw.StateError, match=r"the restitution of 'floor' is 1\.5, needed a number between 0"):
        zw.simulate(ball, {"x": 1, "v_x": 0}, {"e": 1.5}, until=2)


def test_a_decimal_comma_is_named():
    cure = "Decimals have a point: 0.5, not 0,5"
    with pytest.raises(zw.DeclarationError, match=cure):
        zw.System(kinetic="0,5*m*v_x**2", coordinates=zw.coordinates(["x"])[0])
    entry = zw.gallery.get("bouncing_ball")
    with pytest.raises(zw.DeclarationError, match=cure):
        zw.simulate(entry.system, {**entry.state, "y": "0,5"}, entry.params, until=1)
    told = CliRunner().invoke(main, ["simulate", "bouncing_ball", "--until", "0,5"])
    assert told.exit_code == 2
    assert cure in told.stderr
