"""Drawings: what they take, what they refuse, and how they travel with their system."""

from __future__ import annotations

import copy
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import zwang as zw

(X, TH), (VX, W) = zw.coordinates("x theta", angles="theta")
M, R = zw.parameters("m r")


def wheel(**more: object) -> zw.Drawing:
    parts: dict = {
        "bars": [("hub", "rim")],
        "springs": [("wall", "hub")],
        "bodies": {"wheel": (zw.shapes.Sphere("r"), ("x", "r"), "-theta"), "flag": ["hub", "rim", "wall"]},
        "curves": {"rail": ((("u"), 0), "u", ("-r", "3*r")), "ring": ("X**2 + Y**2 - r**2", ("X", "Y"))},
        "traces": ["rim"],
        "ground": ["wall"],
        "scale": "2*r",
    }
    points = {"hub": ("x", "r"), "rim": ("x + r*sin(theta)", "r + r*cos(theta)"), "wall": (-1, "r")}
    return zw.Drawing(points, **{**parts, **more})


def rolling(drawing: zw.Drawing | None) -> zw.System:
    kinetic = M * (VX**2 + R**2 * W**2 / 2) / 2
    return zw.System(
        name="wheel", kinetic=kinetic, constraints=[zw.Bilateral(VX - R * W, name="roll")], drawing=drawing
    )


VALUES = {"x": 0.5, "theta": 0.3, "r": 0.25}


def test_places_follow_from_values_by_name_or_symbol() -> None:
    places = rolling(wheel()).drawing.places({X: 0.5, "theta": np.array([0.0, math.pi / 2]), R: 0.25})
    assert places[:, 1] == pytest.approx(np.array([[0.5, 0.5], [0.75, 0.25]]))


def test_a_scene_has_numbers_for_everything_that_is_drawn() -> None:
    scene = wheel().scene({**VALUES, "theta": np.linspace(0, 1, 5)})
    assert scene.places.shape == (5, 3, 2)
    round_, flag = scene.bodies
    assert round_.at.shape == (5, 3) and round_.at[-1] == pytest.approx([0.5, 0.25, -1.0])
    assert np.hypot(*round_.outline.T) == pytest.approx(0.25)
    assert flag.corners == (0, 1, 2)
    rail, ring = scene.outlines
    assert not scene.endless
    assert rail[0] == pytest.approx([-0.25, 0]) and rail[-1] == pytest.approx([0.75, 0])
    assert np.hypot(*ring.T) == pytest.approx(0.25, abs=1e-3)  # between places of a grid
    assert scene.moving == [1] and scene.scale == 0.5


def test_a_disc_turns_with_its_angle() -> None:
    box = zw.Drawing({}, bodies={"box": (zw.shapes.Box(2, 1), (1, 0), "a")}).scene({"a": math.pi / 2})
    assert box.bodies[0].shown(box.places[0], 0)[0] == pytest.approx([1.5, -1.0])


def test_a_drawing_is_no_part_of_what_a_system_is() -> None:
    assert rolling(wheel()) == rolling(None) == rolling(wheel(traces=None))
    assert rolling(wheel()).digest == rolling(None).digest


def test_the_system_handed_in_decides_what_is_shown_not_a_compiled_one() -> None:
    state, params = {"x": 0.0, "theta": 0.0, "v_x": 1.0, "v_theta": 4.0}, {"m": 1.0, "r": 0.25}
    for drawing in (None, wheel(), wheel(traces=None)):
        motion = zw.simulate(rolling(drawing), state, params, until=0.1)
        assert motion.drawing == ({} if drawing is None else rolling(drawing).drawing.to_dict())


@pytest.mark.parametrize("way", ["file", "pickle", "copy", "plain"])
def test_a_drawing_travels_with_its_system(way: str, tmp_path: Path) -> None:
    system = rolling(wheel())
    if way == "file":
        system.save(tmp_path / "wheel.toml")
        again = zw.load(tmp_path / "wheel.toml").drawing
    elif way == "pickle":
        again = pickle.loads(pickle.dumps(system)).drawing
    elif way == "copy":
        again = copy.deepcopy(system.drawing)
    else:
        again = zw.Drawing.from_dict(system.drawing.to_dict())
    before, after = system.drawing.scene(VALUES), again.scene(VALUES)
    assert way == "plain" or again.to_dict() == system.drawing.to_dict()
    assert np.array_equal(before.places, after.places)
    for a, b in zip(before.outlines, after.outlines, strict=True):
        assert np.array_equal(a, b)


