"""What an FMU says of itself: the variables of a model with their units, in the XML of FMI 3.0."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

import sympy as sp

from zwang import _expressions
from zwang._declare.system import System
from zwang._declare.units import BASE, KNOWN, dimension_of

FACTORS = {"mm": 1e-3, "cm": 1e-2, "km": 1e3, "g": 1e-3, "t": 1e3, "ms": 1e-3, "min": 60.0, "h": 3600.0} | {
    "kN": 1e3,
    "kJ": 1e3,
    "deg": math.pi / 180,
}
"""Units that are not coherent, in those that are."""
TOLERANCE = "1e-08"
"""Relative, that importers are advised to take."""
NOT_XML = re.compile("[^ -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
UNSET = "has no value: set it before the simulation"


@dataclass(frozen=True)
class FmuVariable:
    """A Float64 of an FMU; its value reference is its place in the list."""

    name: str
    attributes: Mapping[str, str]
    unit: str = ""


@dataclass(frozen=True)
class FmuLayout:
    """The variables of an FMU in the order of their value references, and which of them are what."""

    variables: Sequence[FmuVariable]
    states: range
    derivatives: range
    indicators: range


def layout(
    system: System, multipliers: Sequence[str], events: Sequence[str], slots: Sequence[FmuSlot], starts: Sequence[float]
) -> FmuLayout:
    """Return the variables: time, states, derivatives, multipliers, indicators, parameters and inputs."""
    states = [*system.coordinates, *system.velocities]
    units = _units(system)
    taken = {_clean(name) for name in (*(item.name for item in states), *(slot.name for slot in slots))}
    found: list[FmuVariable] = []

    def own(name: str, **attributes: str) -> None:
        found.append(FmuVariable(_clean(name), attributes, units.get(name, "")))

    def more(name: str, unit: str = "", **attributes: str) -> None:
        found.append(FmuVariable(_unique(name, taken), attributes, unit))

    more("time", "s" if units else "", causality="independent", variability="continuous")
    for item, start in zip(states, starts, strict=True):
        own(item.name, causality="output", initial="exact", start=repr(float(start)))
    for k, item in enumerate(states):
        unit = f"{units[item.name]}/s" if item.name in units else ""
        more(f"der({item.name})", unit, causality="local", initial="calculated", derivative=str(k + 1))
    for name in (*(f"multiplier of {name}" for name in multipliers), *(f"event {name}" for name in events)):
        more(name, causality="local", initial="calculated")
    for slot in slots:
        kind = ("input", "continuous") if slot.is_input else ("parameter", "fixed")
        words = {} if slot.known else {"description": UNSET}
        own(slot.name, causality=kind[0], variability=kind[1], start=repr(float(slot.start)), **words)
    n, first = len(states), 1 + 2 * len(states) + len(multipliers)
    return FmuLayout(found, range(1, n + 1), range(n + 1, 2 * n + 1), range(first, first + len(events)))


@dataclass(frozen=True)
class FmuSlot:
    """A parameter or an input: its start, and whether that is known."""

    name: str
    start: float
    known: bool
    is_input: bool


def description(name: str, identifier: str, token: str, made: FmuLayout, start: float) -> bytes:
    """Return modelDescription.xml."""
    root = ET.Element(
        "fmiModelDescription",
        fmiVersion="3.0",
        modelName=_clean(name) or identifier,
        instantiationToken=token,
        generationTool="zwang",
        variableNamingConvention="flat",
    )
    ET.SubElement(root, "ModelExchange", modelIdentifier=identifier, needsCompletedIntegratorStep="true")
    ET.SubElement(root, "CoSimulation", modelIdentifier=identifier, canHandleVariableCommunicationStepSize="true")
    _define_units(root, (item.unit for item in made.variables))
    ET.SubElement(ET.SubElement(root, "LogCategories"), "Category", name="logStatusError")
    ET.SubElement(root, "DefaultExperiment", startTime=repr(float(start)), tolerance=TOLERANCE)
    listed = ET.SubElement(root, "ModelVariables")
    for reference, item in enumerate(made.variables):
        unit = {"unit": item.unit} if item.unit else {}
        ET.SubElement(
            listed, "Float64", {"name": item.name, "valueReference": str(reference), **unit, **item.attributes}
        )
    structure = ET.SubElement(root, "ModelStructure")
    for kind, references in (
        ("Output", made.states),
        ("ContinuousStateDerivative", made.derivatives),
        ("InitialUnknown", made.derivatives),
        ("EventIndicator", made.indicators),
    ):
        for reference in references:
            ET.SubElement(structure, kind, valueReference=str(reference))
    return _bytes(root)


def build_description(identifier: str, source: str) -> bytes:
    """Return buildDescription.xml, how the binary is made of the sources."""
    root = ET.Element("fmiBuildDescription", fmiVersion="3.0")
    one = ET.SubElement(root, "BuildConfiguration", modelIdentifier=identifier)
    ET.SubElement(ET.SubElement(one, "SourceFileSet", language="C99"), "SourceFile", name=source)
    ET.SubElement(one, "Library", name="m")
    return _bytes(root)


def _bytes(root: ET.Element) -> bytes:
    ET.indent(root)
    found: bytes = ET.tostring(root, encoding="UTF-8", xml_declaration=True)
    return found


def _clean(text: str) -> str:
    """Return a text without what XML can't hold."""
    return NOT_XML.sub("_", text)


def _unique(name: str, taken: set[str]) -> str:
    name = _clean(name)
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _units(system: System) -> dict[str, str]:
    """Return name -> unit; velocities have the rate of their coordinates' where nothing else is said."""
    units = dict(system.units)
    for item, speed in zip(system.coordinates, system.velocities, strict=True):
        if item.name in units:
            units.setdefault(speed.name, f"{units[item.name]}/s")
    return units


def _define_units(root: ET.Element, units: Iterable[str]) -> None:
    names = list(dict.fromkeys(unit for unit in units if unit))
    if not names:
        return
    listed = ET.SubElement(root, "UnitDefinitions")
    table: dict[str, Any] = {name: sp.Float(FACTORS.get(name, 1.0)) for name in KNOWN}
    for unit in names:
        own = ET.SubElement(listed, "Unit", name=unit)
        powers = dict(zip(BASE, dimension_of(unit), strict=True))
        if all(power.denominator == 1 for power in powers.values()):
            base = {name: str(power) for name, power in powers.items() if power}
            factor = float(_expressions.parse(unit, table, where=f"unit '{unit}'"))
            ET.SubElement(own, "BaseUnit", base if factor == 1.0 else {**base, "factor": repr(factor)})
