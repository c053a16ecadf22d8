"""Every solution of friction in planes: all modes and directions, against brute force, the plane, and the quartic."""

from __future__ import annotations

import numpy as np
import pytest

import zwang as zw
from spatial_brute_force import Touch, all_found
from zwang._numerics.contact.delassus import friction_arrays
from zwang._numerics.contact.one_contact import one_contact_solutions

KINDS = ("plain", "bias", "elliptic", "bilateral", "sliding", "one body")


def random_problem(
    rng: np.random.Generator, k: int, kind: str
) -> tuple[zw.ContactProblem, np.ndarray, np.ndarray, list[Touch]]:
    """Return a pile of k bodies, each touching the one below, or one body with k contacts, under random loads."""
    count = 1 if kind == "one body" else k
    M, F, J = np.zeros((6 * count, 6 * count)), np.zeros(6 * count), np.zeros((3 * k, 6 * count))
    for i in range(count):
        m, A, at = rng.uniform(0.5, 2), rng.normal(size=(3, 3)), slice(6 * i, 6 * i + 6)
        M[at, at] = np.diag([m] * 6)
        M[at, at][3:, 3:] = m * (0.05 * A @ A.T + 0.02 * np.eye(3))
        F[at] = np.concatenate([m * np.array([0, 0, -9.81]) + 3 * rng.normal(size=3), 2 * rng.normal(size=3)])
    for c in range(k):
        normal = rng.normal(size=3)
        normal[2] = abs(normal[2]) + 0.5
        normal /= np.linalg.norm(normal)
        across = np.cross(normal, rng.normal(size=3))
        across /= np.linalg.norm(across)
        R = np.array([normal, across, np.cross(normal, across)])
        for i, sign in ((c % count, 1), (c % count - 1, -1)):
            if i >= 0:
                arm = 0.7 * rng.normal(size=3)
                J[3 * c : 3 * c + 3, 6 * i : 6 * i + 6] += sign * np.hstack([R, np.cross(arm, R)])
    bias = 3 * rng.normal(size=3 * k) if kind == "bias" else np.zeros(3 * k)
    contacts, touches = [], []
    for c in range(k):
        mu = tuple(rng.uniform(0.1, 2.0, size=2)) if kind == "elliptic" else (rng.uniform(0.1, 2.0),) * 2
        angle = rng.uniform(0, 2 * np.pi)
        slides = (np.cos(angle), np.sin(angle)) if kind == "sliding" and c == 0 else None
        bilateral = kind == "bilateral" and c == k - 1
        contacts.append(
            zw.Contact(
                J[3 * c],
                tangent=J[3 * c + 1 : 3 * c + 3],
                friction=mu if kind == "elliptic" else mu[0],
                bias=bias[3 * c],
                tangent_bias=bias[3 * c + 1 : 3 * c + 3],
                bilateral=bilateral,
                slip=slides,
            )
        )
        touches.append(Touch(mu, bilateral, slides))
    D = J @ np.linalg.solve(M, J.T)
    return zw.ContactProblem(M, F, contacts), D, J @ np.linalg.solve(M, F) - bias, touches


def compare(rng: np.random.Generator, k: int, kind: str, grid: int) -> tuple[int, int]:
    """Return how many solutions were listed, and whether all were decided; all of brute force's are among them."""
    problem, D, b, touches = random_problem(rng, k, kind)
    found = zw.reactions(problem)
    listed = [np.column_stack([one.normal, one.tangential]) for one in found.solutions]
    for f in listed if found.complete else ():
        assert found.residual < 1e-8, kind
        u = (D @ f.ravel() + b).reshape(-1, 3)
        assert all(touch.bilateral or n >= -1e-9 for touch, n in zip(touches, f[:, 0], strict=True))
        assert (u[:, 0] > -1e-7 * np.abs(b).max()).all()
    if found.complete and not any(one.dimension for one in found.solutions):
        for f in all_found(D, b, touches, grid=grid):
            assert any(np.abs(f - g).max() < 1e-5 * (1 + np.abs(g).max()) for g in listed), (kind, f, listed)
    return len(listed), int(found.complete)


