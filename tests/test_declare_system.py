"""Systems: immutable, equal by content, printed as their equations, refused when they make no sense."""

from __future__ import annotations

import pickle

import pytest
import sympy as sp

import zwang as zw

(x, y, th), (vx, vy, w) = zw.coordinates("x y theta", angles="theta")
m, J, length, g, mu, c = zw.parameters("m J l g mu c")
KINETIC = m * (vx**2 + vy**2) / 2 + J * w**2 / 2


def rod(**changes) -> zw.System:
    tip = sp.Matrix([x - length * sp.cos(th), y - length * sp.sin(th)])
    arguments = {
        "name": "rod",
        "kinetic": KINETIC,
        "potential": m * g * y,
        "forces": {th: -c * w},
        "constraints": [
            zw.Unilateral(tip[1], friction=zw.Coulomb(mu, slip=zw.rate(tip[0])), restitution=0, name="tip")
        ],
    }
    return zw.System(**(arguments | changes))


def test_the_declaration_of_the_design_works() -> None:
    system = rod()
    assert system.coordinates == (x, y, th)
    assert [item.name for item in system.parameters] == ["J", "c", "g", "l", "m", "mu"]
    assert system.constraints["tip"].level == "position"
    assert system.constraints["tip"].friction.slip == (vx + length * sp.sin(th) * w,)


def test_equal_content_makes_equal_systems_and_hashes() -> None:
    assert rod() == rod() and hash(rod()) == hash(rod()) and len({rod(), rod()}) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"potential": 2 * m * g * y},
        {"forces": {}},
        {"constraints": []},
        {"coordinates": (y, x, th)},
        {"name": "other"},
    ],
)
def test_any_change_makes_another_system(change) -> None:
    assert rod(**change) != rod()


def test_angles_are_part_of_the_content() -> None:
    (_a,), (va,) = zw.coordinates("a")
    (_b,), (vb,) = zw.coordinates("a", angles="a")
    assert zw.System(kinetic=va**2).digest != zw.System(kinetic=vb**2).digest


def test_a_system_cannot_be_changed() -> None:
    system = rod()
    with pytest.raises(AttributeError, match="immutable"):
        system.kinetic = vx**2
    with pytest.raises(AttributeError, match="immutable"):
        del system.name
    with pytest.raises(TypeError):
        system.forces[x] = 1


def test_a_system_survives_pickling() -> None:
    assert pickle.loads(pickle.dumps(rod())) == rod()


def test_replace_declares_again_with_changes() -> None:
    changed = rod().replace(potential=0)
    assert changed.potential == 0 and changed.constraints.names == ("tip",)
    with pytest.raises(zw.DeclarationError, match="Did you mean 'constraints'"):
        rod().replace(constraint=[])


def test_it_prints_as_its_own_equations() -> None:
    text = repr(rod())
    assert "J*v_theta**2/2 + m*(v_x**2 + v_y**2)/2" in text
    assert "-l*sin(theta) + y >= 0, friction mu against the slip" in text
    assert "theta (angle)" in text


def test_latex_has_energies_and_constraints() -> None:
    text = rod()._repr_latex_()
    assert text.startswith("$$") and r"\dot{\theta}" in text and r"\ge 0" in text and r"\text{tip}" in text


def test_texts_stand_for_expressions() -> None:
    declared = zw.System(
        name="rod",
        coordinates=(x, y, th),
        kinetic="m*(v_x**2 + v_y**2)/2 + J*v_theta**2/2",
        potential="m*g*y",
        forces={"theta": "-c*v_theta"},
        constraints=[
            zw.Unilateral(
                "y - l*sin(theta)",
                friction=zw.Coulomb("mu", slip="rate(x - l*cos(theta))"),
                restitution=0,
                name="tip",
            )
        ],
    )
    assert declared == rod()


def test_mass_and_force_may_stand_instead_of_energies() -> None:
    system = zw.System(mass=[[m, 0], [0, 2]], force=[-x, vy], coordinates=(x, y))
    assert system.kinetic is None and system.mass[0, 0] == m


