"""Maps of reactions: the compiled count against the enumeration state by state, and what happens in a word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from c_backend import on_a_device
from night import by_day
from zwang._kernels import many_reactions
from zwang._reactions import maps

A, H = 0.4, 0.6  # half the base of a block and the height of its centre


def block(feet: tuple[float, ...]) -> zw.System:
    """Return a block on a plane of slope beta, feet at these places of its base."""
    (x, y, phi), (vx, vy, w) = zw.coordinates("x y phi")
    m, g, beta, mu = sp.symbols("m g beta mu", positive=True)
    k = sp.Rational(1, 3)
    contacts = []
    for number, at in enumerate(feet):
        up = y + at * sp.sin(phi) - H * sp.cos(phi)
        slip = vx - w * (at * sp.sin(phi) - H * sp.cos(phi))
        contacts.append(zw.Unilateral(up, friction=zw.Coulomb(mu, slip=slip), name=f"foot {number}"))
    return zw.System(
        name="block",
        coordinates=[x, y, phi],
        kinetic=m * (vx**2 + vy**2 + k * w**2) / 2,
        forces={x: m * g * sp.sin(beta), y: -m * g * sp.cos(beta)},
        constraints=contacts,
    )


REST = {"x": 0.0, "y": H, "phi": 0.0, "v_x": 0.0, "v_y": 0.0, "v_phi": 0.0}
PARAMS = {"m": 2.0, "g": 9.81}


def no_exact(*_: object) -> None:
    raise AssertionError("a state was left to the exact enumeration")


@pytest.mark.parametrize("feet", [(-A, A), (-A, 0.1, A), (-A, -0.1, 0.2, A)])
def test_a_block_holds_slides_or_tips_as_statics_says(feet: tuple[float, ...]) -> None:
    slope, rough = np.linspace(0.02, 1.2, 23)[:, None], np.linspace(0.05, 1.5, 19)
    found = zw.reactions(block(feet), REST, {**PARAMS, "beta": slope, "mu": rough})
    steep = np.tan(slope)
    holds = (steep < rough) & (steep < A / H)
    assert (found.kinds[holds] == "holds").all()
    assert not (found.kinds[~holds] == "holds").any()
    # It slides upright where friction is spent before its force passes the lower edge.
    slides = (steep > rough) & (rough + 0 * slope < A / H)
    assert (found.kinds[slides] == "slides").all()
    along = 9.81 * (np.sin(slope) - rough * np.cos(slope))
    assert found.accelerations[0][slides] == pytest.approx(np.broadcast_to(along, slides.shape)[slides], rel=1e-12)
    assert (found.kinds[(steep > A / H) & (rough > steep)] == "tips").all()
    assert found.shares().keys() <= {"UNIQUE", "UNIQUE_MOTION"}
    assert set(found.codes[holds]) == {[s.name for s in zw.results.ReactionsStatus].index("UNIQUE_MOTION")}


@pytest.mark.parametrize("feet", [(-A, A), (-A, 0.1, A)])
def test_the_compiled_count_is_that_of_single_states(feet: tuple[float, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(len(feet))
    count, system = 40, block(feet)
    varied = {"beta": rng.uniform(-1.2, 1.2, count), "mu": rng.uniform(0, 1.5, count)}
    speed = np.where(rng.uniform(size=count) < 0.5, 0.0, rng.normal(size=count))
    with monkeypatch.context() as patch:
        patch.setattr(maps, "_write", no_exact)
        found = zw.reactions(system, {**REST, "v_x": speed}, {**PARAMS, **varied})
    for k in range(count):
        one = {name: float(array[k]) for name, array in varied.items()}
        alone = zw.reactions(system, {**REST, "v_x": float(speed[k])}, {**PARAMS, **one})
        assert (found.status[k], found.counts[k]) == (alone.status, len(alone.accelerations)), (k, one)
        if found.counts[k] == 1:
            solution = alone.solutions[0]
            assert found.accelerations[:, k] == pytest.approx(solution.acceleration, abs=1e-9)
            if alone.status.name == "UNIQUE":
                assert found.normal[:, k] == pytest.approx(solution.normal, abs=1e-8)
                assert found.tangential[:, k] == pytest.approx(solution.tangential, abs=1e-8)
                assert tuple(found.modes[:, k]) == tuple(map(int, solution.modes.codes))


def test_forces_that_are_not_determined_satisfy_the_laws_all_the_same() -> None:
    found = zw.reactions(block((-A, 0.1, A)), REST, {**PARAMS, "beta": 0.2, "mu": np.linspace(0.3, 1, 7)})
    assert found.shares() == {"UNIQUE_MOTION": 7}
    weight = 2 * 9.81
    assert found.normal.sum(axis=0) == pytest.approx(weight * np.cos(0.2), rel=1e-12)
    assert found.tangential.sum(axis=0) == pytest.approx(-weight * np.sin(0.2), rel=1e-12)
    assert (np.abs(found.tangential) < np.linspace(0.3, 1, 7) * found.normal).all()


@pytest.mark.parametrize("feet", [(-A, A), (-A, 0.1, A), (-A, -0.1, 0.1, A)])
def test_ranges_of_a_map_are_those_of_single_states(feet: tuple[float, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(len(feet))
    params = {**PARAMS, "beta": rng.uniform(-0.5, 0.5, 40), "mu": rng.uniform(0.1, 1.0, 40)}
    found = zw.reactions(block(feet), REST, params)

    def asked(*_: object) -> None:
        raise AssertionError("a state was asked by itself")

    monkeypatch.setattr("zwang._reactions.map_ranges._asked", asked)
    assert found.ranges.keys() == found.contacts
    wide = 0
    for k in range(40):
        one = zw.reactions(block(feet), REST, {name: np.resize(value, 40)[k] for name, value in params.items()})
        for name in found.contacts:
            for part in ("normal", "tangential"):
                low, high = (float(item[k]) for item in found.ranges[name][part])
                if one.status.name not in ("UNIQUE", "UNIQUE_MOTION"):
                    assert np.isnan([low, high]).all()
                    continue
                expected = [item.ranges[name][part] for item in one.solutions]
                assert low == pytest.approx(min(pair[0] for pair in expected), abs=1e-8)
                assert high == pytest.approx(max(pair[1] for pair in expected), abs=1e-8)
                wide += high > low + 1e-6
    assert wide > 10


def test_ranges_without_bound_and_of_what_takes_no_part() -> None:
    ladder = zw.gallery.get("ladder")  # rough enough, it can be jammed between wall and floor
    lean = np.array([2.0, 2.6])
    state = {**ladder.state, "theta": lean, "x": -2 * ladder.params["l"] * np.cos(lean)}
    found = zw.reactions(ladder.system, state, {**ladder.params, "mu": 2.5, "mu_wall": 2.5})
    low, high = found.ranges["wall"]["normal"]
    assert np.isfinite(low).all() and np.isinf(high).all()
    lifted = zw.reactions(block((-A, A)), {**REST, "y": np.array([H, H + 1])}, {**PARAMS, "beta": 0.1, "mu": 0.9})
    assert [float(item[1]) for item in lifted.ranges["foot 0"]["normal"]] == [0.0, 0.0]


def test_a_saved_map_says_that_its_ranges_are_to_be_asked_again(tmp_path: Path) -> None:
    found = zw.reactions(block((-A, A)), REST, {**PARAMS, "beta": np.array([0.1, 0.2]), "mu": 0.5})
    again = zw.load_result(found.save(tmp_path / "map.npz"))
    with pytest.raises(zw.DeclarationError, match=r"has its forces and not its system: ask reactions again"):
        again.ranges


def test_a_ladder_over_its_angle_and_friction_is_counted_without_single_states(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(maps, "_write", no_exact)
    entry = zw.gallery.get("ladder")
    theta = np.linspace(1.7, 2.9, 25)[:, None]
    state = {**entry.state, "theta": theta, "x": -2 * entry.params["l"] * np.cos(theta)}
    mu = np.linspace(0.1, 1.2, 21)
    found = zw.reactions(entry.system, state, {**entry.params, "mu": mu, "mu_wall": 0.0})
    # Without friction at the wall a uniform ladder holds where the floor's friction covers cot(angle) / 2.
    needed = 0.5 / np.abs(np.tan(np.pi - theta))
    assert (found.kinds[needed < mu] == "holds").all()
    assert (found.kinds[needed > mu] == "slides").all()


def test_states_that_violate_and_states_without_solution_have_their_words() -> None:
    rod = zw.gallery.get("painleve_rod")
    found = zw.reactions(rod.system, {**rod.state, "y": np.array([rod.state["y"], -1.0])}, {**rod.params, "mu": 1.4})
    assert found.kinds.tolist() == ["none", "inadmissible"]
    assert np.isnan(found.accelerations).all()
    assert (found.modes == -1).all()


def test_maps_keep_what_they_hold_in_files(tmp_path: Path) -> None:
    found = zw.reactions(block((-A, A)), REST, {**PARAMS, "beta": np.linspace(0.1, 1, 5), "mu": 0.4})
    again = zw.load_result(found.save(tmp_path / "map.npz"))
    assert again.contacts == ("foot 0", "foot 1")
    assert again.kinds.tolist() == found.kinds.tolist()
    assert again.normal.tobytes() == found.normal.tobytes()


def test_pictures_say_what_happens() -> None:
    pytest.importorskip("matplotlib")
    found = zw.reactions(
        block((-A, A)), REST, {**PARAMS, "beta": np.linspace(0.1, 1, 9)[:, None], "mu": np.linspace(0.1, 1, 8)}
    )
    words = [text.get_text() for text in found.plot(what="kinds").get_legend().get_texts()]
    assert words == ["holds", "slides", "tips"]
    with pytest.raises(zw.DeclarationError, match="what= must be 'counts' or 'kinds'; it was given 'kind'"):
        found.plot(what="kind")


def varied_maps() -> dict[str, tuple[zw.System, dict, dict]]:
    """Return maps with every kind of contact: several feet at rest or sliding, none and several, two-sided, bounded."""
    rng = np.random.default_rng(8)
    count = 90
    slopes = {"beta": rng.uniform(-1.2, 1.2, count), "mu": rng.uniform(-0.1, 1.5, count)}
    moved = {"v_x": np.where(rng.uniform(size=count) < 0.5, 0.0, rng.normal(size=count))}
    rod, belt = (zw.gallery.get(name) for name in ("painleve_rod", "belt_block"))
    theta = rng.uniform(0.2, 2.9, count)
    places = {"theta": theta, "x": np.cos(theta), "y": np.sin(theta), "v_theta": rng.normal(size=count)}
    places |= {"v_y": places["v_theta"] * np.cos(theta), "v_x": rng.normal(size=count)}
    (x, y), (v, v_y) = zw.coordinates("x y")
    push, lift, mu = sp.symbols("push lift mu")
    pushed = {"kinetic": v**2, "forces": {x: push}}
    rub = zw.Friction(2, slip=v, name="rub")
    held = zw.Bilateral(y, friction=zw.Coulomb(mu, slip=v + y * v_y), name="rail")
    dry = zw.System(name="dry", coordinates=[x], constraints=[rub], **pushed)
    loads = {"kinetic": v**2 + v_y**2 + v * v_y, "forces": {x: push, y: lift}}
    rail = zw.System(name="rail", coordinates=[x, y], constraints=[held], **loads)
    forces, sliding = {"push": rng.uniform(-4, 4, count)}, {"v_x": np.where(rng.uniform(size=count) < 0.5, 0.0, 1.0)}
    return {
        "two feet": (block((-A, A)), {**REST, **moved}, {**PARAMS, **slopes}),
        "three feet": (block((-A, 0.1, A)), {**REST, **moved}, {**PARAMS, **slopes}),
        "rod": (rod.system, {**rod.state, **places}, {**rod.params, "mu": rng.uniform(0.1, 2.5, count)}),
        "belt": (belt.system, belt.state, {**belt.params, "m": rng.uniform(0.1, 2, count)}),
        "rail": (
            rail,
            {"x": 0.0, "y": 0.0, "v_y": 0.0, **sliding},
            {**forces, "lift": rng.normal(size=count), "mu": 0.4},
        ),
        "dry": (dry, {"x": 0.0, **sliding}, forces),
    }


@pytest.mark.parametrize("device", ["lanes in c", "cuda"])
@pytest.mark.parametrize(
    "name", by_day(["two feet", "three feet", "rod", "belt", "rail", "dry"], ["three feet", "rod", "rail"])
)
def test_maps_on_a_device_are_those_of_the_processor(device: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    system, state, params = varied_maps()[name]
    expected = zw.reactions(system, state, params)
    monkeypatch.setattr(many_reactions, "NUMBERS", 3000)  # several portions
    monkeypatch.setattr(many_reactions, "LANES", 7)
    found = zw.reactions(zw.compile(system, on_a_device(device)), state, params)
    assert found.codes.tolist() == expected.codes.tolist()
    assert found.counts.tolist() == expected.counts.tolist()
    assert found.kinds.tolist() == expected.kinds.tolist()
    assert found.modes.tolist() == expected.modes.tolist()
    for one, other in ((found.accelerations, expected.accelerations), (found.normal, expected.normal)):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    assert found.residual < 1e-12
    assert found.provenance.backend == device


def rod_in_space() -> zw.System:
    """Return a uniform rod of half length l, inclination theta, azimuth psi, whose lower tip touches the floor."""
    (x, y, z, th, ps), (vx, vy, vz, vth, vps) = zw.coordinates("x y z theta psi", angles="theta psi")
    m, length, g, mu = zw.parameters("m l g mu")
    tip = sp.Matrix(
        [x - length * sp.cos(th) * sp.cos(ps), y - length * sp.cos(th) * sp.sin(ps), z - length * sp.sin(th)]
    )
    kinetic = m * (vx**2 + vy**2 + vz**2) / 2 + m * length**2 * (vth**2 + sp.cos(th) ** 2 * vps**2) / 6
    slip = zw.rate(tip)
    floor = zw.Unilateral(tip[2], friction=zw.Coulomb(mu, slip=(slip[0], slip[1])), restitution=0, name="tip")
    return zw.System(name="rod in space", kinetic=kinetic, potential=m * g * z, constraints=[floor])


def falling_disc() -> zw.System:
    """Return a thin disc of radius R, inclination theta, whose lowest point touches the floor."""
    (_, _, z, psi, theta, _), (vx, vy, vz, vpsi, vtheta, vphi) = zw.coordinates(
        "x y z psi theta phi", angles="psi theta phi"
    )
    m, R, g, mu = zw.parameters("m R g mu")
    uphill = sp.Matrix([-sp.sin(psi) * sp.cos(theta), sp.cos(psi) * sp.cos(theta), sp.sin(theta)])
    turning = (vtheta, vpsi * sp.sin(theta), vphi + vpsi * sp.cos(theta))
    kinetic = m * (vx**2 + vy**2 + vz**2) / 2
    kinetic += m * R**2 * (turning[0] ** 2 + turning[1] ** 2 + 2 * turning[2] ** 2) / 8
    along = sp.Matrix([sp.cos(psi), sp.sin(psi), 0])
    spin = turning[0] * along + turning[1] * uphill + turning[2] * along.cross(uphill)
    speed = sp.Matrix([vx, vy, vz]) - spin.cross(R * uphill)
    law = zw.Coulomb(mu, slip=(sp.expand(speed[0]), sp.expand(speed[1])))
    rim = zw.Unilateral(z - R * sp.sin(theta), friction=law, restitution=0, name="rim")
    return zw.System(name="falling disc", kinetic=kinetic, potential=m * g * z, constraints=[rim])


def expected_counts(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the number of accelerations of one sliding contact, whose gap accelerates by A N + b."""
    return np.where(A < 0, np.where(b > 0, 2, 0), 1)