def test_model_files_may_use_their_definitions_in_a_drawing(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_text(
        'schema = 2\nname = "ball"\ncoordinates = ["y"]\nkinetic = "m*v_y**2/2"\n[define]\ntop = "y + 2"\n'
        '[drawing]\n[drawing.points]\nT = ["0", "top"]\n',
        encoding="utf-8",
    )
    assert zw.load(path).drawing.places({"y": 1.0}).tolist() == [[[0.0, 3.0]]]


def test_schema_1_has_no_drawing(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_text('schema = 1\nname = "b"\ncoordinates = ["y"]\nkinetic = "v_y**2"\n[drawing.points]\nT = [0, 1]\n')
    with pytest.raises(zw.DeclarationError, match=r"'drawing' belongs to schema 2, and the file has 1\. Write schema"):
        zw.load(path)


def test_a_changed_system_keeps_its_drawing_as_far_as_its_symbols_go() -> None:
    system = rolling(wheel())
    assert system.replace(name="other").drawing == system.drawing
    assert system.replace(constraints=[], kinetic=M * (VX**2 + W**2) / 2).drawing is None  # nothing says what r is
    assert system.replace(drawing=None).drawing is None
    (s,), _ = zw.coordinates("s")
    turned = zw.System(kinetic=VX**2, coordinates=(X,), drawing=zw.Drawing({"P": ("x", 0)})).transformed({X: s**3})
    assert turned.drawing.points["P"][0] == s**3


def test_space_is_seen_from_above_the_front() -> None:
    scene = zw.Drawing({"O": (0, 0, 0), "x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}).scene({})
    right, up = scene.places[0, 1:].T
    assert right[0] > 0.5 and up[2] > 0.5 and abs(right[2]) < 1e-12
    assert up[0] < 0 < up[1] and right[1] > 0


def test_linkages_bring_their_springs() -> None:
    made = zw.Linkage("swing").ground("A", 0, 0).point("B", mass=1).spring("A", "B", stiffness=1, length=1).system()
    assert made.drawing.springs == (("A", "B"),) and made.drawing.ground == ("A",)


MISTAKES = {
    "a point that is not there": (
        lambda: zw.Drawing({"A": (0, 0)}, bars=[("A", "B")]),
        r"bars= names 'B', which is no point\. Did you mean 'A'\?|bars= names 'B', which is no point",
    ),
    "one component": (lambda: zw.Drawing({"A": ("x",)}), r"point 'A' needs two or three components; it has 1"),
    "two and three": (
        lambda: zw.Drawing({"A": (0, 0), "B": (0, 0, 0)}),
        r"some places have two components",
    ),
    "a bar of three": (
        lambda: zw.Drawing({"A": (0, 0)}, bars=[("A", "A", "A")]),
        r"bars= holds pairs of points; it was given \('A', 'A', 'A'\)",
    ),
    "a body of two": (
        lambda: zw.Drawing({"A": (0, 0)}, bodies={"b": ["A", "A"]}),
        r"body 'b' needs three points or more, or \(form, place, angle\) with a form of zw\.shapes",
    ),
    "a form without a place": (
        lambda: zw.Drawing({}, bodies={"b": (zw.shapes.Sphere(1),)}),
        r"body 'b' needs \(form, place, angle\); it has 1 parts",
    ),
    "a text for a list": (lambda: zw.Drawing({"A": (0, 0)}, ground="A"), r"ground= must be a list of names"),
    "a list for a mapping": (lambda: zw.Drawing([("A", (0, 0))]), r"points= must be a mapping from names"),
    "a curve of one": (lambda: zw.Drawing({}, curves={"c": ("x",)}), r"curve 'c' needs \(implicit, \(x, y\)\) or"),
    "a coordinate that runs": (
        lambda: zw.Drawing({}, curves={"c": (("x", 0), X, (0, 1))}),
        r"curve 'c' needs a symbol of its own here, no coordinate or time",
    ),
    "hostile text": (lambda: zw.Drawing({"A": ("__import__('os')", 0)}), r"Drawing: point 'A'"),
    "an object": (lambda: zw.Drawing({"A": (object(), 0)}), r"an expression, a number or a text is needed"),
    "an unprintable name": (lambda: zw.Drawing({"A\x1b": (0, 0)}), r"a name must be a printable text"),
    "an unknown symbol": (
        lambda: rolling(zw.Drawing({"A": ("xx", 0)})),
        r"wheel: its drawing uses 'xx', which the system doesn't know\. Did you mean 'x'\?",
    ),
    "no drawing": (lambda: rolling("wheel"), r"wheel: drawing= must be a zw\.Drawing; it was given 'wheel'"),
    "a missing value": (lambda: wheel().places({"x": 1.0}), r"The drawing needs a value for 'r'"),
    "an unknown key": (lambda: zw.Drawing.from_dict({"pionts": {}}), r"there is no 'pionts'\. Did you mean 'points'\?"),
    "an unknown form": (
        lambda: zw.Drawing.from_dict({"bodies": {"b": {"form": "spere", "radius": "1", "place": ["0", "0"]}}}),
        r"body 'b' has no known form 'spere'\. Did you mean 'sphere'\?",
    ),
    "a form without its length": (
        lambda: zw.Drawing.from_dict({"bodies": {"b": {"form": "sphere", "place": ["0", "0"]}}}),
        r"body 'b': sphere needs radius; it has ",
    ),
    "a list for a name": (
        lambda: zw.Drawing({"A": (0, 0)}, traces=[["A"], ["A"]]),
        r"traces= names \['A'\], which is no point",
    ),
    "a list for a form": (
        lambda: zw.Drawing.from_dict({"bodies": {"b": {"form": ["sphere"], "place": ["0", "0"]}}}),
        r"body 'b' has no known form \['sphere'\]",
    ),
    "a number for a hull": (lambda: zw.shapes.Hull(5), r"Hull: at least three places"),
    "a flat hull": (lambda: zw.shapes.Hull([(0, 0), (1, 0)]), r"Hull: at least three places"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told(mistake: str) -> None:
    make, message = MISTAKES[mistake]
    with pytest.raises(zw.DeclarationError, match=message):
        make()


def test_expressions_may_depend_on_time() -> None:
    places = zw.Drawing({"A": (zw.t, sp.sin(zw.t))}).places({"t": np.array([0.0, 1.0])})
    assert places[:, 0] == pytest.approx(np.array([[0, 0], [1, math.sin(1)]]))
    assert zw.Drawing({"A": ("t", 0)}).places({}).tolist() == [[[0.0, 0.0]]]
