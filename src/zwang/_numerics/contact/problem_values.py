"""The values of contact problems, checked: finite numbers, agreeing shapes, a mass matrix that is one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from zwang._numerics.linear.blocks import diagonal_blocks
from zwang._numerics.linear.inertia import lack_of_inertia
from zwang._numerics.linear.metric import SOUND, by_own_masses, factor, support
from zwang.errors import DeclarationError

Array = npt.NDArray[np.float64]
Matrix = Any
"""A dense array or a scipy.sparse matrix; scipy itself is imported only where one has to be made."""
FILLED = 4_000_000
"""Entries of rows, zeros too, that are looked at as a dense array: 32 MB."""

FULL = 0.1
"""Part of the entries up to which rows over small blocks of masses are quicker as a sparse matrix."""


def is_sparse(value: object) -> bool:
    """Whether `value` is a scipy.sparse matrix or array (told by its methods, so that scipy needn't be imported)."""
    return hasattr(value, "tocsr")


def dense(value: Matrix) -> Array:
    """Return a dense array of a dense or sparse matrix."""
    return np.asarray(value.toarray() if is_sparse(value) else value, dtype=float)


def thin(rows: Matrix) -> Matrix:
    """Return rows as csr where they are nearly all zeros."""
    if is_sparse(rows) or not rows.size:
        return rows
    there = rows.ravel() != 0
    if np.count_nonzero(there) > FULL * rows.size:
        return rows
    from scipy.sparse import csr_array

    place = np.flatnonzero(there)
    pointer = np.append(0, np.cumsum(np.count_nonzero(there.reshape(rows.shape), axis=1)))
    return csr_array((rows.ravel()[place], place % rows.shape[1], pointer), shape=rows.shape)


def finite(label: str, values: Array) -> None:
    """Refuse values that are not finite, with the place of the first."""
    # The sum of squares tells at a third of the time; where it overflows, the values themselves are looked at.
    if not math.isfinite(np.vdot(values, values)) and not np.isfinite(values).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
        place = f" at index {where[0] if len(where) == 1 else where}" if where else ""
        raise DeclarationError(f"{label} is {values[where]}{place}, needed finite numbers. Check what it was made of.")


def as_float(label: str, value: Any) -> Array:
    """Return a new array of floats."""
    try:
        return np.array(value, dtype=float)
    except OverflowError:
        raise DeclarationError(f"{label} has a number beyond the largest double, needed finite numbers.") from None
    except (TypeError, ValueError):
        raise DeclarationError(
            f"{label} is {type(value).__name__} {value!r:.60}, needed an array of numbers."
        ) from None


def number(label: str, value: Any) -> float:
    """Return one finite number."""
    array = as_float(label, value)
    if array.size != 1:
        raise DeclarationError(f"{label} has shape {array.shape}, needed one number.")
    number = float(array.reshape(()))
    if not math.isfinite(number):
        raise DeclarationError(f"{label} is {number}, needed a finite number.")
    return number


def vector(label: str, value: Any) -> Array:
    """Return a finite vector; one row or column will do."""
    array = as_float(label, value)
    if array.ndim == 2 and 1 in array.shape:
        array = array.ravel()
    if array.ndim != 1:
        raise DeclarationError(f"{label} has shape {array.shape}, needed a vector (n,).")
    finite(label, array)
    return array


def _csr(value: Matrix) -> Matrix:
    """Return a sparse matrix as csr of doubles, itself where it is that."""
    found = value.tocsr()
    return found if found.data.dtype == np.float64 else found.astype(float)


def row(label: str, value: Any) -> Matrix:
    """Return a finite vector, or a sparse row as csr."""
    if not is_sparse(value):
        return vector(label, value)
    found = _csr(value)
    found = found.reshape(1, -1).tocsr() if found.ndim == 1 or found.shape[0] != 1 else found
    finite(label, found.data)
    return found


def tangent_rows(label: str, value: Any, normal: Matrix) -> Matrix:
    """Return the rows of the tangents (p, n), p = 0, 1 or 2, of the normal's length."""
    n = None if normal is None else normal.shape[-1]
    if value is None:
        return np.zeros((0, n or 0))
    if is_sparse(value):
        rows = _csr(value)
        rows = rows.reshape(1, -1).tocsr() if rows.ndim == 1 else rows
        finite(label, rows.data)
    else:
        rows = as_float(label, value)
        rows = rows.reshape(1, -1) if rows.ndim == 1 and rows.size else rows
        rows = np.zeros((0, n or 0)) if rows.size == 0 else rows
        finite(label, rows)
    if rows.ndim != 2 or rows.shape[0] > 2:
        raise DeclarationError(f"{label} has shape {rows.shape}, needed (p, n) with p = 0, 1 or 2 rows.")
    if rows.shape[0] and n is not None and rows.shape[1] != n:
        raise DeclarationError(
            f"{label} has shape {rows.shape} but the normal has length {n}. Both are rows over the same n coordinates."
        )
    return rows


def short(label: str, value: Any, p: int) -> Array:
    """Return one number per tangent, zeros if none are given."""
    if value is None:
        return np.zeros(p)
    array = as_float(label, value).ravel()
    if array.size != p:
        raise DeclarationError(
            f"{label} has {array.size} component{'s' if array.size != 1 else ''} but the tangent has {p} "
            f"row{'s' if p != 1 else ''}. Give one component per row of the tangent."
        )
    finite(label, array)
    return array


def square(label: str, value: Matrix, n: int) -> Matrix:
    """Check size and symmetry, and return the matrix as float."""
    sparse = is_sparse(value)
    matrix = value.tocsc().astype(float) if sparse else as_float(label, value)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        cure = " Use numpy.diag for a vector of masses." if matrix.ndim == 1 else ""
        raise DeclarationError(f"{label} has shape {matrix.shape}, needed (n, n).{cure}")
    if matrix.shape[0] != n:
        raise DeclarationError(f"{label} has shape {matrix.shape} but force has length {n}. Both count coordinates.")
    finite(label, np.asarray(matrix.data) if sparse else np.asarray(matrix))
    largest = float(abs(matrix).max()) if n else 0.0
    skew = float(abs(matrix - matrix.T).max()) if n else 0.0
    if skew > 1e-10 * largest:
        raise DeclarationError(
            f"{label} is not symmetric: it differs from its transpose by {skew:.3g}. "
            f"Give the kinetic energy's matrix, (M + M.T)/2 if the difference is rounding."
        )
    return matrix


def definite(label: str, matrix: Matrix, rows: Matrix) -> Array | None:
    """Return weights D of the bilateral rows W with which M + W^T D W is definite, None where M is by itself.

    A matrix that is definite in neither way is a DeclarationError. One whose pivots may be rounding is completed too
    where the rows can: what is added cancels, and digits are kept.
    """
    bad = _not_definite(matrix)
    if bad is None and (not rows.shape[0] or is_sparse(matrix) or factor(matrix) is not None):
        return None
    weights = _weights(matrix, rows)
    if weights is not None and _definite_with(completed(matrix, rows, weights)):
        return weights
    if bad is None:
        return None
    raise DeclarationError(
        f"{label} is not positive definite: {bad}. A coordinate without inertia has no acceleration to solve for; "
        f"leave it out, give its mass, or give a bilateral contact that ties it to one."
    )


def completed(matrix: Matrix, rows: Matrix, weights: Array) -> Matrix:
    """Return M + W^T D W."""
    if is_sparse(matrix):
        from scipy.sparse import csr_matrix, diags

        sparse = csr_matrix(rows)
        return (matrix + sparse.T @ diags(weights) @ sparse).tocsc()
    full = dense(rows)
    return matrix + full.T @ (weights[:, None] * full)


def _definite_with(whole: Matrix) -> bool:
    """Say whether a completed matrix is definite beyond rounding, in the units of its own diagonal."""
    if not is_sparse(whole):
        return _not_definite(whole) is None
    diagonal = np.asarray(whole.diagonal())
    if not (diagonal > 0).all():
        return False
    from scipy.sparse import diags, identity

    scale = diags(1.0 / np.sqrt(diagonal))
    return _smallest_pivot((scale @ whole @ scale - SOUND * identity(len(diagonal))).tocsc()) is None


def _not_definite(matrix: Matrix) -> str | None:
    return _smallest_pivot(matrix) if is_sparse(matrix) else _negative_eigenvalue(matrix)


def _weights(matrix: Matrix, rows: Matrix) -> Array | None:
    """Return weights for the rows; None where there are no rows, or a negative mass that none can make good."""
    if not rows.shape[0]:
        return None
    if not is_sparse(matrix):
        lack = lack_of_inertia(matrix, dense(rows))
        return support(matrix, dense(rows)) if lack is None else None
    diagonal = np.asarray(matrix.diagonal())
    largest = np.asarray(abs(rows).max(axis=1).todense() if is_sparse(rows) else np.abs(rows).max(axis=1)).ravel()
    if diagonal.min() < 0:
        return None
    if rows.shape[0] * rows.shape[1] <= FILLED:
        return by_own_masses(diagonal, dense(rows))
    return np.where(largest > 0, diagonal.max() / np.where(largest > 0, largest, 1.0) ** 2, 0.0)


def _negative_eigenvalue(matrix: Array) -> str | None:
    if matrix.shape[0] == 0:
        return None
    own = np.diag(matrix)
    if (own > 0).all():
        found = diagonal_blocks(matrix)
        blocks = [(np.arange(len(own))[None], matrix[None])] if found is None else found
        try:
            pivots = [np.linalg.cholesky(block).diagonal(axis1=1, axis2=2) / np.sqrt(own[at]) for at, block in blocks]
            # The square of a pivot is the part of a coordinate's inertia that the others don't carry.
            if min(float(part.min()) for part in pivots) > 1e-8:
                return None
        except np.linalg.LinAlgError:
            pass
    smallest = float(np.linalg.eigvalsh(matrix)[0])
    return f"its smallest eigenvalue is {smallest:.3g}"


def _smallest_pivot(matrix: Matrix) -> str | None:
    from scipy.sparse.linalg import splu

    try:
        factors = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:
        return "it is singular"
    pivots = factors.U.diagonal()
    return None if pivots.min() > 0 else f"a pivot of its factorization is {float(pivots.min()):.3g}"
