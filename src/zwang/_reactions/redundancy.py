"""Dependent constraints in words: which, how they depend, the self-stress that is free, what is still determined."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.pieces import Piece
from zwang._numerics.contact.problem import ContactProblem
from zwang._numerics.contact.scaled import Reduced
from zwang._numerics.linear.rank import rank_of_gram
from zwang._reactions.solutions import shaped
from zwang._results.reactions import Redundancy, Solution

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

MOST_SIZE = 400
"""Beyond this many forces dependencies are not looked for."""
MOST_SENTENCES = 6  # beyond it a text is a list


def echelon(rows: Array, unit: Array | None = None, tol: float = 1e-9) -> Array:
    """Return a basis of the span of `rows` with as many zeros as elimination makes, largest entries 1.

    `unit` has the unit of each column, where rows are numbers in such; what comes back is in the same unit everywhere.
    """
    rows = rows.copy()
    done = 0
    for column in range(rows.shape[1]):
        if done == len(rows):
            break
        pick = done + int(np.argmax(np.abs(rows[done:, column])))
        if abs(rows[pick, column]) <= tol * max(1.0, float(np.abs(rows).max())):
            continue
        rows[[done, pick]] = rows[[pick, done]]
        rows[done] /= rows[done, column]
        others = np.arange(len(rows)) != done
        rows[others] -= np.outer(rows[others, column], rows[done])
        done += 1
    rows = rows[:done]
    rows[np.abs(rows) <= tol * np.abs(rows).max(axis=1, initial=0.0, keepdims=True)] = 0.0
    whole = rows if unit is None else rows * (unit / unit.max(initial=1e-300))
    scaled: Array = whole / np.abs(whole).max(axis=1, initial=1e-300, keepdims=True)
    return scaled


def explain_redundancy(
    problem: ContactProblem,
    reduced: Reduced,
    pieces: list[Piece],
    solutions: tuple[Solution, ...],
    names: tuple[str, ...],
) -> Redundancy | None:
    """Return the redundancy of a problem at its solutions, None if there is none."""
    if reduced.size > MOST_SIZE or not reduced.size:
        return None
    dependencies = _dependencies(reduced)
    stress = _free_stress(reduced, pieces)
    if not len(dependencies) and not len(stress):
        return None
    normal, tangential = reduced.force_directions(stress)
    return redundancy_of(names, dependencies, normal, shaped(problem, tangential), solutions)


def redundancy_of(
    names: tuple[str, ...], dependencies: Array, normal: Array, tangential: Array, solutions: tuple[Solution, ...]
) -> Redundancy:
    """Return dependencies of normals, and self-stresses that are free, with what they mean in words."""
    pressing, rubbing = _moving(solutions, len(names))
    determined = tuple(np.array(names, dtype=object)[~(pressing | rubbing)].tolist()) if solutions else ()
    sentences = [_dependence(row, names) for row in dependencies[:MOST_SENTENCES]]
    for row, rub in zip(normal[:MOST_SENTENCES], tangential[:MOST_SENTENCES], strict=True):
        sentences.append(f"Free self-stress: {_stress(row, rub, names)}.")
    if len(dependencies) > MOST_SENTENCES or len(normal) > MOST_SENTENCES:
        sentences.append(
            f"In all {len(dependencies)} dependencies between normals and {len(normal)} free self-stresses."
        )
    if solutions:
        sentences.append(_verdict(names, pressing, rubbing))
    return Redundancy(tuple(sentences), dependencies, normal, tangential, determined)


def _dependencies(reduced: Reduced) -> Array:
    """Rows c over the contacts with sum c_j normal_j = 0."""
    contacts = np.flatnonzero(reduced.normal >= 0)
    normals = reduced.normal[contacts]
    null = rank_of_gram(reduced.gram[np.ix_(normals, normals)]).stress.T
    result = np.zeros((len(null), reduced.count))
    if len(null):
        basis = echelon(null, reduced.unit[normals])
        result = np.zeros((len(basis), reduced.count))
        result[:, contacts] = basis
    return result


def _free_stress(reduced: Reduced, pieces: list[Piece]) -> Array:
    """Scaled forces that can be added within the solutions without changing the acceleration."""
    spans = [piece.polyhedron.basis.T for piece in pieces if piece.polyhedron.dimension]
    if not spans:
        return np.zeros((0, reduced.size))
    _, lengths, right = np.linalg.svd(np.concatenate(spans), full_matrices=False)
    directions = right[lengths > 1e-9]
    sizes, vectors = np.linalg.eigh(directions @ reduced.gram @ directions.T)
    still = vectors[:, sizes < 1e-12 * max(1.0, float(sizes.max()))].T @ directions
    return echelon(still, reduced.unit) / reduced.unit if len(still) else np.zeros((0, reduced.size))


def _moving(solutions: tuple[Solution, ...], count: int) -> tuple[Bools, Bools]:
    """Whether the normal force, and the friction force, of each contact differ between, or within, solutions."""
    if not solutions:
        return np.zeros(count, bool), np.zeros(count, bool)
    low = np.min([s.ranges.normal[:, 0] for s in solutions], axis=0)
    high = np.max([s.ranges.normal[:, 1] for s in solutions], axis=0)
    first = np.min([np.reshape(s.ranges.tangential, (count, -1, 2))[..., 0] for s in solutions], axis=0)
    second = np.max([np.reshape(s.ranges.tangential, (count, -1, 2))[..., 1] for s in solutions], axis=0)
    finite = [x[np.isfinite(x)] for x in (low, high, first, second)]
    scale = max((float(np.abs(x).max(initial=0.0)) for x in finite), default=0.0) or 1.0
    with np.errstate(invalid="ignore"):
        return high - low > 1e-9 * scale, (second - first > 1e-9 * scale).any(axis=1)


def _dependence(row: Array, names: tuple[str, ...]) -> str:
    involved = [names[j] for j in np.flatnonzero(row)]
    if len(involved) == 1:
        return f"The row of the constraint '{involved[0]}' vanishes."
    return f"The constraints {_listed(involved)} depend on each other: {_sum(row, names)} = 0."


def _sum(row: Array, names: tuple[str, ...]) -> str:
    terms: list[str] = []
    for j in np.flatnonzero(row):
        size = f"{abs(row[j]):.4g} " if abs(abs(row[j]) - 1.0) > 1e-9 else ""
        sign = ("-" if row[j] < 0 else "") if not terms else ("- " if row[j] < 0 else "+ ")
        terms.append(f"{sign}{size}{names[j]}")
    return " ".join(terms)


def _stress(normal: Array, tangential: Array, names: tuple[str, ...]) -> str:
    parts = [f"N({names[j]}) {normal[j]:+.4g}" for j in np.flatnonzero(np.abs(normal) > 1e-12)]
    for name, forces in zip(names, np.reshape(tangential, (len(names), -1)), strict=True):
        letters = ["T"] if len(forces) == 1 else [f"T{k}" for k in range(1, len(forces) + 1)]
        parts += [f"{t}({name}) {force:+.4g}" for t, force in zip(letters, forces, strict=True) if abs(force) > 1e-12]
    shown = parts if len(parts) <= 8 else [*parts[:7], f"and {len(parts) - 7} more"]
    return ", ".join(shown)


def _listed(names: list[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    if len(quoted) > 8:
        quoted = [*quoted[:7], f"{len(quoted) - 7} more"]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _verdict(names: tuple[str, ...], pressing: Bools, rubbing: Bools) -> str:
    if not (pressing | rubbing).any():
        return "All reactions are determined all the same."
    fixed = [names[j] for j in np.flatnonzero(~pressing & ~rubbing)]
    normals = [names[j] for j in np.flatnonzero(~pressing & rubbing)]
    parts = [f"the reactions of {_listed(fixed)}"] if fixed else []
    parts += [f"the normal forces of {_listed(normals)}"] if normals else []
    return f"Determined all the same: {' and '.join(parts)}." if parts else "No reaction is determined."
