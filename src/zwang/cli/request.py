"""What a command is asked: a model with the values of the command line, a budget, and files for the answer.

`command` makes a click command of a function that takes a `Request` and the options that are the command's own; the
options that all of them share are added, read and answered here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from zwang._compile import Model, compile
from zwang._plot import new_figure
from zwang.cli.answer_files import Files, write_picture
from zwang.cli.completion import complete_model
from zwang.cli.model_argument import find_model
from zwang.cli.option_values import (
    Assignments,
    Words,
    budget_from,
    budget_option,
    in_radians,
    input_option,
    inputs_from,
    number,
    require_known,
    values_from,
)
from zwang.cli.output import NO_ANSWER, print_json, tell, tell_mistakes

MODEL = click.argument("model", metavar="MODEL", shell_complete=complete_model)
JSON = click.option("--json", "json_", is_flag=True, help="Write JSON to stdout.")
PARAM = click.option(
    "--param", "params", multiple=True, metavar="NAME=NUMBER ...", help="Parameters; override the model's."
)
BOX = click.option(
    "--box", "sides", multiple=True, metavar="NAME=LOW:HIGH", help="Bounds of a coordinate; several times."
)
IMPACT = click.option("--impact", type=Words(["newton", "poisson", "energetic"]), help="The law of impact.")
SEARCH = click.option(
    "--search", type=click.Choice(["sampled", "exhaustive"]), default="sampled", show_default=True,
    help="Many starts, or subdivision of the box with proofs.",
)  # fmt: skip
SEED = click.option("--seed", default=0, show_default=True, help="Of the random starts.")
TIME = click.option("--time", "instant", metavar="NUMBER", help="The instant, for constraints with explicit time [s].")
STATE = "Values of the state; override the model's."
ANGLES = "Angles in --state are in degrees (their velocities in rad/s)."
PERMILLE = 1000  # steps of a progress bar
SHARED = {"model", "state", "params", "degrees", "driving", "budget", "out", "table", "picture", "json_"}
"""What the options that commands share are called, of which a command takes none itself."""


def path_option(name: str, target: str, words: str) -> Callable[[Any], Any]:
    """Return an option that names a file to be written."""
    return click.option(name, target, type=click.Path(path_type=Path), help=words)


def state_option(words: str = STATE) -> Callable[[Any], Any]:
    """Return the option --state."""
    return click.option("--state", multiple=True, metavar="NAME=NUMBER ...", help=words)


def number_at(text: str | None, where: str) -> float | None:
    """Return the number that an option gives; None where it was left out."""
    return None if text is None else number(text, where)


def draw(answer: Any, path: Path, *what: str) -> None:
    """Draw a result into a file."""
    figure, ax = new_figure()
    answer.plot(*what, ax=ax)
    write_picture(figure, path)


def plainly(*names: str) -> Callable[[Any], dict[str, Any]]:
    """Return what makes plain data of a result for JSON: its status and the named fields."""
    return lambda answer: {"status": answer.status.name, **{name: getattr(answer, name) for name in names}}


def pairs(numbers: Any) -> list[list[float]] | None:
    """Return complex numbers as pairs, for JSON."""
    return None if numbers is None else [[one.real, one.imag] for one in numbers.tolist()]


class Request:
    """A model, and what the options that commands share say of it; what can't be written is a mistake at once.

    Parameters
    ----------
    given : dict
        Option -> what was given.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given
        self.out, self.table, self.picture, self.film = (
            given.get(name) for name in ("out", "table", "picture", "film")
        )
        self.files = Files(out=self.out, table=self.table, picture=self.picture, film=self.film)
        self.json: bool = given.get("json_", False)
        self.found = find_model(given["model"])
        self.system = self.found.system

    @cached_property
    def model(self) -> Model:
        """The compiled system."""
        return compile(self.system)

    @cached_property
    def given_state(self) -> dict[str, Any]:
        """The values of --state."""
        found = values_from(self._given["state"], "--state")
        require_known(self.system, found, self.of_state, "--state")
        return in_radians(self.system, found) if self.degrees else found

    @cached_property
    def given_params(self) -> dict[str, Any]:
        """The values of --param."""
        found = values_from(self._given["params"], "--param")
        require_known(self.system, found, self.of_params, "--param")
        return found

    @property
    def of_state(self) -> list[str]:
        """The names that a state has."""
        return ["t", *(item.name for item in (*self.system.coordinates, *self.system.velocities))]

    @property
    def of_params(self) -> list[str]:
        """The names of the parameters."""
        return [item.name for item in self.system.parameters]

    @property
    def degrees(self) -> bool:
        """Whether angles were given in degrees."""
        return bool(self._given.get("degrees", False))

    @property
    def state(self) -> dict[str, Any]:
        """The model's state with the given values over it."""
        return self.found.state | self.given_state

    @property
    def params(self) -> dict[str, Any]:
        """The model's parameters with the given ones over them."""
        return self.found.params | self.given_params

    @property
    def exact_params(self) -> tuple[str, ...]:
        """The texts of --param, for a command that takes them exactly."""
        return tuple(self._given["params"])

    @property
    def budget(self) -> float | dict[str, float] | None:
        """What --budget says."""
        return budget_from(self._given["budget"])

    @property
    def inputs(self) -> dict[str, Any] | None:
        """What --input says."""
        return inputs_from(self._given["driving"])

    def write(self, answer: Any, drawn: Callable[[Any, Path], None] = draw) -> None:
        """Write the files that were asked for: result, table, picture."""
        self.files.write(self.out, answer.save)
        if self.table is not None:
            self.files.write(self.table, answer.to_csv)
        self.files.write(self.picture, lambda path: drawn(answer, path))

    def tell(self, answer: Any, plain: Callable[[Any], Any]) -> None:
        """Print an answer: for people, or as JSON."""
        if self.json:
            print_json(plain(answer))
        else:
            tell(repr(answer))

    def end(
        self,
        answer: Any,
        plain: Callable[[Any], Any],
        *,
        good: bool,
        drawn: Callable[[Any, Path], None] = draw,
    ) -> None:
        """Write files, print the answer, and end with a code that says whether it is one."""
        self.write(answer, drawn)
        self.tell(answer, plain)
        self.files.end(0 if good else NO_ANSWER)


