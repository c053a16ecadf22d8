"""Where the papers meet: what springs and viscous friction decide where the ideal models have no answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zwang.papers.chapter import Chapter, Section
from zwang.papers.claim import Record
from zwang.papers.findings import Picture
from zwang.papers.joint.passages import PENDULUM, TANGENCY, angle_cab, passing
from zwang.papers.wording import num
from zwang.papers.workshop import Workshop
from zwang.pictures import QUIET, SERIES, new_figure

__all__ = ["CHAPTER"]


def _answer(records: Mapping[str, Record]) -> str:
    parts = ["Often, but not always, and the answer depends on what the constraint is made of."]
    energy = records.get("003-joint-energy")
    if energy is not None and "symmetric" in energy.data:
        parts.append(
            "Where two branches cross, springs of any stiffness go straight on to the other branch, and what they keep "
            f"of the energy vanishes like N to the power {num(energy.data['symmetric'], 2)}, or "
            f"{num(energy.data['tilted'], 2)} without symmetry."
        )
    touching = records.get("003-joint-touching")
    if touching is not None and "action" in touching.data:
        parts.append(
            "Where branches touch, they keep the branch in the limit, but never stop swinging, with an action of "
            f"{num(touching.data['action'], 3)} in scaled units."
        )
    paradox = records.get("001-joint-paradox")
    if paradox is not None and "laws" in paradox.data:
        parts.append(
            "In a paradox of friction they end the slip by an impact, which tends to that of the energetic law "
            f"({num(paradox.data['laws']['energetic'], 3)} m/s) and to no other."
        )
    if "004-joint-contact" in records:
        parts.append("Made of viscous friction instead of a spring, the same contact doesn't throw anything back.")
    return " ".join(parts)


def _folding(shop: Workshop) -> Picture:
    def make() -> Any:
        figure, ax = new_figure((5.6, 3.6))
        cases: tuple[Any, ...] = (("crossing", {}, -1, SERIES[0]), ("tangency", TANGENCY, 1, SERIES[3]))
        for name, changes, label, colour in cases:
            for strength, style in ((1e4, ":"), (1e6, "-")):
                motion = passing(shop.system(PENDULUM), strength, label, changes)
                times = np.linspace(motion.t[0], motion.t[-1], 1500)
                angle = angle_cab(motion.at(times))
                ax.plot(times, angle, style, color=colour, lw=1.1, label=f"{name}, N = {strength:.0e}")
        ax.axhline(0.0, color=QUIET, lw=0.8)
        ax.set_xlabel("t [s]")
        ax.set_ylabel("angle CAB [rad]")
        ax.legend(frameon=False)
        return figure

    return Picture(
        "folding",
        "A pendulum on springs goes through its folded pose, where the angle between its rods vanishes. Where two "
        "branches cross it goes over to the other one; where they touch it comes back, and keeps oscillating.",
        make,
    )


CHAPTER = Chapter(
    paper="joint",
    title="Where the papers meet",
    source="None of the five papers has this chapter: it asks each about what another leaves open.",
    question=(
        "A mechanism comes to a point where its branches meet; friction contradicts itself; a contact closes. Rigid "
        "bodies have no answer there. Real ones are a little soft. Does the softness decide, and does the answer "
        "depend on how soft, and how?"
    ),
    answer=_answer,
    picture=_folding,
    sections=(
        Section(
            "joint.branches",
            "Springs at a singular point",
            "The pendulum of Burian's papers with its rods and its guide made of springs of stiffness N, as Kozlov and "
            "Neishtadt make constraints. The label of a branch is the sign of the angle CAB between the rods.",
            system=PENDULUM,
        ),
        Section(
            "joint.touching",
            "What is left when the stiffness is scaled away",
            "Where two branches touch, time and fold can be scaled with powers of N so that N drops out. What remains "
            "is one equation, and its solution is the limit of all stiff springs.",
        ),
        Section(
            "joint.strings",
            "A string, and a guide that is a little off",
            "Instead of giving the constraints some softness one can make the guide of a string, which pulls only, or "
            "keep it rigid and take it a little too large or too small.",
            system="ellipse_pendulum_string",
        ),
        Section(
            "joint.contacts",
            "Contacts: paradoxes of friction, and impacts",
            "Painlevé's rod slides on a rough floor, uniform, at 60 degrees, with the coefficient of friction 1.4: no "
            "force of the floor satisfies the laws. Then the same rod comes down on a smooth floor.",
            system="painleve_rod",
        ),
    ),
)