@pytest.mark.parametrize("kind", KINDS)
def test_all_solutions_of_brute_force_are_in_the_list(kind: str) -> None:
    decided, total = 0, 0
    for seed in (*range(0, 21, 3), 23):
        k = 1 + seed % 2 if seed < 22 else 3
        rng = np.random.default_rng([seed, KINDS.index(kind)])
        _, complete = compare(rng, k, kind, grid=10 if k < 3 else 5)
        decided, total = decided + complete, total + 1
    assert decided >= total - 1  # a tie within rounding may stay open


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
def test_all_solutions_of_brute_force_are_in_the_list_of_two_thousand_problems(kind: str) -> None:
    decided = 0
    for seed in range(340):
        rng = np.random.default_rng([seed, KINDS.index(kind), 1])
        k = 1 + seed % 3
        decided += compare(rng, k, kind, grid=16 if k < 3 else 7)[1]
    print(f"{kind}: {decided} of 340 problems (seeds 0 to 339) were decided completely")
    assert decided >= 333


def test_one_contact_has_the_solutions_of_the_quartic() -> None:
    several = 0
    for seed in range(80):
        problem, _, _, _ = random_problem(np.random.default_rng([seed, 3]), 1, "bias" if seed % 2 else "plain")
        exact = one_contact_solutions(friction_arrays(problem))
        found = zw.reactions(problem)
        assert exact.complete and found.complete
        expected = np.array(sorted(tuple(np.append(one.normal, one.tangential[0])) for _, one in exact.solutions))
        listed = np.array(sorted(tuple(np.append(one.normal, one.tangential[0])) for one in found.solutions))
        assert listed == pytest.approx(expected, rel=1e-9, abs=1e-9)
        several += len(listed) > 1
    assert several >= 1


def test_enclosures_hold_the_roots_and_are_tight() -> None:
    for seed in range(12):
        problem, D, b, touches = random_problem(np.random.default_rng([seed, 11]), 2, "plain")
        found = zw.reactions(problem)
        roots = all_found(D, b, touches, grid=12, steps=40)
        for one in found.solutions:
            low, high = one.enclosure
            assert (low.normal <= one.normal).all() and (one.normal <= high.normal).all()
            near = min(roots, key=lambda f: np.abs(f[:, 0] - one.normal).max())
            size = 1 + np.abs(near).max()
            # The root of brute force is rounded too, by some 1e-13.
            assert (low.normal - 1e-11 * size <= near[:, 0]).all() and (near[:, 0] <= high.normal + 1e-11 * size).all()
            assert (low.tangential - 1e-11 * size <= near[:, 1:]).all()
            assert (high.normal - low.normal).max() < 1e-9 * size
            slips = [mode == "slip" for mode in one.modes]
            assert (np.isnan(one.directions) == ~np.array(slips)).all()
            for j in np.flatnonzero(slips):
                along = one.slip_acceleration[j]
                assert np.exp(1j * one.directions[j]) == pytest.approx(complex(*along) / np.hypot(*along))
                assert low.directions[j] <= one.directions[j] <= high.directions[j]


def test_at_rest_with_independent_rows_the_number_is_odd_and_existence_is_certified() -> None:
    for seed in range(20):
        problem, _, _, _ = random_problem(np.random.default_rng([seed, 5]), 2, "plain")
        found = zw.reactions(problem)
        assert found.complete and len(found.solutions) % 2 == 1
        assert "degree" in [certificate.kind for certificate in found.certificates]


def test_planar_solutions_are_among_those_in_space_where_nothing_leaves_the_plane() -> None:
    """Two contacts on a planar body; a third coordinate across the plane feels friction and nothing else."""
    compared = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 17])
        M = np.diag([1.0, 1.0, rng.uniform(0.05, 0.5)])
        F = np.append(rng.normal(size=2) * 3 + [0, -9.81], rng.normal())
        arms = rng.normal(size=(2, 2))
        flat, deep = [], []
        for x, y in arms:
            turn = rng.normal(scale=0.5)
            n, t = np.array([-np.sin(turn), np.cos(turn)]), np.array([np.cos(turn), np.sin(turn)])
            normal, tangent = (np.append(v, x * v[1] - y * v[0]) for v in (n, t))
            mu = rng.uniform(0.2, 1.5)
            flat.append(zw.Contact(normal, tangent=tangent, friction=mu))
            across = [0, 0, 0, 1.0, len(deep) - 0.5]  # each end of the body swings out by itself
            pair = [[*tangent, 0, 0], [*across[:3], *across[3:]]]
            deep.append(zw.Contact([*normal, 0, 0], tangent=pair, friction=mu))
        plane = zw.reactions(zw.ContactProblem(M, F, flat))
        space = zw.reactions(zw.ContactProblem(np.diag([*np.diag(M), 1.0, 0.2]), np.append(F, [0.0, 0.0]), deep))
        if not (plane.complete and space.complete):
            continue
        for one in plane.solutions:
            if one.dimension:
                continue
            near = [np.abs(other.acceleration[:3] - one.acceleration).max() for other in space.solutions]
            assert min(near) < 1e-7 * (1 + np.abs(one.acceleration).max())
            compared += 1
    assert compared > 25


