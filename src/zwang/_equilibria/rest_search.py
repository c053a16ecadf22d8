"""What can rest: points, intervals with friction and regions, set by set of closed contacts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain, combinations
from typing import Any

import numpy as np

from zwang._compile import Model, compile
from zwang._compile.given_inputs import with_inputs
from zwang._compile.given_values import resolve
from zwang._declare.constraints import Bilateral, Friction, Unilateral
from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._equilibria.ends import EndSearch
from zwang._equilibria.equilibrium_branches import BranchSearch
from zwang._equilibria.intervals import RestingArc
from zwang._equilibria.reserve import asked, normal_forces, relative_acceleration, without_rounding
from zwang._equilibria.rest_regions import RestingRegion, grid
from zwang._equilibria.rest_surface import RestSurface
from zwang._equilibria.stability import stability_at
from zwang._equilibria.statics import (
    Statics,
    geometry,
    held_positions,
    range_of,
    rubbing_rows,
    statics,
)
from zwang._linearize.asked import steady_rates
from zwang._numerics.linear.rank import ROUNDING, decided
from zwang._numerics.tolerances import by_name, name_of, real, whole
from zwang._results import Provenance
from zwang._results.configuration import ConfigurationSpace, TraceStatus
from zwang._results.equilibria import Equilibria, EquilibriaStatus, Equilibrium, EquilibriumInterval
from zwang._trace import trace
from zwang._trace.verb import require_search
from zwang.errors import DeclarationError, StateError

MOST_CONTACTS = 6
"""One-sided constraints up to which every set of closed ones is looked at."""
SIGN = 1e-9
"""Part of the forces, or of the coordinates, by which a multiplier or a gap may be negative and count as zero."""
SLICES = 9
"""Values of a parameter at which intervals of rest are found, to follow their ends from there."""
NOWHERE = "No place that was looked at rests, which is no proof that none does. Give a box, or another one."
PLACES = 8  # configurations at which it is counted how many rows depend on others
SAME = 1e-7  # equilibria closer than this, in sizes of the box, are one


class RestSearch:
    """One question, with what was found so far."""

    def __init__(
        self,
        system: Any,
        params: Any,
        box: Any,
        search: str,
        steady: Any,
        vary: Any,
        within: Any,
        inputs: Any,
        seed: Any,
    ) -> None:
        if not isinstance(system, (System, Model)):
            raise DeclarationError(f"equilibria needs a System or a Model; it was given {system!r:.80}.")
        shown = (system.system if isinstance(system, Model) else system).drawing
        self.drawing = {} if shown is None else shown.to_dict()
        given = compile(system).switched()
        self.vary = name_of(vary) if vary is not None else ""
        model, values, _ = with_inputs(given, {}, params, inputs)
        self.model, self.system = model, model.system
        name = self.system.name
        require_search(search, name)
        timed = [where for where, expr in self.system.expressions().items() if time in expr.free_symbols]
        if timed:
            raise DeclarationError(
                f"{name}: {timed[0]} depends on time, and nothing rests that does. Ask periodic(...), or give inputs "
                "that are numbers."
            )
        self.search, self.seed = search, whole(seed, "seed", least=0, most=2**64, where=name)
        places = [item.name for item in (*self.system.coordinates, *self.system.velocities)]
        form = "coordinates to (low, high)"
        self.box = by_name(box, "box=", places, where=name, no="which is no coordinate", form=form)
        self.steady = {
            label: None if rate is None else real(rate, f"steady[{label!r}]", where=name)
            for label, rate in steady_rates(self.system, steady, cyclic=True).items()
        }
        self.within = range_of(self.system, self.vary, within)
        middle = {} if not self.vary else {self.vary: sum(self.within) / 2}
        zero = {item.name: 0.0 for item in (*self.system.coordinates, *self.system.velocities)}
        numbers = resolve(self.system, zero, {**(values or {}), **middle}).params
        if numbers.shape[1] != 1:
            raise DeclarationError(f"{name}: equilibria takes one value of each parameter. Use sweep for many.")
        self.params = {item.name: float(x) for item, x in zip(self.system.parameters, numbers[:, 0], strict=True)}
        self.points: list[Equilibrium] = []
        self.intervals: list[EquilibriumInterval] = []
        self.regions = self.resting = False
        self.boundary: list[Any] = []
        self.searches: list[BranchSearch | EndSearch] = []
        self.notes: list[str] = []
        self.vain: list[str] = []
        self.complete, self.undecided, self.reason = search == "exhaustive", False, ""
        self.residual = 0.0

    def ask(self) -> None:
        """Look at every set of closed contacts."""
        for closed in self._sets():
            if self._rubbing(closed):
                self._with_friction(closed)
            else:
                self._without_friction(closed)

    def _sets(self) -> Iterator[tuple[str, ...]]:
        names = [
            str(item.name)
            for item in self.system.constraints
            if isinstance(item, Unilateral) and item.level == "position"
        ]
        if len(names) > MOST_CONTACTS:
            self.notes.append(f"Of {len(names)} one-sided constraints at most {MOST_CONTACTS} are closed together.")
            self.complete = False
        most = min(len(names), MOST_CONTACTS)
        return chain.from_iterable(combinations(names, k) for k in range(most + 1))

    def _rubbing(self, closed: tuple[str, ...]) -> bool:
        """Whether forces act that are bounded, or belong to velocities: then equilibria are no isolated points."""
        for item in self.system.constraints:
            if isinstance(item, Friction) or item.level == "velocity":
                return True
            if item.friction is not None and (isinstance(item, Bilateral) or item.name in closed):
                return True
        return False

    # Points and branches.
    def _without_friction(self, closed: tuple[str, ...]) -> None:
        sides = self.box | {self.vary: self.within}
        loose = self._looseness(closed)
        if self.vary:
            self._over_loads(closed, sides, loose)
            return
        for count in loose:
            rest = statics(self.system, self.params, closed, self.steady, "", sides, count)
            if rest is None or not len(rest.space.constraints):
                self._nowhere(rest is None)
                continue
            box = rest.box(self.box, None)
            space = trace(rest.space, self._of(rest.space), box=box, search=self.search, seed=self.seed)
            if count or len(loose) == 1:
                self._note(space, closed)
            else:
                self.complete = False  # where rows depend on each other their forces fill curves, which may not end
            for point in self._places(space):
                state = rest.state(point)
                if count == 0 and self._admissible(rest, point):
                    self._add(self._point(state, rest.forces(point), closed))
                # Which of the forces is which is not determined: what the laws allow there decides.
                elif count and not rest.beyond(point) and self._apart(rest, state) and self._rests(state):
                    self._add(self._point(state, None, closed))
            if any(self._moves(rest, branch) for branch in space.branches):
                self.notes.append("Some equilibria are not isolated: they fill curves, of which no point is listed.")
                self.undecided = True

    def _over_loads(self, closed: tuple[str, ...], sides: Any, loose: list[int]) -> None:
        """Follow equilibria over the parameter."""
        rest = statics(self.system, self.params, closed, self.steady, self.vary, sides, loose[-1])
        if rest is None or not len(rest.space.constraints):
            self._nowhere(rest is None)
            return
        box = rest.box(self.box, self.within)
        space = trace(rest.space, self._of(rest.space), box=box, search=self.search, seed=self.seed)
        self._note(space, closed)
        if loose[-1] and (closed or len(loose) > 1):
            self.notes.append(
                "Forces that are not determined, since rows depend on each other, choose what is followed."
            )
            self.undecided, self.complete = True, False
        found = BranchSearch(
            self.model,
            {name: value for name, value in self.params.items() if name != self.vary},
            rest,
            self.steady,
            lambda point: self._admissible(rest, point),
        )
        found.look(space, sum(len(one.branches) for one in self.searches))
        self.searches.append(found)

    @staticmethod
    def _moves(rest: Statics, branch: Any) -> bool:
        """Whether places change along an arc, and not only forces that are not determined."""
        places = [rest.state(branch.state(at=part * branch.length)) for part in (0.2, 0.5, 0.8)]
        return any(abs(one[name] - places[0][name]) > SAME * rest.length for one in places for name in one)

    def _rests(self, state: Mapping[str, float]) -> bool:
        return bool(asked(self.model, state, self.params)[0])

    @staticmethod
    def _places(space: ConfigurationSpace) -> list[dict[str, float]]:
        return [*(dict(point) for point in space.points), *(dict(point.state) for point in space.singular_points)]

    def _nowhere(self, nowhere: bool) -> None:
        """Take it that a set of closed contacts has no equilibrium, or that every place is one."""
        if not nowhere:
            self.notes.append("No force acts: every place is an equilibrium, and none is listed.")
            self.undecided = True

    def _note(self, space: ConfigurationSpace, closed: tuple[str, ...]) -> None:
        if space.status is TraceStatus.UNFINISHED:
            self.reason = self.reason or space.reason or "Some equilibria could not be resolved."
        self.complete = self.complete and space.complete
        where = f" with {', '.join(closed)} closed" if closed else ""
        if self.search == "exhaustive" and not space.complete:
            self.notes.append(f"Not proved complete{where}: {' '.join(space.notes)}")
        elif space.status is TraceStatus.EMPTY:
            self.vain.append(f"Nothing rests{where} that was found: {' '.join(space.notes)}")

    def _admissible(self, rest: Statics, point: Mapping[str, float]) -> bool:
        """Whether contacts push and no gap is negative."""
        if rest.beyond(point):
            return False
        forces = rest.forces(point)
        if any(forces[name] < -SIGN * rest.scale * rest.parts[rest.multipliers[name]] for name in rest.closed):
            return False
        params = {**self.params, **({self.vary: rest.value(point, self.vary)} if self.vary else {})}
        return self._apart(rest, rest.state(point), params)

    def _apart(self, rest: Statics, state: Mapping[str, float], params: Mapping[str, float] | None = None) -> bool:
        """Whether no contact that is open overlaps."""
        values = self.model.terms(state, self.params if params is None else params).value[:, 0]
        normal = [item for item in self.system.constraints if not isinstance(item, Friction)]
        return all(
            float(value) >= -SIGN * rest.length
            for item, value in zip(normal, values, strict=True)
            if isinstance(item, Unilateral) and item.level == "position" and item.name not in rest.closed
        )

    def _looseness(self, closed: tuple[str, ...]) -> list[int]:
        """Return how many rows depend on others, at configurations with these contacts closed, each number once."""
        held = held_positions(self.system, closed)
        if len(held) < 2:
            return [0]
        shape, _ = geometry(self.system, closed, self.steady)
        model, params = compile(shape), self._of(shape)
        size = max((abs(params[item.name]) for item in shape.parameters), default=1.0) or 1.0
        source, found = np.random.default_rng(self.seed), set()
        for _ in range(PLACES):
            state = {item.name: 0.0 for item in shape.velocities} | {"t": 0.0}
            for item in shape.coordinates:
                low, high = self.box.get(item.name, (-np.pi, np.pi) if item.angle else (-size, size))
                state[item.name] = float(source.uniform(low, high))
            with suppress(StateError):
                place = model.project(state, params)
                rows = model.terms(place, params).at(0)[1][: len(held)]
                found.add(len(held) - decided(rows, np.eye(rows.shape[1]), ROUNDING).rank)
        return sorted(found) or [0]

    def _point(
        self, state: Mapping[str, float], forces: Mapping[str, float] | None, closed: tuple[str, ...], holds: str = ""
    ) -> Equilibrium:
        """Return an equilibrium; without `forces` they are those of the reactions there, where these are determined."""
        sizes = {name: float(np.abs(pair).max()) for name, pair in self.box.items()}
        state, words, found = without_rounding(self.model, state, self.params, sizes)
        forces = normal_forces(found) if forces is None else forces
        verdict = stability_at(self.model, state, self.params, self.steady, closed)
        residual = relative_acceleration(self.model, state, self.params, found)
        self.residual = max(self.residual, residual)
        return Equilibrium(
            state=dict(state),
            reactions={
                name: float(forces.get(name, np.nan))
                for name in self.system.constraints.names
                if name not in self.system.bookkeeping
            },
            holds=words or holds or "undecided",
            stability=verdict.stability,
            reason=verdict.reason,
            eigenvalues=verdict.eigenvalues,
            residual=residual,
        )

    def _add(self, point: Equilibrium) -> None:
        """Keep a point unless it is there already: a contact that touches without a force is found open and closed."""
        angles = {item.name for item in self.system.coordinates if item.angle}
        for other in self.points:
            apart = 0.0
            turned = self._turned(point, other)
            for name, value in point.state.items():
                difference = value - (-other.state[name] if name in turned else other.state[name])
                if name in angles:
                    difference = (difference + np.pi) % (2 * np.pi) - np.pi
                apart = max(apart, abs(difference) / (1 + abs(value)))
            if apart <= SAME:
                return
        self.points.append(point)

    def _turned(self, point: Equilibrium, other: Equilibrium) -> set[str]:
        """Return the coordinates of quaternions that point the other way round: e and -e are one pose."""
        found: set[str] = set()
        for quaternion in self.system.quaternions:
            names = [item.name for item in quaternion]
            if sum(point.state[name] * other.state[name] for name in names) < 0:
                found.update(names)
        return found

    # With friction.
    def _with_friction(self, closed: tuple[str, ...]) -> None:
        self.complete = False
        unknown = [name for name, value in self.steady.items() if value is None]
        if unknown:
            raise DeclarationError(
                f"{self.system.name}: with friction the rate of '{unknown[0]}' must be given: steady={{'{unknown[0]}': "
                "rate}."
            )
        free = len(self.system.coordinates) - len(self.steady)
        freedoms = free - len(held_positions(self.system, closed))
        forces = len(rubbing_rows(self.system, closed))
        fixed = dict.fromkeys(self.steady, 0.0) | {
            item.name: float(self.steady.get(item.coordinate.name) or 0.0) for item in self.system.velocities
        }
        if self.vary:
            self._over_parameter(closed, freedoms, forces, fixed)
            return
        if freedoms <= 1:
            space = self._geometry(closed)
        elif forces <= 1:  # so few forces balance on a curve at most, whatever the freedoms
            made = self._balanced(closed)
            if made is None:
                return
            space = made
        else:
            self._regions(freedoms, closed, fixed)
            return
        if space.status is TraceStatus.UNFINISHED:
            self.reason = self.reason or space.reason or "The configuration space could not be resolved."
        names = [item.name for item in (*self.system.coordinates, *self.system.velocities)]
        for point in [*space.points, *(dict(one.state) for one in space.singular_points)]:
            state = {name: float(fixed.get(name, point.get(name, 0.0))) for name in names} | {"t": 0.0}
            words, found = asked(self.model, state, self.params)
            if words and not any(len(one.branches) for one in space.singular_points):
                self._add(self._point(state, normal_forces(found), closed, words))
        for branch in space.branches:
            self.intervals += RestingArc(self.model, self.params, branch, closed, fixed, self._flat).intervals()
        if space.dimension > 1:
            self._regions(space.dimension, closed, fixed)

    def _over_parameter(self, closed: tuple[str, ...], freedoms: int, forces: int, fixed: Mapping[str, float]) -> None:
        """Find the ends of rest over the parameter, or say why they are not looked for."""
        if freedoms != 1 and (freedoms < 1 or forces > 1):
            words = "nothing moves" if freedoms < 1 else f"{freedoms} freedoms rub"
            where = f" with {', '.join(closed)} closed" if closed else ""
            self.notes.append(
                f"Bounds of rest over '{self.vary}' are computed for one freedom, and{where} {words}: ask equilibria "
                "at single values of it, or guarantee('can hold', ...) for a box."
            )
            self.undecided = True
            return
        middle = self.params[self.vary]
        shape = geometry(self.system, closed, self.steady, self.vary)[0]
        if freedoms > 1:
            rest = statics(self.system, self.params, closed, self.steady, self.vary)
            if rest is None:
                return
            shape = rest.space
        held = freedoms > 1 or bool(held_positions(self.system, closed))
        known = {name: value for name, value in self.params.items() if name != self.vary}
        values = tuple(float(value) for value in np.linspace(*self.within, SLICES))
        box = self.box | {self.vary: self.within}
        surface = RestSurface.over(self.model, known, shape, fixed, self._flat, self.vary, box, held=held)
        found = EndSearch(surface, values, closed, self.steady, freedoms > 1)
        self.searches.append(found)
        try:
            for value in values:
                self.params = {**known, self.vary: value}
                space = self._geometry(closed) if freedoms <= 1 else self._balanced(closed)
                for branch in () if space is None else space.branches:
                    found.slice(RestingArc(self.model, self.params, branch, closed, fixed, self._flat), value)
        finally:
            self.params = {**known, self.vary: middle}
        found.look(sum(len(one.branches) for one in self.searches[:-1]))
        self.resting = self.resting or found.some
        self.notes.append(
            f"Bounds of rest are followed from their places at {SLICES} values of '{self.vary}': what rests between "
            "two of them alone can be missed."
        )

    @property
    def _flat(self) -> bool:
        """Whether all friction is along lines, and what goes with a resultant rests."""
        return all(
            len(item.slip) <= 1 and not (self.steady and getattr(item, "of", None)) for item in self.system.constraints
        )

    def _regions(self, dimension: int, closed: tuple[str, ...], fixed: Mapping[str, float]) -> None:
        """Find the curves round regions of rest with two freedoms; say so where there are more."""
        if dimension == 2:
            mesh = self._mesh(closed)
            if mesh is not None:
                names, points, triangles = mesh
                held = tuple(str(item.name) for item in held_positions(self.system, closed))
                region = RestingRegion(self.model, self.params, names, held, fixed, self._flat)
                curves, some = region.boundary(points, triangles)
                self.boundary += curves
                self.resting = self.resting or some
                self.undecided = self.undecided or not some
                return
        self.undecided = self.regions = True
        self.notes.append(
            f"Rest fills regions of up to {dimension} dimensions: ask guarantee('can hold', ...) for a box."
        )

    def _mesh(self, closed: tuple[str, ...]) -> tuple[tuple[str, ...], Any, Any] | None:
        """Return coordinates, points and triangles of a surface of configurations; None where there is no mesh."""
        free = [item for item in self.system.coordinates if item.name not in self.steady]
        if not held_positions(self.system, closed):
            sides = [self.box.get(item.name, (-np.pi, np.pi) if item.angle else None) for item in free]
            missing = [item.name for item, side in zip(free, sides, strict=True) if side is None]
            if missing:
                self.notes.append(f"Regions of rest are looked for in a box: give box={{'{missing[0]}': (low, high)}}.")
                return None
            return tuple(item.name for item in free), *grid([side for side in sides if side is not None])
        space = self._geometry(closed)
        if space.surface is None or not len(space.surface.triangles):
            return None
        return tuple(space.coordinates), np.asarray(space.surface.points), np.asarray(space.surface.triangles)

    def _geometry(self, closed: tuple[str, ...]) -> ConfigurationSpace:
        """Return the configuration space with some contacts closed."""
        shape, spare = geometry(self.system, closed, self.steady)
        known = {item.name for item in shape.coordinates}
        box = {name: pair for name, pair in self.box.items() if name in known}
        box |= {spare: (-1.0, 1.0)} if spare else {}
        return trace(shape, self._of(shape), box=box, search=self.search, seed=self.seed)

    def _balanced(self, closed: tuple[str, ...]) -> ConfigurationSpace | None:
        """Return the places at which forces of any size balance; None where there are none."""
        rest = statics(self.system, self.params, closed, self.steady, "")
        if rest is None or not len(rest.space.constraints):
            return None
        box = rest.box(self.box, self.within)
        return trace(rest.space, self._of(rest.space), box=box, search=self.search, seed=self.seed)

    def _of(self, space: System) -> dict[str, float]:
        used = {item.name for item in space.parameters}
        return {name: value for name, value in self.params.items() if name in used}

    def answer(self) -> Equilibria:
        """Return what was found."""
        branches = [branch for one in self.searches for branch in one.branches]
        something = bool(self.points or self.intervals or branches or self.resting)
        if self.reason:
            status = EquilibriaStatus.UNFINISHED
        elif something:
            status = EquilibriaStatus.FOUND
        else:
            status = EquilibriaStatus.NONE if self.complete and not self.undecided else EquilibriaStatus.UNDECIDED
        reason = self.reason
        if status is EquilibriaStatus.UNDECIDED:
            reason = " ".join(dict.fromkeys([*self.notes, *self.vain])) or NOWHERE
        names = tuple(item.name for item in self.system.coordinates)
        order = sorted(self.points, key=lambda point: tuple(point.state[name] for name in names))

        def special(kind: str) -> tuple[Any, ...]:
            return tuple(sorted((item for one in self.searches for item in getattr(one, kind)), key=lambda i: i.value))

        return Equilibria(
            status=status,
            residual=self.residual,
            provenance=Provenance.now(self.system.digest, tolerances={"sign": SIGN}, seed=self.seed),
            name=self.system.name,
            coordinates=names,
            points=tuple(order),
            intervals=None if self.regions and not self.intervals else tuple(self.intervals),
            boundary=None if self.regions else tuple(self.boundary),
            branches=tuple(branches),
            folds=special("folds"),
            crossings=special("crossings"),
            hopfs=special("hopfs"),
            vary=self.vary,
            complete=self.complete and not self.reason,
            notes=tuple(dict.fromkeys(self.notes)),
            reason=reason,
            params=self.params,
            drawing=self.drawing,
        )
