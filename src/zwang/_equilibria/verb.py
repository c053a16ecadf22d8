"""The verb `equilibria`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from zwang._compile import Model
from zwang._declare.system import System
from zwang._equilibria.rest_search import RestSearch
from zwang._numerics.budget import Allowed, Budget, Spent, spending
from zwang._numerics.jit import tiered
from zwang._results.equilibria import Equilibria

BUDGET = Budget(steps=10_000_000, memory=1_000_000_000)


@tiered("equilibria", main="singular_many", seconds=15)
def equilibria(
    system: System | Model,
    params: Mapping[Any, Any] | None = None,
    *,
    box: Mapping[Any, tuple[float, float]] | None = None,
    search: str = "sampled",
    steady: Iterable[Any] | Mapping[Any, float] = (),
    vary: Any = None,
    within: tuple[float, float] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    seed: int = 0,
    budget: Allowed = None,
) -> Equilibria:
    """Return where a system can rest: points, intervals where it has friction, branches over a parameter.

    An equilibrium is a position at which the acceleration zero is among what the laws allow with all velocities zero.
    The equations of rest are those of an auxiliary configuration space, so that `trace` finds and follows them, and
    proves with ``search='exhaustive'`` that none is missing in a box. Every set of closed one-sided contacts is looked
    at.

    Parameters
    ----------
    system : System or Model
        Nothing in it may depend on time explicitly.
    params : mapping
        Symbol or name -> number; without the parameter that is varied.
    box : mapping, optional
        Coordinate (or ``v_<name>`` of a steady one) -> (low, high), as in `trace`.
    search : {'sampled', 'exhaustive'}
        Many starts, seeded; or, in a box, subdivision with proofs.
    steady : names, or mapping name -> rate
        Cyclic coordinates that turn uniformly; their rates are unknowns too, unless they are given. Where a momentum is
        conserved the rate must be given.
    vary, within : symbol or str, and (low, high)
        A parameter over which branches are followed, with their folds, crossings and Hopf points. With friction and one
        freedom branches are those of the ends of intervals, and folds where an interval is born or vanishes or two
        merge.
    inputs : mapping, optional
        Input of the system -> number.
    seed : int
        Of the random starts.
    budget : float or mapping, optional
        As of `trace`. Where one is spent the result is UNFINISHED.

    Returns
    -------
    Equilibria

    Examples
    --------
    A bead on a hoop that turns with the rate w: beyond w^2 = g/r it leaves the bottom.

    >>> import math, sympy as sp, zwang as zw
    >>> (phi,), (v,) = zw.coordinates("phi", angles="phi")
    >>> r, g, w = zw.parameters("r g w")
    >>> hoop = zw.System(name="hoop", kinetic=r**2*(v**2 + w**2*sp.sin(phi)**2)/2, potential=-g*r*sp.cos(phi))
    >>> found = zw.equilibria(hoop, {"r": 1, "g": 9.81, "w": 4}, search="exhaustive")
    >>> for point in found.points:
    ...     print(f"{point.state['phi']:.6f} {point.stability}")
    -0.910786 stable (energy)
    0.000000 unstable (linear)
    0.910786 stable (energy)
    3.141593 unstable (linear)
    >>> found.complete
    True
    """
    question = RestSearch(system, params, box, search, steady, vary, within, inputs, seed)
    with spending(BUDGET.but(question.system.name, budget)):
        try:
            question.ask()
        except Spent as spent:
            question.reason = str(spent)
    return question.answer()
