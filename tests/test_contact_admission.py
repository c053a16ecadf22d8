"""Who takes part: the vectorized rule beside its statement near the tolerances, and the problem that follows."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import zwang as zw
from zwang._declare.contact_table import table_of
from zwang._numerics.contact.admission import Sizes, Standing, admit
from zwang._numerics.contact.modes import Level, Side
from zwang._numerics.contact.problem import problem_of
from zwang._numerics.contact.table import ContactPlace, ContactTable
from zwang._numerics.tolerances import Tolerances
from zwang._results.later import Later

FIELDS = ("normal", "tangent", "first", "friction", "bias", "tangent_bias", "bilateral", "slip", "has_normal")


def random_table(rng):
    places, normal, slip, law = [], 0, 0, 0
    for k in range(rng.integers(1, 6)):
        side = Side(rng.integers(3))
        level = Level.VELOCITY if side is Side.BOUND else Level(rng.integers(2))
        count = int(rng.integers(1, 3)) if side is Side.BOUND else int(rng.integers(3))
        at = -1 if side is Side.BOUND else normal
        own = law if count else -1
        of = (at,) if at >= 0 and count else ()
        places.append(ContactPlace(f"c{k}", side, level, at, tuple(range(slip, slip + count)), own, of))
        normal, slip, law = normal + (at >= 0), slip + count, law + bool(count)
    return ContactTable(tuple(places), (False, False, False)), normal, slip


def stated(place, value, rate, near, still):
    """The rule as SEMANTICS states it."""
    if place.side is Side.BOUND:
        return Standing.ACTIVE
    position = place.level is Level.POSITION
    if place.side is Side.BILATERAL:
        if abs(value) > near:
            return Standing.VIOLATED
        return Standing.CLOSING if position and abs(rate) > still else Standing.ACTIVE
    if value > near:
        return Standing.OPEN
    if value < -near:
        return Standing.VIOLATED
    if not position or abs(rate) <= still:
        return Standing.ACTIVE
    return Standing.OPEN if rate > 0 else Standing.CLOSING


def test_the_vectorized_rule_is_the_stated_one_from_a_tenth_to_ten_tolerances():
    rng, tols = np.random.default_rng(7), Tolerances(1e-9, 2e-8, 3e-7)
    checked = set()
    for _ in range(60):
        table, m, s = random_table(rng)
        n, states = 3, 40
        q, v = rng.normal(size=(2, n, states)) * 10.0 ** rng.uniform(-3, 3)
        rows, slip_rows = rng.normal(size=(m, n, states)), rng.normal(size=(s, n, states))

        def near_tolerance(count, states=states):
            return rng.choice([-1, 0, 1], size=(count, states)) * 10.0 ** rng.uniform(-10, -5, size=(count, states))

        terms = SimpleNamespace(
            rows=rows, slip_rows=slip_rows, value=near_tolerance(m), rate=near_tolerance(m), slip=near_tolerance(s)
        )
        floors = Sizes(*(np.full((count, 1), 10.0 ** rng.uniform(-3, 3)) for count in (m, m, s)))
        found = admit(table.arrays, terms, q, v, tols, floors)
        for b in range(states):
            for k, place in enumerate(table.places):
                j = place.normal
                value = rate = near = still = 0.0
                if j >= 0:
                    value, rate = terms.value[j, b], terms.rate[j, b]
                    still = tols.rate * (floors.rate[j, 0] + np.abs(rows[j, :, b]) @ np.abs(v[:, b]))
                    gap = tols.gap * (floors.gap[j, 0] + np.abs(rows[j, :, b]) @ np.abs(q[:, b]))
                    near = gap if place.level is Level.POSITION else still
                wanted = stated(place, value, rate, near, still)
                assert found.standing[k, b] == wanted
                checked.add((place.side, place.level, wanted))
                slow = [
                    abs(terms.slip[i, b])
                    <= tols.slip * (floors.slip[i, 0] + np.abs(slip_rows[i, :, b]) @ np.abs(v[:, b]))
                    for i in place.slips
                ]
                assert found.rest[k, b] == (bool(slow) and all(slow))
    assert len(checked) == 1 + 3 + 2 + 4 + 3  # bound; bilateral on positions, velocities; one-sided on both


def laws_of_every_kind():
    (x, y, z), (u, v, w) = zw.coordinates("x y z")
    laws = [
        zw.Unilateral(z, friction=zw.Coulomb((0.2, 0.7), slip=(u, v), static=(0.3, 0.9)), name="ellipse"),
        zw.Unilateral(z + x, friction=zw.Coulomb(0.3, slip=(u, v), static=0.5), name="disc"),
        zw.Bilateral(y - 2 * z, friction=zw.Coulomb(0.4, slip=u + v / 2, static=0.6), name="static"),
        zw.Unilateral(x, friction=zw.Coulomb(0.25, slip=w), name="plain"),
        zw.Unilateral(y, name="smooth"),
        zw.Friction(2, slip=u - w, section=zw.Interval(-1, 3), name="two sizes"),
        zw.Friction(3, slip=(u, w), name="bound"),
        zw.Friction(3, slip=(v, w), section=zw.Ellipse(1, 2), name="elliptic bound"),
    ]
    return zw.System(name="every", coordinates=[x, y, z], kinetic=(u**2 + v**2 + w**2) / 2, constraints=laws)


def test_problem_of_a_state_stacks_what_single_contacts_stack():
    entries = [zw.gallery.get(name) for name in zw.gallery.names()]
    cases = [(e.system, e.state, e.params) for e in entries if any(item.slip for item in e.system.constraints)]
    still = dict.fromkeys(("x", "y", "z", "v_x", "v_y", "v_z"), 0.0)
    for system, state, params in [*cases, (laws_of_every_kind(), still, {})]:
        name = system.name
        problem = zw.contact_problem(system, state, params)
        again = zw.ContactProblem(problem.mass, problem.force, list(problem.contacts))
        assert repr(again) == repr(problem) and again.names == problem.names
        for field in ("sides", "resting", "axes"):
            first, second = getattr(again.rows, field), getattr(problem.rows, field)
            assert (first is None) == (second is None), (name, field)
            if first is not None:
                assert np.allclose(first, second, rtol=1e-15, equal_nan=True), (name, field)
        for field in (
            "normal",
            "tangent",
            "first",
            "friction",
            "bias",
            "tangent_bias",
            "bilateral",
            "slip",
            "has_normal",
        ):
            assert np.allclose(getattr(again.rows, field), getattr(problem.rows, field), rtol=1e-15), (name, field)
        assert np.array_equal(again.rows.normal_force, problem.rows.normal_force, equal_nan=True)


def test_contacts_of_a_stacked_problem_are_a_sequence():
    sled = zw.gallery.get("ladder")
    contacts = zw.contact_problem(sled.system, sled.state, sled.params).contacts
    assert [one.name for one in contacts] == [str(item.name) for item in sled.system.constraints]
    assert contacts[-1].name == contacts[0:][-1].name == contacts[len(contacts) - 1].name


def test_friction_with_a_bound_has_no_normal_in_the_problem():
    (x,), (v_x,) = zw.coordinates("x")
    pad = zw.System(
        name="pad",
        coordinates=[x],
        kinetic=v_x**2 / 2,
        constraints=[zw.Friction(3, slip=v_x, name="pad"), zw.Bilateral(x, name="wall")],
    )
    terms = zw.compile(pad, "reference").terms({"x": 0, "v_x": 0})
    table = table_of(pad)
    rows = problem_of(table, terms, np.array([0, 1]), np.array([True, False])).rows
    assert rows.has_normal.tolist() == [False, True] and rows.normal.tolist() == [[0.0], [1.0]]
    assert rows.friction.tolist() == [1.0, 0.0] and rows.normal_force[0] == 3.0 and np.isnan(rows.normal_force[1])


def test_explanations_are_computed_when_asked_for_and_travel_with_the_result(tmp_path):
    rod = zw.gallery.get("painleve_rod")
    found = zw.reactions(rod.system, rod.state, {**rod.params, "mu": 1.4})
    later = {name for name, value in vars(found).items() if type(value) is Later}
    assert later == {"residual", "rejected", "certificate", "certificates", "redundancy", "graph", "nodes"}
    copied = pickle.loads(pickle.dumps(found))
    loaded = zw.load_result(found.save(tmp_path / "rod.npz"))
    for one in (copied, loaded):
        assert not any(type(value) is Later for value in vars(one).values())
        assert [one.rejected.key(row) for row in range(len(one.rejected))] == [("open",), ("slip-",)]
        assert one.certificate.kind == "enumeration" and one.graph is not None and one.redundancy is None
    assert found.but(note="other").note == "other" and found.note != "other"


def test_a_solution_is_checked_when_its_residual_is_asked_for_and_travels_alone():
    rod = zw.gallery.get("painleve_rod")
    (solution,) = zw.reactions(rod.system, rod.state, {**rod.params, "mu": 0.3}).solutions
    points = {"gap_acceleration", "slip_acceleration", "vertices", "rays", "lines"}
    assert {name for name, value in vars(solution).items() if type(value) is Later} == {"ranges", "residual", *points}
    copied = pickle.loads(pickle.dumps(solution))
    assert not any(type(value) is Later for value in vars(copied).values())
    assert 0 <= copied.residual == solution.residual < 1e-12
    assert copied.ranges["tip"] == solution.ranges["tip"] and copied.modes["tip"] == solution.modes["tip"]


@pytest.mark.parametrize("seed", range(3))
def test_what_is_kept_of_a_set_of_lines_serves_every_state(seed):
    source = np.random.default_rng(seed)
    (x, y), (v_x, v_y) = zw.coordinates("x y")
    floor = zw.Unilateral(y, name="floor", friction=zw.Coulomb(0.4, slip=v_x))
    pad = zw.Friction(0.2, slip=v_x, of=["floor", "wall"], name="pad")
    wall, belt = zw.Bilateral(x, name="wall"), zw.Friction(3, slip=v_y, name="belt")
    system = zw.System(
        name="box", coordinates=[x, y], kinetic=(v_x**2 + v_y**2) / 2, constraints=[floor, pad, wall, belt]
    )
    model = zw.compile(system, "reference")
    for _ in range(20):
        state = dict(zip(["x", "y", "v_x", "v_y"], source.normal(size=4).tolist(), strict=True))
        chosen = np.flatnonzero(source.random(4) < 0.6)
        rest = source.random(4) < 0.5
        made = [problem_of(table, model.terms(state), chosen, rest).rows for table in (table_of(system), fresh(system))]
        assert made[0].of == made[1].of
        for name in ("normal", "tangent", "first", "friction", "bias", "slip", "normal_force", "bilateral"):
            np.testing.assert_array_equal(getattr(made[0], name), getattr(made[1], name))


def fresh(system):
    return table_of.__wrapped__(system)


def test_a_ragged_value_of_a_state_is_refused_by_name():
    ball = zw.gallery.get("bouncing_ball")
    with pytest.raises(zw.ZwangError, match="v_y"):
        zw.reactions(ball.system, {**ball.state, "v_y": [[1.0], [1.0, 2.0]]}, ball.params)
