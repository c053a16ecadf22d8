"""What random starts have missed: further starts until every component was met often, and an estimate of the rest."""

from __future__ import annotations

import numpy as np
import pytest

import zwang as zw
from zwang._trace.recapture import unseen

JANSEN = {
    "OM": 15, "MJ": 50, "PJ": 41.5, "MK": 61.9, "PK": 39.3, "JE": 55.8, "PE": 40.1, "EF": 39.4, "KF": 36.7, "FH": 65.7,
    "KH": 49,
}  # fmt: skip


def bars(name, fixed, lengths):
    """Return points in the plane joined by bars; a point's name has one letter."""
    free = [letter for letter in dict.fromkeys("".join(lengths)) if letter not in fixed]
    q, v = zw.coordinates(" ".join(f"x_{letter} y_{letter}" for letter in free))
    places = {**fixed, **{letter: (q[2 * i], q[2 * i + 1]) for i, letter in enumerate(free)}}
    constraints = []
    for ends, length in lengths.items():
        (a, b), (c, d) = places[ends[0]], places[ends[1]]
        constraints.append(zw.Bilateral((a - c) ** 2 + (b - d) ** 2 - length**2, name=ends))
    return zw.System(name=name, kinetic=sum(item**2 for item in v) / 2, constraints=constraints)


def crank_with_dyads():
    """A crank OM turns; A hangs on M and P, B on A and P: each may lie on either side, so there are four components."""
    lengths = {"OM": 1, "MA": 4, "PA": 4.5, "AB": 2, "PB": 3.4}
    return bars("dyads", {"O": (0, 0), "P": (4, 0.5)}, lengths)


def test_all_components_are_found_and_none_is_thought_missing():
    space = zw.trace(crank_with_dyads(), {})
    assert space.components == 4 and space.unseen == 0.0
    assert not any("met by none" in note for note in space.notes)


def test_too_few_starts_say_what_they_may_have_missed():
    found = [zw.trace(crank_with_dyads(), {}, starts=4, seed=seed) for seed in range(4)]
    short = [space for space in found if space.components < 4]
    assert short, "four starts are too few for four components, in some of the runs at least"
    assert all(any("met by none" in note for note in space.notes) for space in short if space.components > 1)
    assert max(space.unseen for space in short) > 0


def test_estimate_is_that_of_chao():
    # f1 (f1 - 1)/(2 (f2 + 1)).
    assert unseen([1, 1, 1, 1, 2, 2, 9]) == pytest.approx(4 * 3 / (2 * 3))
    assert unseen([5, 6]) == 0.0
    # Forty components met at random: the estimate is about the number that was missed.
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(200):
        counts = np.bincount(rng.integers(0, 40, size=60), minlength=40)
        errors.append(unseen(counts[counts > 0].tolist()) - np.count_nonzero(counts == 0))
    assert abs(np.mean(errors)) < 1.5


@pytest.mark.parametrize("factor", [1, 50])
def test_lengths_that_are_written_as_numbers_say_where_to_look(factor):
    lengths = {"OM": 1 * factor, "MA": 4 * factor, "PA": 4.5 * factor}
    space = zw.trace(bars("written", {"O": (0, 0), "P": (4 * factor, 0)}, lengths), {})
    assert space.components == 2


def circles(p, a, q, b, side):
    """Return the point at the distances a from p and b from q on one side, nan where there is none (all complex)."""
    d = abs(q - p)
    along = (d**2 + a**2 - b**2) / (2 * d)
    with np.errstate(invalid="ignore"):
        across = np.sqrt(a**2 - along**2)
        return p + (q - p) / d * (along + side * 1j * across)


def counted_by_signs(link, count=4000):
    """Return the components of Jansen's leg from the sides on which its points lie, at every angle of the crank.

    Neighbouring angles with the same sides hang together; where K or F can no longer be reached its two sides meet. J,
    E and H lie on either side of bars whose ends are always far enough apart: H is left out, and counts twice.
    """
    m, pivot = 15 * np.exp(2j * np.pi * np.arange(count) / count), -38 - 7.8j
    parent: dict = {}

    def root(node):
        while parent.setdefault(node, node) != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    signs = [(j, k, e) for j in (1, -1) for k in (1, -1) for e in (1, -1)]
    for sj, sk, se in signs:
        at_k = circles(m, link, pivot, 39.3, sk)
        at_e = circles(circles(m, 50, pivot, 41.5, sj), 55.8, pivot, 40.1, se)
        reached, whole = np.isfinite(at_k), np.isfinite(circles(at_e, 39.4, at_k, 36.7, 1))
        for i in np.flatnonzero(whole):
            for sf in (1, -1):
                root((i, sj, sk, se, sf))
                for near in ((i + 1) % count, (i - 1) % count):
                    if whole[near]:
                        parent[root((i, sj, sk, se, sf))] = root((near, sj, sk, se, sf))
                    elif reached[near]:
                        parent[root((i, sj, sk, se, sf))] = root((i, sj, sk, se, -sf))
                    else:
                        parent[root((i, sj, sk, se, sf))] = root((i, sj, -sk, se, sf))
    return 2 * len({root(node) for node in list(parent)})


@pytest.mark.nightly
@pytest.mark.parametrize(("link", "components"), [(61.9, 24), (64, 16)])
def test_all_components_of_jansens_leg_are_found(link, components):
    assert counted_by_signs(link) == components
    space = zw.trace(bars("jansen", {"O": (0, 0), "P": (-38, -7.8)}, {**JANSEN, "MK": link}), {})
    assert space.components == components and space.unseen == 0.0
