"""Systems with inputs, once it is said what the inputs are: a system without them, and how its parameters change.

A number becomes a parameter; an expression is put in its place; a table becomes a polynomial of the time since its
last knot, whose coefficients are parameters that change at the knots; a held function is a parameter that changes at
its instants. So kernels know nothing of inputs, and one kernel does for all numbers and all tables of one kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._compile.recent import Kept
from zwang._declare.constraints import Friction
from zwang._declare.declaration_reader import Reader
from zwang._declare.given import Text, as_expression
from zwang._declare.switched import ON
from zwang._declare.symbols import Coordinate, Input, Velocity, parameter
from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._numerics.tolerances import by_name, require_kinds
from zwang._results.signals import KINDS, Held, Table
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
M = TypeVar("M")
"""A Model; the class is above this module."""
Signal: TypeAlias = "float | sp.Expr | Table | Held"
_SYSTEMS: Kept[tuple[System, dict[Any, Any], dict[str, tuple[str, ...]], str]] = Kept(64)
SUPPLY = {"previous": 0, "linear": 1, "cubic": 2}
"""Derivatives that a table has; a held function has none."""
SMOOTH = {"previous": -1, "linear": 0, "cubic": 2}
"""Up to which derivative a table is continuous."""


@dataclass(frozen=True, eq=False)
class Driven:
    """A system whose inputs are known.

    Attributes
    ----------
    declared : System
        With its inputs.
    system : System
        Without them.
    signals : mapping
        Name of an input -> what it is.
    params : mapping
        Name -> value of what stands for inputs that are numbers.
    table : mapping
        What stands for inputs and their rates in expressions.
    coefficients : mapping
        Name of an input that changes at instants -> the parameters that stand for it.
    origin : str
        The parameter that is the last knot; empty where no polynomial needs it.
    """

    declared: System
    system: System
    signals: Mapping[str, Signal]
    params: Mapping[str, float]
    table: Mapping[Any, Any]
    coefficients: Mapping[str, tuple[str, ...]]
    origin: str

    def put(self, expr: Any) -> Any:
        """Return an expression of the declared system as one of the other."""
        return expr.xreplace(self.table)

    @property
    def changing(self) -> bool:
        """Whether parameters change at instants."""
        return bool(self.coefficients)

    @property
    def own(self) -> frozenset[str]:
        """The parameters that stand for inputs."""
        return frozenset({*self.params, *(name for names in self.coefficients.values() for name in names), self.origin})

    @property
    def jumps(self) -> bool:
        """Whether accelerations may jump where they change."""
        needs = derivatives_needed(self.declared)
        for name in self.coefficients:
            signal = self.signals[name]
            if (SMOOTH[signal.kind] if isinstance(signal, Table) else -1) < needs[name][0]:
                return True
        return False

    def values_at(self, state: Mapping[Any, Any]) -> dict[str, Any]:
        """Return name -> value at a state, or arrays at many, of the parameters that stand for inputs."""
        named = by_name(state, "state", where=self.declared.name)
        named.pop(ON, None)
        times = np.asarray(named.get("t", 0.0), dtype=float)
        found: dict[str, Any] = dict(self.params)
        if not self.changing:
            return self._occurring(found)
        if not np.isfinite(times).all():
            raise DeclarationError(f"{self.declared.name}: state: 't' has a value that is not finite.")
        origin = np.array([self.knot(float(one)) for one in times.flat]).reshape(times.shape)
        if self.origin:
            found[self.origin] = origin
        for name, parts in self.coefficients.items():
            signal = self.signals[name]
            if isinstance(signal, Held):
                found[parts[0]] = self._asked(name, signal, named)
                continue
            assert isinstance(signal, Table)
            rows = np.array([expanded(signal, one) for one in origin.flat])
            for part, column in zip(parts, rows.T, strict=True):
                found[part] = column.reshape(times.shape)
        return self._occurring(found)

    def _occurring(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return those that the system has: of an input whose rate alone occurs the value is no matter."""
        known = {item.name for item in self.system.parameters}
        plain = {name: value if np.ndim(value) else float(value) for name, value in values.items()}
        return {name: value for name, value in plain.items() if name in known}

    def _asked(self, name: str, held: Held, state: Mapping[str, Any]) -> Any:
        arrays = np.broadcast_arrays(*(np.asarray(state.get(key, 0.0), dtype=float) for key in (*state, "t")))
        keys = [*state, "t"]
        whose = f"{self.declared.name}: input '{name}'"
        flat = [array.reshape(-1) for array in arrays]
        values = [
            held.ask({key: float(column[k]) for key, column in zip(keys, flat, strict=True)}, whose)
            for k in range(flat[0].size)
        ]
        return np.array(values).reshape(arrays[0].shape)

    def knot(self, at: float) -> float:
        """Return the last knot of the tables before a time, or at it; the time itself where there are none."""
        found = -math.inf
        for name in self.coefficients:
            signal = self.signals[name]
            if isinstance(signal, Table):
                signal.require(at, at, f"{self.declared.name}: input '{name}'")
                found = max(
                    found, float(signal.times[max(int(np.searchsorted(signal.times, at, side="right")) - 1, 0)])
                )
        return found if math.isfinite(found) else at

    def require(self, first: float, last: float) -> None:
        """Refuse a span of time that goes beyond a table."""
        for name in self.coefficients:
            signal = self.signals[name]
            if isinstance(signal, Table):
                signal.require(first, last, f"{self.declared.name}: input '{name}'")


