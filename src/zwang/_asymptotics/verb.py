"""The verb `asymptotics`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from zwang._asymptotics import measuring
from zwang._asymptotics.approaches import WITHOUT, Approach, Case
from zwang._asymptotics.counting import enumerated
from zwang._asymptotics.families import Spot, along_branches, branches_of_space, left_null, through_family
from zwang._asymptotics.geometry import Equations, Subspaces, refine_singular_point
from zwang._asymptotics.growth import Power
from zwang._asymptotics.inputs import (
    exact_values,
    held_constraints,
    position_of,
    read_expression,
    set_aside,
    system_of,
)
from zwang._asymptotics.local_curves import NoCurve
from zwang._asymptotics.mechanics import Mechanics
from zwang._asymptotics.precision import Number, largest, mp, number
from zwang._asymptotics.predicting import Powers, predict, predict_generic, scale_of
from zwang._asymptotics.thresholds import Crossover, find_threshold
from zwang._compile import Model
from zwang._declare.system import System
from zwang._results.asymptotics import Asymptotics, AsymptoticsStatus, Growth, Threshold
from zwang._results.base import Provenance
from zwang.errors import DeclarationError, StateError

LOOSE = mp.mpf(10) ** -6
"""How far a given point may be from the singular one, in rows and values."""
AGREE = 0.01
TAU = mp.mpf(10) ** -6
TAU_INEXACT = mp.mpf(10) ** -2


def asymptotics(
    system: System | Model,
    params: Mapping[Any, Any] | None = None,
    at: Any = None,
    perturb: str | None = None,
    section: Any = None,
    *,
    speed: Any = 1,
    speed_of: Any = None,
    distance: Any = None,
) -> Asymptotics:
    """Return how multipliers, reactions and numbers of solutions behave as a singular point is approached."""
    declared = system_of(system)
    values = exact_values(declared, params)
    spot = _spot(declared, values, at)
    pace = speed_of if speed_of is None or speed_of == "kinetic" else read_expression(declared, speed_of, "speed_of")
    rate = number(speed, "asymptotics: speed")
    if rate <= 0:
        raise DeclarationError(
            f"asymptotics: speed= must be positive, both directions are looked at; it was {speed!r}."
        )
    study = _Study(declared, spot, values, rate, pace)
    if perturb is None:
        if section is not None:
            raise DeclarationError("asymptotics: section= goes with perturb=, which names the perturbed constraint.")
        measure = None if distance is None else read_expression(declared, distance, "distance")
        return study.along_branches(measure)
    if distance is not None:
        raise DeclarationError("asymptotics: distance= goes without perturb=; with it exponents are in |eps|.")
    if perturb not in spot.names:
        declared.constraints.place(perturb)
        raise DeclarationError(
            f"{declared.name}: '{perturb}' is no bilateral constraint on positions; perturb= can name "
            f"{', '.join(spot.names)}."
        )
    return study.through_family(perturb, _sections(declared, section))


def _sections(system: System, section: Any) -> dict[int, Any]:
    if not isinstance(section, Mapping):
        return {0: None if section is None else read_expression(system, section, "section")}
    wrong = [key for key in section if key not in (1, -1)]
    if wrong:
        raise DeclarationError(f"{system.name}: section= as a mapping has the keys 1 and -1, the signs of eps.")
    return {key: read_expression(system, item, "section") for key, item in section.items()}


def _spot(system: System, values: dict[Any, Number], at: Any) -> Spot:
    """Return the singular point to all digits."""
    held = held_constraints(system)
    equations = Equations([item.expr for item in held], system.coordinates, values)
    names = tuple(str(item.name) for item in held)
    if at is None:
        raise DeclarationError(
            f"{system.name}: give the point: at=trace(system, params).singular_points[0], or a mapping."
        )
    q = position_of(system, at)
    miss = equations.value(q)
    worst = max(range(len(miss)), key=lambda k: abs(miss[k]))
    if abs(miss[worst]) > LOOSE:
        raise StateError(
            f"{system.name}: the point is off constraint '{names[worst]}' by {float(miss[worst]):.1e}. Use a singular "
            "point of trace(system, params)."
        )
    split = Subspaces(equations.jacobian(q), LOOSE)
    n = len(q)
    if split.rank >= n - 1:
        raise StateError(
            f"{system.name}: the rank of the constraints is {split.rank} there, as on a smooth curve: the point is not "
            "singular. Use trace(system, params).singular_points."
        )
    point, error, defect = refine_singular_point(equations, q, split.rank)
    if largest([a - b for a, b in zip(point, q, strict=True)]) > mp.mpf(10) ** -3:
        raise StateError(f"{system.name}: no singular point lies next to the given one.")
    return Spot(equations, names, point, error, defect)


class _Study:
    """One question about one point."""

    def __init__(self, system: System, spot: Spot, values: dict[Any, Number], speed: Number, speed_of: Any) -> None:
        self.system, self.spot, self.values = system, spot, values
        self.speed, self.speed_of = speed, speed_of
        self.notes: list[str] = []
        aside = set_aside(system)
        if aside:
            self.notes.append(f"Left aside: {', '.join(aside)}.")
        self.spot, self.names, self.halves = branches_of_space(spot)
        if not self.spot.exact:
            self.notes.append(
                "The parameters are critical only to rounding: terms below 1e-9 were taken for zero. Numbers of SymPy, "
                "such as sqrt(2), are taken exactly."
            )
        if len(self.names) < len(spot.names):
            lost = [name for name in spot.names if name not in self.names]
            self.notes.append(f"Redundant everywhere, left out with their multipliers: {', '.join(lost)}.")
        self.kind = _kind(len(self.halves))

    def mechanics(self) -> Mechanics:
        return Mechanics(self.system, self.values, self.names, self.speed, self.speed_of)

    def along_branches(self, distance: Any) -> Asymptotics:
        ways = along_branches(self.spot, self.mechanics(), self.halves, distance)
        rows: list[Growth] = []
        for k, way in enumerate(ways):
            rows += self._rows(way, k, None, predict(way))
        text = "the distance to the point" if distance is None else str(distance)
        return self._result(rows, (), None, text)

    def through_family(self, name: str, sections: dict[int, Any]) -> Asymptotics:
        mechanics = self.mechanics()
        where = (
            "the nearest point"
            if list(sections.values()) == [None]
            else "the zero of " + ", ".join(str(item) for item in sections.values())
        )
        place = self.spot.names.index(name)
        if all(abs(u[place]) < mp.mpf(10) ** -15 for u in left_null(self.spot)):
            return self._result([], (), name, where, AsymptoticsStatus.PERSISTENT)
        ways = through_family(self.spot, mechanics, name, sections)
        rows: list[Growth] = []
        thresholds: list[Threshold] = []
        seen: dict[int, int] = {}
        for way in ways:
            number_ = seen.get(way.sign, 0)
            seen[way.sign] = number_ + 1
            predicted = predict(way)
            start = way.half.at(min(scale_of(predicted[1]), mp.mpf("0.1")) / 20)
            crossover = find_threshold(way, start, 10 * (1 + largest(self.spot.point)))
            if crossover is not None:
                names = [item.name for item in self.system.coordinates]
                point = dict(zip(names, map(float, crossover.point), strict=True))
                thresholds.append(Threshold(eps=float(crossover.eps), approach=way.label, branch=number_, point=point))
            rows += self._rows(way, number_, crossover, predicted)
        for sign, text in ((1, "eps > 0"), (-1, "eps < 0")):
            if sign not in seen:
                self.notes.append(f"{text}: no point s_eps tends to the singular point.")
        return self._result(rows, tuple(thresholds), name, where)

    def _rows(self, way: Approach, branch: int, crossover: Crossover | None, prediction: Any) -> list[Growth]:
        predicted, series = prediction
        generic = predict_generic(way)
        measured = None
        persists: dict[Case, bool] = {}
        try:
            measured = measuring.measure(way, self._tau(series))
            if way.perturbed:
                persists = measuring.persistence(way, self.spot.equations, measured)
        except (ArithmeticError, ZeroDivisionError) as error:
            self.notes.append(f"{way.label}: not measured ({error}).")
        if measured is not None:
            self._check_counts(way, crossover)
        velocity = dict(zip((item.name for item in self.system.coordinates), map(float, way.reference), strict=True))
        make = _RowMaker(way, branch, way.perturbed, predicted, generic, measured, persists, crossover, velocity)
        return make.rows()

    def _tau(self, series: Mapping[Any, Any]) -> Number:
        if not self.spot.exact:
            return TAU_INEXACT
        return min(TAU, scale_of(dict(series)) * mp.mpf(10) ** -3) if series else TAU

    def _check_counts(self, way: Approach, crossover: Crossover | None) -> None:
        """Compare the signs with the enumeration of `reactions` at a moderate distance, and say where they differ."""
        if not any(law.normal is not None for law in way.mechanics.laws):
            return
        tau = mp.mpf("0.01")
        q = way.half.at(tau)
        while crossover is not None and way.size(q) > abs(crossover.eps) / 4:
            tau /= 4
            q = way.half.at(tau)
        from zwang._asymptotics.approaches import counts

        here = counts(way.mechanics, way.values(q))
        if enumerated(way, q) != here:
            self.notes.append(f"{way.label}: reactions counts otherwise at |eps| = {float(way.size(q)):.1e}.")

    def _result(
        self,
        rows: list[Growth],
        thresholds: tuple[Threshold, ...],
        name: str | None,
        where: str,
        status: AsymptoticsStatus | None = None,
    ) -> Asymptotics:
        names = [item.name for item in self.system.coordinates]
        errors = [row.error for row in rows if not math.isnan(row.error)]
        speeds = {True: "Euclidean in the coordinates", False: f"of {self.speed_of}"}
        return Asymptotics(
            status=status or _status(rows),
            residual=max(errors, default=float("nan")),
            provenance=Provenance.now(
                self.system.digest,
                tolerances={"rank": float(self.spot.rank_tol), "defect": float(self.spot.defect), "agree": AGREE},
                seed=0,
            ),
            name=self.system.name,
            point=dict(zip(names, map(float, self.spot.point), strict=True)),
            kind=self.kind,
            perturbed=name,
            section=where,
            rows=tuple(rows),
            thresholds=thresholds,
            speed=float(self.speed),
            speed_of=speeds[self.speed_of is None],
            notes=tuple(dict.fromkeys(self.notes)),
        )


def _kind(halves: int) -> str:
    return "isolated point" if not halves else f"singular point with {halves} half-branches"


def _status(rows: list[Growth]) -> AsymptoticsStatus:
    if not rows:
        return AsymptoticsStatus.ISOLATED
    if all(math.isnan(row.exponent) for row in rows):
        return AsymptoticsStatus.PREDICTED
    if any(math.isnan(row.predicted) for row in rows):
        return AsymptoticsStatus.MEASURED
    agree = all(row.exponent == row.predicted or abs(row.exponent - row.predicted) <= AGREE for row in rows)
    return AsymptoticsStatus.CONFIRMED if agree else AsymptoticsStatus.CONTRADICTED


class _RowMaker:
    """Rows of one approach from what was predicted and measured."""

    def __init__(
        self,
        way: Approach,
        branch: int,
        perturbed: bool,
        predicted: Powers,
        generic: Powers,
        measured: measuring.Measurement | None,
        persists: Mapping[Case, bool],
        crossover: Crossover | None,
        velocity: Mapping[str, float],
    ) -> None:
        self.way, self.branch, self.perturbed = way, branch, perturbed
        self.predicted, self.generic, self.measured, self.persists = predicted, generic, measured, persists
        self.threshold = float("nan") if crossover is None else abs(float(crossover.eps))
        self.velocity = velocity

    def rows(self) -> list[Growth]:
        keys = list(self.measured.powers) if self.measured is not None else list(self.predicted)
        found = []
        done: set[Any] = set()
        for case, name in keys:
            if (case, name) in done:
                continue
            other = Case(-case.direction, case.friction, case.side)
            both = (other, name) in keys and self._alike((case, name), (other, name))
            done |= {(case, name), (other, name)} if both else {(case, name)}
            found.append(self._row(case, name, both))
        return found

    def _alike(self, a: Any, b: Any) -> bool:
        powers: Mapping[Any, Power] = self.measured.powers if self.measured is not None else self.predicted
        first, second = powers[a], powers[b]
        if first.exponent is None or second.exponent is None:
            return first.exponent is second.exponent
        near = abs(first.coefficient - second.coefficient) <= 1e-9 * abs(first.coefficient)
        same = self._consistent(a[0]) == self._consistent(b[0])
        return bool(near and same and abs(first.exponent - second.exponent) < 1e-6)

    def _consistent(self, case: Case) -> bool:
        return True if self.measured is None else self.measured.consistent[case]

    def _row(self, case: Case, name: str, both: bool) -> Growth:
        key = (case, name)
        predicted, generic = self.predicted.get(key), self.generic.get(key)
        measured = None if self.measured is None else self.measured.powers[key]
        x: list[float] = []
        values: list[float] = []
        if self.measured is not None:
            x = [float(item) for item in self.measured.x]
            values = [float(item[key]) for item in self.measured.samples]
        return Growth(
            approach=self.way.label,
            sign=self.way.sign,
            branch=self.branch,
            quantity=name,
            exponent=_exponent(measured),
            predicted=_exponent(predicted),
            generic=_exponent(generic),
            coefficient=float("nan") if measured is None else float(measured.coefficient),
            predicted_coefficient=float("nan") if predicted is None else float(predicted.coefficient),
            error=float("nan") if measured is None else float(measured.error),
            friction=case.friction,
            direction="both" if both else ("+" if case.direction > 0 else "-"),
            side=case.side,
            consistent=self._consistent(case),
            solutions=self._solutions(case),
            persists=self.persists.get(case) if self.perturbed else None,
            threshold=self.threshold,
            velocity=self.velocity,
            x=np.array(x),
            values=np.array(values),
        )

    def _solutions(self, case: Case) -> dict[str, int]:
        if self.measured is None or case.friction == WITHOUT:
            return {"+": 1, "-": 1} if case.friction == WITHOUT else {}
        return {
            "+" if way > 0 else "-": count
            for (way, side), count in sorted(self.measured.solutions.items(), reverse=True)
            if side == case.side
        }


def _exponent(power: Power | None) -> float:
    if power is None:
        return float("nan")
    return math.inf if power.exponent is None else float(power.exponent)


__all__ = ["NoCurve", "asymptotics"]