def command(
    name: str,
    examples: str | None = None,
    *,
    state: str = STATE,
    inputs: bool = False,
    budget: bool = True,
    out: str = "",
    table: bool = False,
    plot: str = "",
    cls: type[click.Command] = Assignments,
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command of a function that takes a Request and the options that are its own.

    Parameters
    ----------
    name : str
        What it is called.
    examples : str, optional
        Lines to try, shown below the options.
    state : str
        What --help says of --state; empty: the command takes neither it nor --degrees.
    inputs, budget, table : bool
        Whether it takes --input, --budget, --csv.
    out, plot : str
        What --out saves and what --plot draws; empty: it doesn't.
    """

    def made(ask: Callable[..., None]) -> click.Command:
        options = [JSON]
        if plot:
            options.append(path_option("--plot", "picture", f"Draw {plot}: .png, .svg or .pdf."))
        if table:
            options.append(path_option("--csv", "table", "Write a table of it: .csv."))
        if out:
            options.append(path_option("--out", "out", f"Save {out}: .npz, or .nc with the extra io."))
        options += [budget_option] * budget
        if state:
            options.append(click.option("--degrees", is_flag=True, help=ANGLES))
        options += [input_option] * inputs
        options.append(PARAM)
        if state:
            options.append(state_option(state))

        def run(**given: Any) -> None:
            ask(Request(given), **{key: value for key, value in given.items() if key not in SHARED})

        run.__doc__ = ask.__doc__
        callback: Any = tell_mistakes(run)
        own = getattr(ask, "__click_params__", [])  # the last of the decorators comes first
        for option in options:
            option(callback)
        callback.__click_params__ = [*callback.__click_params__, *own]
        return click.command(name, cls=cls, epilog=examples)(MODEL(callback))

    return made
