"""Where each term of a program stands in the flat output of a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang._derive.program import Program
from zwang._graph.graph import Node
from zwang._kernels.terms import Array, Terms


class TermLayout:
    """Where each term stands in the flat output of a kernel, and back to arrays with their zeros."""

    def __init__(self, program: Program) -> None:
        self.program = program
        rows, slips = program.normals, program.slips
        self.row_places = [(j, i) for j, row in enumerate(rows) for i in row.entries]
        self.slip_places = [(j, i) for j, row in enumerate(slips) for i in row.entries]
        pieces: dict[str, list[Node]] = {
            "mass": list(program.mass.values()),
            "force": list(program.force),
            "value": [row.value for row in rows],
            "rate": [row.rate for row in rows],
            "gamma": [row.bias for row in rows],
            "rows": [rows[j].entries[i] for j, i in self.row_places],
            "slip": [row.value for row in slips],
            "slip_bias": [row.bias for row in slips],
            "slip_rows": [slips[j].entries[i] for j, i in self.slip_places],
            "bounds": list(program.bounds),
            "energies": list(program.energies),
        }
        self.nodes = [node for nodes in pieces.values() for node in nodes]
        ends = np.cumsum([len(nodes) for nodes in pieces.values()])
        self.slices = {name: slice(end - len(pieces[name]), end) for name, end in zip(pieces, ends, strict=True)}

    def terms(self, out: Array) -> Terms:
        """Return the terms from the rows of a kernel's output, where these are: in memory, or on a device."""
        n, states = len(self.program.q), out.shape[1]
        flat: dict[str, Any] = {name: out[part] for name, part in self.slices.items()}
        mass = np.zeros((n, n, states), like=out)
        for (i, j), row in zip(self.program.mass, flat["mass"], strict=True):
            mass[i, j] = mass[j, i] = row
        flat["mass"] = mass
        for name, places, count in (
            ("rows", self.row_places, len(self.program.normals)),
            ("slip_rows", self.slip_places, len(self.program.slips)),
        ):
            dense = np.zeros((count, n, states), like=out)
            for (j, i), row in zip(places, flat[name], strict=True):
                dense[j, i] = row
            flat[name] = dense
        return Terms(**flat)
