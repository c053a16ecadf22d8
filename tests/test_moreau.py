"""The solvers of a step of time stepping, each asked alone."""

from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

from zwang._numerics.contact.cone_scaling import CONE
from zwang._numerics.contact.modes import UNILATERAL
from zwang._numerics.motion.moreau import StepRow, Walker, kernels, march, step_layout
from zwang._numerics.motion.moreau import walker as walker_module
from zwang._numerics.motion.moreau.direct import factors, follow
from zwang._numerics.motion.moreau.elimination import elimination, gather
from zwang._numerics.motion.moreau.interior import LAST, InnerPoint, interior, set_gain


def plate(random: np.random.Generator, feet: int, slip: float) -> Walker:
    """Return a rigid plate on feet, rows of rank 6, and the velocities that its feet would have."""
    layout = step_layout(
        6,
        np.array([[i, j] for i in range(6) for j in range(i + 1)]),
        np.array([[a, i] for a in range(3 * feet) for i in range(6)]),
        [StepRow(UNILATERAL, c, (feet + 2 * c, feet + 2 * c + 1)) for c in range(feet)],
    )

    class NoTerms:
        size = 1

    none = np.full(feet, -1)
    floors = np.zeros(3 * feet), np.zeros(3 * feet)
    walker = Walker(layout, NoTerms(), np.zeros(0), none, none, np.arange(feet), floors=floors)
    t, f = walker.tables, walker.work
    mass = random.normal(size=(6, 6))
    mass = np.eye(6) + 0.1 * mass @ mass.T
    f[kernels.MASS][:], f[kernels.INVERSE][:] = mass.ravel(), np.linalg.inv(mass).ravel()
    rows = np.zeros((3 * feet, 6))
    for c, (x, y) in enumerate(random.uniform(-1, 1, (feet, 2))):
        rows[3 * c : 3 * c + 3, :3] = np.eye(3)[[2, 0, 1]]
        rows[3 * c : 3 * c + 3, 3:] = [[y, -x, 0], [0, 0.3, -y], [-0.3, 0, x]]
    f[kernels.JAC][:] = rows.ravel()
    t[kernels.ACTIVE][:] = 1
    f[kernels.LAW][:] = np.tile([0.5, -1.0], feet)
    kernels.scales(t, f, t[kernels.ACTIVE])
    f[kernels.B][:] = rows @ [slip, 0.1 * slip, -1.0, 0.1, -0.2, slip]
    return walker


@pytest.mark.parametrize("attempt", range(LAST + 1))
@pytest.mark.parametrize("slip", [0.0, 3.0])
def test_interior_points_find_impulses_of_more_feet_than_are_needed_from_nothing(attempt: int, slip: float) -> None:
    for seed in range(5):
        walker = plate(np.random.default_rng(seed), 8, slip)
        t, f = walker.tables, walker.work
        env = elimination(t)
        found = interior(t, f, env, gather(t, f, env), factors(t, env), 1.0, 1e-12, 1e-10, attempt)
        assert found <= 1e-10
        follow(t, f, np.empty(6))
        # Coulomb's law, written down again.
        r, u = f[kernels.R].reshape(-1, 3), f[kernels.U].reshape(-1, 3)
        pull, speed = np.linalg.norm(r[:, 1:], axis=1), np.linalg.norm(u[:, 1:], axis=1)
        assert (r[:, 0] >= 0).all() and (u[:, 0] >= -1e-9).all() and np.abs(r[:, 0] * u[:, 0]).max() <= 1e-9
        assert (pull <= 0.5 * r[:, 0] + 1e-9).all()
        dissipated = np.einsum("ij,ij->i", r[:, 1:], u[:, 1:])
        assert dissipated == pytest.approx(-0.5 * r[:, 0] * speed, abs=1e-8)
        assert (speed.max() > 0.1) == (slip > 0)


def test_the_matrix_of_a_sliding_contact_keeps_its_digits_near_the_boundary_of_its_cone() -> None:
    # D = (F V^-2 E)^-1 with 60 digits; the columns of the slips are ten orders smaller than what they come from.
    mu, near = 0.6, 1e-9
    angle = 0.7
    c, s = np.cos(angle), np.sin(angle)
    slack = np.array([0.8 + near, 0.8 * c, 0.8 * s])
    other = np.array([0.3 + 2 * near, -0.3 * np.cos(angle + 1e-6), -0.3 * np.sin(angle + 1e-6)])
    column = lambda x: np.asarray(x, dtype=float).reshape(-1, 1).copy()  # noqa: E731
    p = InnerPoint(
        np.array([[0, CONE]], dtype=np.int64), np.array([[mu, -1.0]]), np.zeros(3), column(slack), column(other),
        np.zeros((3, 1)), np.zeros((3, 1)), np.zeros((4, 1)), np.zeros(9), np.zeros(3), np.zeros(3),
    )  # fmt: skip
    set_gain(p)
    with mpmath.workdps(60):
        root = lambda v: mpmath.sqrt(v[0] ** 2 - v[1] ** 2 - v[2] ** 2)  # noqa: E731
        a, b = [mpmath.mpf(float(x)) for x in slack], [mpmath.mpf(float(x)) for x in other]
        ra, rb = root(a), root(b)
        gamma = mpmath.sqrt((1 + sum(x * y for x, y in zip(a, b, strict=True)) / (ra * rb)) / 2)
        w = [(a[i] / ra + (1 if i == 0 else -1) * b[i] / rb) / (2 * gamma) for i in range(3)]
        j = mpmath.diag([1, -1, -1])
        square = (ra / rb) * (2 * mpmath.matrix(w) * mpmath.matrix(w).T - j)
        size = mpmath.sqrt(b[1] ** 2 + b[2] ** 2)
        m = mpmath.mpf(mu)
        lean = mpmath.matrix([[m, -m * b[1] / size, -m * b[2] / size], [0, 1, 0], [0, 0, 1]])
        exact = mpmath.inverse(lean * mpmath.inverse(square) * mpmath.diag([m, 1, 1]))
        exact = np.array(exact.tolist(), dtype=float)
    found = p.gain.reshape(3, 3)
    # Digits of s0 - |s| itself: 1e-16 of 1 in 1e-9.
    assert np.abs(found[:, 1:] - exact[:, 1:]).max() <= 1e-5 * np.abs(exact[:, 1:]).max()
    assert np.abs(exact[:, 0]).max() > 1e5 * np.abs(exact[:, 1:]).max()  # nearly all of it cancels


@pytest.mark.parametrize("part", [kernels.B, kernels.JAC, kernels.MASS])
def test_a_step_that_is_not_finite_ends_a_walk_before_other_solvers_are_asked(
    monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    walker = plate(np.random.default_rng(0), 4, 0.0)
    walker.work[part][0] = -np.inf
    # A compiled walk gives such a step back unsolved: it does not look at what solvers would.
    monkeypatch.setattr(walker_module, "with_functions", lambda *_: lambda *_: (march.UNSOLVED, 3, 0.0, 0.0))
    walker.terms = SimpleNamespace(kernel=None, table=None, workspace=None, place=None)
    track = None
    assert walker.walk(track, 1e-3, 0, 10, autonomous=True) == (march.NOT_FINITE, 3)
