"""The command export: a model as C."""

from __future__ import annotations

import click

from zwang._compile import compile
from zwang.cli.commands import JSON, MODEL
from zwang.cli.models import find_model
from zwang.cli.telling import print_json, tell, tell_mistakes


@click.command()
@MODEL
@click.option("--to", "language", type=click.Choice(["c"]), default="c", show_default=True, help="The language.")
@click.option("--folder", default=".", show_default=True, metavar="FOLDER", help="Where the files go.")
@click.option("--name", default=None, help="What files and functions are called; by default as the model.")
@click.option(
    "--active", multiple=True, metavar="NAME", help="Constraints held as equalities; by default bilateral ones."
)
@click.option("--event", "events", multiple=True, metavar="EXPRESSION", help="Watched beside the model's own events.")
@JSON
@tell_mistakes
def export(
    model: str,
    language: str,
    folder: str,
    name: str | None,
    active: tuple[str, ...],
    events: tuple[str, ...],
    json_: bool,
) -> None:
    """Write a model as C: accelerations, terms and events, in one header and one source file."""
    made = compile(find_model(model).system)
    paths = made.to_c(folder, name=name, active=active or None, events=events)
    if json_:
        print_json({"language": language, "files": [str(path) for path in paths]})
        return
    for path in paths:
        tell(str(path))
