"""The models that pages ask about: systems of the gallery, and texts of model files, opened once and kept."""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections import OrderedDict
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import zwang as zw
from zwang._compile.given_inputs import driven
from zwang._declare.model_files import load_values
from zwang._report.mathml import declaration
from zwang._report.mathml import math as element
from zwang.lab.mechanism_numbers import Mechanism
from zwang.lab.reaction_places import ForcePlaces

KEPT = 12  # compiled models in memory
CATEGORIES = {
    "friction": "Friction",
    "singular": "Singular points",
    "one-sided": "One-sided constraints",
    "realization": "Realizations",
    "mechanisms": "Mechanisms",
    "own": "Your model",
}
_OWN_CATEGORY = {
    "kozlov_neishtadt": "realization",
    "circle_particle": "realization",
    "flyball_governor": "realization",
    "flyball_governor_springs": "realization",
    "andrews": "mechanisms",
    "slider_crank": "mechanisms",
    **dict.fromkeys(("delta", "gough_stewart", "stewart_triangle", "three_rrr", "three_upu"), "mechanisms"),
    "atwood_changing_length": "one-sided",
    "crossing": "singular",
    "tangency": "singular",
    "ellipse_pendulum_friction": "singular",
}
OF_INPUT = {"low": -10.0, "high": 10.0, "scale": "linear"}
"""The range of the slider of an input, which has no value of its own."""
_UNTIL = {"andrews": 0.05, "flyball_governor_springs": 2.0}
"""Systems whose motions are fast, or slow to compute: what is shown of them at first [s]."""


