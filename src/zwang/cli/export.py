"""The command export: a model as C, or as an FMU."""

from __future__ import annotations

from pathlib import Path

import click

from zwang._compile import compile
from zwang._compile.c_export import identifier
from zwang.cli.model_argument import NamedModel, find_model
from zwang.cli.output import print_json, tell, tell_mistakes
from zwang.cli.request import JSON, MODEL
from zwang.errors import DeclarationError


@click.command()
@MODEL
@click.option("--to", "language", type=click.Choice(["c", "fmu"]), default="c", show_default=True, help="As what.")
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
    """Write a model as C (accelerations, terms and events, in one header and one source file), or as an FMU."""
    found = find_model(model)
    if language == "fmu":
        paths = _fmu(found, folder, name, active or events)
    else:
        paths = compile(found.system).to_c(folder, name=name, active=active or None, events=events)
    if json_:
        print_json({"language": language, "files": [str(path) for path in paths]})
        return
    for path in paths:
        tell(str(path))


def _fmu(found: NamedModel, folder: str, name: str | None, for_c: tuple[str, ...]) -> tuple[Path, ...]:
    """Write an FMU that starts with the values that came along with a model."""
    if for_c:
        raise DeclarationError("export: --active and --event go with --to c: an FMU watches the model's own events.")
    path = Path(folder) / f"{identifier(found.system, name, 'to_fmu')}.fmu"
    made = compile(found.system)
    return (made.to_fmu(path, state=found.state or None, params=found.params or None, name=name),)
