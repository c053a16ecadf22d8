"""Large systems and many motions: the sparse form moves as the written-out one, an ensemble as its members."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang._derive.motion_modes import ActiveSet
from zwang._kernels.large import TableKernels
from zwang._kernels.mode_motion import moving
from zwang._kernels.native import DenseKernels

NONE = np.zeros(0)


def chain(n):
    """Return a hanging chain of n bars of length 1, kept above a floor by one-sided constraints, and a bent start."""
    q, v = zw.coordinates([f"{axis}{i}" for i in range(n) for axis in "xy"])
    points = [(sp.Integer(0), sp.Integer(0)), *zip(q[::2], q[1::2], strict=True)]
    bars = [
        zw.Bilateral(((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 - 1) / 2, name=f"bar{i}")
        for i, (a, b) in enumerate(itertools.pairwise(points))
    ]
    floor = [zw.Unilateral(y + 3, name=f"floor{i}", restitution=0) for i, y in enumerate(q[1::2])]
    kinetic = sp.Add(*(speed**2 / 2 for speed in v))
    system = zw.System(
        name="chain", kinetic=kinetic, potential=sp.Add(*(9.81 * y for y in q[1::2])), constraints=[*bars, *floor]
    )
    angles = 0.3 * np.sin(np.arange(n))
    return system, np.stack([np.cumsum(np.cos(angles)), np.cumsum(np.sin(angles))], axis=1).ravel()


def test_the_sparse_form_of_a_chain_moves_as_the_written_out_one():
    system, q = chain(7)
    mode, ends = ActiveSet(tuple(range(7))), []
    for kernels in (TableKernels(system), DenseKernels(system)):
        flow = moving(kernels, mode, extra=(system.coordinates[0] - 100,))
        gaps = [name in {("gap", j) for j in range(7, 14)} for name in flow.watch_names]
        found = flow.advance(0.0, q, np.zeros(14), NONE, 5.0, 1e-10, np.array(gaps, dtype=float))
        assert found.status == "FIRED"
        assert [flow.watch_names[i][0] for i in found.fired] == ["gap"]
        terms = kernels.terms(found.t[-1:], found.q[-1:].T.copy(), found.v[-1:].T.copy(), np.zeros((0, 1)))
        assert np.abs(terms.value[:7]).max() < 1e-13
        assert np.abs(terms.rate[:7]).max() < 1e-13
        a, lam, _, watches, sound = flow.evaluate(found.t[-1], found.q[-1], found.v[-1], NONE)
        assert sound and watches[flow.watch_names.index(("extra", 0))] == found.q[-1, 0] - 100
        ends.append(np.r_[found.t[-1], found.q[-1], found.v[-1], a, lam])
    assert ends[0] == pytest.approx(ends[1], abs=1e-7, rel=1e-7)
