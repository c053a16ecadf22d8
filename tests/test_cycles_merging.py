"""Which cycles beyond two events that come together belong to a branch."""

from types import SimpleNamespace

import numpy as np
import pytest

from zwang._cycles.coincidence import _onward
from zwang._cycles.continued import Place
from zwang._cycles.signs import OnBranch


def test_a_cycle_beyond_a_corner_belongs_to_the_branch_and_one_beside_does_not():
    """Two straight branches that meet in a corner, the second one back in the parameter."""
    sizes, random = np.ones(4), np.random.default_rng(5)
    for _ in range(20):
        up, back = (Place(random.normal(size=4), random.normal(), sign * (1 + random.random())) for sign in (1, -1))
        up, back = (Place(*(part / way.length(sizes) for part in (way.z, way.period, way.value))) for way in (up, back))
        corner = Place(random.normal(size=4), 0.0, 0.5)
        before, beyond = corner.moved(up, -random.uniform(1e-4, 1e-3)), corner.moved(back, 1e-3)
        here = OnBranch(SimpleNamespace(place=before, sizes=sizes), up)
        side = np.linalg.svd(np.stack([up.z, back.z]))[2][-1]  # across both
        for off, belongs in ((0.0, True), (5e-4, False)):
            place = beyond.moved(Place(side, 0.0, 0.0), off)
            found = _onward(here, SimpleNamespace(place=place, tangent=lambda _, back=back: back), 1e-3)
            assert (found is not None) == belongs
            assert found is None or (found.value < 0 and found.dot(back, sizes) == pytest.approx(1))
