"""The command guarantee: a claim about every state and parameter of a box."""

from __future__ import annotations

from typing import Any

import click

from zwang._guarantee import guarantee
from zwang._results.guarantee import Guarantee, GuaranteeStatus
from zwang.cli.request import Request, command, plainly
from zwang.cli.trace import box_from

EXAMPLES = """\b
Examples:
  zwang guarantee painleve_rod "unique acceleration" --box mu=0:1.3 theta=0.1:1.5 x=-1:1 y=0:2
  zwang guarantee model.toml "y > 0" --box x=-1:1 y=-1:1
"""


@command("guarantee", EXAMPLES, state="", inputs=True, out="the result", plot="what is left")
@click.argument("claim", metavar="CLAIM")
@click.option("--box", "sides", multiple=True, metavar="NAME=LOW:HIGH ...", help="Bounds; several times.")
@click.option("--closed", multiple=True, metavar="CONSTRAINT", help="A contact that is closed; by default all.")
def guarantee_(asked: Request, claim: str, sides: tuple[str, ...], closed: tuple[str, ...]) -> None:
    """Whether a claim holds everywhere in a box: proved, refuted by a witness, or undecided.

    CLAIM is 'unique acceleration', 'some acceleration', 'regular', 'can hold', 'must hold', an inequality, or one of a
    constraint's force ('0 < tip < 9'). Exit code 1: refuted or undecided.
    """
    box = box_from(sides, "--box")
    known = {name: value for name, value in asked.params.items() if name not in box}
    answer = guarantee(
        claim, asked.system, box, known, closed=closed or None, inputs=asked.inputs,
        budget=asked.budget,
    )  # fmt: skip
    asked.end(answer, _plain, good=answer.status is GuaranteeStatus.PROVED)


def _plain(answer: Guarantee) -> dict[str, Any]:
    witness = answer.witness
    told = None if witness is None else {"state": dict(witness.state), "params": dict(witness.params)}
    return {**plainly("name", "claim", "share", "parts")(answer), "witness": told}
