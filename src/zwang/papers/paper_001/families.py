"""Random contact problems, and the matrix Omega of (4.8), for searches for counterexamples."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from scipy.optimize import linprog

from zwang import Contact, ContactProblem, reactions

__all__ = ["ask", "body", "generic", "has_self_stress", "leaning", "least_omega", "omega", "random_ladder", "sides"]


def ask(problem: ContactProblem, **options: Any) -> Any:
    """Return the reactions of a problem."""
    return reactions(problem, **options)


def generic(
    rng: Any,
    *,
    n: int = 4,
    k: int = 2,
    rest: float = 1.0,
    bilateral: float = 0.0,
    friction: float = 1.0,
    bias: float = 0.0,
) -> ContactProblem:
    """Return independent random contacts: `rest` and `bilateral` are probabilities, `friction` the largest one."""
    root = rng.normal(size=(n, n))
    contacts = [
        Contact(
            rng.normal(size=n),
            tangent=rng.normal(size=n),
            friction=float(rng.uniform(0, friction)),
            bias=float(bias * rng.normal()),
            tangent_bias=float(bias * rng.normal()),
            bilateral=bool(rng.random() < bilateral),
            slip=0.0 if rng.random() < rest else float(rng.choice([-1.0, 1.0])),
        )
        for _ in range(k)
    ]
    return ContactProblem(root @ root.T / n + 0.5 * np.eye(n), 2 * rng.normal(size=n), contacts)


def body(rng: Any, *, k: int = 2, rest: float = 1.0, friction: float = 1.0, bias: float = 0.0) -> ContactProblem:
    """Return a rigid body in the plane that touches k lines of random directions."""
    contacts = []
    for _ in range(k):
        angle, (x, y) = rng.uniform(0, 2 * np.pi), rng.normal(size=2)
        c, s = np.cos(angle), np.sin(angle)
        contacts.append(
            Contact(
                [-s, c, x * c + y * s],
                tangent=[c, s, x * s - y * c],
                friction=float(rng.uniform(0, friction)),
                bias=float(bias * rng.normal()),
                slip=0.0 if rng.random() < rest else float(rng.choice([-1.0, 1.0])),
            )
        )
    return ContactProblem(np.diag([1.0, 1.0, rng.uniform(0.2, 1.0)]), rng.normal(size=3), contacts)


def omega(problem: ContactProblem, mubar: Any) -> Any:
    """Return the matrix (4.8) for given values of the friction coefficients."""
    rows = problem.rows
    inverse = np.linalg.inv(problem.mass)
    sigma = np.asarray(mubar)[:, None] * (rows.tangent @ inverse @ rows.normal.T)
    return rows.normal @ inverse @ rows.normal.T + (sigma + sigma.T) / 2


def least_omega(problem: ContactProblem, *, along: bool = False) -> float:
    """Return the smallest eigenvalue of (4.8) over |mubar| <= mu; with `along` over mubar between 0 and -mu sign(slip).

    The matrix is affine in mubar, so the corners of the box decide.
    """
    mu = problem.rows.friction
    ends = [(0.0, -m * np.sign(s)) if along else (-m, m) for m, s in zip(mu, problem.rows.slip, strict=True)]
    return min(float(np.linalg.eigvalsh(omega(problem, corner))[0]) for corner in itertools.product(*ends))


def leaning(l: float, degrees: float) -> dict[str, float]:
    """Return a ladder of half length l at an obtuse angle, its top on the wall."""
    theta = math.radians(degrees)
    return {"l": l, "theta": theta, "x": -2 * l * math.cos(theta)}


def sides(l: float, degrees: float) -> tuple[float, float]:
    """Return |a| and h."""
    return abs(l * math.cos(math.radians(degrees))), l * math.sin(math.radians(degrees))


def random_ladder(rng: Any) -> tuple[float, float]:
    """Return half length and angle [degrees] of a random ladder."""
    return float(rng.uniform(1.0, 3.0)), float(rng.uniform(100.0, 170.0))


def has_self_stress(problem: ContactProblem) -> bool:
    """Return whether reactions in the friction cones, not all zero, balance each other: linear programs decide.

    For each choice of signs of the two-sided normal forces the question is whether sum n_j N_j + t_j T_j = 0 with
    sum |N_j| = 1 and |T_j| <= mu_j |N_j| can be met.
    """
    rows = problem.rows
    k = len(rows.friction)
    for signs in itertools.product(*[(1.0, -1.0) if two else (1.0,) for two in rows.bilateral]):
        balance = np.hstack([rows.normal.T * np.array(signs), rows.tangent.T])
        equal = np.vstack([balance, np.concatenate([np.ones(k), np.zeros(k)])])
        cone = np.block([[-np.diag(rows.friction), np.eye(k)], [-np.diag(rows.friction), -np.eye(k)]])
        found = linprog(
            np.zeros(2 * k), A_ub=cone, b_ub=np.zeros(2 * k), A_eq=equal, b_eq=np.append(np.zeros(len(balance)), 1.0),
            bounds=[(0, None)] * k + [(None, None)] * k,
        )  # fmt: skip
        if found.status == 0:
            return True
    return False
