"""Every solution of a planar contact problem with friction that other contacts load, by trying all modes."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

ZERO = 1e-9


@dataclass(frozen=True)
class Part:
    """A contact: normal and tangent rows or None, coefficient, slip, and the contact whose force loads its friction."""

    normal: Any
    tangent: Any
    mu: float
    bilateral: bool = False
    slip: float = 0.0
    of: int | None = None


def solutions(mass, force, parts):
    """Return the forces (m,) of every isolated solution: normals and tangents in the order of the parts."""
    places = [(j, what) for j, part in enumerate(parts) for what in "NT" if _row(part, what) is not None]
    rows = np.array([_row(parts[j], what) for j, what in places])
    gram = rows @ np.linalg.solve(mass, rows.T)
    free = rows @ np.linalg.solve(mass, force)
    found = []
    for modes in itertools.product(*(_modes(part) for part in parts)):
        z = _solved(parts, places, gram, free, modes)
        if z is not None and all(np.abs(z - other).max() > 1e-7 for other in found):
            found.append(z)
    return found


def _row(part, what):
    return part.normal if what == "N" else part.tangent


def _modes(part):
    pushes = (0,) if part.normal is None else (1, -1) if part.bilateral else (0, 1)
    slips = (0,) if part.tangent is None else (0, 1, -1) if part.slip == 0 else (int(np.sign(part.slip)) * 2,)
    return itertools.product(pushes, slips)


def _solved(parts, places, gram, free, modes):
    """Return the forces of one choice of modes (sign of N, 0 for open; sign of the slip, 0 for stick), or None."""
    at = {place: i for i, place in enumerate(places)}
    unit, rows, right = np.eye(len(places)), [], []
    for j, what in places:
        own, (push, slip), master = at[j, what], modes[j], j if parts[j].of is None else parts[j].of
        if what == "N":
            row = unit[own] if push == 0 else gram[own]
            rows, right = [*rows, row], [*right, 0.0 if push == 0 else -free[own]]
        elif modes[master][0] == 0:
            rows, right = [*rows, unit[own]], [*right, 0.0]
        elif slip == 0:
            rows, right = [*rows, gram[own]], [*right, -free[own]]
        else:
            edge = unit[own] + np.sign(slip) * parts[j].mu * modes[master][0] * unit[at[master, "N"]]
            rows, right = [*rows, edge], [*right, 0.0]
    if np.linalg.cond(rows) > 1e9:
        return None
    z = np.linalg.solve(rows, right)
    u = gram @ z + free
    for j, what in places:
        own, (push, slip), master = at[j, what], modes[j], j if parts[j].of is None else parts[j].of
        if what == "N":
            good = u[own] > -ZERO if push == 0 else push * z[own] > -ZERO
        elif modes[master][0] == 0 or abs(slip) == 2:
            good = True
        else:
            good = slip * u[own] > -ZERO if slip else abs(z[own]) <= parts[j].mu * abs(z[at[master, "N"]]) + ZERO
        if not good:
            return None
    return z
