"""The tour of the gallery as one page: a showpiece, a table of all systems, and an article about each."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import sympy as sp

import zwang
from zwang._plot import draw_contact_graph, draw_forces, draw_mechanism, new_figure
from zwang._report import mathml
from zwang._report.drawings import pose_of
from zwang._report.facts import FactCheck
from zwang._report.figures import svg
from zwang._report.page import number, slug, table
from zwang._report.paradox import SPIN, Paradox, draw_paradox
from zwang._report.visits import Visit

TITLE = "A tour of the gallery of zwang"
MOST_ROWS = 16  # of a table of forces
SHOWN_OPERATIONS = 160  # beyond it a formula is folded up
ROUNDING = 1e-13  # relative: what is printed as zero
ALARMING = {"NONE", "UNDECIDED", "INADMISSIBLE", "SINGULAR", "INCONSISTENT"}
CODE = """import zwang as zw

rod = zw.gallery.get("painleve_rod")
print(zw.reactions(rod.system, rod.state, {**rod.params, "mu": 1.4}))"""


def tour_body(visits: Sequence[Visit], showpiece: Paradox, asked: Any) -> str:
    """Return the body of the page.

    Parameters
    ----------
    visits : sequence of Visit
    showpiece : Paradox
    asked : Reactions
        What the code on the page prints.
    """
    articles = "".join(_article(item) for item in visits)
    return (
        f"<header><h1>{TITLE}</h1>{_lead(visits)}</header>"
        f"<main>{_showpiece(showpiece, asked)}{_overview(visits)}"
        f'<section><h2 id="systems">The systems</h2>{_legend()}{articles}</section></main>'
        f"<footer>{_made_with(visits)}</footer>"
    )


def _lead(visits: Sequence[Visit]) -> str:
    agreed, computed = (sum(item.compared[place] for item in visits) for place in (0, 1))
    return (
        '<p class="lead">zwang is software for constrained mechanical systems at the places where Lagrange\'s '
        f"equations stop giving an answer. Each of the {len(visits)} systems below was declared once, compiled, "
        "evaluated at its state, and asked which reactions the laws of contact and friction allow.</p>"
        "<p>Every number on this page was computed when the page was made. Of the facts known in closed form, "
        f"{computed} can be asked of the verbs of this version; {agreed} of them were met. "
        '<a href="#rod">A showpiece</a>, <a href="#overview">all systems in a table</a>, '
        '<a href="#systems">each system with its equations</a>.</p>'
    )


def _showpiece(found: Paradox, asked: Any) -> str:
    figure, ax = new_figure((7.2, 4.4))
    draw_paradox(found, ax)
    degrees = math.degrees(found.angle)
    words = f"Map of the number of solutions over angle and friction; the paradox begins at {found.friction:.4f}."
    picture = svg(figure, "map", words)
    caption = (
        f"Number of accelerations that the laws allow at each of {found.map.codes.size:,} states: uniform rod, tip "
        f"sliding with 1 m/s against its slope, turning with {SPIN} rad/s. Largest residual of a counted solution: "
        f"{number(found.map.residual, 2)}."
    )
    return (
        '<section><h2 id="rod">Where mechanics stops: the rod of Painlevé</h2>'
        '<p class="question">A rod slides along a rough floor on one of its ends. Which force does the floor exert, '
        "and how does the rod move on?</p>"
        f"<figure>{picture}<figcaption>{caption}</figcaption></figure>"
        '<p class="answer">Up to a coefficient of friction of '
        f"{found.friction:.9f} there is always one answer. Beyond that, first at an angle of {degrees:.4f}°, there may "
        "be none, or two: the equations of a rigid rod with Coulomb's friction contradict themselves, or leave a "
        "choice. The closed form says 4/3, at arctan 2 = 63.4349°.</p>"
        f"{_three_graphs(found)}"
        f"<h4>The same in four lines</h4><pre>{escape(CODE)}</pre><pre>{escape(repr(asked))}</pre></section>"
    )


def _three_graphs(found: Paradox) -> str:
    figures = []
    for place, (angle, mu, result) in enumerate(found.examples):
        figure, ax = new_figure((3.1, 2.7))
        draw_contact_graph(result, ax=ax, legend=False)
        ax.set_title(f"{math.degrees(angle):.1f}°, friction {mu}", fontsize=10, loc="left")
        words = f"Gap acceleration over normal force: {result.status.value}"
        figures.append(f"<figure>{svg(figure, f'graph{place + 1}', words)}</figure>")
    return (
        "<p>Why: the gap between tip and floor must not close further, the floor must not pull, and it pushes only "
        "where the gap stays closed. So solutions lie where the acceleration of the gap, as a function of the normal "
        "force, meets the pale L. Friction turns the line; where it falls, it meets the L twice or not at all.</p>"
        f'<div class="side">{"".join(figures)}</div>'
    )


def _overview(visits: Sequence[Visit]) -> str:
    rows = []
    for item in visits:
        agreed, computed = item.compared
        rows.append(
            (
                f'<a href="#{slug(item.entry.name)}"><code>{escape(item.entry.name)}</code></a>',
                str(len(item.entry.system.coordinates)),
                str(len(item.entry.system.constraints)),
                _pill(item),
                f"{agreed} of {computed}" if computed else "–",
                number(item.residual, 2),
                f"{item.again_ms:.2f}",
            )
        )
    head = ("system", "coordinates", "constraints", "answer", "facts met", "residual", "time [ms]")
    return (
        '<section><h2 id="overview">All systems</h2>'
        "<p>The answer is that of <code>reactions</code> where a constraint is one-sided or has friction, else that of "
        "the equations with all constraints active. Residuals are recomputed from the equations, relative to their "
        "terms. The time is that of one public call for one state, most of it bookkeeping.</p>"
        f"{table(head, rows, numbers=(1, 2, 4, 5, 6))}</section>"
    )


def _pill(item: Visit) -> str:
    status = (item.reactions or item.evaluation).status
    mark = " alarm" if status.name in ALARMING else ""
    return f'<span class="status{mark}">{escape(status.name.replace("_", " ").lower())}</span>'


def _legend() -> str:
    against = mathml.math(mathml.row("<mi>T</mi><mo>⇅</mo><mi>s</mi>"), alt="T against s")
    multiplier = mathml.math("<mi>λ</mi>", alt="lambda")
    return (
        f"<p>{multiplier} is the multiplier of a constraint, the force conjugate to its expression; one-sided "
        f"constraints (≥) push only. {against} means that the friction force T acts against the slip velocity s. "
        "Values are in SI units.</p>"
    )


def _article(item: Visit) -> str:
    entry = item.entry
    parts = [
        f'<article id="{slug(entry.name)}"><h3>{escape(_upper(entry.title))} '
        f'<code class="quiet">{escape(entry.name)}</code></h3><p class="source">{escape(entry.source)}</p>',
        _pictures(item),
        _equations(item),
        _values(item),
        _solutions(item) if item.reactions is not None else _multipliers(item),
        _facts(item.comparisons),
        "</article>",
    ]
    return "".join(parts)


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _pictures(item: Visit) -> str:
    entry, made = item.entry, []
    figure, ax = new_figure((3.4, 2.5))
    draw_mechanism(pose_of(entry.system, entry.state, entry.params), ax=ax)
    made.append(svg(figure, f"{slug(entry.name)}-drawing", f"Drawing of {entry.title}", tight=True))
    if item.reactions is not None and any(solution.dimension for solution in item.reactions.solutions):
        rows = 2 * min(len(item.reactions.contacts), MOST_ROWS)
        figure, ax = new_figure((5.2, 1.0 + 0.27 * rows))
        draw_forces(item.reactions, ax=ax)
        ax.set_title("", loc="left")
        made.append(svg(figure, f"{slug(entry.name)}-forces", f"Ranges of the forces at the contacts of {entry.title}"))
    return f'<div class="side">{"".join(f"<figure>{one}</figure>" for one in made)}</div>' if made else ""


def _equations(item: Visit) -> str:
    rows: list[tuple[str, str]] = []
    folded: list[tuple[str, str]] = []
    for what, told, text in mathml.declaration(item.entry.system):
        shown = (escape(what), mathml.math(told, alt=text if len(text) < 400 else what))
        (folded if told.count("<mo>") > SHOWN_OPERATIONS else rows).append(shown)
    more = ""
    if folded:
        names = ", ".join(what for what, _ in folded)
        more = f"<details><summary>{names}: long</summary>{table((), folded, classes='formulas')}</details>"
    return table((), rows, classes="formulas") + more


def _values(item: Visit) -> str:
    def told(values: Mapping[str, float]) -> str:
        shown = (f"{mathml.math(mathml.name(name))} = {number(value)}" for name, value in list(values.items())[:60])
        return ", ".join(shown)

    places = {q.name: item.entry.state[q.name] for q in item.entry.system.coordinates}
    speeds = []
    for v in item.entry.system.velocities:
        if item.entry.state[v.name]:
            speeds.append(f"{mathml.math(mathml.formula(v), alt=v.name)} = {number(item.entry.state[v.name])}")
    motion = ", ".join(speeds) if speeds else "at rest"
    params = (
        f"<details><summary>parameters</summary><p>{told(item.entry.params)}</p></details>" if item.entry.params else ""
    )
    return f"<p>State: {told(places)}; {motion}.</p>{params}"


def _solutions(item: Visit) -> str:
    found = item.reactions
    parts = [f"<p>{_pill(item)} {escape(found.status.value)}"]
    if found.certificate is not None:
        parts.append(f' <span class="quiet">{escape(found.certificate.sentence)}</span>')
    parts.append("</p>")
    for place, solution in enumerate(found.solutions[:4]):
        name = f"Solution {place + 1} of {len(found.solutions)}" if len(found.solutions) > 1 else "Solution"
        rows = []
        for j, contact in enumerate(solution.names[:MOST_ROWS]):
            normal = _range(solution.normal[j], solution.ranges.normal[j])
            spans = np.reshape(solution.ranges.tangential[j], (-1, 2))
            friction = ", ".join(
                _range(value, span) for value, span in zip(np.ravel(solution.tangential[j]), spans, strict=True)
            )
            gap = number(_clean(float(solution.gap_acceleration[j]), solution.acceleration))
            rows.append((escape(contact), escape(solution.modes[j]), normal, friction, gap))
        head = ("contact", "mode", "force N", "friction T", "gap acceleration")
        contacts = table(head, rows, numbers=(2, 3, 4)) if rows else ""
        parts.append(f"<h4>{name}</h4>{contacts}<p>{_accelerations(found.coordinates, solution.acceleration)}</p>")
    if found.note:
        parts.append(f'<p class="quiet">{escape(_upper(found.note))}</p>')
    return "".join(parts)


def _range(value: float, span: Any) -> str:
    low, high = float(span[0]), float(span[1])
    if high - low > 1e-9 * max(1.0, abs(low), abs(high)) or not math.isfinite(high - low):
        return f"{number(low, 5)} to {number(high, 5)}"
    return number(float(value))


def _clean(value: float, scale: Any) -> float:
    """Return a value, or 0 if it is rounding beside others."""
    return 0.0 if abs(value) <= ROUNDING * (1.0 + float(np.abs(scale).max(initial=0.0))) else value


def _accelerations(names: Sequence[str], values: Any) -> str:
    told = []
    for label, value in list(zip(names, values, strict=True))[:MOST_ROWS]:
        twice = mathml.accented(label, "¨")
        shown = number(_clean(float(value), values))
        told.append(f"{mathml.math(twice, alt=f'acceleration of {label}')} = {shown}")
    return "Accelerations: " + ", ".join(told) + "."


def _multipliers(item: Visit) -> str:
    found = item.evaluation
    values = [float(value) for value in found.multipliers.values()]
    rows = [
        (escape(name), number(_clean(value, values)))
        for name, value in list(zip(found.multipliers, values, strict=True))[:MOST_ROWS]
    ]
    listed = table(("constraint", "multiplier"), rows, numbers=(1,)) if rows else ""
    return (
        f"<p>{_pill(item)} {escape(found.status.value)}</p>{listed}"
        f"<p>{_accelerations(found.coordinates, found.accelerations)}</p>"
    )


def _facts(comparisons: Sequence[FactCheck]) -> str:
    rows = []
    for item in comparisons:
        if item.agrees is None:
            verdict = '<span class="status open">not asked yet</span>'
        elif item.agrees:
            verdict = '<span class="status">met</span>'
        else:
            verdict = '<span class="status alarm">missed</span>'
        error = number(item.error, 1) if item.agrees is not None else "–"
        statement = re.sub(r"\^(\d+)", r"<sup>\1</sup>", escape(item.fact.statement))
        rows.append((statement, _fact_value(item.fact.value), error, verdict))
    if not rows:
        return ""
    head = ("fact, known in closed form", "value", "difference", "verdict")
    return f"<h4>Facts</h4>{table(head, rows, numbers=(2,))}"


def _fact_value(value: Any) -> str:
    if isinstance(value, sp.MatrixBase):
        return mathml.math(mathml.formula(value), alt=str(value.tolist()))
    if isinstance(value, tuple):
        return f"({', '.join(_fact_value(part) for part in value)})"
    return number(float(value), 10)


def _made_with(visits: Sequence[Visit]) -> str:
    versions = ", ".join(
        f"{name} {version}" for name, version in visits[0].evaluation.provenance.versions.items() if name != "zwang"
    )
    made = f"Made by zwang {escape(zwang.__version__)} with {escape(versions)}."
    return f"<p>{made} This page loads nothing from elsewhere.</p>"
