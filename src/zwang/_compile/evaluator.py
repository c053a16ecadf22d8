"""What `Model.evaluate` answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile.given_values import Inputs
from zwang._compile.masses import require_inertia
from zwang._declare.constraints import Friction
from zwang._declare.friction_forms import law_rows
from zwang._kernels import Solved, SparseTerms, Terms
from zwang._numerics.linear.kkt import RANK_TOLERANCE, solve_kkt
from zwang._results import Provenance
from zwang._results.evaluation import Evaluation, EvaluationStatus

Array = NDArray[np.float64]


CONTRADICTION = 1e-9  # relative; dependent equations that agree to this are one equation, others contradict each other
SEEN = ("value", "rate", "slip", "bounds", "energies")
"""The terms that are shown as they are; the others, which have as many numbers as matrices, are dropped on the way."""


@dataclass(frozen=True)
class _Portion:
    """What was found at some states of a batch: terms that are shown, the solution, its error, and consistency."""

    seen: dict[str, Array]
    solved: Solved
    residual: Array
    consistent: bool


def evaluated(model: Any, inputs: Inputs, chosen: list[int]) -> Evaluation:
    """Return what `Model.evaluate` answers, with these normals held as equalities."""
    sides = len(model.system.coordinates), len(model.system.constraints)
    found = [_portion(model, part, chosen) for part in inputs.portions(sides[0] * (sides[0] + sides[1]))]
    return _evaluation(model, inputs, chosen, found[0] if len(found) == 1 else _joined(found))


def _portion(model: Any, inputs: Inputs, chosen: list[int]) -> _Portion:
    terms = model.kernels.terms(inputs.t, inputs.q, inputs.v, inputs.params)
    model.require_finite(terms)
    solved, consistent = _solved(model, inputs, terms, chosen)
    seen = {name: getattr(terms, name) for name in SEEN}
    return _Portion(seen, solved, terms.residual(solved, chosen), consistent)


def _joined(parts: Sequence[_Portion]) -> _Portion:
    solved = [part.solved for part in parts]
    return _Portion(
        {name: np.concatenate([part.seen[name] for part in parts], axis=1) for name in SEEN},
        Solved(
            np.concatenate([item.accelerations for item in solved], axis=1),
            np.concatenate([item.multipliers for item in solved], axis=1),
            np.concatenate([item.regular for item in solved]),
        ),
        np.concatenate([part.residual for part in parts]),
        all(part.consistent for part in parts),
    )


def _solved(model: Any, inputs: Inputs, terms: Terms | SparseTerms, chosen: list[int]) -> tuple[Solved, bool]:
    """Return the solution; where pivots were not sound, from a rank-revealing method."""
    solved = model.kernels.solve(inputs.t, inputs.q, inputs.v, inputs.params, chosen)
    doubtful = np.flatnonzero(~solved.regular)
    if not doubtful.size:
        return solved, True
    a, lam, regular = solved.accelerations.copy(), solved.multipliers.copy(), solved.regular.copy()
    worst = 0.0
    for k in doubtful:
        mass, rows, force, gamma = terms.at(int(k))
        require_inertia(model, inputs.single(int(k)), chosen)
        found = solve_kkt(mass, rows[chosen], force, gamma[chosen])
        a[:, k], lam[:, k], regular[k] = found.accelerations, found.multipliers, found.regular
        worst = max(worst, found.inconsistency)
    return Solved(a, lam, regular), worst <= CONTRADICTION


def _evaluation(model: Any, inputs: Inputs, chosen: list[int], found: _Portion) -> Evaluation:
    """Return the answer from what was found at all states of the batch."""
    solved, seen = found.solved, found.seen
    names = [str(item.name) for item in model.system.constraints if not isinstance(item, Friction)]
    shown = [(i, j) for i, j in enumerate(chosen) if names[j] not in model.system.bookkeeping]
    status = EvaluationStatus.DETERMINED if solved.regular.all() else EvaluationStatus.REDUNDANT
    if not found.consistent:
        status = EvaluationStatus.INCONSISTENT
    slips, place = {}, 0
    for item, rows in zip([one for one in model.system.constraints if one.slip], law_rows(model.system), strict=True):
        own = seen["slip"][place : place + len(item.slip)]
        slips[str(item.name)] = inputs.restore(rows.scaled(seen["bounds"], own))
        place += len(item.slip)
    kinetic, potential = inputs.restore(seen["energies"])
    return Evaluation(
        status=status,
        residual=inputs.restore(found.residual),
        provenance=Provenance.now(model.system.digest, tolerances={"rank": RANK_TOLERANCE}, backend=model.backend),
        name=model.system.name,
        coordinates=tuple(item.name for item in model.system.coordinates),
        accelerations=inputs.restore(solved.accelerations),
        multipliers={names[j]: inputs.restore(solved.multipliers[i]) for i, j in shown},
        gaps={name: inputs.restore(seen["value"][i]) for i, name in enumerate(names)},
        gap_rates={name: inputs.restore(seen["rate"][i]) for i, name in enumerate(names)},
        slips=slips,
        energies={"kinetic": kinetic, "potential": potential, "total": kinetic + potential},
        regular=inputs.restore(solved.regular),
    )
