"""Guarantees over boxes: proved up to closed forms, refuted beyond them, never proved where a point refutes."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner

import zwang as zw
from zwang.cli import main

ROD = zw.gallery.get("painleve_rod")
KNOWN = {name: value for name, value in ROD.params.items() if name != "mu"}
BOX = {"x": (-1, 1), "y": (0, 2), "theta": (0.1, 1.5)}


def ladder() -> zw.System:
    (x, y, th), (vx, vy, w) = zw.coordinates("x y theta", angles="theta")
    m, l, g, mu, pull = zw.parameters("m l g mu F")
    foot = (x + l / 2 * sp.cos(th), y - l / 2 * sp.sin(th))
    top = (x - l / 2 * sp.cos(th), y + l / 2 * sp.sin(th))
    return zw.System(
        name="ladder",
        kinetic=m * (vx**2 + vy**2) / 2 + m * l**2 / 24 * w**2,
        potential=m * g * y - pull * x,
        constraints=[
            zw.Unilateral(foot[1], friction=zw.Coulomb(mu, slip=zw.rate(foot[0])), restitution=0, name="floor"),
            zw.Unilateral(top[0], friction=zw.Coulomb(mu, slip=zw.rate(top[1])), restitution=0, name="wall"),
        ],
    )


@pytest.mark.parametrize(("top", "status"), [(4 / 3 - 1e-6, "PROVED"), (4 / 3 + 1e-6, "REFUTED")])
def test_the_rod_has_one_acceleration_up_to_four_thirds(top: float, status: str) -> None:
    # The bound is the minimum of (4 + t^2)/(3 t), at t = tan(theta) = 2.
    found = zw.guarantee("unique acceleration", ROD.system, {**BOX, "mu": (0, top)}, KNOWN)
    assert found.status.name == status
    if found.witness is not None:
        answer = zw.reactions(ROD.system, found.witness.state, found.witness.params)
        assert answer.status.name in ("NONE", "MULTIPLE")
        assert np.tan(found.witness.state["theta"]) == pytest.approx(2, abs=1e-2)


def test_some_acceleration_is_refuted_where_none_exists() -> None:
    found = zw.guarantee("some acceleration", ROD.system, {**BOX, "mu": (1.35, 1.4)}, KNOWN)
    assert found.status.name == "REFUTED"
    assert zw.reactions(ROD.system, found.witness.state, found.witness.params).status.name == "NONE"


def test_a_ladder_can_hold_where_it_need_not() -> None:
    box = {"x": (0, 1), "y": (0, 1), "theta": (0.78, 0.8)}
    pulled = {"m": 1, "l": 1, "g": 9.81, "mu": 1.5, "F": 2 * 9.81}
    assert zw.guarantee("can hold", ladder(), box, pulled).status.name == "PROVED"
    must = zw.guarantee("must hold", ladder(), box, pulled)
    assert must.status.name == "REFUTED" and "another acceleration" in must.witness.reason
    # Under gravity alone it holds from tan(theta) = (1 - mu^2)/(2 mu) on, theta = 0.98788 for mu = 0.3.
    alone = {**pulled, "mu": 0.3, "F": 0}
    assert zw.guarantee("can hold", ladder(), {**box, "theta": (0.9879, 1.3)}, alone).status.name == "PROVED"
    assert zw.guarantee("must hold", ladder(), {**box, "theta": (1.1, 1.2)}, alone).status.name == "PROVED"
    low = zw.guarantee("can hold", ladder(), {**box, "theta": (0.98, 1.2)}, alone)
    assert low.status.name == "REFUTED" and low.witness.state["theta"] < 0.98789


def test_a_loop_is_regular_where_its_bars_don_t_align() -> None:
    bar = zw.gallery.get("four_bar")
    values = {**bar.params, "l0": 1.3, "l1": 0.5, "l2": 1.1, "l3": 0.9}
    found = zw.guarantee("regular", bar.system, {}, values)  # both angles all the way round
    assert found.status.name == "PROVED"
    flat = zw.guarantee("regular", bar.system, {}, bar.params)  # four equal bars can lie on one line
    assert flat.status.name == "REFUTED" and "exactly" in flat.witness.reason
    assert np.sin([flat.witness.state["alpha"], flat.witness.state["gamma"]]) == pytest.approx([0, 0], abs=1e-12)


def test_bars_that_just_reach_are_refuted_where_a_length_may_vary() -> None:
    bar = zw.gallery.get("four_bar")
    source = np.random.default_rng(4)
    for _ in range(4):
        l1, l2, l3 = source.uniform(0.6, 1.2, 3)
        # the ground bar as long as all the others together: they just reach, on one line
        edge = l1 + l2 + l3
        known = {**{k: v for k, v in bar.params.items() if k != "l0"}, "l1": l1, "l2": l2, "l3": l3}
        box = {"l0": (0.99 * edge, 1.01 * edge)}
        found = zw.guarantee("regular", bar.system, box, known)
        assert found.status.name == "REFUTED" and found.witness.params["l0"] == pytest.approx(edge, abs=1e-7)
        assert found.status is zw.guarantee("regular", bar.system, box, known).status
        inside = zw.guarantee("regular", bar.system, {"l0": (0.99 * edge, 0.995 * edge)}, known, budget={"steps": 4000})
        assert inside.status.name in ("PROVED", "UNDECIDED")


def test_constraints_that_are_redundant_everywhere_are_not_refuted() -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    twice = zw.System(
        name="twice",
        kinetic=(vx**2 + vy**2) / 2,
        constraints=[zw.Bilateral(x**2 + y**2 - 1, name="a"), zw.Bilateral(2 * x**2 + 2 * y**2 - 2, name="b")],
    )
    found = zw.guarantee("regular", twice, {"x": (-2, 2), "y": (-2, 2)}, budget={"steps": 100})
    assert found.status.name == "UNDECIDED" and len(found.boxes) and 0 < found.share <= 1


def test_a_singular_point_without_exact_numbers_stays_undecided() -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    root = sp.sqrt(2)
    cross = zw.System(
        name="cross", kinetic=(vx**2 + vy**2) / 2,
        constraints=[zw.Bilateral((x - root) ** 2 - (y - root / 3) ** 2, name="curve")],
    )  # fmt: skip
    found = zw.guarantee("regular", cross, {"x": (0, 3), "y": (0, 3)}, budget={"steps": 300})
    assert found.status.name == "UNDECIDED" and len(found.boxes)


def test_relations_follow_from_constraints_or_are_refuted() -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    circle = zw.System(
        name="circle", kinetic=(vx**2 + vy**2) / 2, constraints=[zw.Bilateral(x**2 + y**2 - 1, name="ring")]
    )
    box = {"x": (-2, 2), "y": (-2, 2)}
    assert zw.guarantee(x + y < 1.415, circle, box).status.name == "PROVED"
    found = zw.guarantee(x + y < 1.41, circle, box)
    assert found.status.name == "REFUTED"
    assert found.witness.state["x"] + found.witness.state["y"] > 1.41
    assert abs(found.witness.state["x"] ** 2 + found.witness.state["y"] ** 2 - 1) < 1e-8


def test_a_multiplier_stays_within_its_bounds_or_leaves_them() -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    rod = zw.Bilateral((x**2 + y**2 - 1) / 2, name="rod")
    pendulum = zw.System(name="pendulum", kinetic=(vx**2 + vy**2) / 2, potential=10 * y, constraints=[rod])
    box = {"x": (-1.1, 1.1), "y": (-1.1, 1.1), "v_x": (-0.1, 0.1), "v_y": (-0.1, 0.1)}
    # lam = (g y - v^2)/r^2, between -10.02 and 10 on the circle.
    assert zw.guarantee({"rod": (-16, 16)}, pendulum, box).status.name == "PROVED"
    found = zw.guarantee({"rod": (-5, 5)}, pendulum, box)
    assert found.status.name == "REFUTED" and "multiplier" in found.witness.reason


def test_no_claim_is_proved_that_a_sampled_point_refutes() -> None:
    source = np.random.default_rng(8)
    proved = 0
    for _ in range(12):
        low, width = source.uniform(0.2, 1.2), source.uniform(0.05, 0.3)
        top = source.uniform(1.0, 1.8)
        box = {**BOX, "theta": (low, low + width), "mu": (top - 0.3, top)}
        found = zw.guarantee("unique acceleration", ROD.system, box, KNOWN, budget={"steps": 2000})
        theta = source.uniform(low, low + width, 20_000)
        mu = source.uniform(top - 0.3, top, 20_000)
        # A uniform rod is unique where 4 + t^2 > 3 mu t for both signs of the slip.
        refuted = bool(np.any(4 + np.tan(theta) ** 2 <= 3 * mu * np.abs(np.tan(theta))))
        assert not (found.status.name == "PROVED" and refuted)
        proved += found.status.name == "PROVED"
    assert proved > 0


def test_guarantees_are_saved_drawn_and_asked_on_the_command_line(tmp_path) -> None:
    found = zw.guarantee("unique acceleration", ROD.system, {**BOX, "mu": (0, 1.4)}, KNOWN)
    found.save(tmp_path / "g.npz")
    assert zw.load_result(tmp_path / "g.npz").witness.params == found.witness.params
    found.plot("theta", "mu")
    sides = ["--box", "x=-1:1", "y=0:2", "theta=0.1:1.5", "mu=0:1.2"]
    done = CliRunner().invoke(main, ["guarantee", "painleve_rod", "unique acceleration", *sides, "--json"])
    assert done.exit_code == 0 and '"PROVED"' in done.output, done.output
    done = CliRunner().invoke(main, ["guarantee", "painleve_rod", "mu > 1", *sides])
    assert done.exit_code == 1 and "REFUTED" in done.output, done.output


@pytest.mark.parametrize(
    ("claim", "box", "words"),
    [
        ("unique", BOX | {"mu": (0, 1)}, "is none of"),
        ("regular", BOX | {"mu": (0, 1)}, "bilateral constraints on positions"),
        ("can hold", BOX, "'mu' is neither in box= nor in params"),
        ("can hold", BOX | {"z": (0, 1)}, "which the system doesn't know"),
        ("can hold", BOX | {"mu": (1, 0)}, "needs low <= high"),
        ("can hold", BOX | {"mu": 1}, "needs \\(low, high\\)"),
        ("can hold", [1], "box= must be a mapping"),
        ({"tip": (0, 1)}, BOX | {"mu": (0, 1)}, "depends on 'v_theta'"),
        ({"tip": 1}, BOX | {"mu": (0, 1)}, "those of 'tip' were 1"),
        ({"tip": (1, 0)}, BOX | {"mu": (0, 1)}, "'tip' need low <= high"),
        (sp.Eq(sp.Symbol("a"), 1), BOX | {"mu": (0, 1)}, "a relation is an inequality"),
    ],
)
def test_mistakes_are_named(claim, box, words: str) -> None:
    with pytest.raises(zw.DeclarationError, match=words):
        zw.guarantee(claim, ROD.system, box, KNOWN)


def test_what_is_not_decided_is_refused_by_name() -> None:
    with pytest.raises(zw.DeclarationError, match="needs a System"):
        zw.guarantee("regular", "rod", {})
    with pytest.raises(zw.DeclarationError, match="closed= has 'tap'"):
        zw.guarantee("can hold", ROD.system, {**BOX, "mu": (0, 1)}, KNOWN, closed=["tap"])
    (_x, _y, z), (vx, vy, vz) = zw.coordinates("x y z")
    floor = zw.Unilateral(z, friction=zw.Coulomb(0.3, slip=(vx, vy)), restitution=0, name="floor")
    block = zw.System(name="block", kinetic=(vx**2 + vy**2 + vz**2) / 2, constraints=[floor])
    with pytest.raises(zw.DeclarationError, match="friction in a plane"):
        zw.guarantee("can hold", block, {"x": (0, 1), "y": (0, 1), "z": (0, 1)})


def wheel() -> zw.System:
    (x, y, _phi), (vx, vy, w) = zw.coordinates("x y phi", angles="phi")
    R, f, mu, beta, g = zw.parameters("R f mu beta g")
    contact = zw.Unilateral(y - R, friction=zw.Coulomb(mu, slip=vx - R * w), restitution=0, name="ground")
    rolling = zw.Friction(f, slip=w, of="ground", name="rolling")
    return zw.System(
        name="wheel",
        kinetic=(vx**2 + vy**2) / 2 + R**2 * w**2 / 4,
        potential=g * (y * sp.cos(beta) - x * sp.sin(beta)),
        constraints=[contact, rolling],
    )


@pytest.mark.parametrize("claim", ["can hold", "must hold"])
@pytest.mark.parametrize(("mu", "f"), [(0.3, 0.2), (0.15, 0.4)])
def test_a_wheel_rests_on_slopes_up_to_the_smaller_of_its_two_coefficients(claim: str, mu: float, f: float) -> None:
    # tan(beta) <= min(mu, f/R)
    edge = float(np.arctan(min(mu, f)))
    known = {"mu": mu, "f": f, "R": 1.0, "g": 9.81, "x": 0.0, "phi": 0.0, "y": 1.0}
    for part, status in ((0.99, "PROVED"), (1.01, "REFUTED")):
        found = zw.guarantee(claim, wheel(), {"beta": (0.0, part * edge)}, known)
        assert found.status.name == status


def test_a_wheel_with_two_laws_has_one_acceleration() -> None:
    known = {"R": 1.0, "g": 9.81, "x": 0.0, "phi": 0.0, "y": 1.0, "beta": 0.1}
    assert zw.guarantee("unique acceleration", wheel(), {"mu": (0, 2), "f": (0, 0.5)}, known).status.name == "PROVED"


def test_a_guide_that_pulls_holds_as_one_that_pushes() -> None:
    # A bead on a level wire, drawn aside by P and pressed up or down by F: it rests while P <= mu |F|.
    (x, y), (vx, vy) = zw.coordinates("x y")
    F, P = zw.parameters("F P")
    wire = zw.Bilateral(y, friction=zw.Coulomb(0.5, slip=vx), name="wire")
    bead = zw.System(name="bead", kinetic=(vx**2 + vy**2) / 2, forces={x: P, y: F}, constraints=[wire])
    for low, high in ((1, 2), (-2, -1)):
        for claim in ("can hold", "must hold"):
            box, known = {"F": (low, high)}, {"x": 0.0, "y": 0.0}
            assert zw.guarantee(claim, bead, box, known | {"P": 0.49}).status.name == "PROVED"
            assert zw.guarantee(claim, bead, box, known | {"P": 0.51}).status.name == "REFUTED"


def slope_block() -> zw.System:
    (x, y), (vx, vy) = zw.coordinates("x y")
    m, g, mu, beta = zw.parameters("m g mu beta")
    slope = zw.Unilateral(y, friction=zw.Coulomb(mu, slip=vx), restitution=0, name="slope")
    weight = m * g * (y * sp.cos(beta) - x * sp.sin(beta))
    return zw.System(name="block", kinetic=m * (vx**2 + vy**2) / 2, potential=weight, constraints=[slope])


def test_the_normal_force_on_a_rough_slope_is_the_part_of_the_weight_across_it() -> None:
    known = {"x": 0.0, "m": 2.0, "g": 9.81}
    box = {"y": (-1, 1), "beta": (0.2, 0.9), "mu": (0.1, 0.8)}
    least, most = 2 * 9.81 * np.cos(0.9), 2 * 9.81 * np.cos(0.2)
    assert zw.guarantee({"slope": (least - 1e-6, most + 1e-6)}, slope_block(), box, known).status.name == "PROVED"
    assert zw.guarantee({"slope": (0, np.inf)}, slope_block(), box, known).status.name == "PROVED"
    for low, high in ((least + 1e-4, np.inf), (0, most - 1e-4)):
        found = zw.guarantee({"slope": (low, high)}, slope_block(), box, known)
        assert found.status.name == "REFUTED"
        answer = zw.reactions(slope_block(), found.witness.state, found.witness.params)
        assert not low <= answer.solutions[0].normal[0] <= high


def test_the_forces_of_a_sliding_ladder_stay_within_those_of_its_states() -> None:
    # Down: the foot goes out, and friction acts inwards on the floor and upwards on the wall. With u = (1/2) of the
    # length, a_x = u (-sin a - cos w^2), a_y = u (cos a - sin w^2): N_w = m a_x + mu N_f, N_f + mu N_w = m (g + a_y).
    def forces(theta: float, w: float, mu: float) -> tuple[float, float]:
        s, c, u = np.sin(theta), np.cos(theta), 0.5
        # unknown N_f, N_w and a = theta''
        lines = [[-mu, 1, u * s], [1, mu, -u * c], [-u * c + mu * u * s, u * s + mu * u * c, -1 / 12]]
        return tuple(np.linalg.solve(lines, [-u * c * w**2, 9.81 - u * s * w**2, 0])[:2])

    known = {"m": 1, "l": 1, "g": 9.81, "mu": 0.2, "F": 0}
    box = {"x": (0, 1), "y": (0, 1), "theta": (0.8, 0.9), "v_theta": (-0.5, -0.1)}
    every = [forces(a, w, 0.2) for a in np.linspace(0.8, 0.9, 21) for w in np.linspace(-0.5, -0.1, 21)]
    for name, values in zip(("floor", "wall"), np.transpose(every), strict=True):
        least, most = values.min(), values.max()
        room = 0.02 * most
        assert zw.guarantee({name: (least - room, most + room)}, ladder(), box, known).status.name == "PROVED"
        for low, high in ((least + room, 100), (-100, most - room)):
            assert zw.guarantee({name: (low, high)}, ladder(), box, known).status.name == "REFUTED"


def feet(mu: float) -> zw.System:
    (x, y, th), (vx, vy, w) = zw.coordinates("x y theta", angles="theta")
    beta = zw.parameters("beta")
    places = [(x + a * sp.cos(th) + sp.sin(th), y + a * sp.sin(th) - sp.cos(th)) for a in (-1, 1)]
    touching = [
        zw.Unilateral(up, friction=zw.Coulomb(mu, slip=zw.rate(along)), restitution=0, name=name)
        for name, (along, up) in zip("ab", places, strict=True)
    ]
    weight = 10 * (y * sp.cos(beta) - x * sp.sin(beta))
    return zw.System(name="feet", kinetic=(vx**2 + vy**2 + w**2) / 2, potential=weight, constraints=touching)


def test_two_feet_that_stick_on_one_floor_have_their_normal_forces_bounded() -> None:
    # At rest the moments about the centre give N_b - N_a = m g sin(beta): each is m g (cos -+ sin)/2.
    known = {"x": 0.0, "y": 1.0, "theta": 0.0, "v_x": 0.0, "v_y": 0.0, "v_theta": 0.0}
    least, most = 5 * (np.cos(0.2) - np.sin(0.2)), 5 * (np.cos(0.1) - np.sin(0.1))
    box = {"beta": (0.1, 0.2)}
    assert zw.guarantee({"a": (least - 1e-3, most + 1e-3)}, feet(0.5), box, known).status.name == "PROVED"
    found = zw.guarantee({"a": (least + 1e-3, most + 1e-3)}, feet(0.5), box, known)
    assert found.status.name == "REFUTED" and found.witness.params["beta"] > 0.199


def test_no_bound_is_proved_where_walls_can_squeeze_without_end() -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    left = zw.Unilateral(x, friction=zw.Coulomb(0.5, slip=vy), restitution=0, name="left")
    right = zw.Unilateral(-x, friction=zw.Coulomb(0.5, slip=vy), restitution=0, name="right")
    gap = zw.System(name="gap", kinetic=(vx**2 + vy**2) / 2, potential=y, constraints=[left, right])
    for given in ({"y": (0, 1)}, {"y": (0, 1), "v_y": (0, 0)}):
        found = zw.guarantee({"left": (0, 100)}, gap, given, {"x": 0.0, "v_x": 0.0}, budget={"steps": 50})
        assert found.status.name != "PROVED"


def test_bounds_of_forces_agree_with_states_that_are_sampled() -> None:
    source = np.random.default_rng(3)
    seen = set()
    for _ in range(6):
        theta, mu, w = source.uniform(0.6, 1.2), source.uniform(0.05, 0.5), source.uniform(-0.4, 0.4)
        box = {"x": (0, 1), "y": (0, 1), "theta": (theta, theta + 0.03), "v_theta": (w, w + 0.03)}
        known = {"m": 1, "l": 1, "g": 9.81, "mu": mu, "F": source.uniform(-3, 3)}
        bounds = (source.uniform(0, 8), source.uniform(10, 16))
        found = zw.guarantee({"floor": bounds}, ladder(), box, known, budget={"steps": 100})
        seen.add(found.status.name)
        for _ in range(6):
            at, turn = source.uniform(theta, theta + 0.03), source.uniform(w, w + 0.03)
            start = {"x": 0.3, "y": 0.3, "theta": at, "v_x": 0.0, "v_y": 0.0, "v_theta": turn}
            state = zw.hold(ladder(), start, known, ["floor", "wall"], fixed=["theta"])
            for solution in zw.reactions(ladder(), state, known).solutions:
                low, high = solution.ranges["floor"]["normal"]
                assert found.status.name != "PROVED" or bounds[0] <= low <= high <= bounds[1]
    assert {"PROVED", "REFUTED"} <= seen


def test_forces_that_are_not_there_or_rub_with_resultants_are_refused_by_name() -> None:
    with pytest.raises(zw.DeclarationError, match="'tip' is not closed"):
        zw.guarantee({"tip": (0, 1)}, ROD.system, {**BOX, "mu": (0, 1)}, KNOWN, closed=[])
    (x, y), (vx, vy) = zw.coordinates("x y")
    guides = [zw.Bilateral(x, name="a"), zw.Bilateral(y, name="b")]
    pin = zw.Friction(0.1, slip=vx, of=["a", "b"], name="pin")
    held = zw.System(name="held", kinetic=(vx**2 + vy**2) / 2, constraints=[*guides, pin])
    with pytest.raises(zw.DeclarationError, match="'pin' rubs with a resultant"):
        zw.guarantee({"a": (0, 1)}, held, {"x": (0, 1), "y": (0, 1)})


@pytest.mark.parametrize(
    ("claim", "status"), [("unique acceleration", "PROVED"), ("some acceleration", "PROVED"), ("must hold", "REFUTED")]
)
def test_systems_without_contacts_are_no_mistake(claim: str, status: str) -> None:
    # A spring pulls at x; on a circle, too, whose row vanishes in the middle of the box, off the circle.
    (x, y), (vx, vy) = zw.coordinates("x y")
    kinetic, potential = (vx**2 + vy**2) / 2, x**2 / 2 + y
    free = zw.System(name="free", kinetic=kinetic, potential=potential)
    circle = free.replace(constraints=[zw.Bilateral(x**2 + y**2 - 1, name="circle")])
    for system in (free, circle):
        box = {"x": (-2, 2), "y": (-2, 2), "v_x": (-1, 1), "v_y": (-1, 1)}
        assert zw.guarantee(claim, system, box).status.name == status


def test_claims_are_taken_as_text() -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    rod = zw.Bilateral((x**2 + y**2 - 1) / 2, name="rod")
    pendulum = zw.System(name="pendulum", kinetic=(vx**2 + vy**2) / 2, potential=10 * y, constraints=[rod])
    box = {"x": (-1.1, 1.1), "y": (-1.1, 1.1), "v_x": (-0.1, 0.1), "v_y": (-0.1, 0.1)}
    for text, status in [
        ("x + y < 1.415", "PROVED"), ("1.41 >= x + y", "REFUTED"), ("-1.01 < x <= 1.01", "PROVED"),
        ("rod < 16", "PROVED"), ("-16 < rod < 16", "PROVED"), ("5 > rod >= -5", "REFUTED"),
    ]:  # fmt: skip
        assert zw.guarantee(text, pendulum, box).status.name == status, text
    for text, words in [("x < y > 0", "point both ways"), ("rod < x", "has numbers on its other sides")]:
        with pytest.raises(zw.DeclarationError, match=words):
            zw.guarantee(text, pendulum, box)


def room_to_hold(theta: np.ndarray, mu: np.ndarray, pull: float) -> np.ndarray:
    """Return the room that statics leaves the friction of the wall, of the ladder with unit mass and length: < 0, none.

    With T the friction of the wall all other forces follow: N_floor = g - T, 2 N_wall = (g - 2 T)/tan(theta) - F,
    T_floor = -F - N_wall. Each condition on them is a + b T >= 0.
    """
    zero, one, cot = np.zeros_like(theta), np.ones_like(theta), 1 / np.tan(theta)
    floor, wall, rub = (9.81 * one, -one), ((9.81 * cot - pull) / 2, -cot), (zero, one)
    along = (-pull - wall[0], -wall[1])
    rows = [floor, wall]
    for normal, tangent in ((floor, along), (wall, rub)):
        rows += [(mu * normal[0] + sign * tangent[0], mu * normal[1] + sign * tangent[1]) for sign in (1, -1)]
    low, high, none = np.full_like(theta, -np.inf), np.full_like(theta, np.inf), np.zeros(theta.shape, dtype=bool)
    for a, b in rows:
        with np.errstate(divide="ignore", invalid="ignore"):
            edge = -a / b
        low, high = np.where(b > 0, np.maximum(low, edge), low), np.where(b < 0, np.minimum(high, edge), high)
        none |= (b == 0) & (a < 0)
    return np.where(none, -np.inf, high - low)


def refuting(source: np.random.Generator, points: int) -> tuple[str, int]:
    """Return what `guarantee` says of a claim in a random box, after a map of states in it was asked to refute it."""
    claim = str(source.choice(["unique acceleration", "some acceleration", "must hold", "can hold", "forces"]))
    system = ROD.system if "acceleration" in claim else ladder()
    low, width = source.uniform(0.3, 1.2), source.uniform(0.02, 0.2)
    top = source.uniform(0.2, 1.8) if system is ROD.system else source.uniform(0.1, 1.6)
    sides = {"theta": (low, low + width), "mu": (max(top - 0.2, 0.0), top)}
    known = dict(KNOWN) if system is ROD.system else {"m": 1, "l": 1, "g": 9.81, "F": source.uniform(-10, 20)}
    closed = [str(item.name) for item in system.constraints]
    bounds = tuple(np.sort(source.uniform(-2, 30, 2)))
    asked = {closed[0]: bounds} if claim == "forces" else claim
    if claim == "forces":
        known["v_theta"] = source.uniform(-1, 1)
    found = zw.guarantee(asked, system, {**BOX, "x": (-2, 2), **sides}, known, budget={"steps": 400})
    values = {name: source.uniform(*pair, points) for name, pair in sides.items()}
    if claim == "can hold":
        room = room_to_hold(values["theta"], values["mu"], known["F"])
        assert not (found.status.name == "PROVED" and (room < -1e-9).any()), (sides, known["F"])
        if found.status.name == "REFUTED":
            at = (np.array([found.witness.state["theta"]]), np.array([found.witness.params["mu"]]))
            assert (room_to_hold(*at, known["F"]) < 0).all(), (sides, known["F"])
        return found.status.name, points
    known["mu"] = values["mu"]
    turning = known.pop("v_theta", 0.0)
    start = {"x": 0.4, "y": 0.4, "theta": values["theta"], "v_x": 0.0, "v_y": 0.0, "v_theta": turning}
    for slip in (-1.0, 0.0, 1.0) if "acceleration" in claim else (None,):
        slips = {} if slip is None else {closed[0]: slip}
        state = zw.hold(system, start, known, closed, fixed=["theta"], slips=slips)
        told = zw.reactions(system, state, known)
        codes = STATUSES[told.codes]
        one = np.isin(codes, ["UNIQUE", "UNIQUE_MOTION"])
        if claim == "unique acceleration":
            bad = ~one & (codes != "UNDECIDED")
        elif claim == "some acceleration":
            bad = codes == "NONE"
        elif claim == "must hold":
            bad = (one & ~told.still) | np.isin(codes, ["NONE", "MULTIPLE"])
        else:
            normal = told.normal[0][codes == "UNIQUE"]
            bad = (normal < bounds[0] - 1e-9) | (normal > bounds[1] + 1e-9)
        assert not (found.status.name == "PROVED" and bad.any()), (claim, sides, known.get("F"))
    return found.status.name, told.codes.size * (3 if "acceleration" in claim else 1)


STATUSES = np.array([item.name for item in zw.results.ReactionsStatus])


def test_states_of_a_map_refute_no_claim_that_is_proved() -> None:
    source = np.random.default_rng(5)
    seen = [refuting(source, 400)[0] for _ in range(15)]
    assert {"PROVED", "REFUTED"} <= set(seen)


@pytest.mark.nightly
def test_a_million_states_refute_no_claim_that_is_proved() -> None:
    source = np.random.default_rng(6)
    points, proved = 0, 0
    while points < 1_000_000:
        status, count = refuting(source, 10_000)
        points, proved = points + count, proved + (status == "PROVED")
    assert proved > 10


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-9])
def test_a_witness_lies_in_its_box_however_small(size: float) -> None:
    (x, y), (v_x, v_y) = zw.coordinates("x y")
    c = zw.parameters("c")
    curve = zw.Bilateral(x**2 - y**2 - c, name="curve")
    hyperbola = zw.System(name="hyperbola", kinetic=(v_x**2 + v_y**2) / 2, constraints=[curve])
    around = {"x": (-size, size), "y": (-size, size)}
    # It is singular at c = 0 alone.
    for low in (1e-3, 1e-7, 1e-11):
        found = zw.guarantee("regular", hyperbola, {**around, "c": (low * size**2, 2 * low * size**2)})
        assert found.status.name != "REFUTED", low
    assert zw.guarantee("regular", hyperbola, {**around, "c": (-(size**2), size**2)}).status.name == "REFUTED"
