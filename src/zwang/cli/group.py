"""The command group: which commands there are, and where; a command's module is loaded when it is called.

So `zwang --version`, `zwang --help` and the completion of a shell load neither SymPy nor a compiler.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

import zwang

INTERRUPTED = 130  # 128 and the number of SIGINT, as shells have it
NO_READER = 141
"""128 and the number of SIGPIPE: what a shell shows of a program whose reader has left."""
UNWRITTEN = 2
CRASH = 70
"""EX_SOFTWARE of sysexits.h."""
CRASHED = (
    f"zwang {zwang.__version__} crashed: this is a mistake in zwang, not in your model. Please report it where you got "
    "zwang from (`pip show zwang` has the addresses), with this message, the command and the model file."
)
COMMANDS = {
    "asymptotics": ("asymptotics", "asymptotics_", "How multipliers behave near a singular point."),
    "cache": ("cache", "cache", "The compiled kernels that are kept on disk."),
    "check": ("commands", "check", "Check a model: its declaration and its state."),
    "critical": ("trace", "critical_", "Parameter values at which the space becomes singular."),
    "cycles": ("cycles", "cycles_", "Periodic motions over a parameter, and where they change."),
    "drive": ("drive", "drive_", "The inputs that make a prescribed motion."),
    "equilibria": ("equilibria", "equilibria_", "Where the system can rest, and whether that is stable."),
    "export": ("export", "export", "Write a model as C: one header, one source file."),
    "fit": ("nearby", "fit_", "Parameters and initial values from data."),
    "gallery": ("commands", "gallery_", "List the systems that ship with zwang, or show one."),
    "guarantee": ("guarantee", "guarantee_", "A claim about every state and parameter of a box."),
    "lab": ("laboratory", "lab", "See a mechanism, drag it, ask it: a page in the browser."),
    "limit": ("limit", "limit_", "What a constraint becomes when it is made of springs."),
    "linearize": ("nearby", "linearize_", "Small motions about an equilibrium: frequencies, modes."),
    "lyapunov": ("cycles", "lyapunov_", "How fast nearby motions part, on average."),
    "periodic": ("cycles", "periodic_", "A periodic motion and its multipliers."),
    "reactions": ("reactions", "reactions_", "Every acceleration and reaction the laws allow."),
    "recommend": ("limit", "recommend_", "The stiffness that meets an error, and what it costs."),
    "realize": ("limit", "realize_", "A model file with a constraint made by springs or friction."),
    "reproduce": ("reproduce", "reproduce", "Check five papers claim by claim."),
    "selftest": ("selftest", "selftest", "Hold zwang against independent computations, on random problems."),
    "sensitivity": ("nearby", "sensitivity_", "Derivatives of a motion, through its events."),
    "show": ("commands", "show", "Show a model, and the equations derived from it."),
    "simulate": ("simulate", "simulate_", "How the system moves, with its events."),
    "sweep": ("sweep", "sweep_", "Any verb over a grid or a sample; resumable."),
    "warm": ("warm", "warm", "Compile everything ahead, once per installation."),
    "trace": ("trace", "trace_", "The configuration space: arcs, singular points."),
}
"""Name -> module of this package, its command there, and what `zwang --help` says of it."""


@contextmanager
def written() -> Iterator[None]:
    """Tell what can't be written to stdout: no reader is left (`zwang gallery | head -1`), or its disk is full."""
    try:
        yield
    except BrokenPipeError:
        with suppress(OSError, ValueError, AttributeError):  # what is left in the buffer goes nowhere, at the end too
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(NO_READER) from None
    except OSError as error:
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        click.echo(f"{error.filename or 'standard output'}: {error.strerror or error}", err=True)
        raise click.exceptions.Exit(UNWRITTEN) from None


class LazyGroup(click.Group):
    """Commands that are imported when they are asked for."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Read the arguments, and write help and version."""
        with written():
            return super().make_context(*args, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, whose module is imported now."""
        if cmd_name not in COMMANDS:
            return None
        if ctx.resilient_parsing:  # a shell asks
            from zwang.cli.completion import stand_in

            quick = stand_in(cmd_name)
            if quick is not None:
                return quick
        module, attribute, _ = COMMANDS[cmd_name]
        try:
            found = getattr(importlib.import_module(f"zwang.cli.{module}"), attribute)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)  # click would say "Aborted!" and end with 1
        assert isinstance(found, click.Command)
        return found

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the command that is meant; an unknown one is answered with the nearest."""
        from zwang.errors import nearest

        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"There is no command '{args[0]}'. {nearest(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it can't have meant to raise is a crash, told with how to report it."""
        try:
            with written():
                return super().invoke(ctx)
        except (click.exceptions.Exit, click.Abort, click.ClickException):
            raise
        except Exception:  # whatever it is, it is a mistake of ours
            import traceback

            click.echo(traceback.format_exc(), err=True, nl=False)
            click.echo(CRASHED, err=True)
            ctx.exit(CRASH)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][2]) for name in self.list_commands(ctx)])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Return the names of commands that begin so, without importing them."""
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name, help=COMMANDS[name][2]) for name in COMMANDS if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(zwang.__version__, prog_name="zwang")
@click.option("-v", "--verbose", count=True, help="Log to stderr what is done; -vv in detail. Or set ZWANG_LOG.")
def main(verbose: int) -> None:
    """Constrained mechanical systems where Lagrange's equations stop giving an answer.

    MODEL is a model file (.toml), a robot (.urdf, .xml), or the name of a system of the gallery.
    Exit codes: 0 done, 1 the model has no answer, 2 wrong usage or a file that could not be written, 70 a crash of
    zwang itself, 130 Ctrl-C, 141 nobody reads on.
    """
    if verbose:
        from zwang._logs import show_log

        show_log("info" if verbose == 1 else "debug")