def with_inputs(
    model: M, state: Mapping[Any, Any] | None, params: Mapping[Any, Any] | None, inputs: Mapping[Any, Any] | None
) -> tuple[M, Mapping[Any, Any] | None, Driven | None]:
    """Return a Model without inputs, the parameters with what stands for them at a state, and how they are driven.

    Parameters
    ----------
    model : Model
        Of a system with inputs, or without.
    state : mapping or None
        Where they are wanted; its time counts. None: at t = 0.
    params, inputs : mapping or None
        As verbs take them.

    Returns
    -------
    Model, mapping, Driven or None
        The same, and None, where the system has no inputs.
    """
    declared: System = model.system  # type: ignore[attr-defined]
    require_kinds({"system": declared, "state": state, "params": params, "inputs": inputs})
    if not declared.inputs and not inputs:
        return model, params, None
    found = driven(declared, inputs)
    given = by_name(params, "params", where=declared.name)
    for name in given:
        if name in found.own:
            raise DeclarationError(
                f"{declared.name}: params has '{name}', which is an input. Give it in inputs={{'{name}': ...}}."
            )
    other: M = model.another(found.system)  # type: ignore[attr-defined]
    return other, {**given, **found.values_at(state or {})}, found


def without_inputs(
    system: Any, params: Mapping[Any, Any] | None, inputs: Mapping[Any, Any] | None, verb: str
) -> tuple[Any, Mapping[Any, Any] | None]:
    """Return a System or Model without inputs, for verbs that take numbers and expressions only, and its parameters."""
    declared = getattr(system, "system", system)
    if not isinstance(declared, System) or not (declared.inputs or inputs):
        return system, params
    found = driven(declared, inputs)
    if found.changing:
        which = next(iter(found.coefficients))
        raise DeclarationError(
            f"{declared.name}: {verb} takes inputs that are numbers or expressions of t; '{which}' is a table or a "
            "held function. Write it as an expression, Piecewise for instance."
        )
    values = {**by_name(params, "params", where=declared.name), **found.values_at({})}
    return (found.system if system is declared else system.another(found.system)), values


def expanded(table: Table, origin: float) -> Array:
    """Return the coefficients of a table after a time, in powers of the time since then."""
    row = min(max(int(np.searchsorted(table.times, origin, side="right")) - 1, 0), len(table.times) - 2)
    own = table.coefficients[row]
    if table.kind == "previous" and origin >= table.times[-1]:
        return table.values[-1:].copy()
    shift = origin - float(table.times[row])
    found = np.zeros(len(own))
    for k in range(len(own)):
        for power in range(k, len(own)):
            found[k] += math.comb(power, k) * own[power] * shift ** (power - k)
    return found