class Opened:
    """A model with values, and what a page draws of it.

    Attributes
    ----------
    key : str
        The name of the gallery's system, or ''.
    declared, system : System
        As it was written; and with parameters in place of its inputs: held values, or polynomials between the times
        of a table.
    params, state : dict
        Those it comes with; inputs are zero.
    inputs : tuple of str
        Names of the parameters that are inputs.
    tables : dict of str to Table
        The inputs that follow tables; the others are held.
    """

    def __init__(
        self,
        key: str,
        text: str,
        system: Any,
        params: Mapping[str, float],
        state: Mapping[str, float],
        *,
        tables: Mapping[str, Any] | None = None,
    ) -> None:
        self.key, self.text, self.declared = key, text, system
        self.inputs = tuple(item.name for item in system.inputs)
        self.tables = dict(tables or {})
        given = [item.name for item in system.parameters]
        if self.inputs or self.tables:
            self._driving = driven(system, {**dict.fromkeys(self.inputs, 0.0), **self.tables})
            drawing = None if system.drawing is None else system.drawing.map(self._driving.put)
            system = self._driving.system.replace(drawing=drawing)
        self.system = system
        self.params = {name: float(params.get(name, 1.0)) for name in given} | dict.fromkeys(self.inputs, 0.0)
        names = [item.name for item in (*system.coordinates, *system.velocities)]
        # A quaternion starts as no turn, everything else at zero.
        upright = {quaternion[0].name: 1.0 for quaternion in system.quaternions}
        self.state = {name: float(state.get(name, upright.get(name, 0.0))) for name in names}
        self.given = set(params) | set(state)

    @cached_property
    def mechanism(self) -> Mechanism:
        """The system as numbers."""
        return Mechanism(self.system)

    @cached_property
    def acting(self) -> ForcePlaces:
        """Where its forces act in the drawing."""
        return ForcePlaces(self.mechanism)

    @cached_property
    def model(self) -> Any:
        """The compiled system."""
        return zw.compile(self.system)

    @property
    def missing(self) -> list[str]:
        """Parameters that the model gives no value for; 1 stands in."""
        return [] if self.key else [name for name in self.params if name not in self.given and name not in self.inputs]

    def values(self, request: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, float]]:
        """Return the parameters and the state of a request, with the model's own where it is silent."""
        chosen: list[dict[str, float]] = []
        for what, own in (("params", self.params), ("state", {**self.state, "t": 0.0})):
            given = request.get(what, {})
            for name in given:
                if name not in own:
                    raise zw.DeclarationError(f"{self.system.name}: {what} has {name!r:.60}, which it doesn't know.")
            chosen.append({**own, **{name: float(value) for name, value in given.items()}})
        params, state = chosen
        known = {item.name for item in self.system.parameters}
        return {name: value for name, value in (params | self.tabled(state)).items() if name in known}, state

    def tabled(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return what stands for the inputs that follow tables, at the time of a state or at many times."""
        if not self.tables:
            return {}
        held = {name for name in self.inputs if name not in self.tables}
        found = self._driving.values_at({"t": state["t"]})
        return {name: value for name, value in found.items() if name not in held}

    def followed(self, times: Any) -> dict[str, Any]:
        """Return the values of the inputs that follow tables, at many times."""
        return {name: np.array([table(float(time)) for time in times]) for name, table in self.tables.items()}

    @property
    def end(self) -> float:
        """The time at which the first table ends, and a motion with it."""
        return min((float(table.times[-1]) for table in self.tables.values()), default=math.inf)

    def simulate(self, state: Any, params: Mapping[str, float], *, system: Any = None, **options: Any) -> Any:
        """Return the motion from a state, or that of another system with the same inputs; tables are followed."""
        if not self.tables:
            return zw.simulate(system or self.model, state, params, **options)
        kept = {item.name: params.get(item.name, self.params[item.name]) for item in self.declared.parameters}
        signals = {**{name: params.get(name, 0.0) for name in self.inputs}, **self.tables}
        return zw.simulate(system or zw.compile(self.declared), state, kept, inputs=signals, **options)


_OPENED: OrderedDict[str, Opened] = OrderedDict()


def open_model(request: Mapping[str, Any]) -> Opened:
    """Return the model that a request means, opened now or before."""
    text = request.get("text")
    key = f"\n{text}" if text is not None else str(request.get("system", ""))
    if request.get("inputs"):
        return _with_tables(open_model({"text": text} if text is not None else {"system": key}), key, request["inputs"])
    if key in _OPENED:
        _OPENED.move_to_end(key)
        return _OPENED[key]
    return _keep(key, _from_text(text) if text is not None else _from_gallery(key))


def _keep(key: str, opened: Opened) -> Opened:
    _OPENED[key] = opened
    while len(_OPENED) > KEPT:
        _OPENED.popitem(last=False)
    return opened


def _with_tables(opened: Opened, key: str, given: Mapping[str, Any]) -> Opened:
    """Return a model some of whose inputs follow tables."""
    key += f"\n{json.dumps(given, sort_keys=True)}"
    if key in _OPENED:
        _OPENED.move_to_end(key)
        return _OPENED[key]
    tables = {}
    for name, rows in given.items():
        try:
            tables[name] = zw.Table(rows["times"], rows["values"], kind=rows["kind"])
        except zw.DeclarationError as error:
            raise zw.DeclarationError(f"{opened.system.name}: input '{name}': {error}") from None
    return _keep(key, Opened(opened.key, opened.text, opened.declared, opened.params, opened.state, tables=tables))


def _from_gallery(name: str) -> Opened:
    entry = zw.gallery.get(name)
    return Opened(name, "", entry.system, entry.params, entry.state)


def _from_text(text: str) -> Opened:
    with tempfile.TemporaryDirectory(prefix="zwang-lab-") as folder:
        path = Path(folder) / "model.toml"
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
        try:
            system = zw.load(path)
            params, state = load_values(path)
        except zw.ZwangError as error:
            raise type(error)(str(error).replace(str(path), "model").replace(path.name, "model")) from None
    return Opened("", text, system, params, state)


def model_text(opened: Opened, params: Mapping[str, float], state: Mapping[str, float]) -> str:
    """Return the text of the model file that holds a system with these values."""
    with tempfile.TemporaryDirectory(prefix="zwang-lab-") as folder:
        path = Path(folder) / "model.toml"
        kept = {item.name: params.get(item.name, opened.params[item.name]) for item in opened.declared.parameters}
        opened.declared.save(path, params=kept, state={name: state[name] for name in opened.state})
        return path.read_text(encoding="utf-8")


def error_line(text: str, message: str) -> int:
    r"""Return the line of a model's text that a message speaks of; 1 where it names none.

    Examples
    --------
    >>> error_line('schema = 1\nkinetic = "m*v_x**"', "model: kinetic: 'm*v_x**' ends too early")
    2
    >>> error_line("a = 1\nb = = 2", "model: not TOML: Invalid value (at line 2, column 5). Correct it there.")
    2
    """
    told = re.search(r"at line (\d+)", message)
    lines = text.split("\n")
    if told:
        return min(max(int(told.group(1)), 1), len(lines))
    quoted = [word for word in re.findall(r"'([^']{1,200})'", message) if word != "model"]
    # The longest quotation says most; a word before a colon may be the key.
    words = sorted(quoted, key=len, reverse=True) + [part.strip() for part in message.split(":")[1:-1]]
    for word in words:
        for number, line in enumerate(lines, 1):
            if word and word in line:
                return number
    return 1


def category_of(name: str, system: Any) -> str:
    """Return the heading under which a system stands."""
    if name in _OWN_CATEGORY:
        return _OWN_CATEGORY[name]
    kinds = [type(item).__name__ for item in system.constraints]
    if any(kind == "Friction" for kind in kinds) or any(getattr(item, "friction", None) for item in system.constraints):
        return "friction"
    return "one-sided" if "Unilateral" in kinds else "singular"


def first_until(name: str) -> float:
    """Return how long a motion is shown at first [s]."""
    return _UNTIL.get(name, 10.0)


def range_of(name: str, value: float) -> dict[str, Any]:
    """Return the range of a slider for a parameter, and whether it runs by decades.

    Examples
    --------
    >>> range_of("mu", 0.4), range_of("l", 2.0)["high"], range_of("k", 1e5)["scale"]
    ({'low': 0.0, 'high': 2.0, 'scale': 'linear'}, 4.0, 'log')
    """
    if name.startswith("mu"):
        return {"low": 0.0, "high": max(2.0, 2 * value), "scale": "linear"}
    if name == "e" and 0 <= value <= 1:
        return {"low": 0.0, "high": 1.0, "scale": "linear"}
    if value == 0:
        return {"low": -1.0, "high": 1.0, "scale": "linear"}
    if value >= 1000:
        return {"low": math.floor(math.log10(value)) - 2.0, "high": math.ceil(math.log10(value)) + 2.0, "scale": "log"}
    low, high = sorted((0.1 * value, 2 * value))
    return {"low": _round(low), "high": _round(high), "scale": "linear"}


def _round(value: float) -> float:
    return float(f"{value:.3g}")


def reach_of(value: float, *, angle: bool) -> list[float]:
    """Return from where to where a coordinate or velocity is varied in a map."""
    if angle:
        return [-math.pi, math.pi]
    reach = max(1.0, 2 * abs(value))
    return [_round(value - reach), _round(value + reach)]


def description(opened: Opened) -> dict[str, Any]:
    """Return what a page shows of a model before anything is computed."""
    system, mechanism = opened.system, opened.mechanism
    entry = zw.gallery.get(opened.key) if opened.key else None
    angles = [bool(getattr(item, "periodic", False) or getattr(item, "angle", False)) for item in system.coordinates]
    names = [item.name for item in system.coordinates]
    reach = {name: reach_of(opened.state[name], angle=turn) for name, turn in zip(names, angles, strict=True)}
    reach |= {item.name: reach_of(opened.state[item.name], angle=False) for item in system.velocities}
    return {
        "name": opened.key or system.name,
        "title": entry.title if entry else system.name,
        "source": entry.source if entry else "a model file",
        "category": category_of(opened.key, system) if opened.key else "own",
        "coordinates": names,
        "velocities": [item.name for item in system.velocities],
        "angles": angles,
        "params": opened.params,
        "state": opened.state,
        "inputs": list(opened.inputs),
        "ranges": {
            name: dict(OF_INPUT) if name in opened.inputs else range_of(name, value)
            for name, value in opened.params.items()
        },
        "reach": reach,
        "until": first_until(opened.key),
        "handles": mechanism.handles(),
        "constraints": [_constraint(item) for item in system.constraints if str(item.name) not in system.bookkeeping],
        "scene": scene_of(opened, opened.state, opened.params),
        "missing": opened.missing,
    }


def _constraint(item: Any) -> dict[str, Any]:
    kind = type(item).__name__.lower()
    law = getattr(item, "friction", None)
    return {
        "name": str(item.name),
        "kind": kind,
        "level": getattr(item, "level", "velocity"),
        "friction": kind == "friction" or law is not None,
    }


def equations(opened: Opened) -> list[dict[str, str]]:
    """Return the declaration as rows: what, MathML, text."""
    return [
        {"what": what, "mathml": element(told, alt=text), "text": text}
        for what, told, text in declaration(opened.system)
        if len(told) < 40_000
    ]


def scene_of(opened: Opened, state: Mapping[str, float], params: Mapping[str, float]) -> dict[str, Any] | None:
    """Return the drawing at a state, as plain lists."""
    q, v = opened.mechanism.split(state)
    values = {**params, **opened.mechanism.joined(q, v), "t": float(state.get("t", 0.0))}
    found = opened.mechanism.picture(values)
    return None if found is None else found.plain()
