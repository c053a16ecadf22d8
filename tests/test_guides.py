"""Gaps and slips of guides: a gap is a length on its guide, a slip the speed along it."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import zwang as zw

(x, y, z), (vx, vy, vz) = zw.coordinates("x y z")
a, r1, r2 = zw.parameters("a r1 r2")


def ellipse(u, v):
    return (u - a) ** 2 / r1**2 + v**2 / r2**2 - 1


def test_the_gap_has_a_unit_gradient_on_the_curve() -> None:
    gap, _ = zw.on_curve((x, y), ellipse)
    angle = sp.Symbol("s", real=True)
    on = {x: a + r1 * sp.cos(angle), y: r2 * sp.sin(angle), a: -0.5, r1: 1.5, r2: 1.1, angle: 0.7}
    gradient = [sp.diff(gap, item).subs(on).subs(on).evalf() for item in (x, y)]
    assert float(gradient[0] ** 2 + gradient[1] ** 2) == pytest.approx(1, abs=1e-14)


def test_the_slip_is_the_speed_along_the_curve_and_the_floor_slips_along_x() -> None:
    _, slip = zw.on_curve((x, y), ellipse)
    values = {x: 0.3, y: 0.8, vx: 0.4, vy: -0.2, a: -0.5, r1: 1.5, r2: 1.1}
    normal = np.array([float(sp.diff(ellipse(x, y), item).subs(values)) for item in (x, y)])
    normal /= np.linalg.norm(normal)
    along = np.array([0.4, -0.2]) @ np.array([normal[1], -normal[0]])
    assert float(slip.subs(values)) == pytest.approx(along, abs=1e-14)
    assert zw.on_curve((x, y), y) == (y, vx)


def test_a_surface_has_orthonormal_tangents_everywhere() -> None:
    _gap, slips = zw.on_surface((x, y, z), lambda u, v, w: u**2 + v**2 + w**2 - 1)
    source = np.random.default_rng(1)
    for point in [*source.normal(size=(20, 3)), np.array([0, 0, -1.0]), np.array([1.0, 0, 0])]:
        unit = point / np.linalg.norm(point)
        values = dict(zip((x, y, z), unit, strict=True))
        tangents = np.array([[float(sp.diff(slip, item).subs(values)) for item in (vx, vy, vz)] for slip in slips])
        np.testing.assert_allclose(tangents @ tangents.T, np.eye(2), atol=1e-14)
        np.testing.assert_allclose(tangents @ unit, 0, atol=1e-14)


def test_a_point_in_joint_coordinates_takes_a_function() -> None:
    (phi,), (w,) = zw.coordinates("phi", angles="phi")
    gap, slip = zw.on_curve((sp.cos(phi), sp.sin(phi)), lambda u, v: v)
    assert gap == sp.sin(phi) and slip == -w * sp.sin(phi)


VECTORS = {
    "column": sp.Matrix,
    "row": lambda items: sp.Matrix([items]),
    "immutable": sp.ImmutableMatrix,
    "array of SymPy": sp.Array,
    "tuple of SymPy": lambda items: sp.Tuple(*items),
    "array": lambda items: np.array(items, dtype=object),
    "list": list,
}


@pytest.mark.parametrize("form", VECTORS)
def test_a_vector_is_taken_in_every_form_that_it_is_written_in(form: str) -> None:
    of = VECTORS[form]
    assert zw.on_curve(of([x, y]), ellipse) == zw.on_curve((x, y), ellipse)
    assert zw.on_curve(of([x + a, y]), x - y, variables=of([x, y])) == zw.on_curve((x + a, y), x - y, variables=(x, y))
    assert zw.on_surface(of([x, y, z]), lambda u, v, w: w - u) == zw.on_surface((x, y, z), lambda u, v, w: w - u)
    assert list(zw.rate(of([x, a * y]))) == [vx, a * vy]
    told = {"kinetic": (vx**2 + vy**2) / 2}
    drawing = zw.Drawing(points={"A": of([x, y]), "O": of([0, 0])}, bars=[("A", "O")])
    system = zw.System(**told, coordinates=of([y, x]), constraints=[zw.Friction(1, slip=of([vx, vy]))], drawing=drawing)
    assert system.coordinates == (y, x)
    assert system == zw.System(**told, coordinates=(y, x), constraints=[zw.Friction(1, slip=(vx, vy))])
    forced = zw.System(coordinates=(x, y), mass=sp.eye(2), force=of([y, x]))
    assert forced == zw.System(coordinates=(x, y), mass=sp.eye(2), force=[y, x])
    # Builders and questions.
    bar = zw.Linkage("bar", gravity=of([0, -1])).ground("O", 0, 0).point("A", mass=1).chain("O A", lengths=of([a]))
    assert a in bar.force("A", of([0, r1])).system().parameters
    arm = zw.Bodies("arm", gravity=of([0, 0, -1])).body("link", mass=1, inertia=of([1, 2, 2]), at=of([0, 0, 1]))
    arm.revolute("hinge", "ground", "link", at=of([0, 0, 0]), axis=of([0, 1, 0]), limits=of([-1, 1]))
    arm.force("link", of([0, 0, a]))
    assert [item.name for item in arm.system().constraints] == ["hinge low", "hinge high"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: zw.on_curve((x, y, z), ellipse), "needs 2 components"),
        (lambda: zw.on_surface((x, y), ellipse), "needs 3 components"),
        (lambda: zw.on_curve((x + 1, y), x + y), "Give variables"),
        (lambda: zw.on_curve((x, y), 3), "must be a function or an expression"),
        (lambda: zw.on_curve((x, y), lambda u, v: 3), "must return an expression"),
        (lambda: zw.on_curve((x, y), lambda u, v: a), "doesn't depend on the point"),
        (lambda: zw.on_curve(("x", "y"), ellipse), "must be expressions"),
    ],
)
def test_bad_guides_are_refused(call, message: str) -> None:
    with pytest.raises(zw.DeclarationError, match=message):
        call()


def test_a_vanishing_gradient_is_a_state_error_that_names_the_constraint() -> None:
    gap, slip = zw.on_curve((x, y), lambda u, v: u**2 + v**2)
    system = zw.System(
        name="tip",
        kinetic=vx**2 + vy**2,
        constraints=[zw.Unilateral(gap, friction=zw.Coulomb(1, slip=slip), name="cone")],
    )
    state = {"x": 0, "y": 0, "v_x": 1, "v_y": 0}
    for backend in ("reference", "native"):
        with pytest.raises(zw.StateError, match="gradient of constraint 'cone' is not finite"):
            zw.compile(system, backend).evaluate(state)
