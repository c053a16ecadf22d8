"""Laws of impact on arrays: closed forms, and what must hold whatever the numbers are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from impact_examples import ANGLE, kanes_pendulum, leaning_rod, random_problem
from zwang._numerics.impacts import HELD, LAWS, ONE_SIDED, ImpactContact, ImpactProblem, resolve, resolve_impact
from zwang.errors import DeclarationError

# One contact without friction


def test_ball_bounces_with_e_times_its_speed_under_every_law():
    for e in (0.0, 0.3, 1.0):
        floor = ImpactContact([0, 2.0], restitution=e)  # the gap in half metres: units of the expression don't matter
        for law in (None, *LAWS):
            found = resolve_impact(ImpactProblem(np.diag([2, 3]), [5.0, -2.0], [floor]), law)
            assert found.choice is None
            assert found.velocity == pytest.approx([5.0, 2 * e], abs=1e-15)
            # P = m (1 + e) v per unit of the gap's gradient
            assert found.normal == pytest.approx([3 * (1 + e) * 2 / 2])
            assert found.energy_change == pytest.approx(-0.5 * 3 * 4 * (1 - e**2), abs=1e-14)


def test_moving_wall_gives_its_speed_and_its_work():
    # Gap x - w(t), a wall that comes with w' = 2 m/s.
    wall = ImpactContact([1.0], restitution=0.5, rate0=-2.0, name="wall")
    found = resolve_impact(ImpactProblem([[2.0]], [-1.0], [wall]))
    # rate before -1 - 2 = -3, after 1.5: v = 1.5 + 2
    assert found.velocity == pytest.approx([3.5])
    assert found.energy_change == pytest.approx(0.5 * 2 * (3.5**2 - 1))
    # Relative to the wall the ball loses (1 - e^2) of its energy.
    assert found.contact_work == pytest.approx(-0.5 * 2 * 9 * 0.75)


def test_held_rows_carry_their_share():
    # Two unit masses on a weightless rigid rod along x (x2 - x1 held), the first meets a wall: both turn back.
    rod = ImpactContact([-1, 1], kind=HELD, name="rod")
    wall = ImpactContact([1, 0], restitution=0.5, name="wall")
    for law in (None, *LAWS):
        found = resolve_impact(ImpactProblem(np.eye(2), [-2.0, -2.0], [rod, wall]), law)
        assert found.velocity == pytest.approx([1.0, 1.0])
        assert found.normal == pytest.approx([3.0, 6.0])
        assert found.carrying == (0, 1)


def test_one_sided_velocity_constraint_catches_what_the_impact_would_do_to_it():
    # A freewheel v2 >= v1 (one-sided on velocities): the wall throws mass 1 back, and it takes mass 2 along.
    wheel = ImpactContact([-1, 1], kind=ONE_SIDED, name="wheel")
    wall = ImpactContact([1, 0], restitution=1.0, name="wall")
    problem = ImpactProblem(np.eye(2), [-2.0, -2.0], [wheel, wall])
    newton = resolve_impact(problem, "newton")
    # rate of the wall +2, so v2 = 2 as well: plastic in the wheel
    assert newton.velocity == pytest.approx([2.0, 2.0])
    assert newton.normal == pytest.approx([4.0, 8.0])
    energetic = resolve_impact(problem, "energetic")
    assert energetic.velocity == pytest.approx([2.0, 2.0])


def test_a_limit_on_a_speed_that_falls_at_once_needs_no_law():
    # c - v >= 0 where c falls from 2 to 1 while v = 2: expr = -v + 1
    limit = ImpactContact([-1.0], kind=ONE_SIDED, rate0=1.0, name="limit")
    found = resolve_impact(ImpactProblem([[2.0]], [2.0], [limit]))
    assert found.choice is None
    assert found.velocity == pytest.approx([1.0])
    assert found.normal == pytest.approx([2.0])


def test_nothing_happens_where_nothing_closes():
    floor = ImpactContact([0, 1], restitution=0.5, friction=0.4, tangent=[1, 0])
    for rate in (0.0, 1.0):
        found = resolve_impact(ImpactProblem(np.eye(2), [1.0, rate], [floor]))
        assert found.choice is None
        assert found.velocity.tolist() == [1.0, rate]


# One contact with friction along a line


@pytest.mark.parametrize("law", LAWS)
def test_sphere_with_spin_agrees_under_every_law_because_its_directions_do_not_couple(law):
    # Uniform sphere, J = 2/5, slip = vx + w; sliding throughout or stick: F = min(mu P, slip / (1 + 5/2)).
    floor = ImpactContact([0, 1, 0], restitution=0.6, friction=0.1, tangent=[1, 0, 1], name="floor")
    for spin in (5.0, 0.3):
        problem = ImpactProblem(np.diag([1, 1, 0.4]), [1.0, -2.0, spin], [floor])
        friction = -min(0.1 * 3.2, (1 + spin) / 3.5)
        found = resolve_impact(problem, law)
        assert found.velocity == pytest.approx([1 + friction, 1.2, spin + friction / 0.4], abs=1e-12)
        assert resolve_impact(problem).choice is None


def test_impact_without_collision_of_the_rod_in_numbers():
    # Plastic: the tip at rest, P = sin cos / (1 + k), F = (k + cos^2) / (1 + k) with k = 1/3: 3 sqrt(3) / 16 and 7/16.
    for law in LAWS:
        found = resolve_impact(leaning_rod(0.0), law)
        assert found.normal[0] == pytest.approx(3 * math.sqrt(3) / 16, rel=1e-13)
        assert found.tangential[0, 0] == pytest.approx(7 / 16, rel=1e-13)
    # Poisson: P (1 + e)
    poisson = resolve_impact(leaning_rod(0.5), "poisson")
    assert poisson.normal[0] == pytest.approx(1.5 * 3 * math.sqrt(3) / 16, rel=1e-13)
    assert poisson.normal[0] == pytest.approx(0.4871392896, abs=1e-10)
    energetic = resolve_impact(leaning_rod(0.5), "energetic")
    assert energetic.normal[0] == pytest.approx(energetic_rod(0.5)[0], rel=1e-13)
    assert energetic.normal[0] == pytest.approx(0.3620834731, abs=1e-10)
    elastic = leaning_rod(1.0)
    speed = elastic.rates_of(resolve_impact(elastic, "energetic").velocity)[0]
    assert speed == pytest.approx(energetic_rod(1.0)[1], rel=1e-13)
    assert speed == pytest.approx(0.0919, abs=5e-5)


def energetic_rod(e, mu=1.4):
    """By hand: G_nn = 1 + 3 c^2, G_tt = 1 + 3 s^2, G_nt = -3 s c; slide from rate 0, slip -1; then stick."""
    c, s = math.cos(ANGLE), math.sin(ANGLE)
    nn, tt, nt = 1 + 3 * c * c, 1 + 3 * s * s, -3 * s * c
    falls, slows = nn + mu * nt, nt + mu * tt  # per impulse, friction +mu against the slip -1
    slide = 1 / slows
    rate = falls * slide  # < 0
    rises = nn - nt * nt / tt
    compressed = slide - rate / rises
    taken = -0.5 * falls * slide**2 + 0.5 * rate**2 / rises
    final = e * math.sqrt(2 * taken * rises)
    return compressed + final / rises, final


def test_slip_that_turns_round_during_the_impact_is_followed():
    # Kane's pendulum at mu = 0.5: slides, stops, slides back; three straight pieces by hand.
    problem = kanes_pendulum(0.5, 0.5)
    inverse = np.linalg.inv(problem.mass)
    contact = problem.contacts[0]
    rows = np.array([contact.normal, contact.tangent[0]])
    (nn, nt), (_, tt) = rows @ inverse @ rows.T
    rate, slip = rows @ problem.velocity
    forth, back = nn + 0.5 * nt, nn - 0.5 * nt  # slip < 0: friction +mu; then slip > 0
    first = -slip / (nt + 0.5 * tt)
    at_turn = rate + forth * first
    assert nt - 0.5 * tt > 0  # it does not stick then
    assert at_turn > 0  # and expansion has begun
    left = 0.25 * rate**2 / (2 * forth) - at_turn**2 / (2 * forth)
    assert left > 0  # but not ended
    final = math.sqrt(at_turn**2 + 2 * back * left)
    found = resolve_impact(problem, "energetic")
    assert problem.rates_of(found.velocity)[0] == pytest.approx(final, rel=1e-13)
    assert found.normal[0] == pytest.approx(first + (final - at_turn) / back, rel=1e-13)
    assert found.tangential[0, 0] == pytest.approx(0.5 * (first - (final - at_turn) / back), rel=1e-12)


def test_newton_makes_energy_in_kanes_pendulum_and_stops_with_the_figure():
    found = resolve_impact(kanes_pendulum(0.5, 0.5), "newton")
    assert found.velocity.tolist() == [-0.1, -0.2]
    assert "would make energy" in found.choice
    (outcome,) = found.alternatives
    # Stick: u = (-e rate, 0) and the energy of the two velocities by hand
    problem = kanes_pendulum(0.5, 0.5)
    rows = np.array([problem.contacts[0].normal, problem.contacts[0].tangent[0]])
    after = np.linalg.solve(rows, [-0.5 * problem.rates[0], 0.0])
    gain = problem.kinetic(after) - problem.kinetic(problem.velocity)
    assert gain > 0
    assert outcome.contact_work == pytest.approx(gain, rel=1e-12)
    assert f"{gain:.6g} J" in found.choice
    for law in ("poisson", "energetic"):
        assert resolve_impact(kanes_pendulum(0.5, 0.5), law).energy_change < 0


# What stops


def test_no_restitution_is_a_choice_that_names_the_contact():
    floor = ImpactContact([0, 1], name="floor")
    found = resolve_impact(ImpactProblem(np.eye(2), [0.0, -1.0], [floor]), "newton")
    assert "'floor'" in found.choice
    assert "restitution=" in found.choice


def test_no_law_is_a_choice_only_where_the_laws_differ():
    assert "none was named" in resolve_impact(kanes_pendulum(0.5, 0.3)).choice
    assert resolve_impact(kanes_pendulum(0.5, 0.0)).choice is None


def test_two_contacts_without_friction_differ_where_the_impulse_travels():
    # Newton's cradle of three balls, gaps x2 - x1 and x3 - x2: Newton's law moves all, Poisson's too, differently.
    gaps = [ImpactContact(row, restitution=1.0) for row in ([-1, 1, 0], [0, -1, 1])]
    problem = ImpactProblem(np.eye(3), [1.0, 0.0, 0.0], gaps)
    newton, poisson = (resolve_impact(problem, law) for law in ("newton", "poisson"))
    # Newton: rates -1, 0 -> 1, 0: v = (-1, 2, 2)/3. Poisson: compression P = (2, 1)/3, doubled: the same.
    assert newton.velocity == pytest.approx([-1 / 3, 2 / 3, 2 / 3])
    assert poisson.velocity == pytest.approx([-1 / 3, 2 / 3, 2 / 3])
    # One after the other: (0, 0, 1). So nobody decides without a law.
    without = resolve_impact(problem)
    assert "single impacts in every order differ at 'contact 1'" in without.choice
    assert [one.law for one in without.alternatives] == [
        "newton, poisson",
        "single impacts at 'contact 1', 'contact 2'",
    ]
    assert without.alternatives[1].velocity == pytest.approx([0, 0, 1])
    soft = [ImpactContact(row, restitution=e) for row, e in (([-1, 1, 0], 1.0), ([0, -1, 1], 0.0))]
    problem = ImpactProblem(np.eye(3), [1.0, 0.0, 0.0], soft)
    # Poisson now gives back only the first impulse, 2/3, and the second contact must not open inwards:
    # velocities after compression 1/3 each; then -1/3, 1/3 + 2/3 and x3 taken along: P' = 1/3.
    assert resolve_impact(problem, "poisson").velocity == pytest.approx([-1 / 3, 2 / 3, 2 / 3])
    both = [ImpactContact([1, 0.5], restitution=0.2), ImpactContact([0.5, 1], restitution=0.9)]
    assert "differ" in resolve_impact(ImpactProblem(np.eye(2), [-1.0, -1.0], both)).choice
    assert "2 contacts" in resolve_impact(ImpactProblem(np.eye(2), [-1.0, -1.0], both), "energetic").choice


def test_energetic_stops_where_a_second_contact_closes_on_the_way():
    resting = ImpactContact([-1, 1], restitution=0.0, name="neighbour")
    wall = ImpactContact([1, 0], restitution=0.5, friction=0.0, name="wall")
    found = resolve_impact(ImpactProblem(np.eye(2), [-1.0, -1.0], [wall, resting]), "energetic")
    assert "'neighbour' closes during the impact of 'wall'" in found.choice


def test_mistakes_are_named():
    with pytest.raises(DeclarationError, match="no law of impact"):
        resolve_impact(kanes_pendulum(0.5, 0.0), "elastic")
    with pytest.raises(DeclarationError, match=r"restitution is 1\.5, needed a number between"):
        ImpactContact([1.0], restitution=1.5)
    with pytest.raises(DeclarationError, match="kind is 'glued'"):
        ImpactContact([1.0], kind="glued")
    with pytest.raises(DeclarationError, match="has length 1 but velocity has length 2"):
        ImpactProblem(np.eye(2), [0.0, 0.0], [ImpactContact([1.0])])


# What holds whatever the numbers are


def laws_hold(problem, found, *, final_slip):
    """Equations of motion, cone, sign, and (where the law says so) friction against the slip after the impact."""
    push = sum(
        found.normal[j] * one.normal + found.tangential[j, : len(one.tangent)] @ one.tangent
        for j, one in enumerate(problem.contacts)
    )
    change = problem.mass @ (found.velocity - problem.velocity)
    assert np.abs(push - change).max() <= 1e-9 * np.abs(change).max()
    after = problem.rates_of(found.velocity)
    size = np.abs(problem.rates).max()
    for j, one in enumerate(problem.contacts):
        force = found.tangential[j, : len(one.tangent)]
        assert found.normal[j] >= -1e-9
        assert np.linalg.norm(force) <= one.friction * found.normal[j] + 1e-8 * (1 + found.normal[j])
        assert after[j] >= -1e-8 * size
        slip = problem.slip_of(j, found.velocity)
        if final_slip and np.linalg.norm(slip) > 1e-6:
            along = slip / np.linalg.norm(slip)
            assert force == pytest.approx(-one.friction * found.normal[j] * along, abs=1e-7 * (1 + found.normal[j]))


@pytest.mark.parametrize("components", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_one_contact_obeys_its_law(seed, components):
    rng = np.random.default_rng(seed)
    for _ in range(4):
        problem = random_problem(rng, contacts=1, components=components)
        e = problem.contacts[0].restitution
        newton = resolve_impact(problem, "newton")
        for outcome in newton.alternatives or [newton]:
            laws_hold(problem, outcome, final_slip=True)
            assert problem.rates_of(outcome.velocity)[0] == pytest.approx(-e * problem.rates[0], rel=1e-8)
        for law in ("poisson", "energetic"):
            found = resolve_impact(problem, law)
            assert found.choice is None
            laws_hold(problem, found, final_slip=False)
            assert found.energy_change <= 1e-12 * problem.kinetic(problem.velocity)
            assert found.residual < 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_several_contacts_with_equal_restitution_lose_energy_under_poisson(seed):
    rng = np.random.default_rng(100 + seed)
    problem = random_problem(rng, contacts=3, components=1, e=rng.uniform(0, 1), mu=0.4)
    found = resolve_impact(problem, "poisson")
    for outcome in found.alternatives or [found]:
        laws_hold(problem, outcome, final_slip=False)
        assert outcome.energy_change <= 1e-10 * problem.kinetic(problem.velocity)


@pytest.mark.parametrize("seed", range(5))
def test_newton_of_several_contacts_satisfies_complementarity(seed):
    rng = np.random.default_rng(200 + seed)
    problem = random_problem(rng, contacts=3, components=1, mu=0.4)
    found = resolve_impact(problem, "newton")
    for outcome in found.alternatives or [found]:
        after = problem.rates_of(outcome.velocity)
        for j, one in enumerate(problem.contacts):
            surplus = after[j] + one.restitution * problem.rates[j]
            assert surplus >= -1e-8
            assert abs(surplus * outcome.normal[j]) <= 1e-7 * (1 + outcome.normal[j])


@pytest.mark.parametrize("seed", range(6))
def test_poisson_expansion_is_what_enumerating_its_lower_bounds_gives(seed):
    # Independent: one contact, friction along a line; P_E = e P_C if the rate then is >= 0, which it is unless
    # friction presses; F by hand from the three modes.
    rng = np.random.default_rng(300 + seed)
    problem = random_problem(rng, contacts=1, components=1, n=3)
    contact = problem.contacts[0]
    rows = np.array([contact.normal, contact.tangent[0]])
    gram = rows @ np.linalg.inv(problem.mass) @ rows.T
    u = rows @ problem.velocity

    def phase(u, rate_ends, given):
        """Normal impulse for rate 0 (given None), or given; friction in stick, slip+ or slip-."""
        found = []
        for mode in (0, 1, -1):
            p, f = given, None
            if mode == 0:
                if given is None:
                    p, f = np.linalg.solve(gram, [rate_ends - u[0], -u[1]])
                else:
                    f = -(u[1] + gram[0, 1] * given) / gram[1, 1]
                ok = abs(f) <= contact.friction * p
            else:
                if given is None:
                    p = (rate_ends - u[0]) / (gram[0, 0] - mode * contact.friction * gram[0, 1])
                f = -mode * contact.friction * p
                ok = mode * (u[1] + gram[1] @ [p, f]) > 0
            if ok and p >= 0:
                found.append((p, f))
        (one,) = found
        return np.array(one)

    first = phase(u, 0.0, None)
    second = phase(u + gram @ first, 0.0, contact.restitution * first[0])
    if (u + gram @ (first + second))[0] < 0:
        pytest.skip("expansion presses")
    found = resolve_impact(problem, "poisson")
    assert [found.normal[0], found.tangential[0, 0]] == pytest.approx(first + second, rel=1e-9)


def plank(e, velocity=(-1.0, 0.0)):
    """A plank with two feet at distance 1 from its centre, both on the floor: rates y' + w, y' - w; inertia 1/2."""
    feet = [ImpactContact([1, s], restitution=e, name=name) for name, s in (("a", 1), ("b", -1))]
    return ImpactProblem(np.diag([1.0, 0.5]), list(velocity), feet)


def test_plank_that_falls_flat_depends_on_the_order_of_its_feet():
    # G = [[3, -1], [-1, 3]]: a strikes with 1/2, b with 3/4, a again with 1/8; rates (1/8, 5/8), or the mirror image.
    found = resolve_impact(plank(0.5))
    ends = {one.law: problem_rates(one.velocity) for one in found.alternatives}
    assert ends["newton, poisson"] == pytest.approx((0.5, 0.5))
    assert ends["single impacts at 'a', 'b', 'a'"] == pytest.approx((0.125, 0.625))
    assert ends["single impacts at 'b', 'a', 'b'"] == pytest.approx((0.625, 0.125))
    assert "give impact='newton' or 'poisson'" in found.choice


def problem_rates(velocity):
    return velocity[0] + velocity[1], velocity[0] - velocity[1]


def test_plastic_plank_comes_to_rest_in_the_limit_of_every_order():
    # Each impact leaves a third of the other foot's rate: an endless order whose limit is rest, as with Newton.
    found = resolve_impact(plank(0.0))
    assert found.choice is None and found.law == "any"
    assert np.abs(found.velocity).max() < 1e-11


def test_walls_at_a_right_angle_commute_and_others_do_not():
    def corner(angle, e):
        walls = [ImpactContact([0, 1], restitution=e, name="floor")]
        walls.append(ImpactContact([-np.sin(angle), np.cos(angle)], restitution=e, name="wall"))
        return ImpactProblem(np.eye(2), [0.3, -1.0], walls)

    agreed = resolve_impact(corner(np.pi / 2, 0.7))
    assert agreed.choice is None and agreed.velocity == pytest.approx([-0.21, 0.7])
    assert resolve_impact(corner(np.radians(80), 0.7)).choice is not None


def test_single_impacts_with_friction_go_by_every_law():
    # A rod on two feet: where a foot slips and sticks in its impact, the laws part.
    feet = [
        ImpactContact([0, 1, s], restitution=0.5, friction=0.3, tangent=[1, 0, 0.4], name=name)
        for name, s in (("a", 1), ("b", -1))
    ]
    found = resolve_impact(ImpactProblem(np.diag([1.0, 1.0, 0.5]), [0.2, -1.0, 0.1], feet))
    words = " ".join(one.law for one in found.alternatives)
    assert found.choice is not None
    assert all(f"'b' ({law})" in words for law in ("newton", "poisson", "energetic"))


def test_more_orders_than_can_be_followed_are_a_choice():
    gaps = [ImpactContact(np.eye(9)[i + 1] - np.eye(9)[i], restitution=0.5, name=f"g{i}") for i in range(8)]
    found = resolve_impact(ImpactProblem(np.eye(9), np.arange(9, 0, -1.0), gaps))
    assert "more than 1000 orders of single impacts are possible" in found.choice


def test_an_order_that_does_not_end_is_a_choice():
    # A ball in a corner of 2 degrees, hardly plastic: e = 0.999 keeps it there for thousands of impacts.
    angle = np.radians(0.05)
    walls = [ImpactContact([0, 1], restitution=0.999, name="floor")]
    walls.append(ImpactContact([np.sin(angle), -np.cos(angle)], restitution=0.999, name="roof"))
    found = resolve_impact(ImpactProblem(np.eye(2), [-1.0, -1.0], walls))
    assert "does not end within 1000 of them" in found.choice


def test_an_impulse_that_travels_needs_a_restitution_wherever_it_goes():
    gaps = [ImpactContact([-1, 1, 0], restitution=1.0, name="a"), ImpactContact([0, -1, 1], name="b")]
    found = resolve_impact(ImpactProblem(np.eye(3), [1.0, 0.0, 0.0], gaps))
    assert "an impact reaches 'b', where no restitution was declared" in found.choice


@pytest.mark.parametrize("seed", range(4))
def test_newtons_outcome_of_one_rough_contact_in_closed_form_is_that_of_the_search(seed):
    rng = np.random.default_rng(seed)
    known = 0
    for _ in range(60):
        n = int(rng.integers(2, 5))
        L = np.tril(rng.normal(size=(n, n))) + 2 * np.eye(n)
        sides = tuple(rng.uniform(0, 1.2, 2))
        contact = ImpactContact(
            rng.normal(size=n), restitution=rng.uniform(0, 1), sides=sides, tangent=rng.normal(size=n), name="tip",
            rate0=rng.normal(scale=0.2), slip_rate0=rng.normal(scale=0.2, size=1),
        )  # fmt: skip
        v = rng.normal(size=n)
        contacts = [contact]
        if n > 2 and rng.random() < 0.5:
            row = rng.normal(size=n)
            contacts.insert(0, ImpactContact(row, kind="held", rate0=-float(row @ v), name="joint"))
        problem = ImpactProblem(L @ L.T, v, contacts)
        found = resolve._one_rough_contact(problem)
        if found is None:
            continue
        known += 1
        searched = resolve._by_law(problem, "newton")
        assert searched.choice is None and found.law == searched.law and found.carrying == searched.carrying
        assert found.velocity == pytest.approx(searched.velocity, abs=1e-9)
        assert found.normal == pytest.approx(searched.normal, abs=1e-9)
        assert found.tangential == pytest.approx(searched.tangential, abs=1e-9)
        assert found.energy_change == pytest.approx(searched.energy_change, abs=1e-9)
    assert known > 10
