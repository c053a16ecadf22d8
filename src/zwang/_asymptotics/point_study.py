"""One question about one singular point: the ways into it, what happens on each, and the result."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from zwang._asymptotics.approaches import Case, WayIn, counts
from zwang._asymptotics.inputs import set_aside
from zwang._asymptotics.measure import HALVINGS, Measurement, enumerated, measure, persistence
from zwang._asymptotics.mechanics import Mechanics
from zwang._asymptotics.normal_form import find_normal_form
from zwang._asymptotics.point import BITS, Number, PointType, Spot, in_order
from zwang._asymptotics.predict import predict, predict_generic, scale_of
from zwang._asymptotics.result_rows import RowMaker
from zwang._asymptotics.tangent_cone import ConePlane
from zwang._asymptotics.thresholds import Crossover, find_threshold
from zwang._asymptotics.ways_in import LOOSENED, along_branches, branches_of_space, through_family
from zwang._declare.system import System
from zwang._numerics.budget import Spent, spend
from zwang._numerics.series.arithmetic import NearlyCritical
from zwang._numerics.series.balls import largest
from zwang._numerics.series.field import dot
from zwang._numerics.series.half_branches import HalfCurve, NoCurve
from zwang._results.asymptotics import Asymptotics, AsymptoticsStatus, Growth, Threshold
from zwang._results.base import Provenance

AGREE = 0.01
"""Largest difference between a measured and a predicted exponent that counts as agreement."""
TAU = 1e-6
"""Where measuring starts: near enough for leading terms, far enough for eighty digits."""
TAU_INEXACT = 1e-2
"""The same where the point is known to fifteen digits alone."""
DIGITS = 25
"""To which the rows are known at the nearest point of a measurement."""


class PointStudy:
    """One question about one point.

    Parameters
    ----------
    system : System
    spot : Spot
        The point.
    local : PointType
        What it is, and the order of its half-branches.
    speed, speed_of
        As `Mechanics` takes them.
    plane : ConePlane, optional
        On a surface: of the direction that is followed.
    """

    def __init__(
        self, system: System, spot: Spot, local: PointType, speed: Number, speed_of: Any, plane: ConePlane | None = None
    ) -> None:
        self.system = system
        self.speed, self.speed_of = speed, speed_of
        self.notes: list[str] = []
        self.perturbation = ""
        aside = set_aside(system)
        if aside:
            self.notes.append(f"Left aside: {', '.join(aside)}.")
        self.kind, self.spot = local.words, spot
        self.names: tuple[str, ...] = spot.names
        self.halves: list[HalfCurve] = []
        self.resolved = True
        try:
            self.spot, self.names, halves = branches_of_space(spot, plane)
        except NoCurve as error:
            self.resolved = False
            self.notes.append(f"The branches can't be followed: {error}.")
            return
        self.halves = in_order(halves, local, spot.middle)
        if not self.spot.exact:
            self.notes.append(
                "The parameters are critical only to rounding: terms below 1e-9 were taken for zero. Numbers of SymPy, "
                "such as sqrt(2), are taken exactly."
            )
        if len(self.names) < len(spot.names):
            lost = [name for name in spot.names if name not in self.names]
            self.notes.append(f"Redundant everywhere, left out with their multipliers: {', '.join(lost)}.")

    def mechanics(self) -> Mechanics:
        """Return the equations of motion with the constraints that are independent next to the point."""
        return Mechanics(self.spot.equations.exact, self.names, self.speed, self.speed_of)

    def along_branches(self, distance: Any) -> Asymptotics:
        """Return what happens on the half-branches of the space itself."""
        rows: list[Growth] = []
        text = "the distance to the point" if distance is None else str(distance)
        try:
            for k, way in enumerate(along_branches(self.spot, self.mechanics(), self.halves, distance)):
                spend()
                rows += self._rows(way, k, None, predict(way))
        except Spent as spent:
            return self._unfinished(rows, (), None, text, spent)
        return self._result(rows, (), None, text)

    def _unfinished(
        self, rows: list[Growth], thresholds: tuple[Threshold, ...], name: str | None, where: str, spent: Spent
    ) -> Asymptotics:
        """Return what there is where a budget is spent."""
        found = self._result(rows, thresholds, name, where, AsymptoticsStatus.UNFINISHED)
        return replace(found, reason=str(spent))

    def through_family(self, name: str, sections: dict[int, Any], text: str = "") -> Asymptotics:
        """Return what happens at the points s_eps of the perturbed curves; `text` says by what they are perturbed."""
        self.perturbation = text
        where = "the nearest point"
        if list(sections.values()) != [None]:
            where = "the zero of " + ", ".join(str(item) for item in sections.values())
        place = self.spot.names.index(name)
        if all(abs(u[place]) < 1e-12 for u in self.spot.left_null()):
            return self._result([], (), name, where, AsymptoticsStatus.PERSISTENT)
        try:
            spend()
            ways = self._ways(name, sections)
        except NoCurve as error:
            self.notes.append(f"The points s_eps can't be followed: {error}.")
            return self._result([], (), name, where, AsymptoticsStatus.UNRESOLVED)
        except Spent as spent:
            return self._unfinished([], (), name, where, spent)
        rows: list[Growth] = []
        thresholds: list[Threshold] = []
        seen: dict[int, int] = {}
        for way in ways:
            number_ = seen.get(way.sign, 0)
            seen[way.sign] = number_ + 1
            try:
                crossover, predicted = self._crossover(way)
                if crossover is not None:
                    names = [item.name for item in self.system.coordinates]
                    point = dict(zip(names, map(_plain, crossover.point), strict=True))
                    eps = float(crossover.eps)
                    thresholds.append(
                        Threshold(eps=eps, approach=way.label, branch=number_, point=point, binds=crossover.binds)
                    )
                rows += self._rows(way, number_, crossover, predicted)
            except Spent as spent:
                return self._unfinished(rows, tuple(thresholds), name, where, spent)
        for sign, side in ((1, "eps > 0"), (-1, "eps < 0")):
            if sign not in seen:
                self.notes.append(f"{side}: no point s_eps tends to the singular point.")
        return self._result(rows, tuple(thresholds), name, where)

    def _crossover(self, way: WayIn) -> tuple[Crossover | None, Any]:
        """Return where the number of solutions changes on a way, and what is predicted there."""
        predicted = predict(way)
        start = way.half.at(min(scale_of(predicted[1]), 0.1) / 20)
        return find_threshold(way, start, 10 * (1 + largest(self.spot.middle))), predicted

    def _ways(self, name: str, sections: dict[int, Any]) -> list[WayIn]:
        try:
            return through_family(self.spot, self.mechanics(), name, sections)
        except NearlyCritical:
            self.spot = replace(self.spot, error=max(self.spot.error, LOOSENED))
            return through_family(self.spot, self.mechanics(), name, sections)

    def _rows(self, way: WayIn, branch: int, crossover: Crossover | None, prediction: Any) -> list[Growth]:
        predicted, series = prediction
        generic = predict_generic(way)
        measured = None
        persists: dict[Case, bool] = {}
        try:
            tau = self._tau(way, series)
            measured = measure(way, tau)
        except ArithmeticError as error:
            self.notes.append(f"{way.label}: not measured ({error}).")
        unsettled = [] if measured is None else sorted({name for (_, name) in measured.unsettled})
        if unsettled:
            self.notes.append(f"{way.label}: measurements do not settle, and are left out, of {', '.join(unsettled)}.")
        if measured is not None:
            # Farther out than exponents are measured: there the perturbed curve is resolved better.
            persists = self._persistence(way, measured, min(scale_of(series), 1.0) / 1000)
            self._check_counts(way, crossover)
        size = dot(way.reference, way.reference).sqrt()
        unit = [_plain(item / size) for item in way.reference]
        velocity = dict(zip((item.name for item in self.system.coordinates), unit, strict=True))
        make = RowMaker(way, branch, way.perturbed, predicted, generic, measured, persists, crossover, velocity)
        return make.rows()

    def _persistence(self, way: WayIn, measured: Measurement, tau: float) -> dict[Case, bool]:
        if not way.perturbed:
            return {}
        try:
            return persistence(way, self.spot.equations, measured, tau)
        except ArithmeticError as error:
            self.notes.append(f"{way.label}: neighbouring points were not reached ({error}).")
            return {}

    def _tau(self, way: WayIn, series: Mapping[Any, Any]) -> float:
        if not self.spot.exact:
            return TAU_INEXACT
        tau = min(TAU, scale_of(dict(series)) * 1e-3) if series else TAU
        return float(max(tau, way.half.nearest(DIGITS, BITS) * 2**HALVINGS))

    def _check_counts(self, way: WayIn, crossover: Crossover | None) -> None:
        """Compare the signs with the enumeration of `reactions` at a moderate distance, and say where they differ."""
        if not any(law.normal is not None for law in way.mechanics.laws):
            return
        tau = 0.01
        q = way.half.at(tau)
        while crossover is not None and way.size(q) > abs(crossover.eps) / 4:
            tau /= 4
            q = way.half.at(tau)
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
        found = Asymptotics(
            status=status or (_status(rows) if self.resolved else AsymptoticsStatus.UNRESOLVED),
            residual=max(errors, default=float("nan")),
            provenance=Provenance.now(
                self.system.digest,
                tolerances={"rank": float(self.spot.rank_tol), "defect": float(self.spot.defect), "agree": AGREE},
                seed=0,
            ),
            name=self.system.name,
            point=dict(zip(names, map(_plain, self.spot.middle), strict=True)),
            kind=self.kind,
            perturbed=name,
            perturbation=self.perturbation,
            section=where,
            rows=tuple(rows),
            thresholds=thresholds,
            speed=float(self.speed),
            speed_of=speeds[self.speed_of is None],
            notes=tuple(dict.fromkeys(self.notes)),
        )
        # Found when it is asked for: a series of the constraint, and the system declared anew.
        found.__dict__["_find_normal_form"] = lambda: find_normal_form(self.system, self.spot, self.mechanics())
        return found


def _plain(value: Number) -> float:
    """Return a number as a float, and what is zero to fifty digits as zero."""
    return 0.0 if abs(value) < 1e-50 else float(value)


def _status(rows: list[Growth]) -> AsymptoticsStatus:
    if not rows:
        return AsymptoticsStatus.ISOLATED
    if all(math.isnan(row.exponent) and not math.isnan(row.predicted) for row in rows):
        return AsymptoticsStatus.PREDICTED
    if any(math.isnan(row.exponent) and math.isnan(row.predicted) for row in rows):
        return AsymptoticsStatus.UNRESOLVED
    if any(math.isnan(row.predicted) for row in rows):
        return AsymptoticsStatus.MEASURED
    known = [row for row in rows if not math.isnan(row.exponent)]
    agree = all(row.exponent == row.predicted or abs(row.exponent - row.predicted) <= AGREE for row in known)
    return AsymptoticsStatus.CONFIRMED if agree else AsymptoticsStatus.CONTRADICTED