def driven(system: System, inputs: Mapping[Any, Any] | None) -> Driven:
    """Return a system with its inputs said; a missing one is a DeclarationError."""
    signals = _signals(system, inputs)
    for name, signal in signals.items():
        _require_derivatives(system, name, signal)
    forms = tuple((name, _form(signal)) for name, signal in signals.items())
    key = (system.digest, system.name, forms)
    made, table, coefficients, origin = _SYSTEMS.get(key, lambda: _made(system, dict(forms)))
    numbers = {name: float(signal) for name, signal in signals.items() if isinstance(signal, float)}
    return Driven(system, made, signals, numbers, table, coefficients, origin)


def _form(signal: Signal) -> Any:
    if isinstance(signal, Table):
        return signal.kind
    return "held" if isinstance(signal, Held) else "number" if isinstance(signal, float) else signal


def _signals(system: System, given: Mapping[Any, Any] | None) -> dict[str, Signal]:
    """Return what each input of a system is, checked."""
    known = [item.name for item in system.inputs]
    no, form = "which is no input of the system", "inputs to values"
    named = by_name(given, "inputs=", known, where=system.name, no=no, form=form)
    found: dict[str, Signal] = {name: _signal(system, name, value) for name, value in named.items()}
    missing = [name for name in known if name not in found]
    if missing:
        listed = ", ".join(f"'{name}'" for name in missing)
        raise DeclarationError(
            f"{system.name}: no value was given for the input {listed}. Give inputs={{'{missing[0]}': ...}}: a number, "
            "an expression of t, a zw.Table or a zw.Held."
        )
    return {name: found[name] for name in known}


def _signal(system: System, name: str, value: Any) -> Signal:
    if isinstance(value, (Table, Held)):
        return value
    whose = f"{system.name}: input '{name}'"
    if not isinstance(value, (str, sp.Expr)):
        try:
            return _finite(float(value), whose)
        except (TypeError, ValueError):
            raise DeclarationError(
                f"{whose} must be a number, an expression of t, a zw.Table or a zw.Held; it was given {value!r:.60}."
            ) from None
    expr = as_expression(value, whose)
    if isinstance(expr, Text):
        reader = Reader(system.name, system.coordinates, list(system.expressions().values()))
        expr = reader(expr, f"input '{name}'")
    if expr.is_number:
        return _finite(float(expr), whose)
    if expr.has(Input):
        raise DeclarationError(f"{whose} is an expression of another input. Write it with t, q, v and parameters.")
    moving = sorted(str(s) for s in expr.free_symbols if isinstance(s, (Coordinate, Velocity)))
    strange = [s for s in moving if s not in {str(one) for one in (*system.coordinates, *system.velocities)}]
    if strange:
        raise DeclarationError(f"{whose} depends on '{strange[0]}', which is no coordinate or velocity of the system.")
    where = derivatives_needed(system)[name][1]
    if moving and where:
        raise DeclarationError(
            f"{whose} depends on '{moving[0]}', but it stands in {where}. Feedback is for inputs that stand in forces "
            "alone."
        )
    return expr


def _finite(value: float, whose: str) -> float:
    if not math.isfinite(value):
        raise DeclarationError(f"{whose} must be finite; it was given {value!r}.")
    return value


def derivatives_needed(system: System) -> dict[str, tuple[int, str]]:
    """Return for each input how many derivatives it needs, and where it stands beside forces ('' where nowhere)."""
    found = {item.name: (0, "") for item in system.inputs}

    def look(expr: Any, more: int, where: str) -> None:
        for symbol in expr.free_symbols:
            if isinstance(symbol, Input):
                before = found[symbol.base.name]
                needed = symbol.order + more
                if needed > before[0] or (where and not before[1]):
                    found[symbol.base.name] = (max(needed, before[0]), where or before[1])

    for where, expr in system.expressions().items():
        if where.startswith("force"):
            look(expr, 0, "")
        elif where == "kinetic" or where.startswith("mass"):
            look(expr, 1 if where == "kinetic" else 0, "the kinetic energy" if where == "kinetic" else "mass=")
        elif where == "potential":
            look(expr, 0, "the potential energy")
    for item in system.constraints:
        place = f"constraint '{item.name}'"
        for part, expr in item.expressions().items():
            if part == "expr" and not isinstance(item, Friction):
                more = 1 if item.level == "velocity" else 2
                look(expr, more, f"the {item.level}-level {place}")
            else:
                look(expr, 1 if part.startswith("slip") else 0, f"{place} ({part})")
    return found


