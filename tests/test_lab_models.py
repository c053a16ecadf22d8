"""What the lab shows of models: the first view, states carried along, handles, and where forces act."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from night import by_day
from zwang.lab import first_view
from zwang.lab.answers import answer
from zwang.lab.mechanism_numbers import Mechanism
from zwang.lab.models import Opened, model_text, open_model
from zwang.lab.protocol import Refused, read_request
from zwang.lab.reaction_places import ForcePlaces


def test_the_first_view_is_what_the_gallery_says() -> None:
    """Made by python -m zwang.lab.first_view; numbers to the digits that are kept, curves to their number of points."""
    kept, made = first_view.load(), first_view.made()
    assert [item["name"] for item in kept["systems"]] == list(zw.gallery.names())
    for old, new in zip(kept["systems"], made["systems"], strict=True):
        for key in new:
            if key != "scene":
                assert old[key] == new[key], (new["name"], key)
        for key in ("names", "bars", "springs", "ground", "joints", "surfaces"):
            assert old["scene"][key] == new["scene"][key], (new["name"], key)
        assert np.allclose(old["scene"]["places"], new["scene"]["places"], rtol=1e-5, atol=1e-9)
    assert kept["categories"] == made["categories"]


@pytest.mark.parametrize("name", by_day(zw.gallery.names(), zw.gallery.names()[::3]))
def test_every_system_has_something_to_drag_and_a_state_on_its_constraints(name: str) -> None:
    opened = open_model({"system": name})
    handles = opened.mechanism.handles()
    assert handles
    state = {**opened.state, "t": 0.0}
    values = opened.mechanism.values(*(part[None] for part in opened.mechanism.split(state)), opened.params)
    here = [
        float(np.ravel(item)[0])
        for item in zw.Drawing({"P": opened.mechanism.place(handles[0])}).places(values).ravel()
    ]
    moved = opened.mechanism.drag(state, opened.params, handles[0], (here[0] + 0.05, here[1] + 0.03))
    assert zw.compile(opened.system).check(moved, opened.params) < 1e-8


def test_a_carried_state_is_the_nearest_in_the_kinetic_metric() -> None:
    entry = zw.gallery.get("slider_crank")
    mechanism = Mechanism(entry.system)
    params = {**entry.params, "l": entry.params["l"] * 1.05}
    q, v = mechanism.split(entry.state)
    found = mechanism.carry(q[None], v[None], params, mechanism.closed({**entry.state, "t": 0.0}, entry.params))
    assert found.good.all()
    # The change is M-orthogonal to the constraint's tangents: M dq is a multiple of the gradient there.
    model = zw.compile(entry.system)
    state = mechanism.joined(found.q[0], found.v[0])
    assert model.check(state, params) < 1e-12
    coupler = next(iter(entry.system.constraints)).expr
    values = {**state, **params}
    gradient = [
        float(coupler.diff(x).subs({s: values[s.name] for s in coupler.free_symbols})) for x in entry.system.coordinates
    ]
    M = model.terms(entry.state, params).mass
    pull = np.asarray(M).reshape(2, 2) @ (found.q[0] - q)
    assert abs(pull[0] * gradient[1] - pull[1] * gradient[0]) < 1e-9


def test_held_quantities_stay_where_a_map_puts_them() -> None:
    entry = zw.gallery.get("painleve_rod")
    mechanism = Mechanism(entry.system)
    q, v = mechanism.split(entry.state)
    theta = np.linspace(0.3, 1.2, 7)
    Q = np.repeat(q[None], 7, axis=0)
    Q[:, mechanism.names.index("theta")] = theta
    closed = mechanism.closed({**entry.state, "t": 0.0}, entry.params)
    found = mechanism.carry(Q, np.repeat(v[None], 7, axis=0), entry.params, closed, fixed=("theta",))
    assert found.good.all()
    assert np.array_equal(found.q[:, 2], theta)
    # The tip is at y - l sin(theta): on the floor again.
    assert np.allclose(found.q[:, 1], entry.params["l"] * np.sin(theta), atol=1e-12)


def test_a_force_is_drawn_where_it_does_the_work_of_the_reaction() -> None:
    entry = zw.gallery.get("painleve_rod")
    arrows = ForcePlaces(Mechanism(entry.system)).at({**entry.state, "t": 0.0}, entry.params)
    # Gap y - l sin(theta) and slip d/dt (x - l cos(theta)): unit forces up and along the floor, at the tip.
    up, along = ([0.0, 1.0], [1.0, 0.0])
    assert arrows["tip"]["normal"] == [{"point": "tip", "force": pytest.approx(up, abs=1e-12), "component": 0}]
    assert arrows["tip"]["tangential"] == [{"point": "tip", "force": pytest.approx(along, abs=1e-12), "component": 0}]


@pytest.mark.parametrize("name", ["painleve_rod", "four_bar", "flyball_governor", "ladder"])
def test_forces_of_a_motion_do_the_work_of_its_reactions(name: str) -> None:
    """Every force that is sent, at the point that is sent with it, is the generalized force of its constraint."""
    request = {"seq": 1, "kind": "motion", "system": name, "until": 0.3}
    ((text, frames),) = answer(request)
    told, opened = json.loads(text), open_model({"system": name})
    numbers, _, pushed = (np.frombuffer(item, "<f4", offset=20).astype(float) for item in frames)
    table = numbers.reshape(-1, len(told["columns"]))
    wide = told["scene"]["dimension"]
    forces = pushed.reshape(len(table), len(told["arrows"]), wide)
    mechanism, row = opened.mechanism, len(table) // 2
    values = {**opened.params, **dict(zip(told["columns"], table[row], strict=True)), "t": table[row, 0]}
    assert told["arrows"]
    for number, item in enumerate(told["arrows"]):
        if item["kind"] != "normal" or not np.isfinite(forces[row, number]).all():
            continue
        P = [mechanism.table(mechanism.point_rows(point), values, 1)[0] for point in item["points"]]
        done = P[0].T @ forces[row, number] - (P[1].T @ forces[row, number] if len(P) > 1 else 0.0)
        constraint = opened.system.constraints[item["constraint"]]
        lam = table[row, told["columns"].index(f"reaction of {item['constraint']}")]
        expected = lam * mechanism.table([mechanism.row_of(constraint)], values, 1)[0, 0]
        # Four-byte floats: 6e-8 of the numbers, which the row may multiply by a length.
        assert np.allclose(done, expected, atol=1e-5 * max(1.0, np.abs(expected).max()))


def brick() -> str:
    """The text of a model: a brick in the air."""
    built = zw.Bodies("brick", gravity=(0, 0, "-g")).body("brick", mass="m", inertia=("J", "J", "J"), at=(0, 0, 1))
    system = built.shape("form", on="brick", form=zw.shapes.Box("1", "0.5", "0.2")).free("brick").system()
    values = {"m": 1.0, "J": 1.0, "g": 9.81}
    opened = Opened("", "", system, values, {})
    return model_text(opened, values, opened.state)


def test_bodies_start_without_a_turn_and_are_drawn_in_space() -> None:
    text = brick()
    told = json.loads(next(iter(answer({"seq": 1, "kind": "reactions", "text": text})))[0])
    assert told["status"] == "done" and told["count"] == "1"
    assert told["state"]["e0_brick"] == 1.0
    scene = told["scene"]
    assert scene["dimension"] == 3 and len(scene["faces"]) == 12  # six sides, two triangles each
    corners = [scene["places"][k] for face in scene["faces"] for k in face]
    assert np.ptp(corners, axis=0) == pytest.approx([1, 0.5, 0.2])


def test_a_handle_in_space_follows_the_picture_as_it_is_turned() -> None:
    text = brick()
    opened = json.loads(next(iter(answer({"seq": 1, "kind": "open", "text": text})))[0])["model"]
    # Seen from above: the picture's plane is that of x and y.
    request = {"seq": 1, "kind": "drag", "text": text, "handle": opened["handles"][0], "x": 0.3, "y": -0.2}
    ((told, _),) = answer({**request, "view": [1, 0, 0, 1, 0, 0]})
    place = dict(zip(opened["scene"]["names"], json.loads(told)["scene"]["places"], strict=True))[opened["handles"][0]]
    assert place[:2] == pytest.approx([0.3, -0.2], abs=1e-6)


@pytest.mark.parametrize("name", by_day(zw.gallery.names(), zw.gallery.names()[::3]))
def test_every_system_is_answered_in_sentences(name: str) -> None:
    ((text, frames),) = answer({"seq": 1, "kind": "reactions", "system": name})
    told = json.loads(text)
    assert told["status"] == "done" and told["count"] in ("0", "1", "2", "many") and told["sentence"].endswith(".")
    assert frames == []


def test_a_model_without_values_says_what_stands_in() -> None:
    text = 'schema = 1\nname = "free"\ncoordinates = ["x"]\nkinetic = "m*v_x**2/2"\n'
    told = json.loads(next(iter(answer({"seq": 1, "kind": "open", "text": text})))[0])
    assert told["model"]["params"] == {"m": 1.0} and told["model"]["missing"] == ["m"]


def test_a_map_is_only_made_finer_where_that_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zwang.lab.answers.reactions.FINER", 0.0)
    request = {"seq": 1, "kind": "map", "system": "painleve_rod", "x": ["mu", 0.0, 2.0], "y": ["theta", 0.2, 1.4]}
    *_, (text, frames) = answer({**request, "n": 256})
    told = json.loads(text)
    assert (told["status"], told["n"], len(frames)) == ("done", 24, 1)


def test_a_map_of_what_happens_has_the_words_of_reactions_over_arrays() -> None:
    """A block on an incline: it holds where the friction exceeds the slope, and slides else."""
    low, high = 0.05, 1.2
    request = {"seq": 1, "kind": "map", "system": "incline_block", "x": ["mu", 0.01, 1.5], "y": ["slope", low, high]}
    *_, (text, frames) = answer({**request, "n": 24, "what": "kinds"})
    told, table = json.loads(text), np.frombuffer(frames[0], "<f4", offset=20).reshape(24, 24)
    mu, slope = np.meshgrid(np.linspace(0.01, 1.5, 24), np.linspace(low, high, 24))
    expected = np.where(mu > np.tan(slope), "holds", "slides")
    assert (np.array(told["classes"])[table.astype(int)] == expected).all()
    assert told["shares"]["holds"] == pytest.approx((expected == "holds").mean())


def test_a_surface_is_sent_as_triangles_on_the_constraints() -> None:
    ((text, frames),) = answer({"seq": 1, "kind": "space", "system": "surface_cone"})
    told = json.loads(text)
    assert told["surface"] and told["dimension"] == 2 and told["pieces"]
    points = np.frombuffer(frames[-2], "<f4", offset=20).reshape(-1, 3).astype(float)
    triangles = np.frombuffer(frames[-1], "<f4", offset=20).reshape(-1, 3)
    assert len(triangles) <= 30_000 and triangles.max() < len(points) and (triangles == triangles.astype(int)).all()
    # x^2 + y^2 = z^2, in four-byte floats: 6e-8 of the squares.
    size = (points**2).sum(axis=1)
    assert np.abs(points[:, 0] ** 2 + points[:, 1] ** 2 - points[:, 2] ** 2).max() < 1e-6 * size.max()


def test_curves_along_which_a_surface_is_singular_come_after_its_triangles() -> None:
    ((text, frames),) = answer({"seq": 1, "kind": "space", "system": "surface_umbrella"})
    told = json.loads(text)
    kinds = [line["kind"] for line in told["lines"]]
    assert sorted(kinds) == ["crossing", "isolated"]
    assert "Singular along 2 curves (crossing, isolated)" in told["sentence"]
    for kind, frame in zip(kinds, frames[-len(kinds) :], strict=True):
        x, y, z = np.frombuffer(frame, "<f4", offset=20).reshape(-1, 3).T
        # Sheets of x^2 = y^2 z cross along the z axis above, and leave it bare below.
        assert np.abs(x).max() < 1e-6 and np.abs(y).max() < 1e-6
        assert (z if kind == "crossing" else -z).min() > -1e-6
    assert len(frames) == told["frames"]


def test_a_claim_comes_with_its_figures() -> None:
    for name in ("001-ex1-slack", "001-ex2-regions"):
        told = json.loads(next(iter(answer({"seq": 1, "kind": "claim", "id": name})))[0])
        (figure,) = told["figures"]
        media, data = figure["data"].split(",")
        assert media == "data:image/svg+xml;base64" and figure["caption"].endswith(".")
        picture = base64.b64decode(data).decode("utf-8")
        assert "prefers-color-scheme:dark" in picture and "var(--on-24292f,#24292f)" in picture


def test_a_stop_without_a_way_on_says_why() -> None:
    ((text, _),) = answer({"seq": 1, "kind": "motion", "system": "ellipse_pendulum_friction", "until": 1.0})
    head = json.loads(text)
    assert head["continuations"] == [] and "singular point" in head["sentence"]
    assert "sliding friction wedges" in head["sentence"] and "Realize a constraint" in head["sentence"]


def test_every_way_on_is_followed_side_by_side() -> None:
    """The pendulum on an ellipse stops where three half-branches leave; each is run to its end."""
    request = {"seq": 1, "kind": "motion", "system": "ellipse_pendulum", "until": 3.0}
    alone = json.loads(next(iter(answer(request)))[0])
    ((text, frames),) = answer({**request, "run": "every"})
    told = json.loads(text)
    assert len(told["leaves"]) >= len(alone["continuations"]) == 3
    assert len(frames) == 3 * len(told["leaves"])
    assert len({item["taken"] for item in told["leaves"]}) == len(told["leaves"])
    for number, leaf in enumerate(told["leaves"]):
        rows = np.frombuffer(frames[3 * number], "<f4", offset=20).reshape(-1, len(leaf["columns"]))
        assert rows[-1, 0] == pytest.approx(leaf["length"], rel=1e-6) and leaf["length"] > alone["length"]


def test_arcs_that_are_sent_lie_on_the_constraints_from_end_to_end() -> None:
    ((text, frames),) = answer({"seq": 1, "kind": "space", "system": "four_bar_kite"})
    told, entry = json.loads(text), zw.gallery.get("four_bar_kite")
    mechanism = Mechanism(entry.system)
    space = zw.trace(entry.system, entry.params)
    for frame, arc, branch in zip(frames, told["arcs"], space.branches, strict=True):
        q = np.frombuffer(frame, "<f4", offset=20).reshape(-1, 2).astype(float)
        gaps, _ = mechanism.gaps(q, np.zeros_like(q), entry.params)
        # Four-byte floats: 4e-7 of an angle of up to a turn, times a gradient of some metres.
        assert np.abs(gaps).max() < 1e-5
        assert np.allclose(q[[0, -1]], branch.position([0.0, branch.length]), atol=1e-5)
        assert np.hypot(*np.diff(q, axis=0).T).sum() == pytest.approx(arc["length"], rel=1e-3)


def test_inputs_are_held_at_values_of_their_own(tmp_path: Path) -> None:
    (x,), (v,) = zw.coordinates("x")
    force = zw.inputs("u")
    m = sp.Symbol("m")
    block = zw.System(name="block", kinetic=m * v**2 / 2, forces={x: force}, drawing=zw.Drawing({"P": (x, 0)}))
    path = tmp_path / "block.toml"
    block.save(path, params={"m": 2.0}, state={"x": 0.0, "v_x": 0.0})
    text = path.read_text(encoding="utf-8")
    told = json.loads(next(iter(answer({"seq": 1, "kind": "open", "text": text})))[0])["model"]
    assert told["inputs"] == ["u"] and told["params"] == {"m": 2.0, "u": 0.0} and told["missing"] == []
    assert told["ranges"]["u"]["low"] < 0 < told["ranges"]["u"]["high"]
    asked = {"seq": 1, "text": text, "params": {"u": 6.0}}
    here = json.loads(next(iter(answer({**asked, "kind": "reactions"})))[0])
    assert here["solutions"][0]["acceleration"]["x"] == pytest.approx(3.0)  # u/m
    moved = json.loads(next(iter(answer({**asked, "kind": "motion", "until": 2.0})))[0])
    assert moved["end"]["x"] == pytest.approx(6.0)  # u t^2/(2 m)
    script = json.loads(next(iter(answer({**asked, "kind": "take", "what": "python", "until": 2.0})))[0])["text"]
    found: dict[str, Any] = {}
    exec(compile(script, "script", "exec"), found)
    assert found["motion"].end["x"] == pytest.approx(6.0)
    saved = json.loads(next(iter(answer({**asked, "kind": "take", "what": "model"})))[0])["text"]
    again = tmp_path / "again.toml"
    again.write_text(saved, encoding="utf-8")
    assert zw.load(again) == block


def test_impulses_act_where_they_strike() -> None:
    told = json.loads(next(iter(answer({"seq": 1, "kind": "motion", "system": "bouncing_ball", "until": 3.0})))[0])
    struck, hits = told["impulses"], [item for item in told["events"] if item["kind"] == "impact"]
    assert len(struck["rows"]) == len(hits) > 1
    entry = zw.gallery.get("bouncing_ball")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=3.0)
    for row, event in zip(struck["rows"], [item for item in motion.events if item.kind == "impact"], strict=True):
        (size,) = event.details["impulses"].values()
        assert row[0] == pytest.approx(event.time)
        assert np.hypot(*row[1:3]) == pytest.approx(size)
        assert row[2] > 0  # the floor pushes up
    assert 0 < struck["scale"] <= max(row[2] for row in struck["rows"])


def test_a_floor_in_space_is_the_plane_that_points_meet() -> None:
    opened = open_model({"system": "incline_table"})
    (floor,) = opened.mechanism.floors(opened.params)
    assert floor == pytest.approx([0, 0, 1, 0], abs=1e-9)  # gravity leans, the floor is z = 0
    scene = json.loads(next(iter(answer({"seq": 1, "kind": "reactions", "system": "incline_table"})))[0])["scene"]
    flat = [line for line in scene["outlines"] if all(abs(place[2]) < 1e-6 for place in line)]
    assert len(flat) == 18
    assert not open_model({"system": "delta"}).mechanism.floors(open_model({"system": "delta"}).params)


def _told(**request: Any) -> dict[str, Any]:
    return dict(json.loads(list(answer({"seq": 1, **request}))[-1][0]))


def _driven_text(tmp_path: Path) -> str:
    """A mass on a spring whose other end, a pivot, is moved as told, and a force: both inputs."""
    (x,), (v,) = zw.coordinates("x")
    pivot, force = zw.inputs("u f")
    m, k = sp.symbols("m k")
    drawing = zw.Drawing({"A": (pivot, 0), "P": (x, 0)}, springs=[("A", "P")])
    mass = zw.System(
        name="mass", kinetic=m * v**2 / 2, potential=k * (x - pivot) ** 2 / 2, forces={x: force}, drawing=drawing
    )
    path = tmp_path / "mass.toml"
    mass.save(path, params={"m": 2.0, "k": 8.0}, state={"x": 0.0, "v_x": 0.0})
    return path.read_text(encoding="utf-8")


def test_inputs_follow_tables_in_reactions_motions_pictures_and_scripts(tmp_path: Path) -> None:
    text = _driven_text(tmp_path)
    ramp = {"times": [0.0, 1.0, 4.0], "values": [1.0, 3.0, 3.0], "kind": "linear"}
    asked = {"text": text, "params": {"f": 0.5}, "inputs": {"u": ramp}}
    here = _told(kind="reactions", **asked)
    assert here["solutions"][0]["acceleration"]["x"] == pytest.approx((8.0 * 1.0 + 0.5) / 2.0)  # (k u + f)/m
    told, frames = list(answer({"seq": 1, "kind": "motion", "until": 10.0, **asked}))[-1]
    moved = json.loads(told)
    assert moved["length"] == 4.0 and "The table of 'u' ends at t = 4, and the motion with it." in moved["carried"]
    count, wide = np.frombuffer(frames[0], "<u4", 2, 12)
    rows = np.frombuffer(frames[0], "<f4", offset=20).reshape(count, wide)
    given = rows[:, moved["columns"].index("input u")]
    assert np.allclose(given, np.interp(rows[:, 0], ramp["times"], ramp["values"]), atol=1e-5)
    drawn = np.frombuffer(frames[1], "<f4", offset=20).reshape(count, -1)
    assert np.allclose(drawn[:, 2 * moved["scene"]["names"].index("A")], given, atol=1e-5)  # the pivot goes along
    system = zw.load(tmp_path / "mass.toml")
    table = zw.Table(ramp["times"], ramp["values"])
    motion = zw.simulate(system, {"x": 0, "v_x": 0}, {"m": 2.0, "k": 8.0}, inputs={"u": table, "f": 0.5}, until=4.0)
    assert moved["end"]["x"] == pytest.approx(motion.end["x"], abs=1e-9)
    later = _told(kind="reactions", time=0.5, until=4.0, **asked)
    assert later["state"]["t"] == 0.5
    force = (8.0 * (2.0 - later["state"]["x"]) + 0.5) / 2.0
    assert later["solutions"][0]["acceleration"]["x"] == pytest.approx(force)
    script = _told(kind="take", what="python", until=10.0, **asked)["text"]
    found: dict[str, Any] = {}
    exec(compile(script, "script", "exec"), found)
    assert found["motion"].end["x"] == pytest.approx(motion.end["x"], abs=1e-9)
    assert _told(kind="take", what="model", **asked)["text"] == _told(kind="take", what="model", text=text)["text"]


@pytest.mark.parametrize(
    "table, words",
    [
        ({"times": [0.0, 0.0], "values": [1.0, 2.0], "kind": "linear"}, "input 'u': Table: the times must rise"),
        ({"times": [0.0], "values": [1.0], "kind": "cubic"}, "two at least; there are 1 times and 1 values"),
        ({"times": [1.0, 2.0], "values": [1.0, 2.0], "kind": "previous"}, "it was asked at t = 0"),
    ],
)
def test_a_table_that_does_not_fit_is_told(tmp_path: Path, table: dict[str, Any], words: str) -> None:
    told = _told(kind="reactions", text=_driven_text(tmp_path), inputs={"u": table})
    assert told["status"] == "error" and words in told["message"]


def test_what_follows_a_table_is_not_varied_and_orders_need_held_inputs(tmp_path: Path) -> None:
    asked = {"text": _driven_text(tmp_path), "inputs": {"u": {"times": [0, 9], "values": [0, 1], "kind": "linear"}}}
    told = _told(kind="map", x=["u", 0, 1], y=["x", 0, 1], n=4, **asked)
    assert "'u' follows a table. Vary another quantity, or hold it at a value." in told["message"]
    told = _told(kind="realize", constraint="rod", by="stiffness", strength=3.0, orders=True, **asked)
    assert "the orders of a limit are measured with held inputs" in told["message"]
    told = _told(kind="reactions", **{**asked, "inputs": {"w": asked["inputs"]["u"]}})
    assert "'w', which is no input of the system" in told["message"]
    for wrong in ({"u": 1}, {"u": {"times": [0, 1], "values": [0, 1], "kind": "round"}}, {"u": {"times": []}}):
        with pytest.raises(Refused, match="'inputs' must be tables by name"):
            read_request(json.dumps({"seq": 1, "kind": "reactions", **asked, "inputs": wrong}))


def test_a_constraint_that_is_switched_off_carries_no_state_and_acts_after_its_switch(tmp_path: Path) -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    hook = zw.System(
        name="hook",
        kinetic=3 * vx**2 / 2 + vy**2 / 2,
        potential=2 * y**2,
        constraints=[zw.Bilateral(x - y, name="hook", starts="off")],
        events=[zw.Event(x - y, direction=1, then=zw.Switch(on="hook"), name="catch")],
        drawing=zw.Drawing({"A": (x, 0), "B": (y, 0)}),
    )
    path = tmp_path / "hook.toml"
    hook.save(path, state={"x": -1.0, "y": 0.0, "v_x": 2.0, "v_y": 0.0})
    asked = {"text": path.read_text(encoding="utf-8"), "until": 2.0}
    here = _told(kind="reactions", **asked)
    assert here["carried"] == "" and here["state"]["x"] == -1.0 and not here["solutions"][0]["modes"]
    moved = _told(kind="motion", **asked)
    assert [item["modes"]["hook"] for item in moved["modes"]] == ["off", "closed"]
    caught = _told(kind="reactions", time=1.0, **asked)
    assert caught["state"]["on"] == ["hook"] and caught["state"]["x"] == pytest.approx(caught["state"]["y"])
    assert caught["solutions"][0]["normal"]["hook"] == pytest.approx(-3 * caught["state"]["x"])  # of 4 y the share of x
    assert "No constraint ties the positions" in _told(kind="space", text=asked["text"])["sentence"]
