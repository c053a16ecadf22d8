"""The command sweep: a verb over a grid or a sample, from a study file or from options; resumable."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
import numpy as np

from zwang._results.loading import load_result
from zwang._results.study import Study, StudyStatus
from zwang._sweep import sampled, sweep
from zwang.cli.answer_files import Files, write_picture
from zwang.cli.completion import complete_model
from zwang.cli.model_argument import find_model
from zwang.cli.option_values import (
    Assignments,
    budget_from,
    budget_option,
    number,
    ranges_from,
    require_known,
    values_from,
)
from zwang.cli.output import NO_ANSWER, print_json, tell, tell_mistakes
from zwang.cli.request import PARAM, draw, path_option, plainly, state_option
from zwang.errors import DeclarationError, nearest

EXAMPLES = """\b
Examples:
  zwang sweep reactions painleve_rod --over mu=0:2:201 theta=0.1:1.5:141 --project --plot rod.png
  zwang sweep simulate bouncing_ball --over y=0.5:2:50 --option until=3 --keep "events[0].time" --store ball.db
  zwang sweep study.toml --workers 8
  zwang sweep ball.db --status
"""
KEYS = ("verb", "model", "state", "params", "over", "paired", "sampled", "keep", "options", "store")
SETTINGS = ("workers", "block", "seed", "project", "backend")


@click.command("sweep", cls=Assignments, epilog=EXAMPLES)
@click.argument("what", metavar="STUDY.toml | STORE | VERB")
@click.argument("model", metavar="[MODEL]", required=False, shell_complete=complete_model)
@click.option("--over", multiple=True, metavar="NAME=LOW:HIGH:COUNT ...", help="Axes of the grid.")
@state_option()
@PARAM
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="Further arguments of the verb.")
@click.option("--keep", multiple=True, help="What is kept of each result: status, t[-1], events[0].time, ...")
@click.option("--project", is_flag=True, help="Carry each state onto the constraints that the given one satisfies.")
@click.option("--store", type=click.Path(path_type=Path), help="A file in which finished points are safe at once.")
@click.option("--resume", is_flag=True, help="Go on with a store that is there; without it such a store is refused.")
@click.option("--status", is_flag=True, help="Say how far a store is, also while it grows; compute nothing.")
@click.option("--workers", type=int, help="Processes; by default this one.")
@click.option("--dask", metavar="ADDRESS", help="A Dask scheduler whose workers compute.")
@click.option("--block", type=int, help="Points that are handed over together.")
@click.option("--seed", type=int, default=None, help="Of samples and random choices.")
@budget_option
@path_option("--out", "out", "Save the study: .npz, .nc (extra io) or .csv.")
@path_option("--plot", "picture", "Draw it: .png, .svg or .pdf.")
@click.option("--show", help="What --plot draws; by default the status or the first that is kept.")
@click.option("--json", "json_", is_flag=True, help="Write JSON to stdout: axes, values, failures.")
@tell_mistakes
def sweep_(
    what: str,
    model: str | None,
    over: tuple[str, ...],
    state: tuple[str, ...],
    params: tuple[str, ...],
    options: tuple[str, ...],
    keep: tuple[str, ...],
    out: Path | None,
    picture: Path | None,
    show: str | None,
    json_: bool,
    status: bool,
    budget: tuple[str, ...],
    **given: Any,
) -> None:
    """Ask a verb over a grid or a sample of states and parameters, on one core, several, or a cluster.

    A study file names verb, model, [over], [paired] or [sampled], keep, store, [options]; options of the command line
    override it. Exit code 1: some points failed, or points are left.
    """
    table = out is not None and out.suffix == ".csv"
    files = Files(out=None if table else out, picture=picture, page=out if table else None)
    if status:
        study = _stored(given["store"] or Path(what))
    else:
        asked = _from_file(Path(what)) if model is None else {"verb": what, "model": model}
        _override(asked, over, state, params, options, keep, given)
        study = _computed(asked, given, budget)
    files.write(out, study.save)
    files.write(picture, lambda path: _draw(study, path, show))
    if json_:
        print_json(_plain(study))
    else:
        tell(repr(study))
    files.end(0 if study.status is StudyStatus.COMPLETE else NO_ANSWER)


def _stored(path: Path) -> Study:
    found = load_result(path)
    if not isinstance(found, Study):
        raise DeclarationError(f"{path}: holds a {type(found).__name__}, not the study of a sweep.")
    return found


def _from_file(path: Path) -> dict[str, Any]:
    """Return what a study file says."""
    if path.suffix != ".toml":
        raise DeclarationError(
            f"'{path}': give a study file (.toml), or a verb and a model: zwang sweep reactions MODEL."
        )
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DeclarationError(f"{path}: can't be read as a study file: {error}.") from None
    for key in found:
        if key not in KEYS + SETTINGS:
            raise DeclarationError(f"{path}: a study file has no '{key}'. {nearest(key, KEYS + SETTINGS)}")
    for key in ("verb", "model"):
        if not isinstance(found.get(key), str):
            raise DeclarationError(f'{path}: a study file needs {key} = "...".')
    beside = path.parent / found["model"]
    if beside.is_file():
        found["model"] = str(beside)
    return found


def _override(
    asked: dict[str, Any],
    over: tuple[str, ...],
    state: tuple[str, ...],
    params: tuple[str, ...],
    options: tuple[str, ...],
    keep: tuple[str, ...],
    given: Mapping[str, Any],
) -> None:
    if over:
        asked["over"] = ranges_from(over, "--over")
    for key, texts in (("state", state), ("params", params)):
        asked[key] = {**asked.get(key, {}), **values_from(texts, "--state" if key == "state" else "--param")}
    if keep:
        asked["keep"] = list(keep)
    asked["options"] = {**asked.get("options", {}), **dict(_option(text) for text in options)}
    for key in ("store", "workers", "block", "seed"):
        if given[key] is not None:
            asked[key] = given[key]
    asked["project"] = bool(given["project"] or asked.get("project", False))


def _option(text: str) -> tuple[str, Any]:
    """Return an argument of the verb: a number where it can be read as one, else a text."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise DeclarationError(f"--option needs name=value, such as --option until=3; it was given '{text}'.")
    try:
        return name.strip(), number(value, f"--option {name}")
    except DeclarationError:
        return name.strip(), value.strip()


