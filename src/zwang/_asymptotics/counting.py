"""The number of solutions at a state as `reactions` counts it: exact enumeration of modes, in double precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from zwang._asymptotics.approaches import Approach, sides, signs_on
from zwang._asymptotics.mechanics import Law, Terms, directions
from zwang._asymptotics.precision import Number
from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._reactions.problem import reactions_of_problem


def enumerated(approach: Approach, q: Sequence[Number]) -> dict[tuple[int, str], int]:
    """Return the number of solutions for each direction of motion and each side of a turning point."""
    mechanics = approach.mechanics
    found: dict[tuple[int, str], int] = {}
    forward = approach.velocity(q)
    for way in (1, -1):
        terms = mechanics.terms(q, [item * way for item in forward])
        for side in sides(approach.turning):
            along = directions(terms, mechanics.laws, signs_on(side, approach.turning))
            if along is None:
                continue
            laws = {law.normal: (law, direction) for law, direction in zip(mechanics.laws, along, strict=True)}
            contacts = []
            for law, direction in zip(mechanics.laws, along, strict=True):
                if law.normal is None:
                    contacts.append(Contact(None, friction=1.0, **_rough(terms, law, direction, given=True)))
            for k, row in enumerate(terms.rows):
                rough = _rough(terms, *laws[k]) if k in laws else {}
                normal = np.array([float(x) for x in row])
                contacts.append(Contact(normal, bias=float(terms.gamma[k]), bilateral=True, **rough))
            mass = np.array([[float(x) for x in row] for row in terms.mass])
            problem = ContactProblem(mass, np.array([float(x) for x in terms.force]), contacts)
            result = reactions_of_problem(problem, certify=False, exact=False)
            found[way, side] = len(result.solutions)
    return found


def _rough(terms: Terms, law: Law, direction: Sequence[Any], *, given: bool = False) -> dict[str, Any]:
    """Return what a contact says of its friction; `given`: the bound is a force and no coefficient."""
    return {
        "tangent": np.array([[float(x) for x in terms.slip_rows[j]] for j in law.slips]),
        "normal_force" if given else "friction": float(terms.bounds[law.place]),
        "slip": np.array([float(x) for x in direction]),
    }
