"""A system as text and as LaTeX: its own equations, as they were declared."""

from __future__ import annotations

from typing import Any

import sympy as sp

from zwang._declare.checks import before_turns
from zwang._declare.constraints import Bilateral, Constraint, Friction, Unilateral
from zwang._declare.domains import guarded
from zwang._declare.laws import Coulomb, Interval, Section
from zwang._declare.switches import Event, Reset

LONGEST = 12  # lines of a kind that are printed
WIDEST = 100  # characters of a line before it is cut


def as_text(system: Any) -> str:
    """Return the declaration as lines of text; what is long is shortened."""
    rows = [("coordinates", ", ".join(f"{q} (angle)" if q.angle else f"{q}" for q in system.coordinates))]
    if system.parameters:
        rows.append(("parameters", ", ".join(symbol.name for symbol in system.parameters)))
    if system.inputs:
        rows.append(("inputs", ", ".join(symbol.name for symbol in system.inputs)))
    if system.mass is not None:
        rows += [("mass", _matrix(system.mass)), ("force", _matrix(system.force.T))]
    elif system.tree is not None:
        rows += _tree_rows(system)
    else:
        rows.append(("kinetic", str(system.kinetic)))
        if system.potential != 0:
            rows.append(("potential", str(system.potential)))
    rows += [(f"force on {key}", str(value)) for key, value in system.forces.items()]
    shown = list(system.constraints)[:LONGEST]
    rows += [(str(item.name), _relation(item)) for item in shown]
    rows += [(f"event '{event.name}'", event_words(event)) for event in system.events[:LONGEST]]
    width = max(len(label) for label, _ in rows)
    lines = [
        f"  {label.ljust(width)}  {text if len(text) <= WIDEST else text[: WIDEST - 3] + '...'}" for label, text in rows
    ]
    if len(system.constraints) > LONGEST:
        lines.append(f"  ... and {len(system.constraints) - LONGEST} more constraints")
    return "\n".join([f"System '{system.name}'", *lines])


def _tree_rows(system: Any) -> list[tuple[str, str]]:
    """Return what a tree is made of, and energies beside its own."""
    tree = system.tree
    rows = [("bodies", ", ".join(f"{body.name} ({body.mass})" for body in tree.bodies.values()))]
    rows.append(("joints", ", ".join(f"{item.name}: {item.kind} on {item.first}" for item in tree.joints)))
    if any(item != 0 for item in tree.gravity):
        rows.append(("gravity", ", ".join(str(item) for item in tree.gravity)))
    if system.added_potential != 0:
        rows.append(("potential", str(system.added_potential)))
    return rows + [(load.name, ", ".join(str(force) for force, _ in load.pairs)) for load in tree.loads]


def as_latex(system: Any) -> str:
    """Return the declaration as an aligned block of LaTeX, without dollar signs."""
    if system.mass is not None:
        lines = [rf"{sp.latex(system.mass)}\,\ddot q &= {sp.latex(system.force)} + \text{{reactions}}"]
    elif system.tree is not None:
        lines = [
            rf"\text{{{_latex_words(label)}}} &: \text{{{_latex_words(text)}}}" for label, text in _tree_rows(system)
        ]
    else:
        lines = [f"T &= {sp.latex(system.kinetic)}"]
        if system.potential != 0:
            lines.append(f"V &= {sp.latex(system.potential)}")
    lines += [f"Q_{{{sp.latex(key)}}} &= {sp.latex(value)}" for key, value in system.forces.items()]
    lines += [f"{_latex_relation(item)} && \\text{{{_latex_words(str(item.name))}}}" for item in system.constraints]
    body = " \\\\\n".join(lines)
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


def _matrix(matrix: Any) -> str:
    return str(matrix.tolist()) if matrix.rows > 1 else str(list(matrix))


def _relation(item: Constraint) -> str:
    return _law_of(item) if item.starts == "on" else f"{_law_of(item)}, starts off"


def _law_of(item: Constraint) -> str:
    if isinstance(item, Friction):
        within = "" if item.section is None else f" times {_section(item.section)}"
        load = f" times the {'resultant' if len(item.of) > 1 else 'force'} of {', '.join(item.of)}" if item.of else ""
        return f"friction at most {item.bound}{within}{load} against the slip {_slip(item.slip)}"
    turning = before_turns(item.expr)
    found = guarded(item.expr)
    text = f"{item.expr if found is None else found[0]} {'=' if isinstance(item, Bilateral) else '>='} 0"
    text += "" if found is None else f" where {found[1]}"
    text = text if turning is None else f"{turning} = 0 (mod 2 pi)"
    if item.friction is not None:
        text += f", friction {law_words(item.friction)} against the slip {_slip(item.friction.slip)}"
    if isinstance(item, Unilateral) and item.restitution is not None:
        text += f", restitution {item.restitution}"
    return text


def event_words(event: Event) -> str:
    """Return what an event is and does, in words.

    Examples
    --------
    >>> import zwang as zw
    >>> event_words(zw.Event("impact", of="floor", count=3, then=zw.Switch(off="shell")))
    'impact of floor, number 3: shell off'
    """
    side = {1: " rises through 0", -1: " falls through 0", 0: " = 0"}[event.direction]
    words = str(event.expr) + (side if not event.kind else f" of {event.of}" if event.of else "")
    words += "" if event.count is None else f", number {event.count}"
    done: list[str] = []
    for item in event.then:
        if isinstance(item, Reset):
            done += [f"{key} = {value}" for key, value in item.velocities.items()]
        else:
            done += [*(f"{name} off" for name in item.off), *(f"{name} on" for name in item.on)]
    done += ["stop"] if event.stop else []
    return f"{words}: {', '.join(done)}" if done else words


