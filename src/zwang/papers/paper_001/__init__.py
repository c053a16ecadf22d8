"""A. P. Ivanov, On the variational formulation of dynamics of systems with friction (2013), claim by claim."""

from __future__ import annotations

from collections.abc import Mapping

from zwang.gallery.sources import IVANOV
from zwang.papers.chapter import Chapter, Section
from zwang.papers.claim import Record
from zwang.papers.paper_001.pictures import pair_drawing, pile_drawing, rod_map, string_drawing
from zwang.papers.wording import num

__all__ = ["CHAPTER"]


def _answer(records: Mapping[str, Record]) -> str:
    parts = [
        "Sometimes one motion, sometimes none, sometimes several. Where the normal forces are known in advance, "
        "friction "
        "is a projection onto a convex set and there is always exactly one answer. Where they are not, friction feeds "
        "back on the forces that cause it, and the laws of Coulomb and of rigid bodies may contradict themselves.",
    ]
    onset = records.get("001-ex5-paradox-friction")
    if onset is not None and "friction" in onset.data:
        friction, angle = onset.data["friction"], onset.data["angle"]
        parts.append(
            f"For the rod of the picture that begins at a coefficient of friction of {num(friction, 5)} "
            f"({num(angle, 4)}° from the floor)."
        )
    ladder = records.get("001-thm12-uniqueness")
    if ladder is not None and ladder.verdict.value == "corrected":
        parts.append(
            "The paper's general test for a unique answer (its Theorem 12) proves that an answer exists; that it is "
            "the only one is true only while everything slides. A ladder at rest passes the test and has two answers."
        )
    return " ".join(parts)


CHAPTER = Chapter(
    paper="001",
    title="Friction: how many motions do the laws allow?",
    source=f"{IVANOV}, in Russian: On the variational formulation of dynamics of systems with friction",
    question=(
        "Rigid bodies touch, press and rub. Given where everything is and how fast it moves, which way does it "
        "accelerate? Newton and Coulomb give equations and inequalities; is there always exactly one answer?"
    ),
    answer=_answer,
    picture=rod_map,
    sections=(
        Section(
            "paper_001.ideal",
            "No friction: Gauss's principle",
            "Without friction the acceleration is the one that departs least, in the sense of Gauss, from that of the "
            "free system. The paper turns this round into a principle for the forces.",
        ),
        Section(
            "paper_001.known_normals",
            "Known normal forces: friction as a projection",
            "Where the normal forces are known in advance (Tresca's friction), the friction forces are the nearest "
            "point of a convex set, in the metric of the kinetic energy. The theorem is right; its wording and its "
            "proof need care.",
        ),
        Section(
            "paper_001.pile",
            "Known normal forces: a pile of blocks",
            "Blocks lie on each other and are pushed sideways. Each contact rests or begins to slide to the left or to "
            "the right: `3^n` cases for n blocks. The weights fix the normal forces, so that only friction is unknown.",
            picture=pile_drawing,
        ),
        Section(
            "paper_001.projections",
            "Algorithms for the pile",
            "The paper proposes two ways to find the motion without trying all cases. Neither works in general; a "
            "small change makes the first one right.",
        ),
        Section(
            "paper_001.pair",
            "Friction in a plane: two particles on a rod",
            "Two particles joined by a light rod lie on a rough plane and are pulled. They rest, or the rod turns "
            "about one of them, or both slide.",
            picture=pair_drawing,
        ),
        Section(
            "paper_001.string",
            "Unknown normal forces: a string over a bar",
            "Now the tension, and with it the friction, depends on how the weights accelerate.",
            picture=string_drawing,
        ),
        Section(
            "paper_001.theory",
            "The laws as one inequality: theorem 11",
            "With the friction of theorem 10 as a function of the normal forces, the whole problem is a variational "
            "inequality for these. How friction answers to a change of the normal forces decides what can be proved.",
        ),
        Section(
            "paper_001.differential",
            "Constraints on velocities",
            "Blades and wheels constrain velocities, and cannot be integrated to positions. The equations of theorem "
            "11 take them in.",
        ),
        Section(
            "paper_001.monotone",
            "The inequality itself",
            "Coercive and monotone operators, along lines and in planes: `reactions(...).inequality` is the object.",
        ),
        Section(
            "paper_001.theorem_12",
            "A test for a unique answer: theorem 12",
            "A matrix Omega, made of the geometry of the contacts and the friction coefficients, shall be positive "
            "definite. Searches with fixed seeds look for counterexamples.",
        ),
        Section(
            "paper_001.rod",
            "The rod of Painlevé",
            "A rod slides with its foot on a rough floor, its centre at (a, h) from the foot. Friction turns the rod, "
            "and the turning changes the force that causes the friction. In the graphs below, solutions lie where the "
            "line (the acceleration of the gap over the normal force) meets the pale L: an opening gap without force, "
            "or a force with a closed gap.",
            system="painleve_rod_tip",
        ),
        Section(
            "paper_001.ladder",
            "The ladder",
            "A rod leans on a rough wall: two contacts with friction, which can hold each other by forces along it.",
            system="ladder",
        ),
        Section(
            "paper_001.rest",
            "What is guaranteed at rest: theorem 13",
            "Contacts at rest have at least one solution if they can't be wedged, or if nothing around them moves.",
        ),
    ),
)
