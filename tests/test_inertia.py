"""Masses that are zero, negative or tied to others: refused by name, or as good as any."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq, fmpq_mat
from scipy.sparse import csc_matrix

import zwang as zw
from zwang._numerics.contact.problem_values import definite
from zwang._numerics.linear import inertia
from zwang._numerics.linear.kkt import solve_kkt, supported_against
from zwang._numerics.linear.metric import support

(x, y), (vx, vy) = zw.coordinates("x y")
m1, m2, c = zw.parameters("m1 m2 c")
FREE = zw.System(name="free", kinetic=m1 * vx**2 / 2 + c * vx * vy + m2 * vy**2 / 2, potential=x + y)
REST = {"x": 0.0, "y": 0.0, "v_x": 0.0, "v_y": 0.0}
QUESTIONS: dict[str, Callable[[zw.System, dict[str, Any], dict[str, float]], Any]] = {
    "evaluate": lambda system, state, params: zw.compile(system).evaluate(state, params),
    "reactions": zw.reactions,
    "simulate": lambda system, state, params: zw.simulate(system, state, params, until=1.0),
    "time stepping": lambda system, state, params: zw.simulate(system, state, params, until=1.0, method="timestepping"),
    "ensemble": lambda system, state, params: zw.simulate(
        system, {**state, "x": np.linspace(0.0, 1.0, 40)}, params, until=1.0
    ),
}


@pytest.mark.parametrize("ask", QUESTIONS)
@pytest.mark.parametrize(
    ("masses", "words"),
    [
        ((1.0, 0.0, 0.0), "the motion 1 v_y has no inertia, and no bilateral constraint ties it to a mass"),
        ((1.0, -2.0, 0.0), "the motion 1 v_y has negative kinetic energy"),
        ((1.0, 1.0, 1.0), r"the motion .*v_x .*v_y has no inertia"),
        ((1.0, 1.0, 2.0), r"the motion .*v_x .*v_y has negative kinetic energy"),
    ],
)
def test_masses_that_cannot_be_are_refused_by_name_by_every_verb(
    ask: str, masses: tuple[float, float, float], words: str
) -> None:
    params = dict(zip(("m1", "m2", "c"), masses, strict=True))
    with pytest.raises(zw.DeclarationError, match=words):
        QUESTIONS[ask](FREE, REST, params)


def pushed(massless: Any) -> zw.System:
    """Return a point B on a rod from a slider p on a line, with a second rod that ties the slider to it.

    p + b_y = b_x and the rod's length 1 leave one freedom: along the line, with b_y fixed.
    """
    (p, bx, by), (vp, vbx, vby) = zw.coordinates("p bx by")
    return zw.System(
        name="pushed",
        kinetic=massless * vp**2 / 2 + (vbx**2 + vby**2) / 2,
        potential=9.81 * by,
        constraints=[zw.Bilateral((bx - p) ** 2 + by**2 - 1, name="rod"), zw.Bilateral(by + p - bx, name="link")],
    )


SLIDING = {"p": 0.0, "bx": np.sqrt(0.5), "by": np.sqrt(0.5), "v_p": 1.0, "v_bx": 1.0, "v_by": 0.0}


@pytest.mark.parametrize("massless", [sp.Integer(0), sp.Float(1e-15), sp.Float(1e-9)])
def test_a_massless_point_between_bars_is_as_good_as_any(massless: Any) -> None:
    system = pushed(massless)
    found = zw.reactions(system, SLIDING)
    # B keeps its height and speed; the weight 9.81 is carried by 2 b_y rod + link, and p is in balance: the rest
    # follows from 2 (b_x - p) rod = link.
    link, rod = 9.81 / 2, 9.81 / (4 * np.sqrt(0.5))
    assert found.status.name == "UNIQUE"
    assert found.accelerations[0] == pytest.approx(np.zeros(3), abs=1e-7)
    assert found.solutions[0].normal == pytest.approx([rod, link], rel=1e-7)
    for method in ("events", "timestepping"):
        motion = zw.simulate(system, SLIDING, until=0.5, method=method)
        assert motion.status.name == "REACHED"
        assert motion.q[-1] == pytest.approx([0.5, 0.5 + np.sqrt(0.5), np.sqrt(0.5)], abs=1e-9)
        assert motion.reactions["rod"][-1] == pytest.approx(rod, rel=1e-6)
        assert np.ptp(motion.energy["total"]) <= 1e-9
    evaluation = zw.compile(system).evaluate(SLIDING)
    assert evaluation.multipliers["link"] == pytest.approx(link, rel=1e-7)
    assert zw.compile(system, "reference").evaluate(SLIDING).residual <= 1e-9


def test_quaternions_turn_a_body_as_eulers_equations_do() -> None:
    q, v = zw.coordinates("e0 e1 e2 e3")
    e0, e1, e2, e3 = q
    turn = 2 * sp.Matrix([[-e1, e0, e3, -e2], [-e2, -e3, e0, e1], [-e3, e2, -e1, e0]])  # body axes
    spin = turn * sp.Matrix(v)
    J = (1.0, 2.0, 3.0)
    body = zw.System(
        name="body",
        kinetic=sum(moment * w**2 for moment, w in zip(J, spin, strict=True)) / 2,
        constraints=[zw.Bilateral(sum(e**2 for e in q) - 1, name="unit")],
    )
    w0 = np.array([0.3, 1.0, -0.2])
    # e' = (1/2) e * (0, w): at the identity (0, w / 2).
    state = {"e0": 1.0, "e1": 0.0, "e2": 0.0, "e3": 0.0, "v_e0": 0.0}
    state |= {f"v_e{i + 1}": float(w0[i] / 2) for i in range(3)}
    motion = zw.simulate(body, state, until=3.0)
    assert motion.status.name == "REACHED"
    from scipy.integrate import solve_ivp

    def euler(_: float, w: Any) -> list[float]:
        return [-w[1] * w[2], w[2] * w[0], -w[0] * w[1] / 3]  # J w' = (J w) x w with J = (1, 2, 3)

    def rates(t: float, z: Any) -> list[float]:
        return [*euler(t, z)]

    expected = solve_ivp(rates, (0, 3), w0, rtol=1e-12, atol=1e-12).y[:, -1]
    values = dict(zip((*q, *v), (*motion.q[-1], *motion.v[-1]), strict=True))
    assert np.array(spin.subs(values), dtype=float).ravel() == pytest.approx(expected, abs=1e-8)
    assert np.linalg.norm(motion.q[-1]) == pytest.approx(1.0, abs=1e-12)


def slack_pendulum() -> zw.System:
    """Return a mass B on two massless bars of length 1 that meet in a massless joint P."""
    (px, py, bx, by), (_, _, vbx, vby) = zw.coordinates("px py bx by")
    return zw.System(
        name="slack",
        kinetic=(vbx**2 + vby**2) / 2,
        coordinates=(px, py, bx, by),
        constraints=[
            zw.Bilateral(px**2 + py**2 - 1, name="upper"),
            zw.Bilateral((px - bx) ** 2 + (py - by) ** 2 - 1, name="lower"),
        ],
    )


def test_massless_bars_in_line_are_singular_and_the_direction_is_named() -> None:
    system = slack_pendulum()
    still = dict.fromkeys(("v_px", "v_py", "v_bx", "v_by"), 0.0)
    found = zw.reactions(system, {"px": 1.0, "py": 0.0, "bx": 2.0, "by": 0.0, **still})
    assert found.status.name == "SINGULAR" and not found.solutions
    assert "the motion 1 v_py has no inertia here" in found.note
    with pytest.raises(zw.StateError, match="the motion 1 v_py has no inertia here, although it has some nearby"):
        zw.compile(system).evaluate({"px": 1.0, "py": 0.0, "bx": 2.0, "by": 0.0, **still})
    # Bent bars carry nothing: B flies freely until they are in line, from (0, 1) to (2, 0) relative to its speed.
    bent = {"px": float(np.sqrt(0.75)), "py": 0.5, "bx": 0.0, "by": 1.0}
    moving = zw.compile(system).project({**bent, **still, "v_bx": 1.0})
    motion = zw.simulate(system, moving, until=3.0)
    assert motion.status.name == "SINGULAR"
    # |B| = 2 where the bars are in line: t^2 + 1 = 4.
    assert motion.t[-1] == pytest.approx(np.sqrt(3.0), abs=1e-3)
    assert "inertia" in motion.reason


def test_a_coordinate_without_mass_and_without_constraint_is_refused_where_it_is_declared() -> None:
    with pytest.raises(zw.DeclarationError, match="'y' has no inertia.*or a bilateral constraint that ties it to one"):
        zw.System(kinetic=vx**2, potential=y, constraints=[zw.Bilateral(x - zw.t, name="drive")])


def test_a_contact_problem_takes_a_semidefinite_mass() -> None:
    """A massless block under a block of mass 1, stuck together, on a rough floor: one block of mass 1."""
    glue = [zw.Contact([1, 0, -1, 0], bilateral=True), zw.Contact([0, 1, 0, -1], bilateral=True)]
    floor = zw.Contact([0, 0, 0, 1], tangent=[0, 0, 1, 0], friction=0.3)
    for push, mode in ((0.2, "stick"), (0.5, "slip+")):
        found = zw.reactions(zw.ContactProblem(np.diag([1.0, 1.0, 0.0, 0.0]), [push, -1.0, 0.0, 0.0], [*glue, floor]))
        assert found.status.name == "UNIQUE"
        last = found.solutions[0]
        assert tuple(last.modes)[-1] == mode
        assert last.normal[-1] == pytest.approx(1.0)
        assert last.acceleration == pytest.approx([max(push - 0.3, 0.0), 0.0] * 2)
        assert last.normal[:2] == pytest.approx([-min(push, 0.3), 1.0])
    with pytest.raises(zw.DeclarationError, match="not positive definite"):
        zw.ContactProblem(np.diag([1.0, 1.0, 0.0, 0.0]), np.zeros(4), glue[:1])
    with pytest.raises(zw.DeclarationError, match="not positive definite"):
        zw.ContactProblem(np.diag([1.0, 1.0, 0.0, -1.0]), np.zeros(4), glue)


def test_an_impact_of_a_body_with_massless_parts_is_that_of_the_body() -> None:
    (a, b), (va, vb) = zw.coordinates("a b")
    dumbbell = zw.System(
        name="dumbbell",
        kinetic=va**2 / 2,
        potential=9.81 * a,
        coordinates=(a, b),
        constraints=[zw.Bilateral(a - b - 1, name="rod"), zw.Unilateral(b, restitution=0.5, name="floor")],
    )
    motion = zw.simulate(dumbbell, {a: 2.0, b: 1.0, va: 0.0, vb: 0.0}, until=0.6)
    first = motion.events[0]
    # A drop of 1 m: t = sqrt(2 / g), and back with half the speed.
    assert first.kind == "impact" and first.time == pytest.approx(np.sqrt(2 / 9.81), rel=1e-9)
    assert motion.at(first.time + 1e-6)["v_a"] == pytest.approx(0.5 * np.sqrt(2 * 9.81), rel=1e-4)


def test_time_stepping_takes_the_same_restitution_as_impacts_do() -> None:
    ball = zw.System(
        name="ball", kinetic=vx**2 / 2, potential=9.81 * x, constraints=[zw.Unilateral(x, restitution=c, name="floor")]
    )
    for method in ("events", "timestepping"):
        with pytest.raises(zw.StateError, match="restitution of .* is 2, needed a number between 0"):
            zw.simulate(ball, {x: 1.0, vx: 0.0}, {c: 2.0}, until=1.0, method=method)


def test_time_stepping_ends_where_inertia_is_lost_and_says_so() -> None:
    (r,), (vr,) = zw.coordinates("r")
    odd = zw.System(name="odd", kinetic=r * vr**2 / 2, potential=r)
    motion = zw.simulate(odd, {r: 1.0, vr: -2.0}, until=5.0, method="timestepping", step=1e-3)
    assert motion.status.name in ("UNFINISHED", "BLOW_UP")
    assert motion.t[-1] < 5.0


@pytest.mark.parametrize("method", ["events", "timestepping", "auto"])
def test_a_motion_that_starts_without_inertia_ends_there_in_every_method(method: str) -> None:
    in_line = {"px": 1.0, "py": 0.0, "bx": 2.0, "by": 0.0, **dict.fromkeys(("v_px", "v_py", "v_bx", "v_by"), 0.0)}
    motion = zw.simulate(slack_pendulum(), in_line, until=1.0, method=method)
    assert motion.status.name == "SINGULAR" and motion.t.tolist() == [0.0]
    assert "the motion 1 v_py has no inertia here" in motion.reason
    if method != "timestepping":
        assert all(np.isnan(force).all() for force in motion.reactions.values()) and motion.energy["total"][0] == 0.0


def test_a_motion_that_starts_without_inertia_goes_to_its_file_too(tmp_path: Path) -> None:
    in_line = {"px": 1.0, "py": 0.0, "bx": 2.0, "by": 0.0, **dict.fromkeys(("v_px", "v_py", "v_bx", "v_by"), 0.0)}
    motion = zw.simulate(slack_pendulum(), in_line, until=1.0, out=tmp_path / "slack.npz")
    again = zw.load_result(tmp_path / "slack.npz")
    assert again.status is motion.status and again.reason == motion.reason and again.t.tolist() == [0.0]
    assert [file.name for file in tmp_path.iterdir()] == ["slack.npz"]


@pytest.mark.parametrize("verb", [zw.limit, zw.recommend])
def test_studies_of_softened_constraints_ask_for_masses_of_all_motions(verb: Callable[..., Any]) -> None:
    (x, y, u), (vx, vy, _) = zw.coordinates("x y u")
    tied = zw.System(
        name="tied",
        kinetic=(vx**2 + vy**2) / 2,
        coordinates=(x, y, u),
        constraints=[zw.Bilateral(u - x - y, name="tie"), zw.Bilateral(y, name="floor")],
    )
    state = {"x": 0.0, "y": 0.0, "u": 0.0, "v_x": 1.0, "v_y": 0.0, "v_u": 1.0}
    with pytest.raises(zw.DeclarationError, match="tied: the motion 1 v_u has no inertia but what constraints tie it"):
        verb(tied, "floor", state, by=zw.Stiffness, until=0.5)


def test_springs_are_not_asked_where_a_part_is_massless_and_the_motion_says_so() -> None:
    (x, y, u), (vx, vy, _) = zw.coordinates("x y u")
    follower = zw.System(
        name="follower",
        kinetic=(vx**2 + vy**2) / 2,
        coordinates=(x, y, u),
        constraints=[zw.Bilateral(x * y, name="curve"), zw.Bilateral(u - x - y, name="tie")],
    )
    state = {"x": -1.0, "y": 0.0, "u": -1.0, "v_x": 1.0, "v_y": 0.0, "v_u": 1.0}
    motion = zw.simulate(follower, state, until=2.0, at_singular="realize")
    assert motion.status.name == "SINGULAR" and motion.t[-1] == pytest.approx(1.0, abs=1e-9)
    assert "stiff springs can't take the place of its constraints" in motion.reason
    assert "'u' has no inertia" in motion.reason and len(motion.continuations) == 3


@pytest.mark.parametrize("n", [1, 2, 4, 7])
def test_many_masses_are_judged_as_their_least_eigenvalues_say(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inertia, "AT_ONCE", 37)  # several portions
    rng = np.random.default_rng(n)
    axes = np.linalg.qr(rng.normal(size=(300, n, n)))[0]
    sizes = rng.uniform(0.1, 10.0, (300, n))
    sizes[::3, 0] = 10.0 ** rng.uniform(-17, -6, 100) * rng.choice([-1, 1], 100)
    masses = (axes * sizes[:, None, :]) @ axes.transpose(0, 2, 1)
    masses[5], masses[6] = np.nan, 0.0
    expected = []
    for mass in masses:
        diagonal = np.diag(mass)
        sound = bool(np.isfinite(mass).all() and (diagonal > 0).all())
        expected.append(sound and np.linalg.eigvalsh(mass / np.sqrt(np.outer(diagonal, diagonal)))[0] > inertia.SOUND)
    assert inertia.sound(masses).tolist() == [bool(item) for item in expected]
    assert 0 < sum(expected) < 300


def test_a_mass_is_not_drowned_by_one_that_a_row_hardly_touches() -> None:
    """The massless second coordinate hangs on the third: 0.25 y = z, up to 7e-12 of x."""
    bar = zw.Contact([7e-12, 0.25, -1.0], bilateral=True)
    found = zw.reactions(zw.ContactProblem(np.diag([1.0, 0.0, 1.0]), [1.0, 2.0, 3.0], [bar]))
    assert found.solutions[0].acceleration == pytest.approx([1.0, 44.0, 11.0], rel=1e-9)


def _semidefinite(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return masses, rows with tiny entries, and whether the rows tell apart all that has no mass."""
    n, m = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    masses, rows = rng.integers(0, 4, n).astype(float), rng.integers(-2, 3, (m, n)).astype(float)
    without = rows[:, masses == 0]
    tiny = (rng.random((m, n)) < 0.25) & (masses > 0)
    rows = np.where(tiny, rows * 10.0 ** rng.uniform(-13, -3, (m, n)), rows)
    return masses, rows, int(np.linalg.matrix_rank(without)) == without.shape[1] if without.size else without.size == 0


