"""Laws of impact for rigid bodies: Newton, Poisson and energetic restitution, with friction.

`impact_problem` holds the arrays, `jumps` finds every solution of one complementarity problem in velocities,
`newton_restitution` and `poisson` pose those problems, `energetic` follows one contact through its impulse (`phases`
where the slip keeps its line, `slip_path` where it turns), `resolve` decides what a caller may be told.
"""

from zwang._numerics.impacts.impact_problem import (
    CONTACT,
    HELD,
    LOADED,
    ONE_SIDED,
    ImpactContact,
    ImpactOutcome,
    ImpactProblem,
)
from zwang._numerics.impacts.resolve import LAWS, resolve_impact

__all__ = [
    "CONTACT",
    "HELD",
    "LAWS",
    "LOADED",
    "ONE_SIDED",
    "ImpactContact",
    "ImpactOutcome",
    "ImpactProblem",
    "resolve_impact",
]