def law_words(law: Any) -> str:
    """Return the coefficients of a law of friction in words.

    Examples
    --------
    >>> import zwang as zw
    >>> (x,), (vx,) = zw.coordinates("x")
    >>> law_words(zw.Coulomb(0.3, slip=vx, static=0.5))
    '0.3, static 0.5'
    """
    if isinstance(law, Coulomb):
        scale = "" if law.scale == 1 else f" times {law.scale}"
        static = "" if law.static is None else f", static {_pair(law.static)}"
        return f"{_pair(law.mu)}{scale}{static}"
    rest = "" if law.resting() == law.section() else f", at rest {_section(law.resting())}"
    return f"{_section(law.section())}{rest}"


def _section(section: Section) -> str:
    return f"[{section.low}, {section.high}]" if isinstance(section, Interval) else f"({section.a}, {section.b})"


def _pair(value: Any) -> str:
    return f"({value[0]}, {value[1]})" if isinstance(value, tuple) else f"{value}"


def _slip(slip: tuple[Any, ...]) -> str:
    return str(slip[0]) if len(slip) == 1 else f"({slip[0]}, {slip[1]})"


def numbered_laws(system: Any) -> list[str]:
    """Return a line of LaTeX for each constraint: its relation, signs and laws, with multipliers and slips numbered."""
    normals = [str(item.name) for item in system.constraints if not isinstance(item, Friction)]
    lines, first = [], 1
    for item in system.constraints:
        forces = tuple(f"T_{{{first + k}}}" for k in range(len(item.slip)))
        first += len(forces)
        if isinstance(item, Friction):
            told = _latex_relation(item, [rf"\lambda_{{{normals.index(name) + 1}}}" for name in item.of], forces)
        else:
            lam = rf"\lambda_{{{normals.index(str(item.name)) + 1}}}"
            told = _latex_relation(item, [lam], forces, signed=isinstance(item, Unilateral))
        off = "" if item.starts == "on" else r"\text{ (starts off)}"
        lines.append(rf"{told} && \text{{{_latex_words(str(item.name))}}}{off}")
    return lines


def _latex_relation(
    item: Constraint, loads: list[str] | None = None, forces: tuple[str, ...] = ("T",), *, signed: bool = False
) -> str:
    """Return relation and law of a constraint; `loads` are its multipliers, `forces` those along its slips."""
    if isinstance(item, Friction):
        names = r",\, ".join(_latex_words(name) for name in item.of)
        load = rf"\,|\lambda_{{\text{{{names}}}}}|" if item.of else ""
        if loads is not None and item.of:
            load = rf"\,|{loads[0]}|" if len(loads) == 1 else rf"\,\sqrt{{{' + '.join(f'{one}^2' for one in loads)}}}"
        return _latex_law(item.section, None, rf"{sp.latex(item.bound)}{load}", item.slip, "&", forces)
    sign = "=" if isinstance(item, Bilateral) else r"\ge"
    turning, found = before_turns(item.expr), guarded(item.expr)
    text = f"{sp.latex(item.expr if found is None else found[0])} &{sign} 0"
    text += "" if found is None else rf" \text{{ where }} {sp.latex(found[1])}"
    text = text if turning is None else rf"{sp.latex(turning)} &= 0 \pmod{{2\pi}}"
    lam = r"\lambda" if loads is None else loads[0]
    text += rf", \quad {lam} \ge 0" if signed else ""
    if item.friction is not None:
        law = item.friction
        told = _latex_law(law.section(), law.resting(), rf"\,|{lam}|", law.slip, "", forces)
        text += rf", \quad {told}"
    return text


def _latex_law(
    section: Section | None,
    resting: Section | None,
    size: str,
    slip: tuple[Any, ...],
    mark: str,
    forces: tuple[str, ...] = ("T",),
) -> str:
    """Return what a section says of the forces, times a size; `mark` stands before the first relation."""
    whole = forces[0] if len(forces) == 1 else rf"({', '.join(forces)})"
    if section is None:
        told = rf"|{whole}| {mark}\le {size}"
    elif section.sides[0] == section.sides[1]:
        bound = sp.latex(section.sides[0])
        told = rf"|{whole}| {mark}\le {bound}{size}" if resting is not None else rf"|{whole}| {mark}\le {bound}\,{size}"
    elif isinstance(section, Interval):
        told = rf"{whole} {mark}\in \left[{sp.latex(section.low)},\, {sp.latex(section.high)}\right]{size}"
    else:
        a, b = (sp.latex(axis) for axis in section.sides)
        one, two = forces if len(forces) == 2 else ("T_1", "T_2")
        told = rf"\left|\left({one}/({a}),\, {two}/({b})\right)\right| {mark}\le {size.removeprefix(chr(92) + ',')}"
    if resting is not None and resting != section:
        sides = ", ".join(sp.latex(side) for side in dict.fromkeys(resting.sides))
        told += rf" \; (\text{{at rest }} {sides})"
    return rf"{told}, \quad {whole} \uparrow\downarrow {_latex_slip(slip)}"


def _latex_slip(slip: tuple[Any, ...]) -> str:
    if len(slip) == 1:
        return str(sp.latex(slip[0]))
    return rf"\left({sp.latex(slip[0])},\; {sp.latex(slip[1])}\right)"


def _latex_words(words: str) -> str:
    special = {"_": r"\_", "&": r"\&", "%": r"\%", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}"}
    return "".join(special.get(letter, letter) for letter in words if letter not in "\\^~")
