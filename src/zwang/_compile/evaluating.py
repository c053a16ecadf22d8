"""What `Model.evaluate` answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile.values import Inputs
from zwang._declare.constraints import Friction
from zwang._declare.friction_forms import law_rows
from zwang._kernels import Solved, SparseTerms, Terms
from zwang._numerics.linear.kkt import RANK_TOLERANCE
from zwang._results import Provenance
from zwang._results.evaluation import Evaluation, EvaluationStatus

Array = NDArray[np.float64]


def evaluation_of(
    model: Any,
    inputs: Inputs,
    terms: Terms | SparseTerms,
    solved: Solved,
    chosen: list[int],
    residual: Array,
    consistent: bool,
) -> Evaluation:
    """Return what `Model.evaluate` answers, from the terms and their solution at the states of a batch."""
    names = [str(item.name) for item in model.system.constraints if not isinstance(item, Friction)]
    shown = [(i, j) for i, j in enumerate(chosen) if names[j] not in model.system.bookkeeping]
    status = EvaluationStatus.DETERMINED if solved.regular.all() else EvaluationStatus.REDUNDANT
    if not consistent:
        status = EvaluationStatus.INCONSISTENT
    slips, place = {}, 0
    for item, rows in zip([one for one in model.system.constraints if one.slip], law_rows(model.system), strict=True):
        own = terms.slip[place : place + len(item.slip)]
        slips[str(item.name)] = inputs.restore(rows.scaled(terms.bounds, own))
        place += len(item.slip)
    kinetic, potential = inputs.restore(terms.energies)
    return Evaluation(
        status=status,
        residual=inputs.restore(residual),
        provenance=Provenance.now(model.system.digest, tolerances={"rank": RANK_TOLERANCE}, backend=model.backend),
        name=model.system.name,
        coordinates=tuple(item.name for item in model.system.coordinates),
        accelerations=inputs.restore(solved.accelerations),
        multipliers={names[j]: inputs.restore(solved.multipliers[i]) for i, j in shown},
        gaps={name: inputs.restore(terms.value[i]) for i, name in enumerate(names)},
        gap_rates={name: inputs.restore(terms.rate[i]) for i, name in enumerate(names)},
        slips=slips,
        energies={"kinetic": kinetic, "potential": potential, "total": kinetic + potential},
        regular=inputs.restore(solved.regular),
    )