def test_unnamed_constraints_are_called_after_their_place() -> None:
    system = zw.System(kinetic=vx**2 + vy**2, constraints=[zw.Bilateral(y), zw.Unilateral(x)])
    assert system.constraints.names == ("constraint1", "constraint2")


def test_a_force_may_be_piecewise_and_continuous_in_the_velocity() -> None:
    ratchet = sp.Piecewise((-5 * vx, vx >= 0), (-2 * vx, True))
    assert zw.System(kinetic=vx**2, forces={x: ratchet}).forces[x] == ratchet
    assert zw.System(kinetic=vx**2, forces={x: sp.Abs(vx) * vx}).forces
    assert zw.System(kinetic=vx**2, forces={x: sp.Max(0, vx)}).forces


def test_a_force_may_jump_with_position_and_time() -> None:
    assert zw.System(kinetic=vx**2, forces={x: sp.sign(x) + sp.Heaviside(zw.t - 1)}).forces


def test_potentials_need_not_be_periodic_in_angles() -> None:
    assert zw.System(kinetic=w**2, potential=c * th**2).potential == c * th**2


@pytest.mark.parametrize(
    "expr", [sp.sin(th) * x, sp.cos(2 * th), sp.sin(th / 2) ** 2, sp.tan(th), sp.Abs(sp.sin(th)), sp.cos(th + c)]
)
def test_periodic_angles_are_accepted(expr) -> None:
    assert zw.System(kinetic=vx**2 + w**2, constraints=[zw.Bilateral(expr + x)])


