"""`Service`: all kernels of one system, asked for here and made once. `Model.kernels` is one.

A service knows the program of its system and a dialect; what the verbs ask for (terms, solutions, modes of motion) are
outputs of that program, which the dialect makes into functions. Nobody else makes kernels, and what is made of them
(`kept`) lives as long as the service.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from zwang._declare.contact_table import table_of
from zwang._declare.system import System
from zwang._derive.motion_modes import ActiveSet
from zwang._derive.program import Program, derive_program
from zwang._derive.rewriting import FrozenProgram, freeze
from zwang._derive.solution import solve
from zwang._kernels.outputs import Array, Dialect, Functions, Outputs
from zwang._kernels.term_layout import TermLayout
from zwang._kernels.terms import Solved, SparseTerms, Terms
from zwang._numerics.contact.table import ContactTable

if TYPE_CHECKING:
    from zwang._kernels.lane_kernels import SideBySide
    from zwang._kernels.many_reactions import DeviceCount
    from zwang._kernels.mode_kernels import ModeKernels
    from zwang._numerics.motion.moreau import StepTerms

T = TypeVar("T")

LONG = 20_000
"""Steps of `moreau` above which generated code pays: it takes a tenth of a second or more to compile, and a step of a
tape a microsecond longer."""


class Service:
    """The kernels of a system in one dialect.

    Parameters
    ----------
    system : System
    dialect : Dialect

    Attributes
    ----------
    sparse : bool
        Whether the terms have sparse matrices.
    quick : bool
        Whether functions that are called at single states come in their quick form.
    lanes_from : int
        Steps of all motions from which on it pays to move them side by side.
    """

    sparse = False
    quick = False
    lanes_from = 1_000_000  # their loop takes some ten seconds to compile, unless it is cached

    def __init__(self, system: System, dialect: Dialect) -> None:
        self.system, self.dialect = system, dialect
        self._kept: dict[Any, Any] = {}

    def kept(self, key: Any, make: Callable[[], T]) -> T:
        """Return what was made under a key, made now if it wasn't."""
        if key not in self._kept:
            self._kept[key] = make()
        found: T = self._kept[key]
        return found

    @cached_property
    def program(self) -> Program:
        """The graph of everything that the system computes. Add nodes to copies of it."""
        return derive_program(self.system)

    @cached_property
    def frozen(self) -> FrozenProgram:
        """The program with its choices frozen. Add nodes to copies of it."""
        return freeze(self.program.copy())

    @cached_property
    def structure(self) -> ContactTable:
        """Which constraints are one-sided, on positions, and have friction."""
        return table_of(self.system)

    @cached_property
    def layout(self) -> TermLayout:
        """Where each term stands in the output of the function of terms."""
        return TermLayout(self.program)

    @cached_property
    def term_functions(self) -> Functions:
        """The function of all terms."""
        outputs = {"one": Outputs(tuple(self.layout.nodes), exact=True)}
        return self.dialect.build(self.program, outputs, "terms", quick=self.quick)

    def solver(self, active: Sequence[int]) -> Functions:
        """Return the function of accelerations and multipliers with these normals held as equalities."""
        return self.kept(("solver", tuple(active)), lambda: self._solver(tuple(active)))

    def _solver(self, active: tuple[int, ...]) -> Functions:
        program = self.program.copy()
        found = solve(program, active)
        outputs = {"one": Outputs((*found.accelerations, *found.multipliers), found.regular)}
        return self.dialect.build(program, outputs, "accelerations")

    def terms(self, t: Array, q: Array, v: Array, params: Array) -> Terms | SparseTerms:
        """Return the terms of the equations at states t (B,), q and v (n, B), params (p, B), or (p, 1) if shared."""
        return self.layout.terms(self.term_functions.many(t, q, v, params))

    def solve(self, t: Array, q: Array, v: Array, params: Array, active: Sequence[int]) -> Solved:
        """Return accelerations and multipliers with these normals held as equalities."""
        n, k = len(self.system.coordinates), len(tuple(active))
        out = self.solver(active).many(t, q, v, params)
        return Solved(out[:n], out[n : n + k], out[n + k] > 0.5)

    def mode(self, mode: ActiveSet, extra: Sequence[Any] = (), *, quick: bool | None = None) -> ModeKernels:
        """Return the functions of a mode of motion; `extra` are expressions that are watched beside the mode's own.

        `quick`: see `Dialect`; by default as it suits the system.
        """
        from zwang._kernels.mode_kernels import mode_kernels

        form = self.quick if quick is None else quick
        key = ("mode", mode, tuple(extra), form)
        given = (self.dialect, self.system, self.frozen.copy(), self.structure, mode, tuple(extra))
        return self.kept(key, lambda: mode_kernels(*given, quick=form))

    def lanes(self, mode: ActiveSet, stops: Sequence[tuple[Any, int]] = ()) -> SideBySide | None:
        """Return what moves many states of a mode side by side; None where there is nothing of the kind.

        `stops`: expressions at whose crossing of zero a motion ends, each with its direction (1 upwards, -1 downwards,
        0 either way).
        """
        return None

    def counter(self, table: Any) -> DeviceCount | None:
        """Return what counts the solutions of many states elsewhere; None where this processor does it.

        `table` (k, 4): the constraints as `count_solutions` takes them.
        """
        return None

    def step_terms(self, params: Array, steps: int) -> tuple[StepTerms, Any, Any]:
        """Return the terms as the steps of `moreau` want them, and the places of the entries of M and of the rows.

        Rows are those of the normals, then those of the slips. So many steps are meant; both forms that terms have give
        the same bits.
        """
        from zwang._numerics.motion.moreau import StepTerms

        layout, m = self.layout, len(self.program.normals)
        start = {name: part.start for name, part in layout.slices.items()}
        head = [0, start["mass"], start["rows"], len(layout.row_places), start["slip_rows"]]
        names = ("force", "value", "rate", "slip", "bounds")
        place = [*head, *(start[name] for name in names), m, start["gamma"], start["slip_bias"]]
        made = self.term_functions if steps > LONG else self.term_functions.brief
        workspace, size = made.workspace(params), len(layout.nodes)
        terms = StepTerms(made.calls[0], made.table, workspace, size, np.array(place, dtype=np.int64))
        rows = [*layout.row_places, *((m + j, i) for j, i in layout.slip_places)]
        return terms, np.array(list(self.program.mass)).reshape(-1, 2), np.array(rows).reshape(-1, 2)
