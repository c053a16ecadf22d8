"""V. V. Kozlov and A. I. Neishtadt, On the realization of holonomic constraints (1990), claim by claim."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zwang.gallery.sources import KOZLOV_NEISHTADT
from zwang.papers.chapter import Chapter, Section
from zwang.papers.claim import Record
from zwang.papers.findings import Picture
from zwang.papers.paper_003.studies import FLOOR, study
from zwang.papers.wording import num
from zwang.papers.workshop import Workshop
from zwang.pictures import new_figure

__all__ = ["CHAPTER"]


def _answer(records: Mapping[str, Record]) -> str:
    parts = [
        "Yes, as long as the motion starts along the constraint. The stiffer the springs, the closer the positions; "
        "the force of the springs never settles, but its average over a short time is the reaction that the ideal "
        "constraint would exert."
    ]
    position = records.get("003-thm-position")
    if position is not None and "orders" in position.data:
        parts.append(
            "Measured on three mechanisms, the error in the position falls like N to the power "
            + ", ".join(num(order, 3) for order in position.data["orders"])
            + "."
        )
    across = records.get("003-transversal-start")
    if across is not None and "limit" in across.data:
        parts.append(
            "Started across the constraint the springs tend to another motion: the ideal one lacks a force that the "
            "oscillation leaves behind."
        )
    return " ".join(parts)


def _fan(shop: Workshop) -> Picture:
    def make() -> Any:
        figure, ax = new_figure((5.6, 3.6))
        study(shop, FLOOR).plot("motions", ax=ax)
        return figure

    return Picture("springs", "Distance of the elastic motions from the ideal one, for growing stiffness.", make)


CHAPTER = Chapter(
    paper="003",
    title="Constraints made of springs",
    source=f"{KOZLOV_NEISHTADT}, in Russian: On the realization of holonomic constraints",
    question=(
        "A rigid rod, a rail, a hinge are idealizations: real ones give a little. If a constraint is replaced by a "
        "very stiff spring, does the motion tend to that of the ideal constraint, how fast, and what does the force do?"
    ),
    answer=_answer,
    picture=_fan,
    sections=(
        Section(
            "paper_003.theorem",
            "The theorem: orders in the stiffness",
            "Three mechanisms are run with springs of stiffness N over several decades, and the largest distances to "
            "the ideal motion are fitted by powers of N.",
        ),
        Section(
            "paper_003.example",
            "The paper's example",
            "A unit mass is pushed off the line y = 0 by a unit force, and the line is a spring. Everything is known "
            "in closed form, so that each printed formula can be held against the computed motion.",
        ),
        Section(
            "paper_003.proof",
            "The proof, and how far it reaches",
            "The steps of section 3 on motions, and the theorem for energies W and kinetic energies of general form.",
        ),
        Section(
            "paper_003.beyond",
            "Outside the theorem",
            "What happens when the start is not along the constraint, and when constraints depend on each other at a "
            "point.",
        ),
    ),
)
