"""T. V. Salnikova, E. I. Kugushev and A. A. Demidov, on one-sided differential constraints (2023), claim by claim."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zwang.gallery.sources import SALNIKOVA
from zwang.papers.chapter import Chapter, Section
from zwang.papers.claim import Record
from zwang.papers.findings import Picture
from zwang.papers.paper_004.motions import SLEIGH, moved, path, rubbed
from zwang.papers.paper_004.sleigh import flight
from zwang.papers.wording import num
from zwang.papers.workshop import Workshop
from zwang.pictures import new_figure

__all__ = ["CHAPTER"]


def _answer(records: Mapping[str, Record]) -> str:
    parts = [
        "It flies until the blade points along its path, is caught there without a shock, and runs on a circle from "
        "then on. Strong friction on one side alone does the same in the limit."
    ]
    constants = records.get("004-true-error")
    if constants is not None and "constants" in constants.data:
        parts.append(
            f"Over ten seconds the sleigh with friction N stays within {num(constants.data['constants'][0], 4)}/N of "
            "the ideal one. The paper's table shows an error of 0.18 that doesn't go away: it belongs to the way of "
            "averaging."
        )
    return " ".join(parts)


def _picture(shop: Workshop) -> Picture:
    def make() -> Any:
        figure, ax = new_figure((5.2, 4.2))
        for N, colour in ((10.0, "#56b4e9"), (100.0, "#0072b2")):
            _, x, y = path(rubbed(shop, N, 0.0, until=7.0, **flight(1.0, 1.0)), 1500)
            ax.plot(x, y, color=colour, linewidth=1.2, label=f"friction N = {N:g}")
        motion = moved(shop, SLEIGH, until=7.0)
        _, x, y = path(motion, 1500)
        ax.plot(x, y, "--", color="#24292f", linewidth=1.4, label="one-sided blade")
        at = motion.at(motion.events[0].time)
        ax.plot(at["x"], at["y"], "o", color="#d55e00")
        ax.set_aspect("equal")
        ax.set_xlabel("x [m]")
        ax.set_ylabel("y [m]")
        ax.legend(frameon=False)
        return figure

    return Picture("sleigh", "Path of a disc with a one-sided blade, and with strong friction in its place.", make)


CHAPTER = Chapter(
    paper="004",
    title="One-sided constraints on velocities",
    source=f"{SALNIKOVA}, in Russian: Dynamics of systems with one-sided differential constraints",
    question=(
        "A skate that may slip to one side but not to the other, a ratchet, a freewheel: inequalities on velocities. "
        "How does such a system move, does it feel a shock when the constraint begins to act, and can friction make it?"
    ),
    answer=_answer,
    picture=_picture,
    sections=(
        Section(
            "paper_004.shocks",
            "Without shocks, on one more condition",
            "The paper proves that velocities don't jump when such a constraint begins to act. The proof needs a "
            "condition that it doesn't state, and limits that fall suddenly are another matter.",
        ),
        Section(
            "paper_004.friction",
            "Friction in place of the constraint",
            "Very strong viscous friction on the forbidden side holds the velocity near the permitted one. With an "
            "offset in the constraint the printed force does something else.",
        ),
        Section(
            "paper_004.realization",
            "Several constraints at once",
            "The realization in the generality of section 2, with the bound on the violation, the weak limit, and what "
            "the paper leaves open: whether the limit is one motion, and how fast it is reached.",
        ),
        Section(
            "paper_004.sleigh",
            "The one-sided sleigh",
            "A disc with a blade that may slip to its left but not to its right, on ice.",
            system=SLEIGH,
        ),
        Section(
            "paper_004.figures",
            "The figures",
            "Paths of the sleigh with friction in place of the blade.",
        ),
        Section(
            "paper_004.table",
            "Table 1",
            "Three columns: what is printed, what the paper's conventions give, and a measure that doesn't depend on "
            "how the motion was integrated.",
        ),
    ),
)