def _computed(asked: dict[str, Any], given: Mapping[str, Any], budget: tuple[str, ...]) -> Study:
    found = find_model(asked["model"])
    system = found.system
    known = ["t", *(item.name for item in (*system.coordinates, *system.velocities))]
    require_known(system, asked["state"], known, "--state")
    require_known(system, asked["params"], [item.name for item in system.parameters], "--param")
    store = asked.get("store")
    if store is not None and Path(store).exists() and Path(store).stat().st_size and not given["resume"]:
        raise DeclarationError(f"{store}: is there already. Go on with it by --resume, or choose another name.")
    with ExitStack() as stack:
        workers = asked.get("workers")
        if given["dask"]:
            workers = stack.enter_context(_dask(given["dask"]))
        options = dict(asked["options"])
        return sweep(
            asked["verb"],
            system,
            {**found.state, **asked["state"]} if _takes_state(asked["verb"]) else None,
            {**found.params, **asked["params"]},
            over=_axes(asked.get("over")),
            paired=_paired(asked),
            keep=asked.get("keep", ("status",)),
            workers=workers,
            store=store,
            block=asked.get("block"),
            seed=asked.get("seed", 0),
            project=asked["project"],
            backend=asked.get("backend", "native"),
            budget=budget_from(budget),
            **options,
        )


def _takes_state(verb: str) -> bool:
    from zwang._sweep.block import takes

    return takes(verb, "state")


def _axes(given: Any) -> Any:
    """Return the axes of a study file: lists of numbers, or texts such as '0:2:201'."""
    if not isinstance(given, Mapping):
        return given
    return {
        name: ranges_from([f"{name}={values}"], "over")[name] if isinstance(values, str) else values
        for name, values in given.items()
    }


def _paired(asked: Mapping[str, Any]) -> Any:
    """Return the values that go together: lists, or samples of distributions named as scipy.stats does."""
    if "sampled" not in asked:
        return asked.get("paired")
    if "paired" in asked:
        raise DeclarationError("A study file has either [paired] or [sampled].")
    plain = dict(asked["sampled"])
    count, how = plain.pop("count", None), plain.pop("how", "sobol")
    laws = {name: _law(name, text) for name, text in plain.items()}
    return sampled(laws, count, how=how, seed=asked.get("seed", 0))


def _law(name: str, given: Any) -> Any:
    """Return a distribution from a list: its name and its numbers (mean and deviation; low and high)."""
    from scipy import stats

    try:
        kind, *numbers = given
        first, second = (float(value) for value in numbers)
        if kind == "normal":
            return stats.norm(first, second)
        if kind == "uniform" and first < second:
            return stats.uniform(first, second - first)
    except (TypeError, ValueError):
        pass
    raise DeclarationError(
        f'sampled: \'{name}\' needs ["normal", mean, deviation] or ["uniform", low, high]; it was given {given!r:.60}.'
    )


def _dask(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise DeclarationError("--dask needs Dask: pip install 'dask[distributed]'.") from None
    untyped: Any = Client
    return untyped(address).get_executor()


def _draw(study: Study, path: Path, show: str | None) -> None:
    if len(study.dims) > 2:
        write_picture(study.plot(show).flat[0].figure, path)
    else:
        draw(study, path, *([] if show is None else [show]))


def _plain(study: Study) -> dict[str, Any]:
    return {
        **plainly("name", "verb", "dims", "coords", "values", "done")(study),
        "failures": [{"point": item.point, "message": item.message} for item in study.failures],
        "left": int(np.count_nonzero(~study.done)) - len(study.failures),
    }
