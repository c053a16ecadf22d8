"""The verb `guarantee`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import sympy as sp

from zwang._compile import Model, compile
from zwang._compile.given_inputs import with_inputs
from zwang._declare.declaration_reader import Reader
from zwang._declare.system import System
from zwang._expressions import parse
from zwang._guarantee.boxes import Bounds, BoxedSystem, Subdivision, subdivided
from zwang._guarantee.claims import (
    BoxClaim,
    BoxQuestion,
    contact_claim,
    force_claim,
    holding_claim,
    one_sided,
    regular_claim,
    relation_claim,
)
from zwang._guarantee.contraction import Narrowing
from zwang._numerics.budget import Allowed, Budget, spending
from zwang._numerics.series.balls import precision
from zwang._numerics.tolerances import by_name, names_in, real, require_kinds
from zwang._results import Provenance
from zwang._results.guarantee import Guarantee, GuaranteeStatus
from zwang.errors import DeclarationError, nearest

BUDGET = Budget(steps=50_000, memory=1_000_000_000)
BITS = 80  # bits of balls: 24 digits, eight beyond doubles
WORDS = ("unique acceleration", "some acceleration", "regular", "can hold", "must hold")
MOST_BOXES = 10_000
"""Boxes that a result lists."""


def guarantee(
    claim: Any,
    system: System | Model,
    box: Mapping[Any, tuple[float, float]],
    params: Mapping[Any, float] | None = None,
    *,
    closed: Iterable[str] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    budget: Allowed = None,
) -> Guarantee:
    """Return whether a claim holds at every state and parameter of a box that satisfies the constraints.

    The box is cut until the claim is seen to hold in every part, in outward-rounded arithmetic with slopes; or until a
    witness is found at which it fails, which `reactions` confirms.

    Parameters
    ----------
    claim : str, relation or mapping
        'unique acceleration', 'some acceleration': of the closed contacts, for both directions of slip and for rest;
        'regular': the bilateral constraints on positions are independent; 'can hold', 'must hold': a rest is possible,
        or the only acceleration; an inequality of SymPy, or as text (``"y < 2*l"``), between coordinates, velocities
        and parameters; name of a constraint -> (low, high) of its multiplier (of a `Friction`: of its force) in every
        solution, or as text (``"tip > 0"``, ``"0 < tip < 9"``).
    system : System or Model
    box : mapping
        Coordinate, velocity or parameter -> (low, high). Angles that are not in it go all the way round.
    params : mapping, optional
        Parameters and coordinates with one value.
    closed : names, optional
        The one-sided constraints that are closed, the others being absent; by default all of them on positions.
    inputs : mapping, optional
        Input of the system -> number.
    budget : float or mapping, optional
        Seconds, or a mapping of ``seconds``, ``steps`` (parts of the box, 50,000) and ``memory``. Where one is spent
        the claim is UNDECIDED.

    Returns
    -------
    Guarantee

    Examples
    --------
    A rod that slides on its tip has one acceleration below mu = 4/3, at every angle.

    >>> import zwang as zw
    >>> rod = zw.gallery.get("painleve_rod")
    >>> box = {"x": (-1, 1), "y": (0, 2), "theta": (0.1, 1.5), "mu": (0, 1.3)}
    >>> known = {name: value for name, value in rod.params.items() if name != "mu"}
    >>> zw.guarantee("unique acceleration", rod.system, box, known).status.name
    'PROVED'
    >>> found = zw.guarantee("unique acceleration", rod.system, {**box, "mu": (0, 1.4)}, known)
    >>> found.status.name, 4 / 3 < found.witness.params["mu"] < 1.4
    ('REFUTED', True)
    """
    if not isinstance(system, (System, Model)):
        raise DeclarationError(f"guarantee needs a System or a Model; it was given {system!r:.80}.")
    require_kinds({"claim": claim, "system": system, "params": params, "inputs": inputs, "box": box})
    model, values, _ = with_inputs(compile(system).switched(), {}, None, inputs)
    declared = model.system
    sides, known = _sides(declared, box, {**(params or {}), **(values or {})})
    contacts = _closed(model, closed)
    with precision(BITS):
        fixed = {name: pair[0] for name, pair in sides.items() if pair[0] == pair[1]}
        sides, known = {name: pair for name, pair in sides.items() if name not in fixed}, {**known, **fixed}
        boxed = BoxedSystem(declared, list(sides), known)
        asked = BoxQuestion(model, boxed, contacts, sides, known)
        made = _claim(claim, asked)
        low: Bounds = tuple(pair[0] for pair in sides.values())
        high: Bounds = tuple(pair[1] for pair in sides.values())
        narrowed = Narrowing(boxed, boxed.held(contacts))
        with spending(BUDGET.but(declared.name, budget)):
            sought = made.first()
            if sought is not None:
                found = Subdivision(witness=sought, tried=1)
            else:
                found = subdivided(low, high, made.positive, narrowed, made.confirm)
            proved = found.witness is None and not found.left and made.also()
    status = GuaranteeStatus.UNDECIDED
    if found.witness is not None:
        status = GuaranteeStatus.REFUTED
    elif proved:
        status = GuaranteeStatus.PROVED
    left = [] if found.witness is not None else found.left
    boxes = np.array([list(zip(a, b, strict=True)) for a, b in left[:MOST_BOXES]]).reshape(-1, len(sides), 2)
    return Guarantee(
        status=status,
        residual=0.0,
        provenance=Provenance.now(declared.digest, tolerances={"bits": float(BITS)}),
        claim=made.words,
        name=declared.name,
        witness=found.witness,
        variables=tuple(sides),
        box=sides,
        boxes=boxes,
        share=_share(left, low, high),
        parts=found.parts,
        closed=contacts,
        reason=found.reason,
    )


def _claim(claim: Any, asked: BoxQuestion) -> BoxClaim:
    if isinstance(claim, str) and re.search("[<>]", claim):
        claim = _read(asked.model.system, claim)
    if isinstance(claim, (sp.core.relational.Relational, sp.And)):
        return relation_claim(claim, asked)
    if isinstance(claim, Mapping):
        return force_claim({str(key): pair for key, pair in claim.items()}, asked)
    if claim in ("unique acceleration", "some acceleration"):
        return contact_claim(claim, asked)
    if claim in ("can hold", "must hold"):
        return holding_claim(claim, asked)
    if claim == "regular":
        return regular_claim(asked)
    raise DeclarationError(
        f"guarantee: the claim {claim!r:.60} is none of {', '.join(repr(word) for word in WORDS)}, no relation and no "
        f"mapping. {nearest(str(claim), WORDS)}"
    )


def _read(system: System, text: str) -> Any:
    """Return the relation, or the bounds of a multiplier, that a text such as ``y > 0`` or ``0 < floor < 9`` says."""
    sides, signs = re.split("[<>]=?", text), re.findall("[<>]=?", text)
    if len({sign[0] for sign in signs}) > 1:
        raise DeclarationError(f"{system.name}: the signs of the claim {text!r:.60} point both ways. Give two claims.")
    known = {str(name) for name in system.constraints.names}
    table = Reader(system.name, system.coordinates, list(system.expressions().values())).table
    forces = [k for k, side in enumerate(sides) if side.strip() in known and side.strip() not in table]
    read: list[Any] = [None if k in forces else parse(side, table, where="claim") for k, side in enumerate(sides)]
    if signs[0][0] == ">":
        sides, signs, read = sides[::-1], signs[::-1], read[::-1]
        forces = [len(sides) - 1 - k for k in forces]
    if not forces:
        pairs = zip(signs, pairwise(read), strict=True)
        return sp.And(*((sp.Le if sign.endswith("=") else sp.Lt)(*pair) for sign, pair in pairs))
    if len(forces) > 1 or len(sides) > 3 or any(one is not None and one.free_symbols for one in read):
        raise DeclarationError(
            f"{system.name}: a claim about the force of a constraint has numbers on its other sides; it was "
            f"{text!r:.60}."
        )
    place = forces[0]
    low = float(read[place - 1]) if place else -math.inf
    high = float(read[place + 1]) if place + 1 < len(read) else math.inf
    return {sides[place].strip(): (low, high)}


def _sides(
    system: System, box: Any, params: Mapping[Any, Any]
) -> tuple[dict[str, tuple[float, float]], dict[str, float]]:
    """Return the box by names, angles that are left out all the way round, and what has one value."""
    names = {item.name: item for item in (*system.coordinates, *system.velocities, *system.parameters)}
    found: dict[str, tuple[float, float]] = {}
    for name, pair in by_name(box, "box=", names, where=system.name, form="names to (low, high)").items():
        try:
            low, high = (real(value, f"box[{name!r}]", where=system.name) for value in pair)
        except (TypeError, ValueError):
            raise DeclarationError(
                f"{system.name}: box= needs (low, high) for '{name}'; it was {pair!r:.60}."
            ) from None
        if not low <= high:
            raise DeclarationError(f"{system.name}: box= of '{name}' needs low <= high; it was ({low:g}, {high:g}).")
        found[name] = (low, high)
    known: dict[str, float] = {}
    for name, value in by_name(params, "params", names, where=system.name).items():
        if name not in found:
            known[name] = real(value, f"params[{name!r}]", where=system.name)
    for item in system.coordinates:
        if item.angle and item.name not in found and item.name not in known:
            found[item.name] = (-math.pi, math.pi)
    needed = [item.name for item in (*system.coordinates, *system.parameters)]
    missing = [name for name in needed if name not in found and name not in known]
    if missing:
        raise DeclarationError(
            f"{system.name}: '{missing[0]}' is neither in box= nor in params. Give box={{'{missing[0]}': (low, high)}}."
        )
    return found, known


def _closed(model: Model, closed: Iterable[str] | None) -> tuple[str, ...]:
    every = one_sided(model)
    if closed is None:
        return every
    listed = names_in(closed, "closed", where=model.system.name)
    for name in listed:
        if name not in every:
            raise DeclarationError(
                f"{model.system.name}: closed= has '{name}', which is no one-sided constraint on positions. "
                f"{nearest(str(name), every)}"
            )
    return tuple(name for name in every if name in listed)


def _share(left: list[tuple[Bounds, Bounds]], low: Bounds, high: Bounds) -> float:
    """Return the part of the volume of a box that parts of it have."""
    widths = np.array(high) - np.array(low)
    total = 0.0
    for a, b in left:
        part = np.where(widths > 0, (np.array(b) - np.array(a)) / np.where(widths > 0, widths, 1.0), 1.0)
        total += float(np.prod(part))
    return min(total, 1.0)
