"""Singular points whose kernel has not two dimensions: the tangent cone as a system of homogeneous equations.

Several loops that lose rank together leave c quadratic forms in k unknowns. Each real line on which all of them vanish,
and where their gradients leave nothing but the line itself, is the tangent of exactly one smooth curve; where the forms
have no common real zero the point is isolated. Anything else is asked on small spheres.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.series.power import monomials
from zwang._numerics.tolerances import THRESHOLDS
from zwang._trace.deflation import deflated
from zwang._trace.local_reduction import Frame, ReducedEquations, reduce
from zwang._trace.local_series import BranchStart, grow, reach
from zwang._trace.local_structure import LocalBranch, LocalStructure

Array = NDArray[np.float64]
SIMPLE = THRESHOLDS.clear
"""Singular values of the gradients below this say that a line is a multiple one: its place is known to 1e-8 then."""
SEED = 20
"""Of the starts on the sphere, so that results repeat."""
LARGEST = 6
"""Unknowns up to which all zeros of the forms are computed: 462 monomials then."""
NEARLY = 0.3
"""How far from real a zero may be for its real part to be tried."""


def cone_structure(at: Frame) -> LocalStructure:
    """Return the local structure at a refined point whose kernel has one, three or more dimensions."""
    k = at.kernel.shape[1]
    none = np.zeros((0, len(at.q)))
    reduced = reduce(at, 3 if k > 1 else 8)
    if k == 0 or not len(reduced.coefficients):
        return LocalStructure(at.place, at, "regular", (), none)
    if k == 1:
        return LocalStructure(at.place, at, "isolated", (), none, note="the equations have no common root next to it")
    forms = _forms(reduced)
    if not len(forms):
        return LocalStructure(at.place, at, "higher", (), none, note="the quadratic part of the equations vanishes")
    lines, simple, all_told = real_lines(forms)
    sheets = False
    if len(lines) > 2 * 2 ** len(forms):
        # Planes of the cone belong to sheets; simple lines beside them are curves that end there.
        lines, simple, sheets = lines[simple], simple[simple], True
        if not len(lines):
            return LocalStructure(at.place, at, "higher", (), none, note="its tangent cone has planes")
    if not len(lines):
        return LocalStructure(at.place, at, "isolated", (), none)
    halves: list[LocalBranch] = []
    lost = 0
    for line in lines:
        pair = [_grown(at, line, sign) for sign in (1.0, -1.0)]
        kept = [series for series in pair if series is not None]
        lost += 2 - len(kept)
        curve = halves[-1].curve + 1 if halves else 0
        for place, series in enumerate(kept):
            other = len(halves) + (1 - 2 * place if len(kept) == 2 else 0)
            halves.append(_half(at, series, curve, other))
    found = _gathered(at, halves, lost, bool(simple.all()))
    if sheets:
        return replace(found, kind="higher", order=None)
    if all_told:
        return found
    sampled = "the lines of its tangent cone were searched from many starts: there may be more"
    return replace(found, note="; ".join(filter(None, [found.note, sampled])))


def _grown(at: Frame, line: Array, sign: float) -> Array | None:
    """Return the series of the curve along a line of the cone, whose direction is corrected as well if that goes."""
    path = sign * np.outer(line, (0.0, 1.0))
    found = grow(at, BranchStart(path, line, 1, 1, 1))
    return grow(at, BranchStart(path, line, 1, 1)) if found is None else found


def _half(at: Frame, series: Array, curve: int, other: int) -> LocalBranch:
    tangent = at.place.scale * series[1]
    tangent /= np.linalg.norm(tangent)
    return LocalBranch(at.q, at.place.scale, tangent, series, 1, reach(at.place, at.q, series), curve, other)


def _gathered(at: Frame, halves: list[LocalBranch], lost: int, simple: bool) -> LocalStructure:
    curves = halves[-1].curve + 1 if halves else 0
    firsts = [next(half for half in halves if half.curve == c) for c in range(curves)]
    tangents = np.array([half.tangent for half in firsts]).reshape(curves, len(at.q))
    orders = np.zeros((curves, curves))
    np.fill_diagonal(orders, np.inf)
    # A multiple line may be the tangent of one multiple curve, along which the rank is low, or of several that touch.
    halves = [replace(half, multiple=is_multiple(half, at)) for half in halves]
    doubled = any(half.multiple for half in halves)
    plain = (simple or doubled) and not lost and curves > 1
    kind = "crossing" if plain else "higher"
    order = None if not plain else 0 if curves == 2 else orders
    notes = [] if simple or doubled else ["some lines of its tangent cone are multiple"]
    notes += [f"{lost} half-branches could not be followed"] if lost else []
    return LocalStructure(at.place, at, kind, tuple(halves), tangents, order, note="; ".join(notes))


def is_multiple(half: LocalBranch, at: Frame) -> bool:
    """Say whether the rank is too low all along a half-branch, and not only to tolerance next to its point."""
    q = half.at(0.9 * half.reach)
    _, rows = at.place.values(q)
    rank = int(np.count_nonzero(np.linalg.svd(rows, compute_uv=False) > 1e-9))
    if rank >= len(q) - 1:
        return False
    found = deflated(at.place, q, rank)
    return found is not None and found.dimension == 1


def _forms(reduced: ReducedEquations) -> Array:
    """Return the quadratic parts of the reduced equations as symmetric matrices (c, k, k), scaled to one."""
    M, k = reduced.monomials, reduced.monomials.variables
    found = []
    for row in reduced.coefficients:
        form = np.zeros((k, k))
        for place in np.flatnonzero(M.totals == 2):
            i, j = np.repeat(np.arange(k), M.exponents[place])
            form[i, j] += row[place] / 2
            form[j, i] += row[place] / 2
        found.append(form)
    flat = np.array(found).reshape(len(found), k * k)
    _, values, right = np.linalg.svd(flat, full_matrices=False)
    return np.asarray(right[values > 1e-8 * max(values.max(initial=0.0), 1e-3)].reshape(-1, k, k))


def real_lines(forms: Array) -> tuple[Array, NDArray[np.bool_], bool]:
    """Return unit vectors of the common real zeros of quadratic forms (c, k, k), which are simple, and if all are told.

    All zeros, real or not, are eigenvectors of Macaulay's matrix where they are finitely many; Newton's method on the
    sphere starts from them, and from many other places.

    Examples
    --------
    >>> lines, simple, all_told = real_lines(np.array([np.diag([1.0, -1.0, 0.0]), np.diag([0.0, 1.0, -1.0])]))
    >>> len(lines), bool(simple.all()), all_told
    (4, True, True)
    """
    c, k, _ = forms.shape
    source = np.random.default_rng(SEED)
    known = _common_zeros(forms, source)
    starts = source.normal(size=(min(4000, (100 if known is None else 10) * 2**c), k))
    z = starts if known is None else np.concatenate([known, starts])
    z /= np.linalg.norm(z, axis=1)[:, None]
    for _ in range(60):
        gradient = 2 * np.einsum("cij,bj->bci", forms, z)
        value = np.einsum("bci,bi->bc", gradient, z) / 2
        rows = np.concatenate([gradient, z[:, None, :]], axis=1)
        right = np.concatenate([-value, np.zeros((len(z), 1))], axis=1)
        step = np.einsum("bij,bj->bi", np.linalg.pinv(rows, rcond=1e-10), right)
        length = np.linalg.norm(step, axis=1)
        z = z + step * np.minimum(1.0, 0.5 / np.maximum(length, 1e-300))[:, None]
        z /= np.linalg.norm(z, axis=1)[:, None]
    value = np.einsum("cij,bi,bj->bc", forms, z, z)
    z = z[np.abs(value).max(axis=1) <= 1e-9]
    lines: list[Array] = []
    simple: list[bool] = []
    for row in z:
        if any(1 - abs(row @ other) < 1e-7 for other in lines):
            continue
        jacobian = np.concatenate([2 * np.einsum("cij,j->ci", forms, row), row[None]])
        lines.append(row)
        simple.append(bool(np.linalg.matrix_rank(jacobian, tol=SIMPLE) == k))
    found, flags = np.array(lines).reshape(len(lines), k), np.array(simple, dtype=bool)
    order = np.lexsort(np.round(found, 6).T[::-1])
    return found[order], flags[order], known is not None


def _common_zeros(forms: Array, source: np.random.Generator) -> Array | None:
    """Return real parts of the common zeros of quadratic forms that are next to real; None where it can't be told.

    Where k - 1 forms or more have finitely many zeros, the multiples of the forms of degree c + 1 leave as many
    combinations of monomials as there are zeros; in the basis that these make, multiplying by a linear form over
    another is a matrix whose eigenvalues and -vectors are the zeros (Macaulay, Stetter).
    """
    c, k, _ = forms.shape
    top = min(c, k - 1) + 1
    if c < k - 1 or k > LARGEST:
        return None
    high, low = (_of_degree(k, degree) for degree in (top, top - 1))
    places = {row: place for place, row in enumerate(high)}
    rows = []
    for form in forms:
        for factor in _of_degree(k, top - 2):
            row = np.zeros(len(high))
            for i in range(k):
                for j in range(k):
                    row[places[_times(_times(factor, i), j)]] += form[i, j]
            rows.append(row)
    _, values, right = np.linalg.svd(np.array(rows))
    rank = int(np.count_nonzero(values > 1e-9 * values.max(initial=1e-300)))
    null = right[rank:].T
    if null.shape[1] == 0:
        return np.zeros((0, k))
    if null.shape[1] > 2 ** min(c, k - 1):
        return None  # not finitely many
    weights = source.normal(size=(2, k))
    above, below = (sum(w[j] * null[[places[_times(row, j)] for row in low]] for j in range(k)) for w in weights)
    if np.linalg.matrix_rank(below, tol=1e-9) < null.shape[1]:
        return None
    _, vectors = np.linalg.eig(np.linalg.lstsq(below, above, rcond=None)[0])
    # The values of all monomials at a zero; those of one row times each variable are the zero itself.
    at = null @ vectors
    best = [low[int(np.argmax([np.abs(at[[places[_times(row, j)] for j in range(k)], s]).max() for row in low]))]
            for s in range(at.shape[1])]  # fmt: skip
    zeros = np.array([at[[places[_times(row, j)] for j in range(k)], s] for s, row in enumerate(best)])
    lead = zeros[np.arange(len(zeros)), np.argmax(np.abs(zeros), axis=1)]
    zeros = zeros / lead[:, None]
    # A multiple zero comes as a cluster whose members are not quite real.
    real: Array = zeros[np.abs(zeros.imag).max(axis=1) < NEARLY].real
    return real


def _of_degree(k: int, degree: int) -> list[tuple[int, ...]]:
    return [row for row in monomials(k, degree).rows if sum(row) == degree]


def _times(row: tuple[int, ...], j: int) -> tuple[int, ...]:
    return (*row[:j], row[j] + 1, *row[j + 1 :])
