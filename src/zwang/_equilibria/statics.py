"""Equations of rest as the configuration space of an auxiliary system, so that `trace` finds, follows and proves.

With Q(q) the forces at rest (or with the rates of steady coordinates), w_j the rows of the constraints that hold:
lam_0 Q / Q_0 + sum lam_j c_j w_j = 0, lam_0^2 + sum lam_j^2 = R^2, lam_0 > 0, together with the constraints themselves.
The multipliers lie on a sphere, so that a box of coordinates bounds everything; the true ones are lam_j c_j Q_0/lam_0,
with Q_0 and c_j such that they are typical where lam_j = lam_0, whatever the units. R is a length of the constraints,
since the search takes one unit for all coordinates. Without constraints there are no multipliers, and Q = 0 is all. A
parameter that is varied, and the rates of steady coordinates, are coordinates of the auxiliary system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from zwang._declare.constraints import Bilateral, Friction, Unilateral
from zwang._declare.ranges import varied_range
from zwang._declare.symbols import coordinates
from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._derive import derive
from zwang.errors import DeclarationError

LEAST = 1e-4
"""Of lam_0, in parts of R: multipliers beyond 1e4 typical forces are not looked for."""
WIDE = 50.0  # lengths: a range that is wider has a unit of its own
LOOSE = 7  # seed of the choice among multipliers that are not determined
PROBES = 6  # random states at which typical sizes are measured


@dataclass(frozen=True, eq=False)
class Statics:
    """The equations of rest of a system with some contacts closed.

    Attributes
    ----------
    system : System
    closed : tuple of str
    space : System
        The auxiliary one.
    rates : mapping
        Velocity of a steady coordinate -> its name among the auxiliary coordinates, or its given value.
    multipliers : mapping
        Name of a constraint -> its name among the auxiliary coordinates.
    pushes : tuple of str
        Auxiliary coordinates of the forces along slips and constraints on velocities.
    scale : float
        Q_0.
    parts : mapping
        Auxiliary coordinate of a multiplier -> c_j.
    length : float
        A length of the constraints, R.
    vary : str
        The parameter, or empty.
    units : mapping
        Auxiliary coordinate -> what it is a multiple of, where that is not 1: a parameter or a rate whose range is far
        wider than the lengths.
    """

    system: System
    closed: tuple[str, ...]
    space: System
    rates: Mapping[str, Any]
    multipliers: Mapping[str, str]
    pushes: tuple[str, ...]
    scale: float
    parts: Mapping[str, float]
    length: float
    vary: str
    units: Mapping[str, float]

    def value(self, point: Mapping[str, float], name: str) -> float:
        """Return a parameter or a rate at a point of the auxiliary space."""
        return float(point[name]) * self.units.get(name, 1.0)

    def state(self, point: Mapping[str, float]) -> dict[str, float]:
        """Return the state of the system at a point of the auxiliary space."""
        found = {item.name: float(point.get(item.name, 0.0)) for item in self.system.coordinates}
        for item in self.system.velocities:
            given = self.rates.get(item.name, 0.0)
            found[item.name] = self.value(point, given) if isinstance(given, str) else float(given)
        return found | {"t": 0.0}

    @property
    def bounded(self) -> bool:
        """Whether there are multipliers, on their sphere."""
        return bool(self.multipliers or self.pushes)

    def beyond(self, point: Mapping[str, float], times: float = 1.0) -> bool:
        """Whether multipliers are larger there than what is looked for, or so over a number of times."""
        return self.bounded and float(point[FIRST]) < times * LEAST * self.length

    def forces(self, point: Mapping[str, float]) -> dict[str, float]:
        """Return the multipliers of the constraints that hold."""
        first = float(point[FIRST]) if self.bounded else 1.0
        return {
            name: float(point[label]) * self.parts[label] * self.scale / first
            for name, label in self.multipliers.items()
        }

    def box(self, box: Mapping[str, Any], within: Any) -> dict[str, Any]:
        """Return the box of the auxiliary space."""
        found: dict[str, Any] = {}
        for name, pair in box.items():
            label = self.rates.get(name, name)
            if name in self.rates and not isinstance(label, str):
                continue
            found[label] = self._sides(label, pair)
        steady = {name.removeprefix("v_") for name in self.rates}
        found = {name: pair for name, pair in found.items() if name not in steady}
        if self.bounded:
            labels = (*self.multipliers.values(), *self.pushes)
            size = self.length
            found |= dict.fromkeys(labels, (-size, size)) | {FIRST: (LEAST * size, size)}
        return found | ({self.vary: self._sides(self.vary, within)} if self.vary else {})

    def _sides(self, label: str, pair: Any) -> Any:
        unit = self.units.get(label)
        return pair if unit is None else tuple(float(side) / unit for side in pair)


FIRST = "lam_0"


def statics(
    system: System,
    params: Mapping[str, float],
    closed: Sequence[str],
    steady: Mapping[str, float | None],
    vary: str,
    sides: Mapping[str, tuple[float, float]] | None = None,
    loose: int = 0,
) -> Statics | None:
    """Return the equations of rest; None where no place meets them. `sides` are those of the box, by name.

    Friction, and constraints on velocities, are forces of any size here; whether they are inside their bounds is looked
    at afterwards. Where `loose` multipliers are not determined, since rows depend on each other, as many equations
    choose some: then only the places mean something.
    """
    held = held_positions(system, closed)
    rubbing = rubbing_rows(system, closed)
    names = [item.name for item in system.coordinates if item.name not in steady]
    taken = {item.name for item in (*system.coordinates, *system.velocities, *system.parameters)}
    rates: dict[str, Any] = {}
    unknown = []
    for name, value in steady.items():
        rates[f"v_{name}"] = f"rate_{name}" if value is None else float(value)
        unknown += [f"rate_{name}"] if value is None else []
    labels = {str(item.name): f"lam_{k + 1}" for k, item in enumerate(held)}
    pushes = [f"push_{k + 1}" for k in range(len(rubbing))]
    multipliers = [*labels.values(), *pushes]
    more = [*unknown, *([FIRST, *multipliers] if multipliers else [])]
    clash = [name for name in more if name in taken]
    if clash:
        raise DeclarationError(f"{system.name}: equilibria uses the name '{clash[0]}' itself. Rename yours.")
    angles = [item.name for item in system.coordinates if item.angle and item.name in names]
    varied = [vary] if vary else []
    symbols, speeds = coordinates([*names, *varied, *more], angles=angles)
    table = {symbol.name: symbol for symbol in symbols}
    longest = _longest([item for item in system.constraints if isinstance(item, Unilateral) or item in held], params)
    unit = 1.0 if longest is None else abs(params[longest.name])
    units = _units(system, sides or {}, [*varied, *unknown], None if longest is None else unit)
    table |= {name: table[name] * sp.Float(size) for name, size in units.items()}
    put: dict[Any, Any] = {time: sp.Integer(0)}
    for item in system.coordinates:
        put[item] = table.get(item.name, sp.Integer(0))
        rate = rates.get(item.velocity.name, 0.0)
        put[item.velocity] = table[rate] if isinstance(rate, str) else sp.Float(rate) if rate else sp.Integer(0)
    for item in system.parameters:
        if item.name == vary:
            put[item] = table[vary]
    equations = derive(system)
    forces = [expr.xreplace(put) for expr in equations.force]
    scale = _scale(forces, params, unit)
    rows = [[sp.diff(item.expr, q).xreplace(put) for q in system.coordinates] for item in held]
    rows += [[sp.diff(expr, v).xreplace(put) for v in system.velocities] for expr in rubbing]
    parts = {label: _part(forces, row, params, scale, unit) for label, row in zip(multipliers, rows, strict=True)}
    # No number above one: the search would take it for how often a length occurs.
    least = 1.0 / max([1.0, *(scale * part for part in parts.values())])
    weights = [sp.Float(least * scale * parts[label]) for label in multipliers]
    balance = []
    for i, item in enumerate(system.coordinates):
        push = forces[i] * table[FIRST] * sp.Float(least) if multipliers else forces[i]
        total = push + sp.Add(*(weights[k] * table[label] * rows[k][i] for k, label in enumerate(multipliers)))
        if sp.expand(total) == 0:
            _require_determined(system, item.name, steady)
            continue
        if not total.free_symbols & set(symbols):  # a force that nothing balances, wherever the system is
            if abs(float(total.xreplace({one: sp.Float(params[one.name]) for one in total.free_symbols}))) > 0:
                return None
            continue
        balance.append(equation(total, f"balance of {item.name}"))
    where = [equation(item.expr.xreplace(put), str(item.name)) for item in held]
    if multipliers:
        squares = sp.Add(table[FIRST] ** 2, *(table[label] ** 2 for label in multipliers))
        radius = sp.Integer(1) if longest is None else sp.Float(unit) if longest.name == vary else longest
        where.append(equation(squares - radius**2, "size of the multipliers"))
    source = np.random.default_rng(LOOSE)
    for k in range(loose):
        parts_of = source.normal(size=len(multipliers))
        chosen = (sp.Float(float(x)) * table[label] for x, label in zip(parts_of, multipliers, strict=True))
        where.append(equation(sp.Add(*chosen), f"choice {k + 1} of the multipliers"))
    space = System(
        name=f"{system.name} at rest",
        coordinates=symbols,
        kinetic=sp.Add(*(v**2 for v in speeds)) / 2,
        constraints=[*balance, *where],
    )
    return Statics(system, tuple(closed), space, rates, labels, tuple(pushes), scale, parts, unit, vary, units)


def held_positions(system: System, closed: Sequence[str]) -> list[Any]:
    """Return the constraints on positions that hold: bilateral ones, and closed contacts."""
    held = [item for item in system.constraints if isinstance(item, Bilateral) and item.level == "position"]
    return held + [item for item in system.constraints if item.name in closed]


def rubbing_rows(system: System, closed: Sequence[str]) -> list[Any]:
    """Return the velocities along which forces act that belong to no position: slips, and constraints on velocities."""
    found = []
    for item in system.constraints:
        if not isinstance(item, Friction) and item.level == "velocity":
            found.append(item.expr)
        if isinstance(item, (Bilateral, Friction)) or item.name in closed:
            found += list(item.slip)
    return found


def equation(expr: Any, name: str) -> Bilateral:
    """Return an equation of the auxiliary system."""
    return Bilateral(expr, name=name)


def _require_determined(system: System, name: str, steady: Mapping[str, float | None]) -> None:
    if name in steady and steady[name] is None:
        raise DeclarationError(
            f"{system.name}: nothing acts on '{name}', so its momentum is conserved and its rate is not determined. "
            f"Give it: steady={{'{name}': rate}}."
        )


def _units(
    system: System, sides: Mapping[str, tuple[float, float]], names: Sequence[str], length: float | None
) -> dict[str, float]:
    """Return units of parameters and rates whose ranges are far wider than a length, or than the box where none is."""
    own = [abs(b - a) for item in system.coordinates if not item.angle for a, b in [sides.get(item.name, (0.0, 0.0))]]
    size = length if length is not None else min((one for one in own if one > 0), default=1.0)
    widths = {name: abs(pair[1] - pair[0]) for name in names if (pair := sides.get(name.replace("rate_", "v_", 1)))}
    return {name: width / size for name, width in widths.items() if width > WIDE * size}


def _longest(held: Sequence[Any], params: Mapping[str, float]) -> Any:
    """Return the largest parameter of the constraints, taken for a length; None where they have none."""
    used = {symbol for item in held for symbol in item.expr.free_symbols if params.get(symbol.name)}
    return max(used, key=lambda symbol: (abs(params[symbol.name]), symbol.name), default=None)


def _probed(expr: Any, params: Mapping[str, float], unit: float, source: np.random.Generator) -> float:
    """Return the size of an expression at random places, 0 where it vanishes or has none."""
    free = sorted(expr.free_symbols, key=lambda symbol: symbol.name)
    value = sp.lambdify(free, expr, "numpy", cse=False) if free else None
    sizes = []
    for _ in range(PROBES):
        at = [params.get(item.name, source.uniform(-1, 1) * (1.0 if _turns(item) else unit)) for item in free]
        with np.errstate(all="ignore"):
            size = abs(float(value(*at))) if value is not None else abs(float(expr))
        sizes += [size] if np.isfinite(size) and size > 0 else []
    return float(np.median(sizes)) if sizes else 0.0


def _turns(item: Any) -> bool:
    return bool(getattr(item, "angle", False))


def _scale(forces: Sequence[Any], params: Mapping[str, float], unit: float) -> float:
    """Return the size of the forces at random places, 1 where they vanish."""
    source = np.random.default_rng(3)
    sizes = [size for expr in forces if (size := _probed(expr, params, unit, source)) > 0]
    return float(np.median(sizes)) if sizes else 1.0


def _part(forces: Sequence[Any], row: Sequence[Any], params: Mapping[str, float], scale: float, unit: float) -> float:
    """Return c_j of a row: its multiplier balances the forces on typical coordinates; a power of two."""
    source, found = np.random.default_rng(5), []
    for force, entry in zip(forces, row, strict=True):
        push, arm = (_probed(expr, params, unit, source) for expr in (force, entry))
        found += [push / arm] if push > 0 and arm > 0 else []
    if not found:  # forces act across it: as on the coordinate that it moves most
        arms = [arm for entry in row if (arm := _probed(entry, params, unit, source)) > 0]
        found = [scale / max(arms)] if arms else [scale]
    return float(2.0 ** np.round(np.log2(np.median(found) / scale)))


def geometry(system: System, closed: Sequence[str], steady: Mapping[str, Any], vary: str = "") -> tuple[System, str]:
    """Return the system of a configuration space with some contacts closed, and a coordinate that it has too much.

    A parameter that is varied is a coordinate of it.
    """
    names = [item.name for item in system.coordinates if item.name not in steady]
    relations = [item for item in system.constraints if not isinstance(item, Friction) and item.level == "position"]
    held = [item for item in relations if isinstance(item, Bilateral) or item.name in closed]
    spare = "" if held else "none"
    while spare in names:
        spare += "_"
    listed = [*names, *([vary] if vary else []), *([spare] if spare else [])]
    angles = [item.name for item in system.coordinates if item.angle and item.name in names]
    symbols, speeds = coordinates(listed, angles=angles)
    own = (*system.coordinates, *(item for item in system.parameters if item.name == vary))
    put = {item: symbol for item in own for symbol in symbols if symbol.name == item.name}
    made: list[Any] = [Bilateral(item.expr.xreplace(put), name=item.name) for item in held]
    made += [
        Unilateral(item.expr.xreplace(put), name=item.name)
        for item in relations
        if isinstance(item, Unilateral) and item.name not in closed
    ]
    if spare:
        made.append(Bilateral(symbols[-1], name=spare))
    kinetic = sp.Add(*(v**2 for v in speeds)) / 2
    return System(name=system.name, coordinates=symbols, kinetic=kinetic, constraints=made), spare


def range_of(system: System, vary: str, within: Any) -> tuple[float, float]:
    """Return the range of the parameter that is varied; (0, 0) where none is."""
    if not vary:
        if within is not None:
            raise DeclarationError(f"{system.name}: within= goes with vary=, which names a parameter.")
        return (0.0, 0.0)
    return varied_range(system, vary, within)
