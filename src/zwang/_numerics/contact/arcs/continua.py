"""Continua of slipping solutions, where normal rows depend on each other: members, and boxes around all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.arcs.box_programs import greatest_in
from zwang._numerics.contact.arcs.box_roots import contact_forces
from zwang._numerics.contact.arcs.decided import Leaf
from zwang._numerics.contact.arcs.members import jacobian_at, moved_member

Array = npt.NDArray[np.float64]

STEPS = (-0.5, -0.1, -0.02, 0.02, 0.1, 0.5)
"""How far along a family other members are looked for, in scaled unknowns."""
MOST_ASKED = 20
"""ArcBox of a family in which several members are looked for."""
OUTWARD = 1e-9
"""What is added to the bounds of programs for their rounding."""


@dataclass(frozen=True, eq=False)
class Family:
    """ArcBox of one mode that are not excluded, with the scaled forces of solutions in them.

    Attributes
    ----------
    leaves : tuple of Leaf
        ArcBox in each of which a solution was found.
    members : (p, m) array
        Scaled forces.
    low, high : (m,) arrays
        Bounds of scaled forces over the boxes.
    """

    leaves: tuple[Leaf, ...]
    members: Array
    low: Array
    high: Array


def families(leaves: Sequence[Leaf]) -> list[Family]:
    """Return boxes of continua, each with a solution in it, by their modes."""
    groups: dict[tuple[int, ...], list[Leaf]] = {}
    for leaf in leaves:
        groups.setdefault((id(leaf.setting), *leaf.mode.tolist()), []).append(leaf)
    found = []
    for group in groups.values():
        members = [f for leaf in group[:MOST_ASKED] for f in _members(leaf)]
        found.append(Family(tuple(group), np.array(members), *_extent(group)))
    return found


def _members(leaf: Leaf) -> list[Array]:
    """Return the forces of some solutions of a box: the one that was found, and others along the family."""
    places, box, slots = leaf.setting.places, leaf.box, leaf.slots
    found = [contact_forces(places, box, slots, leaf.z)]
    sizes, along = np.linalg.svd(jacobian_at(places, box, slots, leaf.z))[1:]
    for direction in along[sizes <= 1e-8 * sizes[0]]:
        for step in STEPS:
            z = leaf.z.copy()
            if moved_member(places, box, slots, step * direction, z):
                found.append(contact_forces(places, box, slots, z))
    return found


def _extent(leaves: Sequence[Leaf]) -> tuple[Array, Array]:
    m = len(leaves[0].setting.places.b)
    low, high = np.full(m, np.inf), np.full(m, -np.inf)
    cost = np.zeros(m)
    for leaf in leaves:
        for i in range(m):
            cost[i] = 1.0
            high[i] = max(high[i], greatest_in(leaf.setting.places, leaf.box, cost) + OUTWARD)
            cost[i] = -1.0
            low[i] = min(low[i], -greatest_in(leaf.setting.places, leaf.box, cost) - OUTWARD)
            cost[i] = 0.0
    return low, high
