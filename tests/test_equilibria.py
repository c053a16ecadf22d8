"""Equilibria: closed forms of points, intervals with friction, branches with folds, crossings and Hopf points."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner

import zwang as zw
from night import by_day
from zwang.cli import main

(PHI,), (W_PHI,) = zw.coordinates("phi", angles="phi")
R, G, RATE = zw.parameters("r g w")
HOOP = zw.System(
    name="hoop", kinetic=R**2 * (W_PHI**2 + RATE**2 * sp.sin(PHI) ** 2) / 2, potential=-G * R * sp.cos(PHI)
)
(X, Y), (VX, VY) = zw.coordinates("x y")


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


LADDER_BOX = {"x": (0, 1), "y": (0, 1), "theta": (0.05, 1.5)}


def test_a_bead_on_a_turning_hoop_has_four_equilibria_and_two_are_stable_by_energy() -> None:
    found = zw.equilibria(HOOP, {"r": 1, "g": 9.81, "w": 4}, search="exhaustive")
    # cos(phi) = g/(r w^2).
    side = np.arccos(9.81 / 16)
    assert [point.state["phi"] for point in found.points] == pytest.approx([-side, 0, side, np.pi], abs=1e-12)
    words = [point.stability for point in found.points]
    assert words == ["stable (energy)", "unstable (linear)", "stable (energy)", "unstable (linear)"]
    assert {point.holds for point in found.points} == {"must"}
    assert found.complete and found.status.name == "FOUND" and found.residual < 1e-12


def test_the_bottom_of_the_hoop_loses_its_stability_at_a_crossing() -> None:
    found = zw.equilibria(HOOP, {"r": 1, "g": 9.81}, vary=RATE, within=(1, 5), search="exhaustive")
    assert [item.value for item in found.crossings] == pytest.approx([np.sqrt(9.81)], abs=1e-9)
    assert found.complete and not found.folds and not found.hopfs
    bottom = [branch for branch in found.branches if np.abs(np.sin(branch.positions)).max() < 1e-9]
    words = {word for branch in bottom if abs(np.cos(branch.positions[0, 0]) - 1) < 1e-9 for word in branch.stability}
    assert words == {"stable (energy)", "unstable (linear)"}


@pytest.mark.parametrize(("size", "off"), [(1.0, 0.1), (1e-3, 0.3)])
def test_stability_is_decided_where_every_force_vanishes_with_the_coordinates(size: float, off: float) -> None:
    k, c = zw.parameters("k c")
    box = {"x": (-size, (1 + off) * size), "y": (-size, (1 + 2 * off) * size)}
    damping = {X: -c * VX, Y: -c * VY}
    for sign, forces, word in (
        (1, {}, "stable (energy)"),
        (1, damping, "stable (energy)"),
        (-1, {}, "unstable (linear)"),
    ):
        system = zw.System(name="s", kinetic=(VX**2 + VY**2) / 2, potential=k * (X**2 + sign * 2 * Y**2) / 2,
                           forces=forces)  # fmt: skip
        found = zw.equilibria(system, {"k": 3, **({"c": 0.2} if forces else {})}, box=box)
        assert [point.stability for point in found.points] == [word], found.points[0].reason


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
@pytest.mark.parametrize("room", [3.0, 1e3, 1e6])
@pytest.mark.parametrize("search", ["sampled", "exhaustive"])
def test_boxes_of_any_size_and_any_units_show_the_same_equilibria(unit: float, room: float, search: str) -> None:
    k, a = zw.parameters("k a")
    box = {"x": (-0.6 * room * unit, room * unit)}
    for stiffness in (1.0, 1e6, 1e-6):
        spring = zw.System(name="spring", kinetic=VX**2 / 2, potential=k * X**2 / 2, coordinates=(X,))
        found = zw.equilibria(spring, {"k": stiffness}, box=box, search=search)
        assert [point.state["x"] for point in found.points] == [0.0] and found.points[0].stability == "stable (energy)"
        wells = zw.System(
            name="wells", kinetic=VX**2 / 2, potential=k * (X**4 / (4 * a**2) - X**2 / 2), coordinates=(X,)
        )
        found = zw.equilibria(wells, {"k": stiffness, "a": unit}, box=box, search=search)
        assert [point.state["x"] / unit for point in found.points] == pytest.approx([-1, 0, 1], abs=1e-12)
        words = [point.stability for point in found.points]
        assert words == ["stable (energy)", "unstable (linear)", "stable (energy)"]
        assert found.complete == (search == "exhaustive"), found.notes


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
def test_constraints_in_wide_boxes_and_rare_saddles_are_found(unit: float) -> None:
    L, a, k, load = zw.parameters("L a k P")
    rod = zw.Bilateral(X**2 + Y**2 - L**2, name="rod")
    pendulum = zw.System(name="pendulum", kinetic=(VX**2 + VY**2) / 2, potential=9.81 * Y, constraints=[rod])
    for room in (1e3, 1e6):
        box = {"x": (-room * unit, room * unit), "y": (-0.6 * room * unit, room * unit)}
        found = zw.equilibria(pendulum, {"L": 1.3 * unit}, box=box)
        assert [point.state["y"] / unit for point in found.points] == pytest.approx([-1.3, 1.3], abs=1e-10)
    bars = [sp.sqrt((X + side * a) ** 2 + Y**2) for side in (1, -1)]
    potential = sum(k * (bar - L) ** 2 / 2 for bar in bars) + load * Y
    truss = zw.System(name="truss", kinetic=(VX**2 + VY**2) / 2, potential=potential)
    values = {"a": unit, "L": 1.3 * unit, "k": 3, "P": 0.1 * unit}
    found = zw.equilibria(truss, values, box={"x": (-8 * unit, 8 * unit), "y": (-8 * unit, 8 * unit)})
    # Upright 6 y (1 - 1.3/sqrt(1 + y^2)) = -0.1 has three roots; sideways there are two more.
    upright = sorted(point.state["y"] / unit for point in found.points if abs(point.state["x"]) < 1e-9 * unit)
    assert len(found.points) == 5 and len(upright) == 3
    assert [6 * y * (1 - 1.3 / np.hypot(1, y)) for y in upright] == pytest.approx([-0.1] * 3, abs=1e-12)


def test_what_is_undecided_says_why() -> None:
    k, a = zw.parameters("k a")
    away = zw.System(name="away", kinetic=VX**2 / 2, potential=k * (X - a) ** 2 / 2, coordinates=(X,))
    found = zw.equilibria(away, {"k": 1, "a": 5}, box={"x": (-1, 1)})
    assert found.status.name == "UNDECIDED" and "none within the box" in found.reason and found.reason in repr(found)
    never = zw.System(name="never", kinetic=VX**2 / 2, potential=k * sp.exp(X), coordinates=(X,))
    found = zw.equilibria(never, {"k": 1}, box={"x": (-1, 1)})
    assert found.status.name == "UNDECIDED" and "which is no proof" in found.reason


def test_a_truss_snaps_at_the_load_of_its_closed_form() -> None:
    a, rest, k, m, load = zw.parameters("a L0 k m P")
    bars = [sp.sqrt((X + side * a) ** 2 + Y**2) for side in (1, -1)]
    potential = sum(k * (bar - rest) ** 2 / 2 for bar in bars) + load * Y
    truss = zw.System(name="truss", kinetic=m * (VX**2 + VY**2) / 2, potential=potential)
    values = {"a": 1, "L0": 1.3, "k": 1, "m": 1}
    found = zw.equilibria(truss, values, vary="P", within=(-2, 2), box={"x": (-0.5, 0.5), "y": (-2, 2)})
    snap = 2 * (1.3 ** (2 / 3) - 1) ** 1.5
    assert [item.value for item in found.folds] == pytest.approx([-snap, snap], abs=1e-9)


@pytest.mark.parametrize(("a", "slender", "k"), by_day([(1.0, 2.7, 3.0), (0.7, 2.62, 2.0), (1.0, 2.59, 1.0)], []))
def test_a_slender_truss_sways_before_it_snaps(a: float, slender: float, k: float) -> None:
    # Sway: l^3 = L0 (l^2 - a^2) for bars of length l, two places above L0 = 3 sqrt(3)/2 a, none below.
    rest = slender * a
    half, length, stiffness, load = zw.parameters("a L0 k P")
    bars = [sp.sqrt((X + side * half) ** 2 + Y**2) for side in (1, -1)]
    potential = sum(stiffness * (bar - length) ** 2 / 2 for bar in bars) + load * Y
    truss = zw.System(name="truss", kinetic=(VX**2 + VY**2) / 2, potential=potential)
    snap = 2 * k * (rest ** (2 / 3) - a ** (2 / 3)) ** 1.5
    values = {"a": a, "L0": rest, "k": k}
    box = {"x": (-0.9 * a, 0.9 * a), "y": (-1.2 * rest, 1.2 * rest)}
    found = zw.equilibria(truss, values, vary="P", within=(0, 1.2 * snap), box=box)
    assert found.status.name == "FOUND", found.reason
    bars_at = np.roots([1, -rest, 0, rest * a * a])
    real = np.sort(bars_at[np.abs(bars_at.imag) < 1e-9].real)
    real = real[real > a]
    sways = sorted(2 * k * np.sqrt(one**2 - a * a) * (rest / one - 1) for one in real)
    assert len(sways) == (2 if slender > 1.5 * np.sqrt(3) else 0)
    assert sorted(item.value for item in found.crossings) == pytest.approx(sways, rel=1e-9)
    assert [item.value for item in found.folds] == pytest.approx([snap], rel=1e-9)


@pytest.mark.parametrize("within", by_day([[-1.0, 1.0], [-3.0, 1.0], [-0.7, 1.3]], [[-1.0, 1.0]]))
def test_places_that_fall_on_a_sample_of_the_range_are_found(within) -> None:
    # Van der Pol's oscillator loses its damping at m = 0; x^3/3 - m x has two rests from m = 0 on.
    ((x,), (v,)), m = zw.coordinates("x"), zw.parameters("m")
    oscillator = zw.System(name="oscillator", kinetic=v**2 / 2, potential=x**2 / 2, forces={x: (m - x**2) * v})
    for system, what in ((oscillator, "hopfs"), (oscillator.replace(potential=x**3 / 3 - m * x, forces={}), "folds")):
        found = zw.equilibria(system, {}, box={x: (-0.9, 0.9)}, vary=m, within=tuple(within))
        assert [one.value for one in getattr(found, what)] == pytest.approx([0.0], abs=1e-9)


@pytest.mark.parametrize(("mass", "second"), [(1.0, 1.0), (1e6, 1.0), (1e-6, 1e3), (1e6, 1e-3)])
def test_a_governor_hunts_from_the_damping_of_its_closed_form_on(mass: float, second: float) -> None:
    (ph, _), (vph, om) = zw.coordinates("ph th", angles="ph th")
    n, g, b, m, J, k, F = zw.parameters("n g b m J k F")
    force = [n**2 * om**2 * sp.sin(ph) * sp.cos(ph) - g * sp.sin(ph) - b / m * vph, k * sp.cos(ph) - F]
    governor = zw.System(name="governor", mass=sp.diag(1, J), force=force)
    load = mass / second**2
    values = {"n": 1, "g": 9.81 / second**2, "m": mass, "J": mass, "k": 2 * load, "F": load}
    damping, box = mass / second, {"v_th": (0.5 / second, 9 / second), "ph": (0, 3)}
    found = zw.equilibria(governor, values, steady=("th",), vary="b", within=(0.1 * damping, damping), box=box)
    assert len(found.hopfs) == 1
    hopf = found.hopfs[0]
    # b J/m = 2 F/w_0 (Vyshnegradsky), with cos(ph) = F/k and w_0^2 = g/(n^2 cos(ph)).
    assert hopf.value == pytest.approx(2 / np.sqrt(9.81 * 2) * damping, rel=1e-8)
    assert hopf.state["v_th"] == pytest.approx(np.sqrt(9.81 * 2) / second, rel=1e-10)
    assert found.status.name == "FOUND" and len(found.branches) == 1
    assert found.branches[0].positions[:, 1] == pytest.approx(np.sqrt(9.81 * 2) / second, rel=1e-9)
    damped = zw.equilibria(governor, {**values, "b": damping}, steady=["th"], box=box)
    assert [point.stability for point in damped.points] == ["asymptotically stable (linear)"]


def test_a_ladder_holds_from_the_angle_of_its_closed_form_on() -> None:
    found = zw.equilibria(ladder(), {"m": 1, "l": 1, "g": 9.81, "mu": 0.3, "F": 0}, box=LADDER_BOX)
    assert len(found.intervals) == 1
    start, end = sorted(found.intervals[0], key=lambda state: state["theta"])
    # tan(theta) >= (1 - mu^2)/(2 mu) with the same friction at both ends.
    assert start["theta"] == pytest.approx(np.arctan((1 - 0.09) / 0.6), abs=1e-10)
    assert end["theta"] == pytest.approx(1.5, abs=1e-9)
    assert found.intervals[0].holds == "must" and found.intervals[0].closed == ("floor", "wall")


def test_a_pulled_ladder_may_hold_and_may_fall() -> None:
    box = {**LADDER_BOX, "theta": (0.75, 0.85)}
    found = zw.equilibria(ladder(), {"m": 1, "l": 1, "g": 9.81, "mu": 1.5, "F": 2 * 9.81}, box=box)
    assert [interval.holds for interval in found.intervals] == ["may"]


def test_friction_in_a_bowl_holds_an_interval() -> None:
    (s,), (v,) = zw.coordinates("s")
    mu = zw.parameters("mu")
    bowl = zw.System(
        name="bowl", kinetic=v**2 / 2, potential=5 * s**2, constraints=[zw.Friction(mu, slip=v, name="rubber")]
    )
    found = zw.equilibria(bowl, {"mu": 0.5}, box={"s": (-1, 1)})
    ends = sorted(state["s"] for state in found.intervals[0])
    assert ends == pytest.approx([-0.05, 0.05], abs=1e-12) and found.intervals[0].holds == "must"


def test_constraints_and_contacts_give_their_multipliers() -> None:
    rod = zw.Bilateral(X**2 + Y**2 - 1, name="rod")
    pendulum = zw.System(name="pendulum", kinetic=(VX**2 + VY**2) / 2, potential=9.81 * Y, constraints=[rod])
    found = zw.equilibria(pendulum, box={"x": (-2, 2), "y": (-2, 2)}, search="exhaustive")
    by_height = {round(point.state["y"]): point for point in found.points}
    # Q + lam w = 0: -g + 2 lam y = 0.
    assert by_height[-1].reactions["rod"] == pytest.approx(-9.81 / 2, abs=1e-9)
    assert by_height[-1].stability == "stable (energy)" and by_height[1].stability == "unstable (linear)"
    assert found.complete and len(found.points) == 2
    bowl = zw.Unilateral(Y - X**2, name="bowl")
    ball = zw.System(name="ball", kinetic=(VX**2 + VY**2) / 2, potential=9.81 * Y, constraints=[bowl])
    (point,) = zw.equilibria(ball, box={"x": (-2, 2), "y": (-2, 2)}).points
    assert (point.state["x"], point.reactions["bowl"]) == pytest.approx((0, 9.81), abs=1e-9)
    none = zw.equilibria(
        pendulum.replace(potential=9.81 * Y + 100 * X), box={"x": (2, 3), "y": (-2, 2)}, search="exhaustive"
    )
    assert none.status.name == "NONE" and none.complete


def test_a_conical_pendulum_turns_steadily_and_its_amended_potential_is_least() -> None:
    (th, _), (vth, vps) = zw.coordinates("th ps", angles="th ps")
    kinetic = (vth**2 + sp.sin(th) ** 2 * vps**2) / 2
    conical = zw.System(name="conical", kinetic=kinetic, potential=-9.81 * sp.cos(th))
    found = zw.equilibria(conical, steady={"ps": 4.0}, box={"th": (0.2, 2.0)})
    (point,) = found.points
    assert np.cos(point.state["th"]) == pytest.approx(9.81 / 16, abs=1e-10)
    assert point.stability == "stable (energy)" and "amended" in point.reason
    with pytest.raises(zw.DeclarationError, match="its momentum is conserved"):
        zw.equilibria(conical, steady=("ps",))


def test_random_potentials_have_the_zeros_that_numpy_finds() -> None:
    source = np.random.default_rng(4)
    (s,), (v,) = zw.coordinates("s")
    for _ in range(3):
        polynomial = np.polynomial.Polynomial.fromroots(np.sort(source.uniform(-1, 1, 4)))
        c = polynomial.coef
        slope = sum(float(c[k]) * s**k for k in range(len(c)))
        system = zw.System(name="line", kinetic=v**2 / 2, potential=sp.integrate(slope, s))
        found = zw.equilibria(system, box={"s": (-2, 2)}, search="exhaustive")
        assert [point.state["s"] for point in found.points] == pytest.approx(np.sort(polynomial.roots().real), abs=1e-8)
        # Minima and maxima of a quintic that falls from minus infinity follow each other.
        stable = [point.stability == "stable (energy)" for point in found.points]
        assert stable == [float(polynomial.deriv()(point.state["s"])) > 0 for point in found.points]


def test_equilibria_are_saved_drawn_and_asked_on_the_command_line(tmp_path) -> None:
    found = zw.equilibria(HOOP, {"r": 1, "g": 9.81, "w": 4})
    found.save(tmp_path / "e.npz")
    read = zw.load_result(tmp_path / "e.npz")
    assert read.points[0].state == found.points[0].state and repr(read) == repr(found)
    found.plot()
    HOOP.save(tmp_path / "hoop.toml", params={"r": 1, "g": 9.81, "w": 4})
    run = CliRunner()
    done = run.invoke(main, ["equilibria", str(tmp_path / "hoop.toml"), "--json"])
    assert done.exit_code == 0 and '"stable (energy)"' in done.output, done.output
    picture = str(tmp_path / "b.png")
    done = run.invoke(main, ["equilibria", str(tmp_path / "hoop.toml"), "--vary", "w=1:5", "--plot", picture])
    assert done.exit_code == 0 and "crossing" in done.output, done.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"search": "luck"}, "search= must be"),
        ({"vary": "z", "within": (0, 1)}, "which is no parameter"),
        ({"within": (0, 1)}, "within= goes with vary="),
        ({"vary": "w", "within": (1, 1)}, "low < high"),
        ({"vary": "w", "within": 3}, "needs \\(low, high\\)"),
        ({"steady": ("z",)}, "which is no coordinate"),
        ({"steady": ("phi",)}, "it is not cyclic"),
        ({"box": {"z": (0, 1)}}, "which is no coordinate"),
    ],
)
def test_mistakes_are_named(options, words: str) -> None:
    with pytest.raises(zw.DeclarationError, match=words):
        zw.equilibria(HOOP, {"r": 1, "g": 9.81, **({} if "vary" in options else {"w": 4})}, **options)


def test_nothing_rests_that_depends_on_time() -> None:
    with pytest.raises(zw.DeclarationError, match="depends on time"):
        zw.equilibria(HOOP.replace(potential=sp.sin(zw.t) * sp.cos(PHI)), {"r": 1, "w": 4})
    with pytest.raises(zw.DeclarationError, match="needs a System"):
        zw.equilibria("hoop")


# Regions with two freedoms.
@pytest.mark.parametrize("planar", [True, False])
def test_friction_with_two_freedoms_holds_the_region_of_its_closed_form(planar: bool, monkeypatch) -> None:
    monkeypatch.setattr("zwang._equilibria.rest_regions.SIDE", 12)
    if planar:  # one law in the plane: the force (x, 3 y) is at most as large as the bound
        laws = [zw.Friction(0.5, slip=(VX, VY), name="felt")]
    else:  # a law along each axis: a rectangle
        laws = [zw.Friction(0.5, slip=VX, name="a"), zw.Friction(0.6, slip=VY, name="b")]
    table = zw.System(name="table", kinetic=(VX**2 + VY**2) / 2, potential=(X**2 + 3 * Y**2) / 2, constraints=laws)
    found = zw.equilibria(table, box={"x": (-1, 1), "y": (-1, 1)})
    (curve,) = found.boundary
    x, y = curve.T
    size = np.hypot(x, 3 * y) / 0.5 if planar else np.maximum(np.abs(x) / 0.5, np.abs(y) / 0.2)
    assert found.status.name == "FOUND" and np.abs(size - 1).max() < 1e-10
    assert np.array_equal(curve[0], curve[-1])  # it closes
    found.plot()


def test_regions_of_a_double_pendulum_with_rough_joints_are_rectangles(monkeypatch) -> None:
    monkeypatch.setattr("zwang._equilibria.rest_regions.SIDE", 24)
    (a, b), (va, vb) = zw.coordinates("a b", angles="a b")
    rough = zw.System(
        name="rough",
        kinetic=va**2 + vb**2 / 2 + va * vb * sp.cos(a - b),
        potential=-2 * sp.cos(a) - sp.cos(b),
        constraints=[zw.Friction(1, slip=va, name="first"), zw.Friction(sp.Rational(1, 2), slip=vb, name="second")],
    )
    found = zw.equilibria(rough)
    places = np.concatenate(found.boundary)
    # |2 sin a| <= 1 and |sin b| <= 1/2: two intervals of each angle, those about pi cut by the seam
    assert np.abs(np.maximum(np.abs(2 * np.sin(places[:, 0])), np.abs(2 * np.sin(places[:, 1]))) - 1).max() < 1e-10
    assert len(found.boundary) == 9


def test_regions_need_a_box_and_more_freedoms_are_left_to_guarantee() -> None:
    (x, y, z), (vx, vy, vz) = zw.coordinates("x y z")
    laws = [zw.Friction(1, slip=v, name=f"along {v}") for v in (vx, vy, vz)]
    free = zw.System(name="free", kinetic=(vx**2 + vy**2 + vz**2) / 2, potential=x**2 + y**2 + z**2, constraints=laws)
    found = zw.equilibria(free, box={"x": (-1, 1), "y": (-1, 1), "z": (-1, 1)})
    assert found.boundary is None and "up to 3 dimensions" in " ".join(found.notes)
    two = zw.System(name="two", kinetic=(VX**2 + VY**2) / 2, potential=X**2 + Y**2, constraints=[
        zw.Friction(1, slip=VX, name="a"), zw.Friction(1, slip=VY, name="b")])  # fmt: skip
    assert "give box={'x'" in " ".join(zw.equilibria(two).notes)


@pytest.mark.nightly
@pytest.mark.parametrize("contact", [False, True])
def test_regions_on_a_surface_are_found(contact: bool) -> None:
    (x, y, z), (vx, vy, vz) = zw.coordinates("x y z")
    bowl = z - (x**2 + y**2) / 2
    if contact:  # at rest T = N (x, y), so that the region is the disc of radius mu
        law = zw.Coulomb(sp.Rational(2, 5), slip=(vx, vy))
        laws = [zw.Unilateral(bowl, friction=law, restitution=0, name="bowl")]
    else:  # the multiplier is the weight 1, and balances (x, y): a rectangle
        laws = [
            zw.Bilateral(bowl, name="bowl"),
            zw.Friction(0.3, slip=vx, name="a"),
            zw.Friction(0.4, slip=vy, name="b"),
        ]
    bead = zw.System(name="bead", kinetic=(vx**2 + vy**2 + vz**2) / 2, potential=z, constraints=laws)
    (curve,) = zw.equilibria(bead, box={"x": (-1, 1), "y": (-1, 1), "z": (-1, 2)}).boundary
    x, y, z = curve.T
    size = np.hypot(x, y) / 0.4 if contact else np.maximum(np.abs(x) / 0.3, np.abs(y) / 0.4)
    assert np.abs(size - 1).max() < 1e-10 and np.abs(z - (x**2 + y**2) / 2).max() < 1e-12


def test_poles_of_spherical_coordinates_are_not_called_stable():
    """At a pole the longitude has no inertia, and rounding of its momentum is no barrier: upright was called stable."""
    (_, theta), (spin, turning) = zw.coordinates("phi theta", angles="phi theta")
    swing = zw.System(
        name="swing",
        kinetic=(turning**2 + sp.sin(theta) ** 2 * spin**2) / 2,
        potential=-9.81 * sp.cos(theta),
    )
    found = {round(p.state["theta"], 6): p for p in zw.equilibria(swing, {}, steady={"phi": 5.0}).points}
    cone = round(float(np.arccos(9.81 / 25)), 6)
    assert set(found) == {0.0, round(np.pi, 6), cone, -cone}
    assert found[cone].stability == "stable (energy)"
    for pole in (0.0, round(np.pi, 6)):
        assert found[pole].stability == "undecided" and "no inertia" in found[pole].reason


# Ends of rest over a parameter.
@pytest.fixture
def coarse(monkeypatch) -> None:
    monkeypatch.setattr("zwang._equilibria.rest_search.SLICES", 3)
    monkeypatch.setattr("zwang._equilibria.rest_surface.LARGEST", 1 / 12)


def well(bound) -> zw.System:
    """A particle that is drawn to +-1, pushed by k, with friction."""
    (s,), (v,) = zw.coordinates("s")
    potential = s**4 / 4 - s**2 / 2 - zw.parameters("k") * s
    return zw.System(
        name="well", kinetic=v**2 / 2, potential=potential, constraints=[zw.Friction(bound, slip=v, name="rub")]
    )


@pytest.mark.parametrize("bound", by_day([0.1, 0.004], []))
def test_ends_of_rest_fold_where_intervals_are_born_and_merge(coarse, bound: float, tmp_path) -> None:
    """|s^3 - s - k| <= bound: each of both ends folds twice, however thin the intervals are."""
    found = zw.equilibria(well(bound), {}, box={"s": (-2, 2)}, vary="k", within=(-1, 1))
    load = 2 / (3 * np.sqrt(3))
    expected = sorted(side * load + shift for side in (1, -1) for shift in (bound, -bound))
    assert [item.value for item in found.folds] == pytest.approx(expected, abs=1e-10)
    assert [abs(item.state["s"]) for item in found.folds] == pytest.approx([3**-0.5] * 4, abs=1e-6)
    assert found.status.name == "FOUND" and not found.complete and len(found.branches) == 2
    for branch in found.branches:
        s = branch.positions[:, 0]
        assert np.abs(np.abs(s**3 - s - branch.values) - bound).max() < 1e-10
        assert set(branch.holds) == {"must"} and branch.reason == "the forces reach their bounds"
        assert (branch.values.min(), branch.values.max()) == pytest.approx((-1, 1), abs=1e-12)
    if bound == 0.1:
        intervals = zw.equilibria(well(bound), {"k": 0}, box={"s": (-2, 2)}).intervals
        ends = sorted(state["s"] for interval in intervals for state in interval)
        there = [s for one in found.branches for s, k in zip(one.positions[:, 0], one.values, strict=True) if k == 0]
        assert len(ends) == 6 and sorted(there) == pytest.approx(ends, abs=1e-10)
        found.plot()
        found.save(tmp_path / "ends.npz")
        assert repr(zw.load_result(tmp_path / "ends.npz")) == repr(found)


def test_a_rough_journal_holds_a_pendulum_everywhere_from_its_largest_moment_on(coarse) -> None:
    """|sin q| <= mu: the intervals about 0 and pi merge on both sides at mu = 1."""
    (q,), (v,) = zw.coordinates("q", angles="q")
    law = zw.Friction(zw.parameters("mu"), slip=v, name="journal")
    rough = zw.System(name="rough", kinetic=v**2 / 2, potential=-sp.cos(q), constraints=[law])
    found = zw.equilibria(rough, {}, vary="mu", within=(0.1, 1.7))
    assert [item.value for item in found.folds] == pytest.approx([1, 1], abs=1e-12)
    assert sorted(item.state["q"] for item in found.folds) == pytest.approx([-np.pi / 2, np.pi / 2], abs=1e-7)
    for branch in found.branches:
        assert np.abs(np.abs(np.sin(branch.positions[:, 0])) - branch.values).max() < 1e-10


def test_a_block_on_a_slope_rests_everywhere_at_once(coarse) -> None:
    (x,), (v,) = zw.coordinates("x")
    slope, mu = zw.parameters("b mu")
    law = zw.Friction(mu * sp.cos(slope), slip=v, name="plane")
    block = zw.System(name="block", kinetic=v**2 / 2, potential=-sp.sin(slope) * x, constraints=[law])
    found = zw.equilibria(block, {"mu": 0.4}, box={"x": (-3, 5)}, vary="b", within=(0.05, 0.9))
    assert [item.value for item in found.folds] == pytest.approx([np.arctan(0.4)], abs=1e-10)


@pytest.mark.nightly
def test_a_bead_on_a_rough_hoop_rests_up_to_its_angle_of_friction(coarse) -> None:
    """|tan| <= mu on a wire of radius r; where r is what varies the ends stay at their angle."""
    r, mu = zw.parameters("r mu")
    law = zw.Coulomb(mu, slip=(X * VY - Y * VX) / r)
    wire = zw.Bilateral(sp.sqrt(X**2 + Y**2) - r, friction=law, name="wire")
    bead = zw.System(name="bead", kinetic=(VX**2 + VY**2) / 2, potential=9.81 * Y, constraints=[wire])
    box = {"x": (-2, 2), "y": (-2, 2)}
    over = zw.equilibria(bead, {"r": 1}, box=box, vary="mu", within=(0.2, 0.9))
    assert len(over.branches) == 4  # two ends below, two above
    for branch in over.branches:
        x, y = branch.positions.T
        assert np.abs(np.abs(x / y) - branch.values).max() < 1e-9 and np.abs(x**2 + y**2 - 1).max() < 1e-11
    wide = zw.equilibria(bead, {"mu": 0.5}, box=box, vary="r", within=(0.5, 1.5))
    for branch in wide.branches:
        x, y = branch.positions.T
        assert np.abs(np.abs(x / y) - 0.5).max() < 1e-9 and np.abs(np.hypot(x, y) - branch.values).max() < 1e-11


def test_one_of_two_freedoms_that_rubs_leaves_ends_and_two_are_refused_by_name(coarse) -> None:
    k, mu = zw.parameters("k mu")
    potential = 2 * X**2 + 3 * (X - Y) ** 2 / 2 - k * Y
    law = zw.Friction(mu, slip=VX, name="rub")
    coupled = zw.System(name="coupled", kinetic=(VX**2 + VY**2) / 2, potential=potential, constraints=[law])
    found = zw.equilibria(coupled, {"k": 1}, box={"x": (-2, 2), "y": (-4, 4)}, vary="mu", within=(0.1, 3))
    assert len(found.branches) == 2
    for branch in found.branches:
        x, y = branch.positions.T
        assert np.abs(np.abs(4 * x - 1) - branch.values).max() < 1e-9 and np.abs(3 * (y - x) - 1).max() < 1e-11
        assert set(branch.stability) == {"undecided"}
    rough = coupled.replace(constraints=[law, zw.Friction(mu, slip=VY, name="too")])
    both = zw.equilibria(rough, {"k": 1}, box={"x": (-2, 2), "y": (-4, 4)}, vary="mu", within=(0.1, 3))
    assert both.status.name == "UNDECIDED" and "computed for one freedom, and 2 freedoms rub" in " ".join(both.notes)


@pytest.mark.nightly
def test_ends_of_a_ladder_over_friction_and_over_a_pull() -> None:
    values = {"m": 1, "l": 1, "g": 9.81}
    (branch,) = zw.equilibria(ladder(), {**values, "F": 0}, box=LADDER_BOX, vary="mu", within=(0.05, 0.8)).branches
    closed_form = np.arctan((1 - branch.values**2) / (2 * branch.values))
    assert np.abs(branch.positions[:, 2] - closed_form).max() < 1e-10 and set(branch.holds) == {"must"}
    pulled = zw.equilibria(ladder(), {**values, "mu": 1.5}, box=LADDER_BOX, vary="F", within=(-20, 40))
    turns = [one for one in pulled.branches if one.reason == "must turns into may"]
    assert turns and all(set(one.holds) == {"may"} for one in turns)
    for branch in turns:  # weight and pull along the rod, or the rod along the edge of a cone of friction
        edges = [np.full_like(branch.values, angle) for angle in (np.arctan(1.5), np.arctan(1 / 1.5))]
        lines = np.array([np.arctan2(9.81, branch.values), *edges])
        assert np.abs(lines - branch.positions[:, 2]).min(axis=0).max() < 1e-6
    bounds, may = ([one.value for one in pulled.folds if one.reason.startswith(words)] for words in ("the", "must"))
    # The foot alone holds while F <= mu m g; falling becomes possible where two of the lines above meet, a corner that
    # is found by asking on which side of it places lie.
    assert bounds == pytest.approx([1.5 * 9.81], abs=1e-9) and may == pytest.approx([9.81 / 1.5], abs=1e-4)
