"""Where a guide of the folding pendulum begins to push, from Lagrange's equations written out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from zwang.papers import Workshop
from zwang.papers.paper_002.experiment import LAST_PULLS, START, last_pull

LONG, SHORT, R1 = 2.0, 1.0, 1.5625  # rods AB and BC, semi-axis along x; the vertex is at x = 1, masses and g are 1


def pose(phi: float, label: int, curvature: float) -> np.ndarray:
    """Return the angles of the rods with C at the polar angle `phi`, by bisection along the ray."""
    ray = np.array([np.cos(phi), np.sin(phi)])
    d = brentq(
        lambda d: (d * ray[0] - 1 + R1) ** 2 / R1**2 + curvature / R1 * (d * ray[1]) ** 2 - 1, 0.5, 3, xtol=1e-15
    )
    first = phi + label * np.arccos((d**2 + LONG**2 - SHORT**2) / (2 * LONG * d))
    x, y = d * ray - LONG * np.array([np.cos(first), np.sin(first)])
    return np.array([first, np.arctan2(y, x)])


def multiplier(phi: float, label: int, curvature: float) -> float:
    """Return the force of a two-sided ellipse, positive outwards, in the motion from the start of the claims."""

    def at(phi: float) -> tuple[np.ndarray, ...]:
        angles = pose(phi, label, curvature)
        arms = np.array([[LONG, SHORT] * np.cos(angles), [LONG, SHORT] * np.sin(angles)])
        C = arms.sum(axis=1)
        reach = np.array([-arms[1], arms[0]])  # velocity of C for unit rates
        gradient = np.array([(C[0] - 1 + R1) / R1**2, C[1] * curvature / R1])
        row = gradient @ reach
        along = np.array([-row[1], row[0]])
        along /= (C[0] * (reach @ along)[1] - C[1] * (reach @ along)[0]) / (C @ C)
        mixed = LONG * SHORT * np.cos(angles[0] - angles[1])
        mass = np.array([[2 * LONG**2, mixed], [mixed, SHORT**2]])
        return angles, arms, reach, gradient, row, along, mass

    def level(arms: np.ndarray) -> float:
        return -float(2 * arms[0, 0] + arms[0, 1])

    _, arms, _, _, _, along, mass = at(START[0])
    energy = START[1] ** 2 * along @ mass @ along / 2 + level(arms)
    angles, arms, reach, gradient, row, along, mass = at(phi)
    v = along * np.sqrt((energy - level(arms)) / (along @ mass @ along / 2))
    turning = LONG * SHORT * np.sin(angles[0] - angles[1])
    load = np.array([turning * v[1] ** 2 + 2 * arms[1, 0], -turning * v[0] ** 2 + arms[1, 1]])
    bending = (reach @ v) ** 2 @ np.array([1 / R1**2, curvature / R1]) - gradient @ (arms @ v**2)
    return float((row @ np.linalg.solve(mass, load) - bending) / (row @ np.linalg.solve(mass, row)))


@pytest.mark.parametrize(("label", "last"), [(1, LAST_PULLS[0]), (-1, LAST_PULLS[1])])
def test_a_guide_begins_to_push_at_the_curvatures_of_the_claims(label: int, last: float) -> None:
    assert last_pull(Workshop(), label) == pytest.approx(last, rel=1e-5)
    assert multiplier(-0.01, label, last - 2e-4) < 0 < multiplier(-0.01, label, last + 2e-4)
    # further from the fold it pulls still
    assert all(multiplier(phi, label, last - 2e-4) < 0 for phi in np.linspace(START[0], -0.01, 30))
