"""The commands check, show and gallery."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import sympy as sp

from zwang import gallery
from zwang._compile import Model, compile
from zwang._declare.checks import likely_angles
from zwang._declare.constraints import Unilateral
from zwang._declare.plain import to_dict
from zwang._declare.system_text import as_latex
from zwang._derive import derive
from zwang._outputs import check_output
from zwang._plot import draw_mechanism, new_figure
from zwang._reactions import reactions
from zwang._report import pose_of
from zwang._results.evaluation import Evaluation, EvaluationStatus
from zwang._results.reactions import Reactions, ReactionsStatus
from zwang.cli.answer_files import Files, write_picture
from zwang.cli.completion import complete_model
from zwang.cli.model_argument import find_model
from zwang.cli.option_values import Assignments, Words, values_from
from zwang.cli.output import NO_ANSWER, print_json, print_table, tell, tell_mistakes
from zwang.cli.request import JSON, MODEL, PARAM, path_option, state_option
from zwang.errors import DeclarationError

SHOWN = 8  # coordinates whose equations still fit a terminal


@click.command(cls=Assignments)
@MODEL
@PARAM
@state_option()
@click.option(
    "--backend",
    type=Words(["native", "reference", "cuda", "batch"]),
    default="native",
    show_default=True,
    help="What evaluates the equations.",
)
@JSON
@tell_mistakes
def check(model: str, params: tuple[str, ...], state: tuple[str, ...], backend: str, json_: bool) -> None:
    """Check a model: its declaration and, where it has values, its state and its equations there."""
    found = find_model(model)
    values = found.params | values_from(params, "--param")
    at = found.state | values_from(state, "--state")
    system = found.system
    report: dict[str, Any] = {
        "name": system.name,
        "digest": system.digest,
        "coordinates": [item.name for item in system.coordinates],
        "parameters": [item.name for item in system.parameters],
        "constraints": list(system.constraints.names),
        "likely_angles": list(likely_angles(system)),
    }
    if not at:
        _print_check(report, json_, "declared well; no state was given, so the equations were not evaluated")
        return
    compiled = compile(system, backend)
    report["violation"] = compiled.check(at, values)
    found_here: Evaluation | Reactions
    if any(isinstance(item, Unilateral) or item.slip for item in system.constraints):
        found_here = _reactions_there(compiled, at, values, report)
        answered = found_here.status not in (ReactionsStatus.NONE, ReactionsStatus.UNDECIDED)
    else:
        found_here = compiled.evaluate(at, values)
        report |= {
            "status": found_here.status.name,
            "accelerations": dict(zip(found_here.coordinates, found_here.accelerations, strict=True)),
            "multipliers": dict(found_here.multipliers),
            "residual": found_here.residual,
        }
        answered = found_here.status is not EvaluationStatus.INCONSISTENT
    _print_check(report, json_, repr(found_here))
    if not answered:
        sys.exit(NO_ANSWER)


def _reactions_there(compiled: Model, at: dict[str, Any], values: dict[str, Any], report: dict[str, Any]) -> Reactions:
    """Ask what contacts and friction do at a state: without them, its equations would be another system's."""
    found = reactions(compiled, at, values)
    assert isinstance(found, Reactions)  # one state
    solutions = list(found.solutions)
    report |= {"status": found.status.name, "residual": found.residual}
    if len(solutions) == 1:
        first = solutions[0]
        report["accelerations"] = dict(zip(found.coordinates, first.acceleration, strict=True))
        report["multipliers"] = dict(zip(first.names, first.normal, strict=True))
        report["modes"] = dict(zip(first.names, first.modes, strict=True))
    return found


def _print_check(report: dict[str, Any], json_: bool, text: str) -> None:
    if json_:
        print_json(report)
        return
    counts = ", ".join(
        f"{len(report[key])} {key if len(report[key]) != 1 else key[:-1]}"
        for key in ("coordinates", "parameters", "constraints")
    )
    tell(f"{report['name']}: {counts}, content {report['digest'][:12]}")
    if report["likely_angles"]:
        names = ", ".join(report["likely_angles"])
        tell(f"in sines and cosines alone, but no angles: {names}. Declared as angles they have size 1 and turn round")
    if "violation" in report:
        tell(f"the state satisfies its constraints to {report['violation']:.1e}")
    tell(text)