def _require_derivatives(system: System, name: str, signal: Signal) -> None:
    if not isinstance(signal, (Table, Held)):
        return
    needed, where = derivatives_needed(system)[name]
    supply = SUPPLY[signal.kind] if isinstance(signal, Table) else 0
    if supply < needed:
        words = f"a {signal.kind} table" if isinstance(signal, Table) else "a held function"
        stands = f"stands in {where}" if where else "its rate stands in a force"
        cure = "kind='cubic'" if needed <= SUPPLY["cubic"] else ""
        cure = f"{cure} or 'linear'" if needed == 1 else cure
        raise DeclarationError(
            f"{system.name}: input '{name}' needs {needed} derivative{'s' if needed > 1 else ''} ({stands}); {words} "
            f"has {supply}. Use {f'a table of {cure}, or ' if cure else ''}an expression of t."
        )


def _made(system: System, forms: Mapping[str, Any]) -> tuple[System, dict[Any, Any], dict[str, tuple[str, ...]], str]:
    """Return the system without inputs, what is put in their places, and the parameters that change."""
    taken = {item.name for item in system._symbols()} | {
        symbol.name for form in forms.values() if isinstance(form, sp.Expr) for symbol in form.free_symbols
    }

    def fresh(name: str) -> str:
        while name in taken:
            name += "_"
        taken.add(name)
        return name

    polynomial = any(form in KINDS and KINDS[form] > 0 for form in forms.values() if isinstance(form, str))
    origin = fresh("t_0") if polynomial else ""
    since: Any = time - parameter(origin) if origin else None
    table: dict[Any, Any] = {}
    coefficients: dict[str, tuple[str, ...]] = {}
    for name, form in forms.items():
        expr = form if isinstance(form, sp.Expr) else parameter(name)
        if isinstance(form, str) and form != "number":
            parts = (name, *(fresh(f"{name}_{k}") for k in range(1, KINDS.get(form, 0) + 1)))
            coefficients[name] = parts
            expr = sp.Add(*(parameter(part) * since**k if k else parameter(part) for k, part in enumerate(parts)))
        for order in range(3):
            table[Input(name, order)] = expr
            expr = sp.diff(expr, time)
    return substituted(system, lambda expr: expr.xreplace(table)), table, coefficients, origin


def substituted(system: System, put: Callable[[Any], Any]) -> System:
    """Return a system with every expression changed."""
    changes: dict[str, Any] = {
        "constraints": [item.map(put) for item in system.constraints],
        "forces": {key: put(value) for key, value in system.forces.items()},
        "events": tuple(event.map(put) for event in system.events),
        "drawing": None,
        "units": None,
    }
    if system.mass is not None:
        changes |= {"mass": system.mass.applyfunc(put), "force": system.force.applyfunc(put)}
    elif system.tree is not None:
        changes |= {"tree": system.tree.with_loads(put), "potential": put(system.added_potential)}
    else:
        changes |= {"kinetic": put(system.kinetic), "potential": put(system.potential)}
    return system.replace(**changes)


def plain_signal(signal: Any) -> Any:
    """Return what an input is as a result keeps it: a number, a table, an expression as text."""
    from zwang._expressions import to_text

    return to_text(signal) if isinstance(signal, sp.Expr) else signal


def inputs_as_parameters(system: System, verb: str) -> Driven:
    """Return a system with a parameter of the same name for each input, for those who give values alone."""
    for name, (order, where) in derivatives_needed(system).items():
        if order:
            raise DeclarationError(
                f"{system.name}: {verb}: the rate of the input '{name}' is needed"
                f"{f' (it stands in {where})' if where else ''}, and an importer gives values alone. Put an expression "
                "of t in its place, or make it a coordinate with a force as its input."
            )
    return driven(system, {item.name: 0.0 for item in system.inputs})
