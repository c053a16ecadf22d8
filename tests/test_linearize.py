"""Small motions about equilibria against closed forms."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang.errors import DeclarationError, StateError


def pendulums():
    """Two equal pendulums, one hanging from the other."""
    (a, b), _ = zw.coordinates("a b", angles="a b")
    (g,) = (zw.parameters("g"),)
    first = sp.Matrix([sp.sin(a), -sp.cos(a)])
    second = first + sp.Matrix([sp.sin(b), -sp.cos(b)])
    kinetic = sum((zw.rate(one).T * zw.rate(one))[0] for one in (first, second)) / 2
    return zw.System(name="pendulums", kinetic=kinetic, potential=g * (first[1] + second[1]))


def test_double_pendulum_has_the_frequencies_and_modes_of_its_closed_form():
    system = pendulums()
    a, b = system.coordinates
    found = zw.linearize(system, {"a": 0, "b": 0, "v_a": 0, "v_b": 0}, {"g": 9.81}, outputs=[a - b, "v_b"])
    slow, fast = np.sqrt(9.81 * (2 - np.sqrt(2))), np.sqrt(9.81 * (2 + np.sqrt(2)))
    assert found.eigenvalues == pytest.approx([1j * slow, -1j * slow, 1j * fast, -1j * fast], abs=1e-12)
    assert found.eigenmodes[0]["b"] / found.eigenmodes[0][a] == pytest.approx(np.sqrt(2), rel=1e-12)
    assert found.eigenmodes[2]["b"] / found.eigenmodes[2]["a"] == pytest.approx(-np.sqrt(2), rel=1e-12)
    assert pytest.approx(np.eye(2), abs=1e-12) == found.M  # orthonormal in the kinetic metric
    assert found.outputs == ("a - b", "v_b")
    assert pytest.approx(np.hstack([found.basis[0] - found.basis[1], [0, 0]])) == found.C[0]
    assert found.status.name == "SECOND_ORDER" and found.residual < 1e-14


def test_standing_pendulum_is_unstable_and_a_given_basis_is_taken():
    system = pendulums()
    up = {"a": np.pi, "b": np.pi, "v_a": 0, "v_b": 0}
    found = zw.linearize(system, up, {"g": 1.0}, basis=np.eye(2))
    assert pytest.approx(np.array([[2.0, 1.0], [1.0, 1.0]])) == found.M
    assert pytest.approx(np.array([[-2.0, 0.0], [0.0, -1.0]]), abs=1e-12) == found.K
    assert max(found.eigenvalues.real) == pytest.approx(np.sqrt(2 + np.sqrt(2)))


def test_conical_pendulum_about_its_steady_motion():
    # omega^2 = Omega^2 (1 + 3 cos^2 theta), with cos(theta) = g/(r Omega^2); turning is a zero of the family.
    (th, _), (vt, vp) = zw.coordinates("theta phi", angles="theta phi")
    m, r, g = zw.parameters("m r g")
    kinetic = m * r**2 * (vt**2 + sp.sin(th) ** 2 * vp**2) / 2
    system = zw.System(name="conical", kinetic=kinetic, potential=-m * g * r * sp.cos(th))
    params, omega = {"m": 2.0, "r": 0.5, "g": 9.81}, 6.0
    cosine = 9.81 / (0.5 * omega**2)
    state = {"theta": np.arccos(cosine), "phi": 0.3, "v_theta": 0.0, "v_phi": omega}
    found = zw.linearize(system, state, params, steady="phi")
    wanted = omega * np.sqrt(1 + 3 * cosine**2)
    assert max(found.eigenvalues.imag) == pytest.approx(wanted, rel=1e-10)
    assert sorted(abs(found.eigenvalues))[:2] == pytest.approx([0, 0], abs=1e-6)
    skew = found.damping + found.damping.T
    assert np.abs(skew).max() < 1e-9 * np.abs(found.damping).max()  # gyroscopic alone
    with pytest.raises(StateError, match=r"no equilibrium: v_phi = 6.*steady="):
        zw.linearize(system, state, params)


def surface(seed):
    """A particle on z = h(x, y), bound by springs: with the constraint, and with z eliminated."""
    rng = np.random.default_rng(seed)
    (x, y, z), (vx, vy, vz) = zw.coordinates("x y z")
    c = rng.uniform(-1, 1, 5)
    height = c[0] * x**2 + c[1] * x * y + c[2] * y**2 + c[3] * x**3 + c[4] * y**3
    springs = rng.uniform(0.5, 2, 3)
    drag = rng.uniform(0.1, 0.5)
    energy = sum(k * q**2 for k, q in zip(springs, (x, y, z), strict=True)) / 2 + 3 * z
    masses = rng.uniform(0.5, 2, 3)
    kinetic = sum(m * v**2 for m, v in zip(masses, (vx, vy, vz), strict=True)) / 2
    on = zw.Bilateral((1 + x**2) * (z - height), name="surface")
    bound = zw.System(
        name="bound", kinetic=kinetic, potential=energy, forces={x: -drag * vx, z: -drag * vz}, constraints=[on]
    )
    (a, b), (va, vb) = zw.coordinates("a b")
    up = height.subs({x: a, y: b})
    rise = zw.rate(up)
    short = kinetic.subs({vx: va, vy: vb, vz: rise})
    pull = sp.Matrix([up.diff(a), up.diff(b)]) * (-drag * rise) + sp.Matrix([-drag * va, 0])
    free = zw.System(
        name="free", kinetic=short, potential=energy.subs({x: a, y: b, z: up}), forces={a: pull[0], b: pull[1]}
    )
    return bound, free


@pytest.mark.parametrize("seed", range(4))
def test_eigenvalues_on_a_constraint_are_those_of_the_eliminated_system(seed):
    bound, free = surface(seed)
    first = zw.linearize(bound, dict.fromkeys(["x", "y", "z", "v_x", "v_y", "v_z"], 0.0), {})
    second = zw.linearize(free, dict.fromkeys(["a", "b", "v_a", "v_b"], 0.0), {})
    assert first.basis.shape == (3, 2)
    assert np.poly(first.A) == pytest.approx(np.poly(second.A), rel=1e-10, abs=1e-12)


def rolling_disc():
    """A thin disc that rolls: heading psi, lean th, spin ph; (x, y) is the point that touches."""
    (x, y, psi, th, _), (vx, vy, wpsi, wth, wph) = zw.coordinates("x y psi th ph")
    m, r, A, C, g = zw.parameters("m r A C g")
    centre = sp.Matrix([x - r * sp.sin(th) * sp.sin(psi), y + r * sp.sin(th) * sp.cos(psi), r * sp.cos(th)])
    speed = zw.rate(centre)
    spin = wph - wpsi * sp.sin(th)
    kinetic = m * (speed.T * speed)[0] / 2 + A * (wth**2 + wpsi**2 * sp.cos(th) ** 2) / 2 + C * spin**2 / 2
    rolls = [
        zw.Bilateral(vx - r * wph * sp.cos(psi), name="along"),
        zw.Bilateral(vy - r * wph * sp.sin(psi), name="across"),
    ]
    return zw.System(name="disc", kinetic=kinetic, potential=m * g * r * sp.cos(th), constraints=rolls)


@pytest.mark.parametrize("speed", [1.0, 3.0])
def test_rolling_disc_has_the_eigenvalue_of_routh_and_no_form_of_second_order(speed):
    # Upright straight rolling: lambda^2 = (A m g r - C (C + m r^2) Omega^2)/(A (A + m r^2)) (Routh 1884, sec. 244).
    m, r, A, C, g = 1.5, 0.4, 0.08, 0.13, 9.81
    params = {"m": m, "r": r, "A": A, "C": C, "g": g}
    still = dict.fromkeys(["x", "y", "psi", "th", "ph", "v_y", "v_psi", "v_th"], 0.0)
    state = {**still, "v_ph": speed, "v_x": r * speed}
    found = zw.linearize(rolling_disc(), state, params, steady=("x", "ph"))
    assert found.status.name == "FIRST_ORDER" and found.K is None and found.M is None and found.damping is None
    assert found.basis.shape == (5, 5) and found.velocity_basis.shape == (5, 3)
    square = (A * m * g * r - C * (C + m * r**2) * speed**2) / (A * (A + m * r**2))
    values = sorted(found.eigenvalues, key=abs)
    assert np.abs(values[:6]) == pytest.approx(np.zeros(6), abs=1e-4)  # the family of rolling motions
    assert values[6] ** 2 == pytest.approx(square, rel=1e-8)


def test_block_that_slides_on_a_belt_keeps_its_direction_and_its_friction_follows_the_normal_force():
    # K = k c^2 - mu k c s: m x'' = -k c (c x - ...) + mu N with N = m g + k s (c x - ...), c, s of the spring's slope.
    (x, y), (vx, vy) = zw.coordinates("x y")
    m, g, k, mu, belt = zw.parameters("m g k mu belt")
    c, s = sp.Rational(4, 5), sp.Rational(3, 5)
    floor = zw.Unilateral(y, friction=zw.Coulomb(mu, slip=vx - belt), restitution=0, name="floor")
    energy = m * g * y + k * (c * x + s * y) ** 2 / 2
    system = zw.System(name="belt", kinetic=m * (vx**2 + vy**2) / 2, potential=energy, constraints=[floor])
    params = {"m": 2.0, "g": 9.81, "k": 50.0, "mu": 0.3, "belt": 1.0}
    # Equilibrium: k c^2 x = mu (m g + k c s x)
    at = 0.3 * 2.0 * 9.81 / (50 * 0.64 - 0.3 * 50 * 0.48)
    found = zw.linearize(system, {"x": at, "y": 0, "v_x": 0, "v_y": 0}, params, basis=[[1.0], [0.0]])
    assert pytest.approx(np.array([[50 * 0.64 - 0.3 * 50 * 0.48]])) == found.K
    assert found.multipliers["floor"] == pytest.approx(2.0 * 9.81 + 50 * 0.48 * at)


def ladder(mu, pull=0):
    (x, y, th), (vx, vy, w) = zw.coordinates("x y th")
    foot = sp.Matrix([x - sp.cos(th), y - sp.sin(th)])
    kinetic = (vx**2 + vy**2) / 2 + w**2 / 6
    touches = zw.Unilateral(foot[1], friction=zw.Coulomb(mu, slip=zw.rate(foot[0])), restitution=0, name="foot")
    spring = 20 * (th - 1) ** 2 / 2 - sp.cos(1) * 10 * th
    return zw.System(name="rod", kinetic=kinetic, potential=10 * y + spring - pull * foot[0], constraints=[touches])


def test_contact_that_sticks_counts_as_a_hinge_and_at_its_edge_there_is_no_linearization():
    # Turning about the foot: inertia 4/3, K = 20 - 10 sin(1) from the spring and the weight 10 at the distance 1.
    state = {"x": np.cos(1), "y": np.sin(1), "th": 1, "v_x": 0, "v_y": 0, "v_th": 0}
    found = zw.linearize(ladder(0.5), state, {})
    assert found.status.name == "SECOND_ORDER" and found.basis.shape == (3, 1)
    assert max(found.eigenvalues.imag) == pytest.approx(np.sqrt((20 - 10 * np.sin(1)) / (4 / 3)), rel=1e-10)
    with pytest.raises(StateError, match="'foot' sticks at the edge"):
        zw.linearize(ladder(0.5, pull=5), state, {})
    sliding = zw.linearize(ladder(0), state, {})  # no friction at all: it sways and slides
    assert sliding.basis.shape == (3, 2)


def test_contact_without_a_force_has_no_linearization():
    (x, y), (vx, vy) = zw.coordinates("x y")
    system = zw.System(
        name="ball", kinetic=(vx**2 + vy**2) / 2, potential=x**2, constraints=[zw.Unilateral(y, name="floor")]
    )
    with pytest.raises(StateError, match="'floor' (touches|holds) without a force"):
        zw.linearize(system, dict.fromkeys(["x", "y", "v_x", "v_y"], 0.0), {})


def test_mistakes_are_told_with_what_was_given():
    system = pendulums()
    rest = {"a": 0, "b": 0, "v_a": 0, "v_b": 0}
    with pytest.raises(StateError, match=r"accelerations of \(a, b\)"):
        zw.linearize(system, {**rest, "a": 0.1}, {"g": 1.0})
    with pytest.raises(DeclarationError, match="needs a System"):
        zw.linearize("pendulum", rest, {})
    with pytest.raises(DeclarationError, match="needs a state"):
        zw.linearize(system, 3, {"g": 1.0})
    with pytest.raises(DeclarationError, match="one state"):
        zw.linearize(system, rest, {"g": np.ones(3)})
    with pytest.raises(DeclarationError, match="2 rows and 2 columns"):
        zw.linearize(system, rest, {"g": 1.0}, basis=[[1.0], [0.0]])
    with pytest.raises(DeclarationError, match="dependent"):
        zw.linearize(system, rest, {"g": 1.0}, basis=[[1.0, 2.0], [0.0, 0.0]])
    with pytest.raises(DeclarationError, match="'c', which is no coordinate"):
        zw.linearize(system, rest, {"g": 1.0}, steady="c")
    with pytest.raises(DeclarationError, match="depends on it: it is not cyclic"):
        zw.linearize(system, rest, {"g": 1.0}, steady="a")
    with pytest.raises(DeclarationError, match="output 'u \\+ a' uses 'u'"):
        zw.linearize(system, rest, {"g": 1.0}, outputs=["u + a"])
    found = zw.linearize(system, rest, {"g": 1.0}, outputs=["a"])
    with pytest.raises(DeclarationError, match="is no input"):
        found.transfer("u", "a")
    with pytest.raises(KeyError, match="'q'"):
        found.eigenmodes[0]["q"]


def test_basis_across_a_constraint_and_time_are_refused():
    (x, y), (vx, vy) = zw.coordinates("x y")
    rod = zw.Bilateral((x**2 + y**2 - 1) / 2, name="rod")
    system = zw.System(name="bob", kinetic=(vx**2 + vy**2) / 2, potential=9.81 * y, constraints=[rod])
    hanging = {"x": 0, "y": -1, "v_x": 0, "v_y": 0}
    with pytest.raises(DeclarationError, match="column 1 of basis= is no displacement along the constraints"):
        zw.linearize(system, hanging, {}, basis=[[1.0], [1.0]])
    pushed = zw.System(name="pushed", kinetic=vx**2 / 2, coordinates=(x,), forces={x: sp.sin(zw.t)})
    with pytest.raises(StateError, match=r"depend on time.*periodic"):
        zw.linearize(pushed, {"x": 0, "v_x": 0}, {})


def test_undetermined_reactions_that_stiffen_are_named():
    # Two curved guides through one point of a bar: their self-stress bends, and its amount is not determined.
    (x, y), (vx, vy) = zw.coordinates("x y")
    guides = [zw.Bilateral(y - x**2, name="up"), zw.Bilateral(y + x**2, name="down")]
    system = zw.System(name="pinched", kinetic=(vx**2 + vy**2) / 2, constraints=guides)
    with pytest.raises(StateError):
        zw.linearize(system, {"x": 0, "y": 0, "v_x": 0, "v_y": 0}, {})
    same = [zw.Bilateral(y - x**2, name="one"), zw.Bilateral(2 * (y - x**2), name="two")]
    double = zw.System(name="double", kinetic=(vx**2 + vy**2) / 2, potential=3 * y, constraints=same)
    found = zw.linearize(double, {"x": 0, "y": 0, "v_x": 0, "v_y": 0}, {})
    assert pytest.approx(np.array([[6.0]])) == found.K  # whatever each of them carries


def test_linearization_is_saved_and_read_back(tmp_path):
    found = zw.linearize(pendulums(), {"a": 0, "b": 0, "v_a": 0, "v_b": 0}, {"g": 9.81}, outputs={"angle": "a"})
    again = zw.load_result(found.save(tmp_path / "x.npz"))
    assert np.array_equal(again.A, found.A) and again.outputs == ("angle",) and again.state == dict(found.state)
    assert repr(again) == repr(found) and "eigenvalue +" in repr(found)
    assert found.plot().get_xlabel() == "real part [1/s]"


def test_inputs_are_columns_of_b_and_transfer_functions_are_those_of_the_closed_form():
    # m x'' + c x' + k x = u: H(s) = 1/(m s^2 + c s + k); the force on the ground k x + c x' has H = (c s + k)/(...)
    (x,), (v,) = zw.coordinates("x")
    m, c, k = zw.parameters("m c k")
    u = zw.inputs("u")
    system = zw.System(name="shaker", kinetic=m * v**2 / 2, potential=k * x**2 / 2, forces={x: u - c * v})
    params = {"m": 2.0, "c": 0.3, "k": 5.0}
    asked = {"place": x, "ground": k * x + c * v, "lead": u - x}
    found = zw.linearize(system, {"x": 0.4, "v_x": 0}, params, inputs={u: 2.0}, outputs=asked)
    assert found.inputs == ("u",) and found.state["x"] == 0.4 and found.D[2] == pytest.approx([1.0])
    s = 1j * np.array([0.1, 1.0, 3.0])
    for name, top in (("place", 1.0 + 0 * s), ("ground", 0.3 * s + 5.0), ("lead", 2 * s**2 + 0.3 * s + 4.0)):
        space = found.transfer(u, name)
        response = [(space.C @ np.linalg.solve(one * np.eye(2) - space.A, space.B) + space.D)[0, 0] for one in s]
        assert response == pytest.approx(top / (2 * s**2 + 0.3 * s + 5.0))
    with pytest.raises(DeclarationError, match="'place' is no input"):
        found.transfer("place", "place")
    with pytest.raises(StateError, match="no equilibrium"):
        zw.linearize(system, {"x": 0.4, "v_x": 0}, params, inputs={u: 3.0})


def test_a_budget_ends_the_motion_that_is_followed_once_more():
    (x,), (v,) = zw.coordinates("x")
    system = zw.System(name="spring", kinetic=v**2 / 2, potential=x**2 / 2)
    motion = zw.simulate(system, {"x": 1.0, "v_x": 0.0}, {}, until=2 * np.pi)
    assert zw.linearize(system, motion, {}).status.name == "CLOSED"
    found = zw.linearize(system, motion, {}, budget={"steps": 3})
    assert found.status.name == "UNFINISHED" and "3 steps" in found.reason and found.period < 2 * np.pi
    rest = {"x": 0.0, "v_x": 0.0}
    assert zw.linearize(system, rest, {}, budget={"steps": 1}).eigenvalues.imag.max() == pytest.approx(1)
    with pytest.raises(DeclarationError, match="budget= has the keys seconds, steps and memory"):
        zw.linearize(system, rest, {}, budget={"step": 1})


@pytest.mark.parametrize("factor", [1, sp.Rational(1, 10**12), 10**10])
def test_steady_motion_is_as_stable_whatever_a_constraint_is_multiplied_with(factor: sp.Expr | int) -> None:
    """A conical pendulum that carries a sleeve: z = -g/w^2, and the scale of a row says nothing about its rank."""
    (r, _phi, z, y), (vr, vphi, vz, vy) = zw.coordinates("r phi z y", angles="phi")
    held = [zw.Bilateral(factor * (r**2 + z**2 - 1), name="rod"), zw.Bilateral(y - 2 * r, name="sleeve")]
    kinetic = (vr**2 + r**2 * vphi**2 + vz**2) / 2 + vy**2 / 20
    system = zw.System(name="conical", kinetic=kinetic, potential=10 * z, constraints=held)
    box = {"r": (0.01, 1.2), "z": (-1.2, 1.2), "y": (0, 3)}
    (point,) = zw.equilibria(system, {}, steady={"phi": 4.0}, box=box).points
    assert point.state["z"] == pytest.approx(-0.625, abs=1e-9)
    assert point.stability == "stable (energy)" and "(least stiffness 13.56" in point.reason


def test_a_massless_coordinate_that_a_constraint_ties_to_a_mass_has_small_motions() -> None:
    (p, r), (vp, _) = zw.coordinates("p r")
    bend = zw.Bilateral(r**2 + p - 2 * r, name="cam")
    system = zw.System(kinetic=3 * vp**2 / 2, potential=2 * r**2 - 3 * r, constraints=[bend])
    found = zw.linearize(system, {"p": 0.9375, "r": 0.75, "v_p": 0, "v_r": 0})
    # In r alone: T = 3 (2 - 2 r)^2 r'^2/2, V = 2 r^2 - 3 r, so that w^2 = 4/(3 * 0.25).
    assert found.eigenvalues.imag == pytest.approx([4 / np.sqrt(3), -4 / np.sqrt(3)], rel=1e-12)
    assert zw.equilibria(system).points[0].stability == "stable (energy)"
