"""Realizing constraints: from a system to a system in which some of them are made by forces.

A realization is an object with a `strength` and one method, ``soften(system, constraint, strength) -> System``; those
of the package stand in `REALIZATIONS`, one line each.
"""

from __future__ import annotations

from zwang._realize.stiffness import Stiffness
from zwang._realize.verb import Realization, realize
from zwang._realize.viscosity import Viscosity

REALIZATIONS: dict[str, type[Realization]] = {
    "Stiffness": Stiffness,
    "Viscosity": Viscosity,
}

__all__ = ["REALIZATIONS", "Realization", "Stiffness", "Viscosity", "realize"]