@click.command()
@MODEL
@click.option("--latex", is_flag=True, help="The declaration as LaTeX.")
@click.option("--equations", is_flag=True, help="The derived equations as well.")
@JSON
@tell_mistakes
def show(model: str, latex: bool, equations: bool, json_: bool) -> None:
    """Show a model: its declaration, and the equations derived from it."""
    system = find_model(model).system
    derived = derive(system)
    if json_:
        shown: dict[str, Any] = to_dict(system) | {"digest": system.digest}
        if equations:
            shown["equations"] = {
                name: [[str(item) for item in row] for row in getattr(derived, name).tolist()]
                for name in ("mass", "force", "rows", "gamma", "slip_rows", "slip_bias")
            }
        print_json(shown)
        return
    if latex:
        tell(as_latex(system))
        if equations:
            tell(rf"{sp.latex(derived.mass)}\,\ddot q = {sp.latex(derived.force)} + \text{{reactions}}")
        return
    tell(repr(system))
    if equations:
        if len(system.coordinates) > SHOWN:
            tell(f"  (equations of more than {SHOWN} coordinates are shown with --json only)")
            return
        for name in ("mass", "force", "rows", "gamma"):
            tell(f"\n{name}:\n{sp.pretty(getattr(derived, name), use_unicode=False, wrap_line=False)}")


@click.command("gallery")
@click.argument("name", required=False, shell_complete=complete_model)
@path_option("--save", "target", "Write the named system to a model file.")
@path_option("--plot", "picture", "Draw the named system at its state.")
@click.option("--tour", is_flag=True, help="Evaluate every system of the gallery and check its facts.")
@path_option("--out", "out", "Write the tour as one HTML page.")
@JSON
@tell_mistakes
def gallery_(
    name: str | None, target: Path | None, picture: Path | None, tour: bool, out: Path | None, json_: bool
) -> None:
    """List the systems that ship with zwang, or show one of them."""
    if out is not None and not tour:
        raise DeclarationError("--out goes with --tour; --save writes one system to a model file.")
    for option, wanted in (("--save", target), ("--plot", picture)):
        if wanted is not None and name is None:
            raise DeclarationError(f"{option} needs the name of a system: zwang gallery NAME {option} {wanted}.")
    files = Files(picture=picture, page=out)
    if target is not None:
        check_output(target)
    if tour:
        from zwang.cli.tour import run_tour

        run_tour(files, out, json_)
        return
    if name is None:
        _print_gallery(json_)
        return
    entry = gallery.get(name)
    files.write(target, lambda path: entry.system.save(path, params=entry.params, state=entry.state))
    files.write(picture, lambda path: _draw(entry, path))
    if target is not None or picture is not None:
        files.end(0)
        return
    if json_:
        facts = {key: fact.value for key, fact in entry.facts.items()}
        print_json({**to_dict(entry.system), "params": dict(entry.params), "state": dict(entry.state), "facts": facts})
        return
    tell(f"{entry.title}\n{entry.source}\n\n{entry.system!r}\n")
    for key, fact in entry.facts.items():
        tell(f"  {key}: {fact.value}  ({fact.statement})")


def _draw(entry: gallery.Entry, path: Path) -> None:
    figure, ax = new_figure((5.2, 4.2))
    draw_mechanism(pose_of(entry.system, entry.state, entry.params), ax=ax)
    write_picture(figure, path)


def _print_gallery(json_: bool) -> None:
    entries = [gallery.get(name) for name in gallery.names()]
    if json_:
        print_json([{"name": entry.name, "title": entry.title, "source": entry.source} for entry in entries])
        return
    rows = (
        (entry.name, str(len(entry.system.coordinates)), str(len(entry.system.constraints)), entry.title)
        for entry in entries
    )
    print_table(("name", "coordinates", "constraints", "what it is"), rows, right=(1, 2))
