"""Friction that other contacts load, beside friction in planes: one solution, by rounds of given bounds, checked.

Modes can't be enumerated there, and directions of slip are searched for given bounds alone. So the bounds are those of
the last round's forces until they stay; what comes out is checked against the laws of the problem itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.problem import ContactProblem
from zwang._reactions.rejections import no_rejections
from zwang._reactions.solutions import one_point
from zwang._results.base import Provenance
from zwang._results.reactions import Reactions, ReactionsStatus, Solution

Array = npt.NDArray[np.float64]

ROUNDS = 100  # of bounds that follow the forces; they settle linearly
SETTLED = 1e-12
"""Relative change of the loads below which they stay."""
ACCEPTED = 1e-8
"""Residual up to which a solution is one."""
WHY = (
    "Friction that other contacts load was solved beside friction in planes, by bounds that follow the forces; a "
    "second solution is not excluded."
)


def reactions_by_loads(
    problem: ContactProblem,
    ask: Callable[[ContactProblem], Reactions],
    names: tuple[str, ...],
    name: str,
    coordinates: Sequence[str],
    provenance: Provenance,
    slip_tol: float,
) -> Reactions:
    """Return one solution, FOUND, where one is found; `ask` answers problems whose bounds are all given."""
    rows = problem.rows
    loaded = np.array([bool(others) for others in rows.of])
    loads, told = np.zeros(rows.count), None
    for _ in range(ROUNDS):
        given = replace(rows, of=(), normal_force=np.where(loaded, loads, rows.normal_force))
        found = ask(problem.with_rows(given))
        if not found.solutions:
            break
        told = found.solutions[0]
        normal = np.where(loaded, 0.0, told.normal)
        new = np.where(loaded, rows.pressed(normal), 0.0)
        still = np.abs(new - loads).max() <= SETTLED * max(np.abs(new).max(), 1e-300)
        loads = new
        if still:
            break
    solutions: tuple[Solution, ...] = ()
    if told is not None:
        tangential = np.zeros((rows.count, 2))
        tangential[:, : 1 if told.tangential.ndim == 1 else 2] = told.tangential.reshape(rows.count, -1)
        forces = (told.acceleration, np.where(loaded, 0.0, told.normal), tangential)
        one = one_point(problem, forces, told.modes.codes, names, slip_tol)
        solutions = (one,) if one.residual <= ACCEPTED else ()
    return Reactions(
        status=ReactionsStatus.FOUND if solutions else ReactionsStatus.UNDECIDED,
        residual=solutions[0].residual if solutions else float("nan"),
        provenance=provenance,
        name=name,
        contacts=names,
        coordinates=tuple(coordinates),
        solutions=solutions,
        accelerations=np.array([one.acceleration for one in solutions]).reshape(-1, len(problem.force)),
        accelerations_continuum=False,
        rejected=no_rejections(names),
        complete=False,
        note=WHY,
    )