(other,), (v_other,) = zw.coordinates("other")
BAD = {
    "nothing": (zw.System, "give either kinetic="),
    "both": (lambda: zw.System(kinetic=vx**2, mass=[[1]], force=[0]), "give either kinetic="),
    "mass without force": (lambda: zw.System(mass=[[1]], coordinates=(x,)), "mass= needs force="),
    "force without mass": (lambda: zw.System(kinetic=vx**2, force=[1]), "force= goes with mass="),
    "no inertia": (lambda: zw.System(kinetic=vx**2, potential=y), "'y' has no inertia"),
    "no inertia in mass": (lambda: zw.System(mass=[[1, 0], [0, 0]], force=[x, y], coordinates=(x, y)), "no inertia"),
    "mass not symmetric": (
        lambda: zw.System(mass=[[2, x], [0, 2]], force=[x, y], coordinates=(x, y)),
        "not symmetric",
    ),
    "cubic kinetic": (lambda: zw.System(kinetic=vx**3), "not a polynomial of second degree"),
    "constraint nonlinear": (
        lambda: zw.System(kinetic=vx**2, constraints=[zw.Bilateral(vx**2 - 1, name="speed")]),
        "constraint 'speed' is not affine in the velocities",
    ),
    "slip nonlinear": (
        lambda: zw.System(kinetic=vx**2, constraints=[zw.Friction(1, slip=vx**2, name="brake")]),
        "the slip is not affine in the velocities",
    ),
    "slip without velocity": (
        lambda: zw.System(kinetic=vx**2, constraints=[zw.Friction(1, slip=x)]),
        "has no velocity in it",
    ),
    "constraint of nothing": (
        lambda: zw.System(kinetic=vx**2, constraints=[zw.Bilateral(m - 1, name="odd")]),
        "constraint 'odd' depends on no coordinate",
    ),
    "several calls": (lambda: zw.System(kinetic=vx**2 + v_other**2), "come from several declaring calls"),
    "another of that name in coordinates": (
        lambda: zw.System(kinetic=vx**2 + vy**2, coordinates=(x, zw.coordinates("y")[0][0])),
        "there are two coordinates 'y': they come from different calls .* Declare it once",
    ),
    "another of that name": (
        lambda: zw.System(kinetic=vx**2 + vy**2, potential=zw.coordinates("y", angles="y")[0][0]),
        "there are two coordinates 'y': they come from different calls .* Declare it once",
    ),
    "a force on another of that name": (
        lambda: zw.System(kinetic=vx**2 + vy**2, forces={sp.Symbol("y"): 1}),
        "forces= has a symbol 'y' that only shares its name with a coordinate.*its name as text, 'y'",
    ),
    "missing in coordinates": (
        lambda: zw.System(kinetic=vx**2 + vy**2, coordinates=(x,)),
        "'y' occurs but is not in coordinates=",
    ),
    "angle": (
        lambda: zw.System(kinetic=vx**2 + w**2, constraints=[zw.Bilateral(x - th / 3, name="rack")]),
        "'theta' does not occur 2 pi-periodically in constraint 'rack'",
    ),
    "half angle": (
        lambda: zw.System(kinetic=vx**2 + w**2, constraints=[zw.Bilateral(x - sp.sin(th / 2))]),
        "does not occur 2 pi-periodically",
    ),
    "two symbols of one name": (
        lambda: zw.System(kinetic=m * vx**2, potential=sp.Symbol("m") * x),
        "two different symbols are called 'm'",
    ),
    "time of one's own": (
        lambda: zw.System(kinetic=vx**2, potential=sp.Symbol("t") * x * zw.t),
        "a symbol 't' that only shares its name with the time",
    ),
    "sign of velocity": (lambda: zw.System(kinetic=vx**2, forces={x: -sp.sign(vx)}), "Friction"),
    "direction of velocity": (
        lambda: zw.System(kinetic=vx**2 + vy**2, forces={x: -vx / sp.sqrt(vx**2 + vy**2)}),
        "jumps with the velocity",
    ),
    "step of velocity": (
        lambda: zw.System(kinetic=vx**2, forces={x: sp.Piecewise((1, vx > m), (0, True))}),
        "jumps with the velocity",
    ),
    "infinite": (lambda: zw.System(kinetic=vx**2, potential=sp.oo * x), "not finite and real"),
    "complex": (lambda: zw.System(kinetic=vx**2, potential=sp.I * x), "not finite and real"),
    "velocity in potential": (lambda: zw.System(kinetic=vx**2, potential=vx * x), "potential= depends on a velocity"),
    "unknown force": (lambda: zw.System(kinetic=vx**2, forces={"xx": 1}), "Did you mean 'x'"),
    "same name twice": (
        lambda: zw.System(kinetic=vx**2, constraints=[zw.Bilateral(x, name="a"), zw.Bilateral(2 * x, name="a")]),
        "two constraints are called 'a'",
    ),
    "not a constraint": (lambda: zw.System(kinetic=vx**2, constraints=[x]), "entry 1 is x"),
    "restitution of a velocity constraint": (
        lambda: zw.System(kinetic=vx**2, constraints=[zw.Unilateral(vx, restitution=1)]),
        "entered without impact",
    ),
    "law of another kind": (lambda: zw.Unilateral(x, friction=0.3), "must be a Coulomb law"),
    "three slips": (lambda: zw.Coulomb(1, slip=(vx, vy, w)), "one velocity or an orthonormal pair"),
    "not an expression": (lambda: zw.Bilateral(None), "an expression, a number or a text is needed"),
    "unprintable name": (lambda: zw.Bilateral(x, name="a\nb"), "printable text"),
    "hostile text": (
        lambda: zw.System(coordinates=(x,), kinetic="__import__('os').system('true')"),
        "kinetic",
    ),
    "no coordinate": (lambda: zw.System(kinetic="m*v**2"), "no coordinate occurs"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_declaration_is_refused_with_a_cure(case: str) -> None:
    call, message = BAD[case]
    with pytest.raises(zw.DeclarationError, match=message):
        call()


def test_an_unknown_constraint_name_gets_the_nearest() -> None:
    with pytest.raises(zw.DeclarationError, match="There is no constraint 'tipp'. Did you mean 'tip'"):
        rod().constraints["tipp"]
