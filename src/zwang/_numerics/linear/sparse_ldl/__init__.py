"""LDL^T of sparse KKT matrices K = [[M, J^T], [J, 0]] in compiled code, from tables computed once.

M (n x n) is symmetric positive definite, J (m x n) has full row rank. `analyse` orders the unknowns and lays out
tables, `ldl_factor` and `ldl_solve` are kernels that compiled code calls; nothing is allocated in them. With the
right-hand side [Q; gamma] the solution is [a; -lam] where M a - J^T lam = Q and J a = gamma.

A model's kernel gets the table in its int_table, as ``pattern.packed()``, and a piece of its workspace::

    table = int_table[first:last].view(np.uint32)
    mass = workspace[i0:i1]              # filled here by loops over kinds of bodies, in the order given to analyse
    jac = workspace[i1:i2]               # the same over kinds of constraints
    x = workspace[i2:i3]                 # x[:n] = Q, x[n:] = gamma
    factor = workspace[i3:i4]            # pattern.workspace_size
    ratio = ldl_factor(table, mass, jac, factor)
    if not ratio > 1e-10:
        return 1                         # hand over to the rank-revealing path; factor[1] names the unknown
    ldl_solve(table, factor, x)
    for i in range(n):
        out[i] = x[i]
    for j in range(m):
        out[n + j] = -x[n + j]

`ordering` proves that pivots of size one always exist and which sign they have. The ratio is the smallest pivot over
the sum of the absolute values of the terms that it is made of: what cancellation left of it.
"""

from __future__ import annotations

from zwang._numerics.linear.sparse_ldl.factor import ldl_factor
from zwang._numerics.linear.sparse_ldl.pattern import SparsePattern, analyse
from zwang._numerics.linear.sparse_ldl.solve import ldl_log_determinant, ldl_solve

__all__ = ["SparsePattern", "analyse", "ldl_factor", "ldl_log_determinant", "ldl_solve"]
