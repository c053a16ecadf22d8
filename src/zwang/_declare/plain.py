"""A declaration as plain data, texts and lists as a model file holds them, and back to a system of a given class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from zwang import _expressions, _modelfile
from zwang._declare.body_tree import Load
from zwang._declare.checks import before_turns
from zwang._declare.constraints import Bilateral, Constraint, Friction, Unilateral
from zwang._declare.domains import condition_text, guarded, guarded_text
from zwang._declare.drawing import Drawing
from zwang._declare.event_list import event_dict, event_of
from zwang._declare.laws import Coulomb, Ellipse, Interval, law_class, law_fields
from zwang._declare.symbols import Input, coordinates, kind_of, parameter, rate, symbol_table
from zwang.errors import DeclarationError, nearest

BUILDER = "zwang._bodies"
"""Whose `built` makes a system of bodies; it stands above this room, and is asked by its name as laws are."""


def save(
    system: Any,
    path: str | Path,
    *,
    params: Mapping[Any, Any] | None = None,
    state: Mapping[Any, Any] | None = None,
) -> None:
    """Write a system, and values that go with it, to a model file."""
    plain = to_dict(system)
    for key, values in (("params", params), ("state", state)):
        if values:
            plain[key] = {
                str(name): list(value) if name == "on" else _number(f"{key}: {name}", value)
                for name, value in values.items()
            }
    _modelfile.write(Path(path), plain)


def to_dict(system: Any) -> dict[str, Any]:
    """Return the declaration as plain texts and lists: what a model file holds."""
    text = _expressions.to_text
    plain: dict[str, Any] = {
        "schema": 2,
        "name": system.name,
        "coordinates": [item.name for item in system.coordinates],
    }
    angles = [item.name for item in system.coordinates if item.angle]
    if angles:
        plain["angles"] = angles
    plain["parameters"] = [item.name for item in system.parameters]
    kinds = {item.name: kind_of(item) for item in system.parameters if item != parameter(item.name)}
    if kinds:
        plain["assumptions"] = kinds
    if system.inputs:
        plain["inputs"] = [item.name for item in system.inputs]
    if system.mass is not None:
        n = len(system.coordinates)
        plain["mass"] = [[text(system.mass[i, j]) for j in range(n)] for i in range(n)]
        plain["force"] = [text(item) for item in system.force]
    elif system.tree is not None:
        kept = ("schema", "name", "parameters", "assumptions", "inputs")
        return {key: plain[key] for key in kept if key in plain} | _tree_dict(system)
    else:
        plain["kinetic"] = text(system.kinetic)
        if system.potential != 0:
            plain["potential"] = text(system.potential)
    if system.forces:
        plain["forces"] = {key.name: text(value) for key, value in system.forces.items()}
    if len(system.constraints):
        plain["constraint"] = [_constraint_dict(item) for item in system.constraints]
    if system.events:
        plain["event"] = [event_dict(item) for item in system.events]
    if system.drawing is not None:
        plain["drawing"] = system.drawing.to_dict()
    if system.units:
        plain["units"] = dict(system.units)
    return plain


def _tree_dict(system: Any) -> dict[str, Any]:
    """Return what a tree of bodies was told, and what of the system is not just what follows from it."""
    text, tree = _expressions.to_text, system.tree
    plain: dict[str, Any] = dict(tree.told)
    constraints, forces, potential, loads = tree.made
    changed = []
    if tuple(system.constraints) != constraints:
        plain["constraint"] = [_constraint_dict(item) for item in system.constraints]
        changed.append("constraints")
    if dict(system.forces) != forces:
        plain["forces"] = {key.name: text(value) for key, value in system.forces.items()}
        changed.append("forces")
    if system.added_potential != potential:
        plain["potential"] = text(system.added_potential)
        changed.append("potential")
    if tree.loads != loads:
        plain["push"] = [
            {"name": load.name, "force": [text(f) for f, _ in load.pairs], "along": [text(u) for _, u in load.pairs]}
            for load in tree.loads
        ]
        changed.append("loads")
    if changed:
        plain["changed"] = changed
    if system.events:
        plain["event"] = [event_dict(item) for item in system.events]
    if system.drawing is not None:
        plain["drawing"] = system.drawing.to_dict()
    if system.units:
        plain["units"] = dict(system.units)
    return plain


def made_of(plain: Mapping[str, Any], cls: Any) -> Any:
    """Return the system, of a class, that a plain dictionary declares.

    Wherever the dictionary comes from, a result's file or a pickle, it is checked as the text of a model file is.
    """
    name = plain.get("name") if isinstance(plain, Mapping) else None
    where = name[:80] if isinstance(name, str) and name.isprintable() else "a declaration"
    if not isinstance(plain, Mapping):
        raise DeclarationError(f"{where} must be a mapping, as a model file holds it; it was given {plain!r:.60}.")
    return declared(_modelfile.checked(plain, where), cls)


def law_modules(system: Any) -> tuple[str, ...]:
    """Return the names of the modules that register the laws of a system, those of zwang left out."""
    laws = (item.friction for item in system.constraints if not isinstance(item, Friction))
    found = {type(law).__module__ for law in laws if law is not None} - {Coulomb.__module__}
    return tuple(sorted(found))


def restored(cls: Any, plain: Mapping[str, Any], modules: tuple[str, ...] = ()) -> Any:
    """Return a system that has travelled to another process: its laws register themselves where they are imported."""
    for module in modules:
        try:
            import_module(module)
        except ImportError as error:
            raise DeclarationError(
                f"{plain.get('name', 'a system')}: a law of friction is defined in '{module}', which can't be imported "
                f"here ({error}). Put it into a module that every process finds."
            ) from None
    return made_of(plain, cls)


def declared(plain: Mapping[str, Any], cls: Any) -> Any:
    """Return the system, of a class, of a dictionary that has been checked."""
    name = plain["name"]
    if "body" in plain:
        return _with_tree(plain, cls)
    positions, _ = coordinates(plain["coordinates"], angles=plain.get("angles", ()))
    table: dict[str, Any] = dict(symbol_table(positions))

    kinds = plain.get("assumptions", {})
    for label in plain.get("parameters", ()):
        table[label] = parameter(label, kinds.get(label))

    for label in plain.get("inputs", ()):
        table[label] = Input(label)

    def new(label: str) -> Any:
        return table.setdefault(label, parameter(label))

    # A file that lists its parameters knows no other names.
    known = None if "parameters" in plain else new

    def read(text: str, where: str, more: Mapping[str, Any] | None = None) -> Any:
        place = f"{name}: {where}"
        names = {**table, **more} if more else table
        return _expressions.parse(text, names, where=place, parameters=known, functions={"rate": rate})

    define = plain.get("define", {})
    for label in _modelfile.definition_order(define, _expressions.names):
        table[label] = read(define[label], f"definition '{label}'")
    arguments: dict[str, Any] = {"name": name, "coordinates": positions}
    for key in ("kinetic", "potential"):
        if key in plain:
            arguments[key] = read(plain[key], key)
    if "mass" in plain:
        arguments["mass"] = [[read(item, "mass") for item in row] for row in plain["mass"]]
        arguments["force"] = [read(item, "force") for item in plain.get("force", [])]
    arguments["forces"] = {key: read(value, f"forces, {key}") for key, value in plain.get("forces", {}).items()}
    arguments["constraints"] = [_constraint(entry, read) for entry in plain.get("constraint", [])]
    arguments["events"] = [event_of(entry, read) for entry in plain.get("event", [])]
    if "drawing" in plain:
        arguments["drawing"] = _drawing(plain["drawing"], {label: table[label] for label in define}, name)
    if "units" in plain:
        arguments["units"] = plain["units"]
    return cls(**arguments)


def _with_tree(plain: Mapping[str, Any], cls: Any) -> Any:
    """Return the system of a file of bodies: its builder is told again, and what was changed since then is put in."""
    kinds = plain.get("assumptions", {})
    symbols: dict[str, Any] = {label: parameter(label, kinds.get(label)) for label in plain.get("parameters", ())}
    symbols |= {label: Input(label) for label in plain.get("inputs", ())}
    built = import_module(BUILDER).built(plain, symbols)
    known = {item.name: item for item in built.parameters}
    table: dict[str, Any] = {**known, **symbols, **built.tree.dependents, **symbol_table(built.coordinates)}

    def new(label: str) -> Any:
        return table.setdefault(label, parameter(label))

    def read(text: str, where: str, more: Mapping[str, Any] | None = None) -> Any:
        place = f"{plain['name']}: {where}"
        names = {**table, **more} if more else table
        return _expressions.parse(text, names, where=place, parameters=new, functions={"rate": rate})

    changed = plain.get("changed", ())
    relations = [_constraint(entry, read) for entry in plain.get("constraint", ())]
    forces = {key: read(value, f"forces, {key}") for key, value in plain.get("forces", {}).items()}
    changes: dict[str, Any] = {}
    if relations or "constraints" in changed:
        changes["constraints"] = [*(() if "constraints" in changed else built.constraints), *relations]
    if forces or "forces" in changed:
        changes["forces"] = forces if "forces" in changed else {**built.forces, **forces}
    if "potential" in plain or "potential" in changed:
        changes["potential"] = read(plain.get("potential", "0"), "potential")
    if "loads" in changed:
        changes["tree"] = replace(built.tree, loads=tuple(_load(entry, read) for entry in plain.get("push", ())))
    changes["events"] = [event_of(entry, read) for entry in plain.get("event", [])]
    if "drawing" in plain:
        changes["drawing"] = _drawing(plain["drawing"], {}, plain["name"])
    if "units" in plain:
        changes["units"] = plain["units"]
    return built.replace(**changes)


def _load(entry: Mapping[str, Any], read: Any) -> Load:
    """Return forces along velocities as they stand in a file."""
    where = f"push '{entry['name']}'"
    pairs = zip(entry["force"], entry["along"], strict=True)
    return Load(entry["name"], tuple((read(force, where), read(along, where)) for force, along in pairs))


def _drawing(plain: Mapping[str, Any], definitions: Mapping[str, Any], name: str) -> Drawing:
    """Return the drawing of a model file, with the definitions of the file put in."""
    try:
        made = Drawing.from_dict(plain)
    except DeclarationError as error:
        raise DeclarationError(f"{name}: {error}") from None
    change = {symbol: definitions[symbol.name] for symbol in made.symbols() if symbol.name in definitions}
    return made.map(lambda expr: expr.xreplace(change)) if change else made


def _constraint(entry: Mapping[str, Any], read: Any) -> Constraint:
    where = f"constraint '{entry.get('name', '')}'"
    name, starts = entry.get("name"), entry.get("starts", "on")
    if entry["kind"] == "friction":
        slips = [read(item, where) for item in entry["slip"]]
        section = None
        if "section" in entry:
            kind = Interval if len(slips) == 1 else Ellipse
            section = kind(*(read(item, where) for item in entry["section"]))
        given = {"section": section, "of": entry.get("of"), "name": name, "starts": starts}
        return Friction(read(entry["bound"], where), slip=slips, **given)
    law = _law(entry["friction"], read, where) if "friction" in entry else None
    guarding = entry["expr"] if "where" not in entry else guarded_text(entry["expr"], entry["where"])
    expr = read(guarding, where)
    if entry["kind"] == "bilateral":
        return Bilateral(expr, friction=law, name=name, starts=starts)
    restitution = read(entry["restitution"], where) if "restitution" in entry else None
    return Unilateral(expr, friction=law, restitution=restitution, name=name, starts=starts)


def _law(entry: Mapping[str, Any], read: Any, where: str) -> Any:
    """Return the law of a table of friction: its fields are the keys of the table."""
    cls = law_class(entry.get("law", Coulomb.law_key), where)  # type: ignore[attr-defined]
    given = {key: value for key, value in entry.items() if key != "law"}
    if cls is Coulomb:
        given["mu"] = given.pop("coefficient")
    known = {item.name: item for item in fields(cls) if item.init}
    for key in given:
        if key not in known:
            shown = ["coefficient" if name == "mu" and cls is Coulomb else name for name in known]
            raise DeclarationError(f"{where}, friction has the unknown key '{key}'. {nearest(key, shown)}")
    for name, item in known.items():
        if name not in given and item.default is MISSING and item.default_factory is MISSING:
            raise DeclarationError(f"{where}, friction lacks the key '{name}' of its law. Add {name} = ...")
    values = {
        key: [read(item, where) for item in value] if isinstance(value, list) else read(value, where)
        for key, value in given.items()
    }
    return cls(**values)


def _law_dict(law: Any) -> dict[str, Any]:
    text = _expressions.to_text
    values = law_fields(law)
    if isinstance(law, Coulomb):
        values = {"coefficient": values.pop("mu"), **values}
        if law.scale == 1:
            del values["scale"]
    else:
        values = {"law": law.law_key, **values}
    return {
        key: [text(item) for item in value] if isinstance(value, tuple) else value if key == "law" else text(value)
        for key, value in values.items()
        if value is not None
    }


def _constraint_dict(item: Constraint) -> dict[str, Any]:
    text = _expressions.to_text
    plain: dict[str, Any] = {"kind": type(item).__name__.lower(), "name": item.name}
    if item.starts != "on":
        plain["starts"] = item.starts
    if isinstance(item, Friction):
        plain |= {"bound": text(item.bound), "slip": [text(slip) for slip in item.slip]}
        if item.section is not None:
            sides = (item.section.low, item.section.high) if isinstance(item.section, Interval) else item.section.sides
            plain["section"] = [text(side) for side in sides]
        if item.of:
            plain["of"] = list(item.of)
        return plain
    turning = before_turns(item.expr)
    plain["expr"] = text(item.expr if turning is None else turning)
    if (found := guarded(item.expr)) is not None and isinstance(item, Unilateral):
        plain |= {"expr": text(found[0]), "where": condition_text(found[1])}
    if isinstance(item, Unilateral) and item.restitution is not None:
        plain["restitution"] = text(item.restitution)
    if item.friction is not None:
        plain["friction"] = _law_dict(item.friction)
    return plain


def _number(where: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise DeclarationError(f"{where} must be one number to be saved; it is {value!r}.") from None
