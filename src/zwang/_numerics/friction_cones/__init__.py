"""Contact forces with friction as complementarity over cones: one problem form, one solver per file."""

from zwang._numerics.friction_cones.arrays import FrictionArrays, friction_arrays
from zwang._numerics.friction_cones.candidate import Candidate, candidate_of, natural_residual
from zwang._numerics.friction_cones.drive import Prepared, prepare, solve_many_starts, solve_one
from zwang._numerics.friction_cones.gauss_projection import gauss_projection
from zwang._numerics.friction_cones.one_contact import OneContactSolutions, one_contact_fits, one_contact_solutions

__all__ = [
    "Candidate",
    "FrictionArrays",
    "OneContactSolutions",
    "Prepared",
    "candidate_of",
    "friction_arrays",
    "gauss_projection",
    "natural_residual",
    "one_contact_fits",
    "one_contact_solutions",
    "prepare",
    "solve_many_starts",
    "solve_one",
]