def test_a_rod_in_space_has_no_reaction_or_two_where_the_closed_form_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tip slides at an angle to the rod, which turns about the vertical; no state is asked singly."""
    monkeypatch.setattr("zwang._reactions.maps._write", None)
    mu, turn, side = np.meshgrid(np.linspace(0.11, 4, 23), np.linspace(0.05, 8, 21), [0.0, 0.9, 2.2], indexing="ij")
    th = np.pi / 3
    c, s = np.cos(th), np.sin(th)
    state = {"x": 0.0, "y": 0.0, "z": s, "theta": th, "psi": 0.0, "v_z": 0.0, "v_theta": 0.0, "v_psi": turn}
    state |= {"v_x": -np.cos(side), "v_y": np.sin(side) + c * turn}  # the slip is (-cos(side), sin(side))
    found = zw.reactions(rod_in_space(), state, {"m": 1.0, "l": 1.0, "g": 9.81, "mu": mu})
    # m A = 1 + 3 c^2 - 3 mu s c cos(side): the row of the gap meets the slip along the rod alone.
    A, b = 1 + 3 * c**2 - 3 * mu * s * c * np.cos(side), -9.81 + s * c**2 * turn**2
    assert (found.counts == expected_counts(A, b)).all() and set(np.unique(found.counts)) == {0, 1, 2}


def test_a_falling_disc_has_no_reaction_or_two_where_the_closed_form_says() -> None:
    mu, turn = np.meshgrid(np.linspace(0.11, 4, 31), np.linspace(0.05, 12, 29), indexing="ij")
    th, R = 1.0, 0.5
    c, s = np.cos(th), np.sin(th)
    # It turns about the vertical; the centre moves so that the lowest point slides downhill.
    state = {"x": 0.0, "y": 0.0, "z": R * s, "psi": 0.0, "theta": th, "phi": 0.0}
    state |= {"v_x": -R * turn * c, "v_y": -1.0, "v_z": 0.0, "v_psi": turn, "v_theta": 0.0, "v_phi": 0.0}
    found = zw.reactions(falling_disc(), state, {"m": 1.0, "R": R, "g": 9.81, "mu": mu})
    # J = m R^2/4 about diameters, 2 J about the axis: J theta'' = J turn^2 s c - 2 J turn^2 c s.
    A, b = 1 + 4 * c**2 - 4 * mu * s * c, -9.81 + R * c * (s * c * turn**2)
    assert (found.counts == expected_counts(A, b)).all() and set(np.unique(found.counts)) == {0, 1, 2}


def test_maps_in_space_hold_what_single_states_say() -> None:
    mu = np.linspace(0.2, 2.2, 5)
    state = {"x": 0.0, "y": 0.0, "z": np.sin(1.0), "theta": 1.0, "psi": 0.3, "v_z": 0.0, "v_theta": 0.0, "v_psi": 0.0}
    params = {"m": 1.0, "l": 1.0, "g": 9.81}
    for slide in (0.7, 0.0):  # sliding, and at rest, where the direction of the slip is not known
        found = zw.reactions(rod_in_space(), {**state, "v_x": slide, "v_y": 0.0}, {**params, "mu": mu})
        for k, one in enumerate(mu):
            alone = zw.reactions(rod_in_space(), {**state, "v_x": slide, "v_y": 0.0}, {**params, "mu": one})
            assert found.status[k] is alone.status and found.counts[k] == len(alone.accelerations)
            if found.counts[k] == 1:
                assert found.normal[0, k] == pytest.approx(alone.solutions[0].normal[0])
                assert found.modes[0, k] == int(alone.solutions[0].modes.codes[0])