def square_table(force: list[float], mu: float, turned: float = 0.0) -> zw.ContactProblem:
    """Return a table of mass 1 with feet at the corners of a square of side 1, its centre of mass 0.4 above them."""
    cos, sin = np.cos(turned), np.sin(turned)
    feet = []
    for x, y in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        r = np.array([0.5 * (cos * x - sin * y), 0.5 * (sin * x + cos * y), -0.4])
        rows = [np.append(e, np.cross(r, e)) for e in np.eye(3)]
        feet.append(zw.Contact(rows[2], tangent=rows[:2], friction=mu))
    return zw.ContactProblem(np.diag([1, 1, 1, 0.14, 0.14, 0.17]), force, feet)


@pytest.mark.parametrize("seed", range(4))
def test_tables_tilted_in_any_direction_have_the_ranges_of_a_linear_program(seed: int) -> None:
    """With friction to spare normal forces are bounded by equilibrium alone: three equations, four forces >= 0."""
    from scipy.optimize import linprog

    rng = np.random.default_rng([seed, 23])
    across, turned = 1.5 * rng.normal(size=2), rng.uniform(0, 2 * np.pi)
    problem = square_table([*across, -9.81, 0, 0, 0], 3.0, turned)
    found = zw.reactions(problem)
    solution = found.solutions[0]
    assert found.status.name == "UNIQUE_MOTION" and found.complete and solution.dimension == 6
    feet = np.array([np.cross([0, 0, 1], contact.normal[3:])[:2] for contact in problem.contacts])
    balance = np.vstack([np.ones(4), feet.T])
    right = np.array([9.81, *(0.4 * across)])
    for j in range(4):
        ends = [sign * linprog(sign * np.eye(4)[j], A_eq=balance, b_eq=right).fun for sign in (1, -1)]
        assert solution.ranges.normal[j] == pytest.approx(ends, abs=1e-7)
    assert found.redundancy is not None and found.redundancy.determined == ()


def test_a_table_at_its_angle_of_friction_has_a_segment_of_reactions() -> None:
    pull = 0.3 * 9.81
    found = zw.reactions(square_table([pull, 0, -9.81, 0, 0, 0], 0.3))
    (solution,) = found.solutions
    assert set(solution.modes) == {"stick"} and solution.dimension == 1
    # Sticking at the edge of all cones and slipping from rest without acceleration are one motion: a tie of modes.
    assert found.status.name == "UNIQUE_MOTION" and found.certificate.kind == "flat feet"
    assert not found.complete and found.undecided and "see `undecided`" in found.note
    # Downhill feet carry between d and P/2, uphill ones between 0 and P/2 - d, d = P h tan(beta) / (2 a).
    tilt = 9.81 * 0.4 * 0.3
    expected = [(tilt, 9.81 / 2)] * 2 + [(0.0, 9.81 / 2 - tilt)] * 2
    assert solution.ranges.normal == pytest.approx(np.array(expected), abs=1e-6)


def test_a_table_that_begins_to_spin_and_slide_has_a_continuum_of_accelerations() -> None:
    found = zw.reactions(square_table([4.0, 0, -9.81, 0.3, 0.2, 0.0], 0.3))
    assert found.status.name == "MULTIPLE" and found.accelerations_continuum and found.complete
    low, high = found.solutions[0].enclosure
    for w in found.accelerations:
        assert (low.acceleration <= w + 1e-9).all() and (w - 1e-9 <= high.acceleration).all()
    assert found.solutions[0].dimension == 1 and np.ptp(found.solutions[0].ranges.normal, axis=1).min() > 1.0


