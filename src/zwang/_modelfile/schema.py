"""What a model file must and may say: keys, types, names, and the normal form of its dictionary."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from zwang._expressions import check_name, names
from zwang.errors import DeclarationError, nearest

from .bodies import TABLES as BODIES
from .bodies import checked_bodies
from .definitions import definition_order

SCHEMAS = (1, 2)
"""What is read; 2 knows the keys of `SECOND` beside those of 1."""
SECOND = ("parameters", "assumptions", "inputs", "event", "units", "drawing")
TOP = ("schema", "name", "coordinates", "angles", "parameters", "inputs", "kinetic", "potential", "mass", "force")
TABLES = ("assumptions", "define", "forces", "constraint", "event", "params", "state", "units", "drawing")
BODY_TOP = ("schema", "name", "frame", "gravity", "parameters", "inputs", "changed", "potential")
BODY_TABLES = ("assumptions", "forces", "constraint", "event", "params", "state", "units", "drawing")
"""Beside the tables of bodies, in a file of a system that is made of them."""
KINDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "bilateral": (("expr",), ("friction",)),
    "unilateral": (("expr",), ("restitution", "where", "friction")),
    "friction": (("bound", "slip"), ("section", "of")),
}
"""The keys that a kind of constraint must and may have, beside those of all."""
OWN = ("kind", "name", "starts")
COULOMB = "coulomb"
"""The law of friction of a table that names none."""
COULOMB_KEYS = ("law", "coefficient", "slip", "static", "scale")
_STATE = ("a coordinate", "a velocity", "the time")


def checked(plain: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the dictionary in its normal form, or raise at the first mistake."""
    schema = plain.get("schema")
    if type(schema) is not int or schema not in SCHEMAS:
        given = "no schema" if schema is None else f"schema = {schema!r}"
        raise DeclarationError(f"{where}: {given}; this zwang reads schema = 1 and 2. Begin with schema = 2.")
    newer = [key for key in SECOND if key in plain]
    if schema == 1 and newer:
        raise DeclarationError(f"{where}: '{newer[0]}' belongs to schema 2, and the file has 1. Write schema = 2.")
    if "body" in plain:
        return _with_bodies(plain, where)
    top = _Table(plain, f"{where}: the top level", ("schema", "name", "coordinates"), (*TOP, *TABLES))
    equations = [key for key in ("kinetic", "potential", "mass", "force") if key in plain]
    if equations not in (["kinetic"], ["kinetic", "potential"], ["mass", "force"]):
        needed = "either kinetic (and potential), or mass and force"
        raise DeclarationError(f"{where}: a model needs {needed}; it has {', '.join(equations) or 'none of them'}.")
    found: dict[str, Any] = {"schema": schema, "name": top.label("name"), "coordinates": _coordinates(top, where)}
    q = dict.fromkeys(found["coordinates"], "a coordinate")
    state = {**q, **{f"v_{name}": "a velocity" for name in q}, "t": "the time"}
    found["angles"] = top.texts("angles") if plain.get("angles") else []
    for name in found["angles"]:
        _check_known(name, q, f"{where}: angles", "no coordinate")
    for key in equations:
        if key == "mass":
            found[key] = top.matrix(key, len(q))
        else:
            found[key] = top.texts(key, len(q)) if key == "force" else top.text(key)
    found["define"] = _definitions(plain.get("define", {}), state, where)
    found["forces"] = _Table(plain.get("forces", {}), f"{where}: [forces]", (), q, "no coordinate").all_texts()
    found["constraint"] = _constraints(plain.get("constraint", []), where)
    found["event"] = _events(plain.get("event", []), where)
    laws = [key for entry in found["constraint"] for key in _newer_law(entry)] if schema == 1 else []
    if laws:
        raise DeclarationError(f"{where}: {laws[0]} belongs to schema 2, and the file has 1. Write schema = 2.")
    taken = {**state, **dict.fromkeys(found["define"], "a definition")}
    found["inputs"] = _listed(top, "inputs", taken, where) if "inputs" in plain else []
    taken |= dict.fromkeys(found["inputs"], "an input")
    found["parameters"] = _listed(top, "parameters", taken, where) if "parameters" in plain else []
    found["params"] = _params(plain.get("params", {}), taken, where)
    for name in found["params"] if "parameters" in plain else ():
        _check_known(name, found["parameters"], f"{where}: [params]", "not in parameters = [...]")
    assumed = _Table(
        plain.get("assumptions", {}), f"{where}: [assumptions]", (), found["parameters"], "not in parameters = [...]"
    )
    found["assumptions"] = {name: assumed.texts(name) for name in assumed.values}
    found["state"] = _state(plain.get("state", {}), state, where)
    found["units"] = _Table(plain.get("units", {}), f"{where}: [units]", (), None).all_texts()
    found["drawing"] = _drawing(plain["drawing"], f"{where}: [drawing]") if "drawing" in plain else {}
    kept = [key for key in (*TOP, *TABLES) if key in found and (found[key] not in ([], {}) or key == "parameters")]
    return {key: found[key] for key in kept if key != "parameters" or key in plain}


