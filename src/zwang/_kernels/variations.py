"""What a mode of motion computes, with its first derivatives: the equations of nearby motions.

Accelerations, reactions, watched quantities and held constraints are nodes of one graph, so their derivatives with
respect to time, positions, velocities and parameters are nodes too, exact to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from zwang._derive.motion_modes import ActiveSet, ModeEquations
from zwang._kernels.mode_kernels import expression_nodes, surfaces_of, watches_of
from zwang._kernels.outputs import Array, Functions, Outputs
from zwang._kernels.service import Service


@dataclass(frozen=True)
class Jets:
    """Quantities (k, B) at B states and their derivatives (k, 1 + 2 n + p, B) by t, q, v and parameters.

    `regular` (B,) says where the equations could be solved.
    """

    value: Array
    slope: Array
    n: int
    regular: Array

    def __getitem__(self, rows: Any) -> Jets:
        return Jets(self.value[rows], self.slope[rows], self.n, self.regular)

    @property
    def by_state(self) -> Array:
        """Derivatives by q and v (k, 2 n, B)."""
        return self.slope[:, 1 : 1 + 2 * self.n]

    @property
    def by_params(self) -> Array:
        """Derivatives by the chosen parameters (k, p, B)."""
        return self.slope[:, 1 + 2 * self.n :]


@dataclass(frozen=True)
class ModeVariations:
    """The quantities of a mode with their derivatives.

    Attributes
    ----------
    mode : ActiveSet
    watches : tuple
        Names of what is watched, as in `Moving.watch_names`.
    chosen : tuple of int
        Numbers of the parameters by which derivatives are taken.
    sizes : tuple of int
        How many accelerations, multipliers of held normals, friction forces, watches, values of held constraints on
        positions, and rates of all held rows.
    """

    mode: ActiveSet
    watches: tuple[tuple[str, int], ...]
    chosen: tuple[int, ...]
    n: int
    sizes: tuple[int, ...]
    functions: Functions

    @cached_property
    def _places(self) -> list[slice]:
        ends = np.cumsum([0, *self.sizes]).tolist()
        return [slice(a, b) for a, b in pairwise(ends)]

    @property
    def accelerations(self) -> slice:
        """Where the accelerations are."""
        return self._places[0]

    @property
    def multipliers(self) -> slice:
        """Where the multipliers of the held normals are."""
        return self._places[1]

    @property
    def friction(self) -> slice:
        """Where the friction forces of all slips are."""
        return self._places[2]

    @property
    def watched(self) -> slice:
        """Where the watched quantities are."""
        return self._places[3]

    @property
    def values(self) -> slice:
        """Where the values of the held constraints on positions are."""
        return self._places[4]

    @property
    def rates(self) -> slice:
        """Where the rates of all held rows are."""
        return self._places[5]

    def jets(self, t: Array, q: Array, v: Array, params: Array) -> Jets:
        """Return everything at states t (B,), q and v (n, B); `params` (p + surfaces,) has the sides at its end."""
        count, width = sum(self.sizes), 1 + 2 * self.n + len(self.chosen)
        out = self.functions.many(t, q, v, np.ascontiguousarray(params[:, None]))
        values, slopes = out[:count], out[count:-1].reshape(width, count, -1)
        return Jets(values, np.swapaxes(slopes, 0, 1), self.n, out[-1] > 0.5)


def variations(model: Any, mode: ActiveSet, chosen: Sequence[int] = (), extra: Sequence[Any] = ()) -> ModeVariations:
    """Return a mode's quantities with their derivatives, made once for each model.

    Parameters
    ----------
    model : Model or its kernels
    mode : ActiveSet
    chosen : sequence of int
        Numbers of the parameters by which to differentiate as well.
    extra : expressions
        Watched beside what the mode watches by itself.
    """
    service: Service = getattr(model, "kernels", model)
    key = ("variations", mode, tuple(chosen), tuple(extra))
    make: Callable[[], ModeVariations] = lambda: _variations(service, mode, tuple(chosen), tuple(extra))  # noqa: E731
    return service.kept(key, make)


def _variations(service: Service, mode: ActiveSet, chosen: tuple[int, ...], extra: tuple[Any, ...]) -> ModeVariations:
    frozen = service.frozen.copy()
    program, g = frozen.program, frozen.program.graph
    equations = ModeEquations(program, mode, service.structure)
    watches = watches_of(
        equations, frozen, service.structure, expression_nodes(service.system, frozen, extra, equations)
    )
    positions = set(equations.positions)
    frozen, surfaces = surfaces_of(frozen, equations, watches)
    program, watches = frozen.program, watches + surfaces
    groups = [
        equations.accelerations,
        equations.multipliers,
        equations.tangential,
        [item.node for item in watches],
        [equations.rows[k].value for k in equations.positions],
        [row.rate if k in positions else row.value for k, row in enumerate(equations.rows)],
    ]
    nodes = [node for group in groups for node in group]
    by = [program.t, *program.q, *program.v, *(program.params[k] for k in chosen)]
    slopes = [slope for item in by for slope in g.forward(nodes, {item: g.one})]
    outputs = Outputs((*nodes, *slopes), equations.regular, frozen.sides)
    return ModeVariations(
        mode=mode,
        watches=tuple(item.name for item in watches),
        chosen=chosen,
        n=len(program.q),
        sizes=tuple(len(group) for group in groups),
        functions=service.dialect.build(program, {"one": outputs}, "variations", quick=True),
    )
