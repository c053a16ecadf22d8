"""All configurations over given values of two quantities, sampled from the mesh or by exhaustive search."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from zwang._declare.constraints import Bilateral
from zwang._numerics.identified import between
from zwang._numerics.tolerances import real
from zwang._results.folds import Assemblies
from zwang._trace.fold_search import FoldedSurface
from zwang._trace.verb import require_search, trace
from zwang.errors import DeclarationError

CLOSE = 1e-6  # scaled: such starts lie near the inputs asked for


def assemblies(space: Any, onto: Any, values: Any, search: str) -> Assemblies:
    """Return every configuration over values; see `ConfigurationSpace.over`."""
    require_search(search, space.name)
    folded: FoldedSurface = space._folded(onto)
    if not hasattr(values, "__len__") or len(values) != 2:
        raise DeclarationError(
            f"{space.name}: over needs two values, one for each quantity; it was given {values!r:.60}."
        )
    wanted = [real(value, "values", where=space.name) for value in values]
    if search == "sampled":
        return Assemblies(folded.over(wanted))
    system = folded.made.system
    held = []
    for k, (quantity, value) in enumerate(zip(folded.made.quantities, wanted, strict=True)):
        # An angle is written with its sine; what lies half a turn away is left out below.
        expr = sp.sin(quantity - value) if folded.made.turns[k] else quantity - value
        held.append(Bilateral(expr, name=f"over {k + 1}"))
    fixed = system.replace(constraints=[*system.constraints, *held])
    found = trace(fixed, space.params, space.box or None, "exhaustive", t=space.t)
    starts = np.array([[state[name] for name in space.coordinates] for state in found.points])
    starts = starts.reshape(-1, len(space.coordinates))
    if len(starts):
        miss = between(np.array(wanted), folded.made.values(starts), folded.made.turns)
        starts = starts[np.abs(miss).max(axis=1) < CLOSE]
    made = Assemblies(folded.over(wanted, starts))
    made.complete = found.complete and not found.branches and len(made) == len(starts)
    made.notes = found.notes
    return made