def _with_bodies(plain: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the dictionary of a system of bodies in its normal form; its coordinates follow from its joints."""
    if plain["schema"] == 1:
        raise DeclarationError(f"{where}: 'body' belongs to schema 2, and the file has 1. Write schema = 2.")
    allowed = (*BODY_TOP, *BODIES, *BODY_TABLES)
    top = _Table(plain, f"{where}: the top level", ("schema", "name"), allowed)
    found: dict[str, Any] = {"schema": 2, "name": top.label("name")}
    found |= checked_bodies(plain, where, _text)
    if "potential" in plain:
        found["potential"] = top.text("potential")
    if "parameters" in plain:
        found["parameters"] = _listed(top, "parameters", {}, where)
    if "inputs" in plain:
        found["inputs"] = _listed(top, "inputs", {}, where)
    assumed = _Table(plain.get("assumptions", {}), f"{where}: [assumptions]", (), None)
    found["assumptions"] = {name: assumed.texts(name) for name in assumed.values}
    found["forces"] = _Table(plain.get("forces", {}), f"{where}: [forces]", (), None).all_texts()
    found["constraint"] = _constraints(plain.get("constraint", []), where)
    found["event"] = _events(plain.get("event", []), where)
    found["params"] = _params(plain.get("params", {}), {}, where)
    found["state"] = _state(plain.get("state", {}), None, where)
    found["units"] = _Table(plain.get("units", {}), f"{where}: [units]", (), None).all_texts()
    found["drawing"] = _drawing(plain["drawing"], f"{where}: [drawing]") if "drawing" in plain else {}
    return {key: found[key] for key in allowed if key in found and (found[key] not in ([], {}) or key == "body")}


def _state(values: Any, names: Mapping[str, str] | None, where: str) -> dict[str, Any]:
    """Return the values of a state; its key 'on' lists the constraints that are switched on."""
    place = f"{where}: [state]"
    allowed = None if names is None else {**names, "on": "a list"}
    table = _Table(values, place, (), allowed, "no coordinate, velocity or t")
    numbers = {key: value for key, value in table.values.items() if key != "on"}
    found: dict[str, Any] = dict(_Table(numbers, place, (), None).numbers())
    return found | ({"on": table.texts("on")} if "on" in table.values else {})


def _listed(top: _Table, key: str, taken: Mapping[str, str], where: str) -> list[str]:
    """Return the names of parameters or inputs."""
    found, what = top.texts(key), key.removesuffix("s")
    for place, name in enumerate(found):
        _check_free(name, what, taken, where)
        if name in found[:place]:
            raise DeclarationError(f"{where}: the {what} '{name}' is listed twice. Remove one of them.")
    return found


def _drawing(values: Any, place: str) -> dict[str, Any]:
    """Return the table of a drawing with texts for numbers; what its keys mean is read where drawings are."""
    if not isinstance(values, Mapping):
        raise _wrong_type(place, "a table", values)
    found: dict[str, Any] = {}
    for key, value in values.items():
        inside = f"{place}: '{key}'"
        if isinstance(value, Mapping):
            found[key] = {
                name: {part: _nested(item, inside) for part, item in entry.items()}
                if isinstance(entry, Mapping)
                else _nested(entry, inside)
                for name, entry in value.items()
            }
        else:
            found[key] = _nested(value, inside)
    return found


def _nested(value: Any, place: str) -> Any:
    """Return a text, a list of texts, or a list of lists of texts."""
    if not isinstance(value, (list, tuple)):
        return _text(value, place)
    return [_texts(item, place) if isinstance(item, (list, tuple)) else _text(item, place) for item in value]


class _Table:
    """A table of the file: knows its place, its keys, and the types of their values."""

    def __init__(
        self, values: Any, place: str, needed: Collection[str], allowed: Collection[str] | None, wrong: str = "unknown"
    ) -> None:
        if not isinstance(values, Mapping):
            raise _wrong_type(place, "a table", values)
        self.place = place
        self.values = values
        for key in values:
            if allowed is not None:
                _check_known(key, allowed, place, wrong)
        for key in needed:
            if key not in values:
                raise DeclarationError(f"{place} lacks the key '{key}'. Add {key} = ...")

    def label(self, key: str) -> str:
        value = self.values[key]
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            raise _wrong_type(f"{self.place}: '{key}'", "a printable text", value)
        return value

    def text(self, key: str) -> str:
        return _text(self.values[key], f"{self.place}: '{key}'")

    def texts(self, key: str, count: int | None = None) -> list[str]:
        return _texts(self.values[key], f"{self.place}: '{key}'", count)

    def matrix(self, key: str, count: int) -> list[list[str]]:
        value, place = self.values[key], f"{self.place}: '{key}'"
        if not isinstance(value, (list, tuple)) or len(value) != count:
            raise _wrong_type(place, f"a list of {count} rows, one for each coordinate", value)
        return [_texts(row, place, count) for row in value]

    def slips(self, key: str) -> list[str]:
        """Return the one or two components of a slip; one may stand without its list."""
        value = self.values[key]
        found = _texts(value if isinstance(value, (list, tuple)) else [value], f"{self.place}: '{key}'")
        if len(found) not in (1, 2):
            raise _wrong_type(f"{self.place}: '{key}'", "one or two texts", value)
        return found

    def all_texts(self) -> dict[str, str]:
        return {key: self.text(key) for key in self.values}

    def numbers(self) -> dict[str, float]:
        for key, value in self.values.items():
            if not _is_number(value):
                hint = f" Move '{key}' above the first table." if key in TOP else ""
                error = _wrong_type(f"{self.place}: '{key}'", "a finite number", value)
                raise DeclarationError(f"{error}{hint}")
        return {key: float(value) if isinstance(value, float) else int(value) for key, value in self.values.items()}


def _coordinates(top: _Table, where: str) -> list[str]:
    found = top.texts("coordinates")
    if not found:
        raise _wrong_type(f"{top.place}: 'coordinates'", "at least one name", [])
    taken = {"t": "the time", **{f"v_{name}": "a velocity" for name in found}}
    for name in found:
        _check_free(name, "coordinate", taken, where)
        taken[name] = "another coordinate"
    return found


def _definitions(values: Any, taken: Mapping[str, str], where: str) -> dict[str, str]:
    found = _Table(values, f"{where}: [define]", (), None).all_texts()
    for name in found:
        _check_free(name, "definition", taken, where)
    used = {text: names(text, where=f"{where}: definition '{name}'") for name, text in found.items()}
    definition_order(found, used.__getitem__, where=where)
    return found


def _params(values: Any, taken: Mapping[str, str], where: str) -> dict[str, float]:
    found = _Table(values, f"{where}: [params]", (), None).numbers()
    for name in found:
        _check_free(name, "parameter", taken, where)
    return found


def _check_free(name: str, what: str, taken: Mapping[str, str], where: str) -> None:
    """Refuse a name that has a meaning already."""
    check_name(name, what=what, where=where)
    meaning = "a function" if name == "rate" else taken.get(name)
    if meaning is not None:
        cure = "Move its value to [state]." if what == "parameter" and meaning in _STATE else "Choose another."
        raise DeclarationError(f"{where}: the {what} '{name}' has the name of {meaning}. {cure}")


def _constraints(values: Any, where: str) -> list[dict[str, Any]]:
    if not isinstance(values, (list, tuple)):
        raise _wrong_type(f"{where}: 'constraint'", "a list of tables [[constraint]]", values)
    found: list[dict[str, Any]] = []
    taken: set[str | None] = set()
    for index, value in enumerate(values):
        entry = _constraint(value, f"{where}: constraint {index + 1}", where)
        if "name" in entry and entry["name"] in taken:
            raise DeclarationError(f"{where}: two constraints are called '{entry['name']}'. Give each its own name.")
        taken.add(entry.get("name"))
        found.append(entry)
    return found


def _constraint(values: Any, place: str, where: str) -> dict[str, Any]:
    every = sorted({key for keys in KINDS.values() for group in keys for key in group})
    table = _Table(values, place, ("kind",), (*OWN, *every))
    kind = values["kind"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise DeclarationError(f"{place} has the unknown kind {kind!r}. {nearest(str(kind), KINDS)}")
    found: dict[str, Any] = {"kind": kind}
    if "starts" in values:
        found["starts"] = table.label("starts")
    if "name" in values:
        found["name"] = table.label("name")
        place = f"{where}: constraint '{found['name']}'"
    needed, optional = KINDS[kind]
    for key in values:
        if key not in (*OWN, *needed, *optional):
            owners = " or ".join(name for name, keys in KINDS.items() if key in (*keys[0], *keys[1]))
            raise DeclarationError(f"{place} is {kind}, and '{key}' belongs to kind {owners}. Remove one of the two.")
    table = _Table(values, place, needed, None)
    for key in ("expr", "bound", "restitution", "where"):
        if key in values:
            found[key] = table.text(key)
    if "slip" in values:
        found["slip"] = table.slips("slip")
    if "friction" in values:
        found["friction"] = _law(values["friction"], f"{place}, friction")
    if "section" in values:
        found["section"] = _texts(values["section"], f"{place}: 'section'")
        if len(found["section"]) != 2:
            raise _wrong_type(f"{place}: 'section'", "a list of two: low and high, or two semi-axes", values["section"])
    if "of" in values:
        found["of"] = _names_of(values["of"], f"{place}: 'of'")
    return found


def _names_of(value: Any, place: str) -> list[str]:
    """Return the names of the constraints that load a friction."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, (list, tuple)) or not listed or not all(isinstance(item, str) for item in listed):
        raise _wrong_type(place, "the name of a constraint, or a list of names", value)
    return list(listed)


def _events(values: Any, where: str) -> list[dict[str, Any]]:
    if not isinstance(values, (list, tuple)):
        raise _wrong_type(f"{where}: 'event'", "a list of tables [[event]]", values)
    return [_event(value, f"{where}: event {index + 1}") for index, value in enumerate(values)]


def _event(values: Any, place: str) -> dict[str, Any]:
    table = _Table(values, place, ("expr",), ("name", "expr", "direction", "stop", "of", "count", "then"))
    found: dict[str, Any] = {key: table.label(key) for key in ("name", "of") if key in values}
    found["expr"] = table.text("expr")
    for key in ("direction", "count"):
        if key in values:
            if type(values[key]) is not int:
                raise _wrong_type(f"{place}: '{key}'", "a whole number", values[key])
            found[key] = values[key]
    if "stop" in values:
        if not isinstance(values["stop"], bool):
            raise _wrong_type(f"{place}: 'stop'", "true or false", values["stop"])
        found["stop"] = values["stop"]
    then = values.get("then", [])
    if not isinstance(then, (list, tuple, Mapping)):
        raise _wrong_type(f"{place}: 'then'", "a list of tables with on, off or reset", then)
    done = [_action(item, f"{place}: then") for item in ([then] if isinstance(then, Mapping) else then)]
    return found | ({"then": done} if done else {})


def _action(values: Any, place: str) -> dict[str, Any]:
    table = _Table(values, place, (), ("on", "off", "reset"))
    if not values or ("reset" in values and len(values) > 1):
        raise _wrong_type(place, "a table with on and off, or one with reset", values)
    if "reset" in values:
        return {"reset": _Table(values["reset"], f"{place}: 'reset'", (), None).all_texts()}
    return {
        key: _texts([one] if isinstance(one := table.values[key], str) else one, f"{place}: '{key}'") for key in values
    }


def _law(values: Any, place: str) -> dict[str, Any]:
    """Return the table of a law of friction; the keys of laws other than Coulomb's are read where laws are known."""
    other = isinstance(values, Mapping) and values.get("law", COULOMB) != COULOMB
    table = _Table(values, place, ("slip",) if other else ("coefficient", "slip"), None if other else COULOMB_KEYS)
    found: dict[str, Any] = {}
    for key, value in values.items():
        if key == "slip":
            found[key] = table.slips(key)
        elif key == "law":
            found[key] = table.label(key)
        else:
            found[key] = _texts(value, f"{place}: '{key}'") if isinstance(value, (list, tuple)) else table.text(key)
    if found.get("law") == COULOMB:
        del found["law"]
    return found


def _newer_law(entry: Mapping[str, Any]) -> list[str]:
    """Return what of a constraint's friction schema 1 doesn't know, in words."""
    law = entry.get("friction", {})
    found = [f"'{key}' of friction" for key in ("law", "static") if key in law]
    found += ["a pair of coefficients"] if isinstance(law.get("coefficient"), list) else []
    return found + [f"'{key}'" for key in ("section", "of", "starts") if key in entry]


def _text(value: Any, place: str) -> str:
    # A surrogate that stands alone is no character and cannot be written to a file.
    if isinstance(value, str) and not any("\ud800" <= char <= "\udfff" for char in value):
        return value
    if _is_number(value):
        return repr(float(value) if isinstance(value, float) else int(value))
    raise _wrong_type(place, "a text or a finite number", value)


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def _texts(value: Any, place: str, count: int | None = None) -> list[str]:
    if not isinstance(value, (list, tuple)) or (count is not None and len(value) != count):
        size = "texts" if count is None else f"{count} entries, one for each coordinate"
        raise _wrong_type(place, f"a list of {size}", value)
    return [_text(item, place) for item in value]


def _check_known(key: str, known: Collection[str], place: str, wrong: str) -> None:
    if key not in known:
        given = f"the unknown key '{key}'" if wrong == "unknown" else f"'{key}', which is {wrong}"
        raise DeclarationError(f"{place} has {given}. {nearest(key, known)}")


def _wrong_type(place: str, needed: str, value: Any) -> DeclarationError:
    try:
        shown = repr(value)
    except ValueError:
        shown = "an enormous number"
    return DeclarationError(f"{place} must be {needed}; it is {shown if len(shown) <= 40 else shown[:37] + '...'}.")
