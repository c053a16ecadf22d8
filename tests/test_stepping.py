"""The method of order 8 and its dense output: orders, tables, and the loop of a model written by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import zwang as zw
from zwang._derive.motion_modes import ActiveSet
from zwang._kernels.mode_motion import moving
from zwang._kernels.stretch_output import KnownState
from zwang._numerics.motion import events, run_layout, tableau
from zwang._numerics.motion.dense_output import interpolated


def matrix() -> np.ndarray:
    rows = np.zeros((16, 16))
    for s, row in enumerate(tableau.A):
        for j, weight in row.items():
            rows[s, j] = weight
    return rows


def vector(weights: dict[int, float]) -> np.ndarray:
    return np.array([weights.get(s, 0.0) for s in range(16)])


def test_each_stage_lies_where_its_weights_say():
    # The sum of a row is the place of its stage, for every consistent method.
    assert np.abs(matrix().sum(axis=1) - np.array(tableau.C)).max() < 3e-14


@pytest.mark.parametrize("power", range(8))
def test_the_weights_integrate_polynomials_up_to_degree_seven(power):
    c = np.array(tableau.C)
    assert vector(tableau.B) @ c**power == pytest.approx(1 / (power + 1), abs=3e-15)


def test_trees_of_height_three_satisfy_their_order_conditions():
    # b A c^k = 1/((k+1)(k+2)), b diag(c) A c^k = 1/((k+1)(k+3)), b A A c^k = 1/((k+1)(k+2)(k+3)): Butcher's conditions.
    b, a, c = vector(tableau.B), matrix(), np.array(tableau.C)
    for k in range(1, 6):
        assert b @ a @ c**k == pytest.approx(1 / ((k + 1) * (k + 2)), abs=1e-14)
        assert b @ a @ a @ c**k == pytest.approx(1 / ((k + 1) * (k + 2) * (k + 3)), abs=1e-14)
        if k < 5:
            assert b @ (c * (a @ c**k)) == pytest.approx(1 / ((k + 1) * (k + 3)), abs=1e-14)


def test_error_estimates_vanish_for_low_orders_and_not_for_high_ones():
    c = np.array(tableau.C)
    e5, e3 = vector(tableau.E5), vector(tableau.E3)
    assert max(abs(e5 @ c**k) for k in range(5)) < 1e-15
    assert abs(e5 @ c**5) > 1e-6
    assert max(abs(e3 @ c**k) for k in range(3)) < 1e-14
    assert abs(e3 @ c**3) > 1e-6


def forced_oscillator() -> zw.Model:
    (x,), (v,) = zw.coordinates("x")
    return zw.compile(zw.System(name="oscillator", kinetic=v**2 / 2, potential=x**2 / 2, forces={x: zw.t * v / 10}))


def fixed_steps(h: float, until: float = 2.0):
    """Return the stretch made with steps of length h: a tolerance that never binds, restarted at every step."""
    flow = moving(forced_oscillator(), ActiveSet(()), compiled=False)
    t, q, v = 0.0, np.array([1.0]), np.array([0.0])
    pieces = []
    for k in range(round(until / h)):
        piece = flow.advance(t, q, v, np.zeros(0), (k + 1) * h, 1e3, np.zeros(0), known=KnownState(h))
        assert len(piece.t) == 2
        pieces.append(piece)
        t, q, v = piece.t[-1], piece.q[-1], piece.v[-1]
    return pieces


def exact(times: np.ndarray) -> np.ndarray:
    """Return the motion to 1e-13 by SciPy, at its smallest tolerance."""
    found = solve_ivp(
        lambda t, y: [y[1], -y[0] + t * y[1] / 10], (0, 2.0), [1.0, 0.0], method="DOP853", rtol=2.5e-14, atol=1e-16,
        t_eval=times,
    )  # fmt: skip
    return found.y.T


def test_the_end_of_a_step_converges_with_order_eight():
    end = exact(np.array([2.0]))[0]
    errors = [np.abs(np.r_[p.q[-1], p.v[-1]] - end).max() for p in (fixed_steps(h)[-1] for h in (1.0, 0.5))]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(8, abs=0.7)


def test_the_dense_output_converges_with_order_seven_or_better():
    def error(h: float) -> float:
        worst = 0.0
        for piece in fixed_steps(h):
            times = piece.t[0] + h * np.array([0.2, 0.45, 0.7])
            found = np.array([np.concatenate(piece.at(time)) for time in times])
            worst = max(worst, np.abs(found - exact(times)).max())
        return worst

    order = math.log2(error(1.0) / error(0.5))
    assert 6.7 < order < 8.7


def test_dense_output_of_many_steps_agrees_with_one_at_a_time():
    pieces = fixed_steps(0.5)
    starts = np.array([np.concatenate([p.q[0], p.v[0]]) for p in pieces])
    states = interpolated(starts, np.concatenate([p.dense for p in pieces]), np.full(len(pieces), 0.3))
    for piece, state in zip(pieces, states, strict=True):
        assert np.concatenate(piece.at(piece.t[0] + 0.3 * 0.5)) == pytest.approx(state, abs=1e-14)


def test_a_tolerance_a_thousand_times_smaller_gives_an_error_about_as_much_smaller():
    flow = moving(forced_oscillator(), ActiveSet(()), compiled=False)
    end = exact(np.array([2.0]))[0]
    errors = []
    for tol in (1e-6, 1e-9, 1e-12):
        found = flow.advance(0.0, np.array([1.0]), np.array([0.0]), np.zeros(0), 2.0, tol, np.zeros(0))
        errors.append(np.abs(np.r_[found.q[-1], found.v[-1]] - end).max())
        assert errors[-1] < 20 * tol
    assert errors[0] > 30 * errors[1] > 900 * errors[2]


def test_in_a_step_as_short_as_rounding_only_what_crosses_fires():
    # What counts as simultaneous, a part of the time, is many steps then: what never crosses was taken for an impact.
    late = 7.0
    kept = np.array([0.5, events.NEVER, 1.0])
    watched = events.Watched(np.ones(3), np.zeros(3), np.zeros(0), kept, np.zeros(3, dtype=np.int64))
    events.fire(np.zeros(1), watched, late, np.zeros(run_layout.COUNTS, dtype=np.int64))
    assert watched.fired.tolist() == [1, 0, 1]
