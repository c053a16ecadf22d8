"""Misprints that change no statement: where, what is printed, what is meant. Some may be the scan's."""

from __future__ import annotations

MISPRINTS: tuple[tuple[str, str, str, str], ...] = (
    ("000", "section 2", "N points in the plane, N - 1 constraints", "2 N - 1 constraints"),
    ("000", "(7), first line", "`lambda_{±}`", "`lambda_{+}`"),
    ("000", "corollary 2", "`(A^-1 W)(X(p))`", "`(A^-1 W)(p)`: functions of p"),
    (
        "001",
        "example 1, beta",
        "`n = (-1, -1)` with a positive beta",
        "the sign of (1.9) is the other one; Phi is right",
    ),
    ("001", "after (1.7), (1.9), theorem 10", "references to (1.3), (1.7), (1.9)", "(1.4), (1.8), (1.10)"),
    ("001", "example 2", "metric (1.6); `F_2^2`; `z_0`, `z_1`, `z_2`", "(1.5); `F_2^1`; `F^0`, `F^1`, `F^2`"),
    ("001", "example 2, induction", "n more projections", "n - 1 more"),
    ("001", "example 3", "by theorem 11; u = 0.755", "by theorem 10; u = 0.756"),
    ("001", "section 3", "equations (1.7), value (1.11), function (2.4)", "(1.6), (1.12), (2.3)"),
    ("001", "(4.1)", "sum to k", "sum to k + l"),
    ("001", "examples 5 and 6", "matrix (4.9)", "(4.8)"),
    ("001", "theorem 13", "`V = 0` in (4.1)", "`B = 0`: all gamma are zero"),
    ("002", "before (1)", "big semi-axes", "semi-axes"),
    ("002", "(13)", "squares of coordinates", "squares of velocities"),
    ("003", "section 2", "the function `N sum c_k/f_k^2`", "`sum c_k f_k^2`"),
    ("004", "section 1", "one-sided, or nonholonomic, constraints", "one-sided, or non-retaining"),
    ("004", "section 2, after (1)", "all coordinates non-negative", "non-positive"),
    ("004", "section 2, sizes", "A is 3N x k, W is 3N x s", "k x 3N and s x 3N"),
    ("004", "section 2, before (5)", "tangent displacements form a hyperplane", "a subspace of codimension k + s"),
    ("004", "section 2, before (8)", "`Psi = (A; W)`, `W dV = 0`", "`Phi`, `W dV <= 0`"),
    ("004", "(9)", "`(W q' + h) mu = 0`", "`mu_j (W_j q' + h_j) = 0` for each j"),
    ("004", "(12) to (14)", "f, F*, a bound of f", "f* throughout"),
    ("004", "section 4, friction", "orthogonal to the velocity", "orthogonal to the blade"),
)
"""Paper, place, what is printed, what is meant."""