def _taken(mass: Any, rows: Any) -> bool:
    try:
        definite("mass", mass, rows)
    except zw.DeclarationError:
        return False
    return True


def test_masses_suffice_or_not_in_whatever_units_of_coordinates_and_rows() -> None:
    rng = np.random.default_rng(91807)
    seen = set()
    for _ in range(400):
        masses, rows, suffice = _semidefinite(rng)
        units, scales = 10.0 ** rng.uniform(-8, 8, len(masses)), 10.0 ** rng.uniform(-12, 12, len(rows))
        mass, rows = np.diag(masses * units**2), rows * scales[:, None] * units
        found = inertia.lack_of_inertia(mass, rows)
        assert (found is None) == suffice, (mass.tolist(), rows.tolist())
        assert _taken(csc_matrix(mass), csc_matrix(rows)) == suffice, (mass.tolist(), rows.tolist())
        seen.add(suffice)
    assert seen == {True, False}


def _exactly(mass: np.ndarray, rows: np.ndarray, force: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """Return accelerations and multipliers of the given doubles, by rational numbers."""
    n, m = len(mass), len(rows)
    whole = np.block([[mass, -rows.T], [rows, np.zeros((m, m))]])
    right = np.concatenate([force, gamma])
    made = [fmpq(*float(value).as_integer_ratio()) for value in whole.ravel()]
    sides = [fmpq(*float(value).as_integer_ratio()) for value in right]
    found = fmpq_mat(n + m, n + m, made).solve(fmpq_mat(n + m, 1, sides))
    return np.array([float(arb(found[i, 0])) for i in range(n + m)])


class _WellPosed(NamedTuple):
    """Numbers of size 1 (some of them tiny, where that is no matter), and the units they are given in."""

    mass: np.ndarray
    rows: np.ndarray
    force: np.ndarray
    gamma: np.ndarray
    units: np.ndarray
    scales: np.ndarray

    def error(self, a: np.ndarray, lam: np.ndarray) -> float:
        """Return the largest error, in units in which numbers have size 1."""
        n = len(self.mass)
        exact = _exactly(self.mass, self.rows, self.force, self.gamma)
        motion, held = exact[:n] * self.units, exact[n:] * self.scales
        felt = max(float(np.abs(held).max()), float(np.abs(self.force / self.units).max()))
        return max(
            float(np.abs(a * self.units - motion).max() / np.abs(motion).max()),
            float(np.abs(lam * self.scales - held).max() / felt),
        )


def _well_posed(rng: np.random.Generator, decades: float) -> _WellPosed:
    while True:
        n = int(rng.integers(2, 7))
        m = int(rng.integers(1, n + 1))
        masses = rng.integers(0, 4, n).astype(float)
        joined = np.eye(n)
        massive = np.flatnonzero(masses)
        if rng.random() < 0.5:
            joined[np.ix_(massive, massive)] += np.tril(rng.uniform(-1, 1, (len(massive),) * 2), -1)
        mass, rows = joined @ np.diag(masses) @ joined.T, rng.integers(-2, 3, (m, n)).astype(float)
        tiny = rng.random((m, n)) < rng.choice([0.0, 0.25])
        rows = np.where(tiny, rows * 10.0 ** rng.uniform(-10, -3, (m, n)), rows)
        whole = np.block([[mass, -rows.T], [rows, np.zeros((m, m))]])
        if not masses.all() and np.linalg.svd(whole, compute_uv=False)[-1] > 1e-2:
            break
    units, scales = 10.0 ** rng.uniform(-decades, decades, n), 10.0 ** rng.uniform(-decades, decades, m)
    mass = units[:, None] * mass * units
    mass = np.tril(mass) + np.tril(mass, -1).T
    force, gamma = rng.uniform(-1, 1, n) * units, rng.uniform(-1, 1, m) * scales
    return _WellPosed(mass, scales[:, None] * rows * units, force, gamma, units, scales)


def test_massless_coordinates_in_any_units_cost_no_digits() -> None:
    rng = np.random.default_rng(2594)
    for k in range(150):
        given = _well_posed(rng, 6.0)
        found = solve_kkt(given.mass, given.rows, given.force, given.gamma)
        assert found.regular and given.error(found.accelerations, found.multipliers) < 1e-11, k


def test_reactions_of_massless_coordinates_in_any_units_cost_no_digits() -> None:
    rng = np.random.default_rng(2595)
    for k in range(60):
        given = _well_posed(rng, 5.0)
        pairs = zip(given.rows, given.gamma, strict=True)
        held = [zw.Contact(row, bilateral=True, bias=bias) for row, bias in pairs]
        found = zw.reactions(zw.ContactProblem(given.mass, given.force, held))
        (one,) = found.solutions
        assert found.status.name == "UNIQUE" and given.error(one.acceleration, one.normal) < 1e-11, k


def test_a_row_that_is_there_twice_leaves_the_motion_of_massless_coordinates_as_it_is() -> None:
    rng = np.random.default_rng(2596)
    for k in range(60):
        given = _well_posed(rng, 4.0)
        twice = 2.0 ** int(rng.integers(-20, 21))
        rows, gamma = np.vstack([given.rows, twice * given.rows[0]]), np.append(given.gamma, twice * given.gamma[0])
        found = solve_kkt(given.mass, rows, given.force, gamma)
        lam = found.multipliers[:-1].copy()
        lam[0] += twice * found.multipliers[-1]
        assert found.rank == len(given.rows) and given.error(found.accelerations, lam) < 1e-11, k


def test_contacts_of_massless_coordinates_answer_alike_in_any_units() -> None:
    rng = np.random.default_rng(2597)
    seen = set()
    for k in range(40):
        given = _well_posed(rng, 0.0)
        n, m = len(given.mass), len(given.rows)
        normal, tangent = rng.normal(size=n), rng.normal(size=n)
        answers = []
        for decades in (0.0, 5.0):
            u, s = 10.0 ** rng.uniform(-decades, decades, n), 10.0 ** rng.uniform(-decades, decades, m + 1)
            held = [zw.Contact(s[j] * given.rows[j] * u, bilateral=True, bias=s[j] * given.gamma[j]) for j in range(m)]
            floor = zw.Contact(s[m] * normal * u, tangent=s[m] * tangent * u, friction=0.4)
            mass = u[:, None] * given.mass * u
            mass = np.tril(mass) + np.tril(mass, -1).T
            found = zw.reactions(zw.ContactProblem(mass, given.force * u, [*held, floor]))
            answers.append(
                (found.status.name, sorted(np.round(one.acceleration * u, 7).tolist() for one in found.solutions))
            )
        assert answers[0][0] == answers[1][0], k
        np.testing.assert_allclose(answers[1][1], answers[0][1], rtol=1e-6, atol=1e-6)
        seen.add(answers[0][0])
    assert len(seen) > 1


@pytest.mark.parametrize("seed", range(12))
def test_inertia_that_may_be_rounding_is_completed_by_rows(seed: int) -> None:
    # Pivots that are zero up to rounding: definite for a factorization, and then no digit of the answer is right.
    rng = np.random.default_rng(seed)
    root, rows = rng.normal(size=(2, 3)), rng.normal(size=(1, 3))
    mass = root.T @ root + (0.0 if seed % 2 else 10.0 ** rng.uniform(-16, -13)) * np.eye(3)
    force = rng.normal(size=3)
    q, v = zw.coordinates("q1 q2 q3")
    blade = zw.Bilateral(sum(float(a) * b for a, b in zip(rows[0], v, strict=True)), name="blade")
    system = zw.System(coordinates=q, mass=sp.Matrix(mass), force=list(force), constraints=[blade])
    (found,) = zw.reactions(system, {item.name: 0.0 for item in (*q, *v)}, {}).accelerations
    exact = _exactly(mass, rows, force, np.zeros(1))[:3]
    assert np.abs(found - exact).max() < 1e-10 * np.abs(exact).max()


def test_rows_whose_terms_are_rounding_ask_for_no_weight() -> None:
    """Two massless coordinates in balance: nothing moves along the first row, whatever lam is."""
    mass, rows = np.diag([1.0, 0.0, 0.0]), np.array([[0.0, -1.0, -1.0], [1.0, -2.0, 1.0]])
    force, gamma = np.array([0.0, -1.0, 2.0]), np.array([0.0, -1.0])
    weights = supported_against(mass, rows, force, gamma, support(mass, rows))
    assert weights.max() < 1e3
    held = [zw.Contact(row, bias=bias, bilateral=True) for row, bias in zip(rows, gamma, strict=True)]
    found = zw.reactions(zw.ContactProblem(mass, force, held))
    # a_2 = -a_3, a_1 + 3 a_3 = -1; a_1 = lam_2, -1 - lam_1 - 2 lam_2 = 0 = 2 - lam_1 + lam_2: lam_2 = -1, lam_1 = 1.
    np.testing.assert_allclose(found.accelerations, [[-1, 0, 0]], atol=1e-15)
    np.testing.assert_allclose(found.solutions[0].normal, [1, -1], atol=1e-15)
    assert found.residual < 1e-14


def test_inertia_that_a_pivot_of_rounding_feigns_is_missed() -> None:
    """Two rows on three massless coordinates leave one free; their first two entries are nearly parallel."""
    rows = np.array([[-1.3497600555419922, -2.4226064682006836, 1.2354135513305664],
                     [-1.4882144927978516, -2.675166130065918, -0.3807563781738281]])  # fmt: skip
    lack = inertia.lack_of_inertia(np.zeros((3, 3)), rows)
    assert lack is not None and not lack.indefinite
    np.testing.assert_allclose(rows @ lack.direction, 0, atol=1e-9)
    with pytest.raises(zw.DeclarationError, match="inertia|definite"):
        zw.ContactProblem(np.zeros((3, 3)), np.ones(3), [zw.Contact(row, bilateral=True) for row in rows])
    # Beside it, so little off that doubles can't tell: a mass of 2^-40 is one.
    light = 2.0**-40 * np.outer(lack.direction, lack.direction)
    assert inertia.lack_of_inertia(light, rows) is None