def any_table(rng: np.random.Generator, excess: float) -> tuple[zw.ContactProblem, float, float]:
    """Return a square table pulled in any direction by (1 + excess) times what friction can hold.

    Also its load, and the greatest mu h / (2 rho), rho the radius of gyration, which is 1 where (d, d) + (d, G d) =
    m (u^2 + v^2) + J w^2 - mu h m v w loses its sign.
    """
    mu, m, a = rng.uniform(0.1, 1), rng.uniform(0.5, 20), rng.uniform(0.2, 2)
    h, k, turned, way = rng.uniform(0.05, 0.8) * a / mu, rng.uniform(0.05, 1.5), *rng.uniform(0, 2 * np.pi, 2)
    load = m * 9.81
    cos, sin = np.cos(turned), np.sin(turned)
    feet = []
    for x, y in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        r = np.array([a * (cos * x - sin * y), a * (sin * x + cos * y), -h])
        rows = [np.append(e, np.cross(r, e)) for e in np.eye(3)]
        feet.append(zw.Contact(rows[2], tangent=rows[:2], friction=mu))
    pull = (1 + excess) * mu * load
    force = [pull * np.cos(way), pull * np.sin(way), -load, 0, 0, 0]
    mass = np.diag([m, m, m, m * a * a * k / 2, m * a * a * k / 2, m * a * a * k])
    return zw.ContactProblem(mass, force, feet), load, mu * h / (2 * a * np.sqrt(k))


@pytest.mark.parametrize("seed", range(8))
def test_tables_at_their_angle_of_friction_have_one_motion_and_one_set_of_reactions(seed: int) -> None:
    problem, load, critical = any_table(np.random.default_rng([seed, 41]), 0.0)
    found = zw.reactions(problem)
    if found.status.name == "UNIQUE_MOTION":
        assert critical < 1 and found.certificate.unique_motion
    else:
        assert found.status.name == "FOUND"
    (solution,) = found.solutions
    assert set(solution.modes) == {"stick"} and solution.dimension == 1
    assert np.abs(solution.acceleration).max() < 1e-9 * load
    assert not found.accelerations_continuum and len(found.accelerations) == 1


@pytest.mark.parametrize("seed", range(4))
def test_tables_that_slide_straight_have_one_motion_beyond_the_angle_of_friction(seed: int) -> None:
    problem, load, critical = any_table(np.random.default_rng([seed, 43]), 0.2)
    found = zw.reactions(problem)
    solution = found.solutions[0]
    if solution.normal.min() < 1e-6 * load or critical > 0.9:  # it tips, or nothing is proved
        return
    assert found.status.name == "UNIQUE_MOTION" and found.complete
    mu = problem.contacts[0].friction
    assert np.linalg.norm(solution.acceleration[:2]) == pytest.approx(0.2 * mu * 9.81, rel=1e-7)
    assert solution.acceleration[2:] == pytest.approx(np.zeros(4), abs=1e-6)


def test_a_table_that_slides_straight_is_enclosed() -> None:
    found = zw.reactions(square_table([4.0, 0, -9.81, 0, 0, 0.0], 0.3))
    one = found.solutions[0]
    assert found.status.name == "UNIQUE_MOTION" and found.complete and len(found.solutions) == 1
    assert one.dimension == 1 and len(one.vertices) == 2 and one.acceleration[0] == pytest.approx(4.0 - 0.3 * 9.81)
    low, high = one.enclosure
    assert (low.normal <= one.ranges.normal[:, 0] + 1e-9).all() and (
        one.ranges.normal[:, 1] <= high.normal + 1e-9
    ).all()


def test_a_spent_budget_leaves_boxes_and_says_so() -> None:
    problem, _, _, _ = random_problem(np.random.default_rng([1, 29]), 3, "plain")
    found = zw.reactions(problem, budget={"steps": 9})
    assert not found.complete and found.undecided and found.status.name in {"FOUND", "UNDECIDED", "MULTIPLE"}
    assert "after 9 boxes" in found.note
    assert zw.reactions(problem).undecided == ()


def test_a_double_root_stays_undecided() -> None:
    """One contact at rest is loaded so that it neither presses nor leaves: open and sliding meet."""
    floor = zw.Contact([0, 0, 1, 0], tangent=[[1, 0, 0, 0], [0, 1, 0, 0]], friction=0.5, name="floor")
    wall = zw.Contact([0, 0, 0, 1.0], tangent=[[1, 0, 0, 0], [0, 1, 0, 0]], friction=0.4, name="wall")
    found = zw.reactions(zw.ContactProblem(np.eye(4), [1.0, 0.3, 0.0, -1.0], [floor, wall]))
    assert not found.complete and found.undecided
    assert found.undecided[0].modes["wall"] == "slip"


def test_results_with_enclosures_come_back_from_files(tmp_path) -> None:
    problem, _, _, _ = random_problem(np.random.default_rng([2, 31]), 2, "plain")
    found = zw.reactions(problem)
    found.save(tmp_path / "found.npz")
    back = zw.load_result(tmp_path / "found.npz")
    assert back.solutions[0].enclosure.low.normal == pytest.approx(found.solutions[0].enclosure.low.normal, abs=0)


