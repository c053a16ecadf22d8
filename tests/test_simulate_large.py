"""Motions of large systems, whose matrices stay sparse."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang._simulate import ground, motion_rows


def chain(n: int) -> zw.System:
    """Return a chain of n points of mass 1 in a row, one metre apart, that hangs from the origin."""
    linkage = zw.Linkage("chain", gravity=(0, -9.81)).ground("O", 0, 0)
    linkage.points([f"P{i}" for i in range(n)], mass=1)
    linkage.chain(["O", *(f"P{i}" for i in range(n))], lengths=[1] * n)
    return linkage.system()


def pose(n: int) -> dict[str, float]:
    """Return the chain straight to the right and at rest."""
    state = {f"{letter}_P{i}": 0.0 for i in range(n) for letter in ("y", "v_x", "v_y")}
    return state | {f"x_P{i}": 1.0 + i for i in range(n)}


@pytest.fixture(scope="module")
def falling() -> zw.Motion:
    return zw.simulate(chain(60), pose(60), {}, until=0.2, tol=1e-10)


def test_rows_of_a_long_chain_are_those_of_dense_matrices(falling: zw.Motion, monkeypatch: pytest.MonkeyPatch) -> None:
    source = falling.source
    assert source.sparse(falling)
    sparse = source.rows(falling)
    monkeypatch.setattr(motion_rows, "stays_sparse", lambda _: False)
    dense = source.rows(falling)
    for name in falling.constraints:
        assert sparse.reactions[name] == pytest.approx(dense.reactions[name], abs=1e-8)
        assert not np.any(sparse.work[name])
    assert sparse.energy["total"] == pytest.approx(dense.energy["total"], abs=1e-10)
    assert (sparse.drift, sparse.residual < 1e-11, dense.residual < 1e-11) == (dense.drift, True, True)


def test_rows_of_a_long_chain_make_no_dense_matrix(falling: zw.Motion, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise AssertionError("a dense matrix was made")

    monkeypatch.setattr(ground, "dense_terms", refuse)
    assert np.ptp(falling.source.rows(falling).energy["total"]) < 1e-9
    assert falling.status.name == "REACHED"
    assert falling.drift < 1e-12
    # A straight chain let go: only gravity acts at the start, and the links pull nothing.
    assert abs(falling.reactions[falling.constraints[0]][0]) < 1e-9
    assert falling.a[0].reshape(60, 2)[:, 1].max() < 0.0


@pytest.mark.nightly
def test_support_that_moves_works_on_a_long_chain() -> None:
    # Eleven points that hang at rest from a support which moves sideways: its work is what the energy gains.
    n = 11
    names = [f"{letter}{i}" for i in range(n) for letter in "xy"]
    q, v = zw.coordinates(" ".join(names))
    points = [(sp.sin(zw.t) ** 2, sp.Integer(0)), *zip(q[::2], q[1::2], strict=True)]
    links = [
        zw.Bilateral((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2 - 1, name=f"link{i}")
        for i, (a, b) in enumerate(itertools.pairwise(points))
    ]
    system = zw.System(kinetic=sum(u**2 for u in v) / 2, potential=9.81 * sum(q[1::2]), constraints=links)
    state = dict.fromkeys(names, 0.0) | {f"v_{name}": 0.0 for name in names}
    state |= {f"y{i}": -1.0 - i for i in range(n)}
    motion = zw.simulate(system, state, {}, until=0.5, tol=1e-11)
    gained = motion.energy["total"][-1] - motion.energy["total"][0]
    assert gained > 0.01
    assert sum(work[-1] for work in motion.work.values()) == pytest.approx(gained, abs=1e-9)
    assert motion.work["link0"][-1] == pytest.approx(gained, abs=1e-9)
    assert zw.compile(system).kernels.sparse
