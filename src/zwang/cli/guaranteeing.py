"""The command guarantee: a claim about every state and parameter of a box."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from zwang._declare.reading import Reader
from zwang._declare.system import System
from zwang._expressions import parse
from zwang._guarantee import guarantee
from zwang._results.guarantee import GuaranteeStatus
from zwang.cli.completing import complete_model
from zwang.cli.files import Files
from zwang.cli.models import find_model
from zwang.cli.nearby import draw
from zwang.cli.telling import NO_ANSWER, print_json, tell, tell_mistakes
from zwang.cli.tracing import box_from
from zwang.cli.values import Assignments, budget_from, budget_option, input_option, inputs_from, values_from

EXAMPLES = """\b
Examples:
  zwang guarantee painleve_rod "unique acceleration" --box mu=0:1.3 theta=0.1:1.5 x=-1:1 y=0:2
  zwang guarantee model.toml "y > 0" --box x=-1:1 y=-1:1
"""


@click.command("guarantee", cls=Assignments, epilog=EXAMPLES)
@click.argument("model", metavar="MODEL", shell_complete=complete_model)
@click.argument("claim", metavar="CLAIM")
@click.option("--box", "sides", multiple=True, metavar="NAME=LOW:HIGH ...", help="Bounds; several times.")
@click.option("--param", "params", multiple=True, metavar="NAME=NUMBER ...", help="Parameters; override the model's.")
@input_option
@click.option("--closed", multiple=True, metavar="CONSTRAINT", help="A contact that is closed; by default all.")
@budget_option
@click.option("--out", type=click.Path(path_type=Path), help="Save the result: .npz, or .nc with the extra io.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw what is left: .png, .svg or .pdf.")
@click.option("--json", "json_", is_flag=True, help="Write JSON to stdout.")
@tell_mistakes
def guarantee_(
    model: str,
    claim: str,
    sides: tuple[str, ...],
    params: tuple[str, ...],
    driving: tuple[str, ...],
    closed: tuple[str, ...],
    budget: tuple[str, ...],
    out: Path | None,
    picture: Path | None,
    json_: bool,
) -> None:
    """Whether a claim holds everywhere in a box: proved, refuted by a witness, or undecided.

    CLAIM is 'unique acceleration', 'some acceleration', 'regular', 'can hold', 'must hold', or an inequality. Exit code
    1: refuted or undecided.
    """
    files = Files(out=out, picture=picture)
    found = find_model(model)
    box = box_from(sides, "--box")
    known = {name: value for name, value in (found.params | values_from(params, "--param")).items() if name not in box}
    answer = guarantee(
        _claim(found.system, claim), found.system, box, known, closed=closed or None, inputs=inputs_from(driving),
        budget=budget_from(budget),
    )  # fmt: skip
    files.write(out, answer.save)
    files.write(picture, lambda path: draw(answer, path))
    if json_:
        witness = answer.witness
        print_json(
            {
                "name": answer.name,
                "claim": answer.claim,
                "status": answer.status.name,
                "share": answer.share,
                "parts": answer.parts,
                "witness": None if witness is None else {"state": dict(witness.state), "params": dict(witness.params)},
            }
        )
    else:
        tell(repr(answer))
    files.end(0 if answer.status is GuaranteeStatus.PROVED else NO_ANSWER)


def _claim(system: System, text: str) -> Any:
    """Return a relation where the text has a sign of one, else the text."""
    if not any(sign in text for sign in "<>"):
        return text
    sign = next(sign for sign in (">=", "<=", ">", "<") if sign in text)
    left, right = text.split(sign, 1)
    table = Reader(system.name, system.coordinates, list(system.expressions().values())).table
    first, second = (parse(part, table, where="CLAIM") for part in (left, right))
    return first > second if sign.startswith(">") else first < second