@pytest.mark.parametrize("seed", [27, 28, 31, 42, 47, 50, 101, 102, 103])
def test_contacts_whose_rows_contradict_each_other_do_not_stick_together(seed: int) -> None:
    # More rows than coordinates, with biases: no acceleration makes all of them vanish.
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 6))
    contacts = [
        zw.Contact(normal=rng.normal(size=n), tangent=rng.normal(size=(2, n)), friction=float(rng.uniform(0.1, 1.5)),
                   bias=float(rng.normal()), tangent_bias=rng.normal(size=2))
        for _ in range(3)
    ]  # fmt: skip
    found = zw.reactions(zw.ContactProblem(np.eye(n), 3 * rng.normal(size=n), contacts))
    assert all(item.residual < 1e-8 for item in found.solutions)
    assert not any(set(item.modes) == {"stick"} for item in found.solutions)


def test_rows_that_depend_on_each_other_and_agree_stick_together() -> None:
    plane = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    foot = zw.Contact(normal=[0.0, 0.0, 1.0], tangent=plane, friction=0.5)
    found = zw.reactions(zw.ContactProblem(np.eye(3), [0.1, 0.0, -1.0], [foot, foot, foot]))
    assert found.status.name == "UNIQUE_MOTION"
    assert [tuple(item.modes) for item in found.solutions] == [("stick", "stick", "stick")]
    assert found.solutions[0].residual < 1e-12


def test_unbounded_forces_that_rub_along_one_direction_have_a_range_along_the_other_too():
    """Two guides on one line, N_1 + N_2 = 1: friction -0.3 |N_j| along y alone, so T_x = 0 however large N is."""
    rows = {"normal": [0, 0, 1], "tangent": [[1, 0, 0], [0, 1, 0]], "friction": 0.3, "bilateral": True, "slip": (0, 1)}
    found = zw.reactions(zw.ContactProblem(np.eye(3), [0, 0, -1], [zw.Contact(**rows), zw.Contact(**rows)]))
    assert found.status.name == "MULTIPLE" and found.accelerations_continuum
    unbounded = [item for item in found.solutions if np.isinf(item.ranges.normal).any()]
    assert len(unbounded) == 2
    for item in unbounded:
        along, across = item.ranges.tangential[:, 1], item.ranges.tangential[:, 0]
        assert (across == 0).all() and not np.isnan(along).any()
        for normal, friction in zip(item.ranges.normal, along, strict=True):
            far, near = np.abs(normal).max(), np.abs(normal).min()
            np.testing.assert_allclose(friction, [-0.3 * far, -0.3 * near], atol=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 16, 28, 55, 190, 214, 285])
def test_rough_contacts_that_pull_hold_by_each_other_where_their_rows_depend(seed: int) -> None:
    """A body at rest that six or nine forces hold on three coordinates; some of two-sided contacts are negative."""
    rng = np.random.default_rng([27, seed])
    k, n = int(rng.integers(2, 4)), 3
    contacts, force = [], np.zeros(n)
    for j in range(k):
        normal, tangent, mu = rng.normal(size=n), rng.normal(size=(2, n)), float(rng.uniform(0.1, 1.2))
        push = float(rng.uniform(0.5, 3.0)) * (-1 if j == 0 else 1)
        rub = 0.8 * mu * abs(push) * np.array([np.cos(seed + j), np.sin(seed + j)])
        force -= push * normal + rub @ tangent
        contacts.append(zw.Contact(normal, tangent=tangent, friction=mu, bilateral=j == 0))
    root = rng.normal(size=(n, n))
    found = zw.reactions(zw.ContactProblem(root @ root.T + np.eye(n), force, contacts))
    held = [item for item in found.solutions if all(mode.startswith("stick") for mode in item.modes)]
    assert held and found.status.name in ("UNIQUE_MOTION", "MULTIPLE") and found.complete
    assert np.abs(held[0].acceleration).max() < 1e-9 and found.residual < 1e-9


def test_what_is_unbounded_spreads_as_infinity_and_not_as_no_number():
    from zwang._numerics.contact.arcs.slots import _spread_by

    found = _spread_by(np.array([[1.0, 0.0, -2.0], [0.0, 3.0, 0.0]]), np.array([1.0, 2.0, np.inf]))
    assert found.tolist() == [np.inf, 6.0]
