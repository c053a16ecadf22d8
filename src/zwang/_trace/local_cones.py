"""Singular points whose kernel has not two dimensions: the tangent cone as a system of homogeneous equations.

Several loops that lose rank together leave c quadratic forms in k unknowns. Each real line on which all of them vanish,
and where their gradients leave nothing but the line itself, is the tangent of exactly one smooth curve; where the forms
have no common real zero the point is isolated. Anything else is asked on small spheres.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._trace.local import HalfBranch, LocalStructure
from zwang._trace.local_reduction import Frame, Reduced, reduce
from zwang._trace.local_series import Start, grow, reach

Array = NDArray[np.float64]
SIMPLE = 1e-4
SEED = 20


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
    lines, simple = real_lines(forms)
    if len(lines) > 2 * 2 ** len(forms):
        return LocalStructure(at.place, at, "higher", (), none, note="its tangent cone has planes")
    if not len(lines):
        return LocalStructure(at.place, at, "isolated", (), none)
    halves: list[HalfBranch] = []
    lost = 0
    for line in lines:
        pair = [_grown(at, line, sign) for sign in (1.0, -1.0)]
        kept = [series for series in pair if series is not None]
        lost += 2 - len(kept)
        curve = halves[-1].curve + 1 if halves else 0
        for place, series in enumerate(kept):
            other = len(halves) + (1 - 2 * place if len(kept) == 2 else 0)
            halves.append(_half(at, series, curve, other))
    return _gathered(at, halves, lost, bool(simple.all()))


def _grown(at: Frame, line: Array, sign: float) -> Array | None:
    """Return the series of the curve along a line of the cone, whose direction is corrected as well if that goes."""
    path = sign * np.outer(line, (0.0, 1.0))
    found = grow(at, Start(path, line, 1, 1, 1))
    return grow(at, Start(path, line, 1, 1)) if found is None else found


def _half(at: Frame, series: Array, curve: int, other: int) -> HalfBranch:
    tangent = at.place.scale * series[1]
    tangent /= np.linalg.norm(tangent)
    return HalfBranch(at.q, at.place.scale, tangent, series, 1, reach(at.place, at.q, series), curve, other)


def _gathered(at: Frame, halves: list[HalfBranch], lost: int, simple: bool) -> LocalStructure:
    curves = halves[-1].curve + 1 if halves else 0
    firsts = [next(half for half in halves if half.curve == c) for c in range(curves)]
    tangents = np.array([half.tangent for half in firsts]).reshape(curves, len(at.q))
    orders = np.zeros((curves, curves))
    np.fill_diagonal(orders, np.inf)
    # A multiple line may be the tangent of one multiple curve, along which the rank is low, or of several that touch.
    doubled = [half for half in halves if _rank_along(half, at) < len(at.q) - 1]
    plain = (simple or bool(doubled)) and not lost and curves > 1
    kind = "crossing" if plain else "higher"
    order = None if not plain else 0 if curves == 2 else orders
    notes = [f"{len(doubled)} of its half-branches belong to multiple curves"] if doubled else []
    notes += [] if simple or doubled else ["some lines of its tangent cone are multiple"]
    notes += [f"{lost} half-branches could not be followed"] if lost else []
    return LocalStructure(at.place, at, kind, tuple(halves), tangents, order, note="; ".join(notes))


def _rank_along(half: HalfBranch, at: Frame) -> int:
    _, rows = at.place.values(half.at(0.9 * half.reach))
    return int(np.count_nonzero(np.linalg.svd(rows, compute_uv=False) > 1e-9))


def _forms(reduced: Reduced) -> Array:
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


def real_lines(forms: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return unit vectors of the common real zeros of quadratic forms (c, k, k), and which of them are simple.

    Newton's method from many starts on the sphere; for c = k - 1 there are at most 2^c lines.

    Examples
    --------
    >>> lines, simple = real_lines(np.array([np.diag([1.0, -1.0, 0.0]), np.diag([0.0, 1.0, -1.0])]))
    >>> len(lines), bool(simple.all())
    (4, True)
    """
    c, k, _ = forms.shape
    source = np.random.default_rng(SEED)
    z = source.normal(size=(min(4000, 100 * 2**c), k))
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
    return found[order], flags[order]
