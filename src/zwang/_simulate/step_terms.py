"""The terms of a model as the compiled steps of `moreau` want them: one kernel, and where each term stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model, compile
from zwang._kernels import tables
from zwang._kernels.large import TableKernels
from zwang._kernels.numba import NO_TABLE, DenseKernels, StraightKernels, prepared
from zwang._numerics.motion.moreau import Terms
from zwang._numerics.motion.moreau.tape_terms import tape_tables, tape_terms

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class StepTerms:
    """Terms with the places of the entries of M (e, 2) and of the rows (z, 2): normals, then slips."""

    terms: Terms
    mass_places: Ints
    row_places: Ints


def step_terms(model: Model, params: Array) -> StepTerms:
    """Return the terms of a model; those of another backend are compiled natively."""
    kernels: Any = compile(model.system, "native").kernels
    if isinstance(kernels, TableKernels):
        return _of_tables(kernels)
    assert isinstance(kernels, StraightKernels)  # the native backend has no others
    return _of_layout(kernels, params)


def _of_layout(kernels: StraightKernels, params: Array) -> StepTerms:
    layout, m = kernels.layout, len(kernels.program.normals)
    start = {name: part.start for name, part in layout.slices.items()}
    names = ("force", "value", "rate", "slip", "bounds")
    head = [0, start["mass"], start["rows"], len(layout.row_places), start["slip_rows"]]
    place = np.array([*head, *(start[name] for name in names), m, start["gamma"], start["slip_bias"]], dtype=np.int64)
    size = len(layout.nodes)
    if isinstance(kernels, DenseKernels):
        tape = kernels.tape
        table, registers = tape_tables(tape.code, tape.results, tape.registers)
        terms = Terms(tape_terms.entry, table, registers, size, place)
    else:
        module = kernels.terms_module
        terms = Terms(module.one.entry, NO_TABLE, prepared(module, params), size, place)
    rows = [*layout.row_places, *((m + j, i) for j, i in layout.slip_places)]
    return StepTerms(terms, np.array(list(kernels.program.mass)).reshape(-1, 2), np.array(rows).reshape(-1, 2))


def _of_tables(kernels: TableKernels) -> StepTerms:
    model = kernels.model(())
    m, s, n = kernels.normals, kernels.slips, len(kernels.system.coordinates)
    at = {
        name: int(model.table[name])
        for name in (tables.MASS, tables.JAC, tables.RIGHT, tables.VALUE, tables.RATE, tables.GAMMA)
    }
    value = at[tables.VALUE]
    head = [1, at[tables.MASS], at[tables.JAC], len(model.jac_places), 0, at[tables.RIGHT]]
    gamma = at[tables.GAMMA]
    tail = [value, at[tables.RATE], value + m, value + m + s, m, gamma, gamma + m]
    place = np.array([*head, *tail], dtype=np.int64)
    terms = Terms(model.module.one.entry, model.table, model.workspace.copy(), n, place)
    return StepTerms(terms, model.mass_places, model.jac_places)
