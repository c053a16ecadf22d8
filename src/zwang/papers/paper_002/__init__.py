"""S. N. Burian, Behaviour of the pendulum with a singular configuration space (2017), claim by claim."""

from __future__ import annotations

from collections.abc import Mapping

from zwang.gallery.sources import BURIAN_2017
from zwang.papers.chapter import Chapter, Section
from zwang.papers.claim import Record
from zwang.papers.paper_002.pictures import poses_drawing, string_drawing
from zwang.papers.wording import num, vec

__all__ = ["CHAPTER"]


def _answer(records: Mapping[str, Record]) -> str:
    parts = [
        "It depends on the shape of the ellipse at its lowest point. If the ellipse is flatter there than the circle "
        "about A, the two ways cross at an angle, and a moving pendulum can only go straight on, which brings the "
        "short rod to the other side of the long one. If the ellipse is as round as that circle and tall, the two ways "
        "touch: both are smooth continuations, and rigid rods alone can't say which one is taken."
    ]
    main = records.get("002-finite-limits")
    if main is not None and "limits" in main.data:
        parts.append(
            "The paper concludes that the forces in the rods grow beyond all bounds where the ways cross. They don't: "
            f"along the two branches they tend to {vec(main.data['limits'][0], 4)} and "
            f"{vec(main.data['limits'][1], 4)}."
        )
    touching = records.get("002-touching-forces")
    if touching is not None and "exponent" in touching.data:
        parts.append(
            f"Where the ways touch, it is the other way round: there the forces grow like the distance to the power "
            f"{num(touching.data['exponent'], 3)}."
        )
    return " ".join(parts)


CHAPTER = Chapter(
    paper="002",
    title="A pendulum that can fold",
    source=f"{BURIAN_2017}, in Russian: Behaviour of the pendulum with a singular configuration space",
    question=(
        "Two rods hang from a pivot and the lower end runs on an ellipse, so that there is one way to move. In one "
        "pose the rods lie exactly on each other, and from there the short one can come out on either side of the long "
        "one. What does the pendulum do when it swings through that pose, and how large do the forces become?"
    ),
    answer=_answer,
    picture=poses_drawing,
    sections=(
        Section(
            "paper_002.frame",
            "Three circles, and where a branch can change",
            "The introduction's first example of a space with singular points, and two remarks on the pendulum's "
            "poses.",
            system="four_bar",
        ),
        Section(
            "paper_002.geometry",
            "The pendulum, its ellipse, its two branches",
            "A is the origin and x points down; |AB| = 2, |BC| = 1. phi is the polar angle of C, `d(phi)` its distance "
            "from A, theta the angle CAB. The sign of theta, the label, says on which side of AC the elbow B is.",
        ),
        Section(
            "paper_002.curvature",
            "Crossing, touching, locked",
            "The ellipse passes at the distance 1 below A. How its curvature k there compares with 1 decides whether "
            "the branches cross, touch, or whether the folded pose stands alone.",
        ),
        Section(
            "paper_002.free",
            "The end let go",
            "Without the ellipse the pendulum has two degrees of freedom and no singular pose. What it does with the "
            "same velocity is a first guess for the constrained one.",
        ),
        Section(
            "paper_002.equations",
            "Equations for the forces",
            "B and C as free particles held by three constraints: the multipliers Lambda of AB, BC and the ellipse "
            "solve a linear system. In the folded pose its matrix is singular.",
        ),
        Section(
            "paper_002.forces",
            "How large the forces become",
            "The main claim of the paper: the multipliers grow without bound where the branches cross. The equation of "
            "the tangent cone says otherwise.",
        ),
        Section(
            "paper_002.reduced",
            "One degree of freedom",
            "On each branch the polar angle of C tells everything, with an inertia `2 F(phi)` and a potential "
            "`V(phi)`.",
        ),
        Section(
            "paper_002.experiment",
            "The experiment with a string",
            "In the paper's models the ellipse was a string through a ring, fixed at the foci. A string pulls and "
            "can't push, so that C may leave the ellipse inwards.",
            picture=string_drawing,
        ),
    ),
)
