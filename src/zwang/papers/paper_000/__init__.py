"""S. N. Burian, Reaction forces and friction forces in systems with geometric singularities (2024), claim by claim."""

from __future__ import annotations

from collections.abc import Mapping

from zwang.gallery.sources import BURIAN_2024
from zwang.papers.chapter import Chapter, Section
from zwang.papers.claim import Record
from zwang.papers.findings import Verdict
from zwang.papers.paper_000.pictures import perturbed_curves
from zwang.papers.paper_000.studies import CROSSING, ROUGH, TANGENCY
from zwang.papers.wording import num

__all__ = ["CHAPTER"]


def _answer(records: Mapping[str, Record]) -> str:
    parts = [
        "As a rule they grow without bound, and how fast depends on how the branches meet, on the side to which the "
        "mechanism is mistuned, and on friction, which makes the growth slower but takes away existence: close to the "
        "singular point the laws allow two reactions for motion one way and none for motion the other way."
    ]
    cross = records.get("000-thm1-frictionless")
    rough = records.get("000-thm1-friction")
    if cross is not None and rough is not None and "exponent" in cross.data and "exponent" in rough.data:
        parts.append(
            f"At a crossing the multiplier grows like the mistuning eps to the power {num(cross.data['exponent'], 3)} "
            f"without friction and {num(rough.data['exponent'], 3)} with it."
        )
    touching = records.get("000-thm2-2")
    if touching is not None and touching.verdict is Verdict.CONFIRMED:
        parts.append(
            "Where the two ways of moving touch instead of crossing, friction even keeps the forces bounded, if the "
            "mechanism is mistuned to one side; to the other they grow faster than at a crossing."
        )
    limit = records.get("000-thm1-two-or-none")
    if limit is not None and "threshold" in limit.data:
        parts.append(
            "The paper does not say how close is close. There is a threshold, in the example at eps = "
            f"{num(limit.data['threshold'], 3)}, beyond which there is one reaction both ways."
        )
    turning = records.get("000-pendulum-turning")
    if turning is not None and turning.data:
        parts.append(
            "In a real mechanism the rule can fail for another reason: where the guided point comes to rest while the "
            "rods fold through, there are two reactions before that pose and none after it, whatever the direction."
        )
    return " ".join(parts)


CHAPTER = Chapter(
    paper="000",
    title="Reactions next to a singular configuration",
    source=f"{BURIAN_2024}, in Russian: Reaction forces and friction forces in systems with geometric singularities",
    question=(
        "Some mechanisms have a pose in which two ways of moving meet. If a length is slightly off, the mechanism "
        "passes close by, on a smooth curve. How large do the forces in it become there, and does friction in a guide "
        "help or hurt?"
    ),
    answer=_answer,
    picture=lambda shop: perturbed_curves(shop, CROSSING),
    sections=(
        Section(
            "paper_000.setting",
            "Constraints and friction",
            "A plane mechanism of N points, one of which slides along a rough guide. The pendulum on an ellipse is its "
            "example here: two rods that can fold, the end C on the ellipse.",
            system=ROUGH,
        ),
        Section(
            "paper_000.equation",
            "One equation for one multiplier",
            "In two coordinates with one constraint f = 0 the multiplier lambda satisfies `a lambda + b |lambda| = c`. "
            "Mistuned, the constraint is f = eps, and the point s_eps of that curve next to the singular point s is "
            "where lambda is asked for.",
        ),
        Section(
            "paper_000.crossing",
            "Lines that cross: the formulas",
            "The first normal form is `f = y^2 - x^2`. A mass matrix A, forces B and friction W of any kind go with "
            "it.",
        ),
        Section(
            "paper_000.theorem_1",
            "Lines that cross: theorem 1",
            "What the multiplier does at the nearest point as eps goes to zero. Every exponent is predicted from "
            "series and measured with eighty digits; numbers of solutions come from enumerating all of them.",
        ),
        Section(
            "paper_000.tangency",
            "Curves that touch: theorem 2",
            "The second normal form is `f = y^2 - x^4`. Here it matters to which side the constraint is mistuned.",
            picture=lambda shop: perturbed_curves(shop, TANGENCY),
        ),
        Section(
            "paper_000.coordinates",
            "Other coordinates: theorem 3",
            "Real mechanisms come in other coordinates than the normal forms. The multiplier doesn't notice.",
        ),
        Section(
            "paper_000.mechanism",
            "On a mechanism",
            "Two rods that can fold, the end C on a rough ellipse: does the theory of the normal forms tell what "
            "happens in a mechanism? The guide is mistuned by eps.",
            system=ROUGH,
        ),
    ),
)
