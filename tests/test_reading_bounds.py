"""Texts of every shape are read or refused in bounded time and memory: a hostile model file can't hang a reader."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import sympy as sp
from click.testing import CliRunner

import zwang as zw
from zwang._declare import checks
from zwang.cli import main

WORST = Path(__file__).with_name("reading_worst.py")
(x, y), (vx, vy) = zw.coordinates("x y")


def read_all(size: int, seconds: int, megabytes: int) -> None:
    """Read the worst texts of a size in another process, which the system ends beyond its limits."""
    asked = [sys.executable, str(WORST), *map(str, (size, seconds, megabytes))]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stdout[-60:] + done.stderr[-600:]


def test_the_worst_texts_are_read_or_refused_within_bounds() -> None:
    # Without the bounds a single one of them takes minutes, or gigabytes; all together take some seconds.
    read_all(10_000, 60, 2500)


@pytest.mark.nightly
def test_the_worst_long_texts_are_read_or_refused_within_bounds() -> None:
    read_all(100_000, 240, 3000)


def test_a_power_without_velocities_is_not_multiplied_out() -> None:
    a, b, c = zw.parameters("a b c")
    long = (a + b + c + 1) ** 1000
    assert zw.System(kinetic=vx**2 / 2 + vx * long + vy**2 / 2).kinetic == vx**2 / 2 + vx * long + vy**2 / 2
    with pytest.raises(zw.DeclarationError, match="not a polynomial of second degree"):
        zw.System(kinetic=vx**3 + vx * long + vy**2)
    # Degrees that cancel are still seen, as long as there are few terms.
    zw.System(kinetic=(vx + vy) ** 3 - sp.expand((vx + vy) ** 3) + vx**2 + vy**2)
    with pytest.raises(zw.DeclarationError, match="more than 2000 terms when it is multiplied out"):
        zw.System(kinetic=(vx + vy * a + x) ** 900 + vx**2)


def test_the_number_of_terms_is_a_bound() -> None:
    a, b = zw.parameters("a b")
    for expr in ((a + b) ** 5, (a + b + 1) ** 4 * (x + y), a * (b + x) - 3, sp.sin(a + b) ** 2):
        assert len(sp.Add.make_args(sp.expand(expr))) <= checks._terms(expr) + 1e-6
    assert checks._terms((a + b + 1) ** 1000) > 1e5


def test_a_key_of_many_parts_is_refused_by_its_line(tmp_path) -> None:
    path = tmp_path / "keys.toml"
    path.write_text("schema = 1\n" + "a." * 20_000 + "b = 1\n")
    with pytest.raises(zw.DeclarationError, match="a key of 20001 parts at line 2"):
        zw.load(path)


def test_a_number_on_the_command_line_that_is_not_real_is_refused() -> None:
    # As doubles tanh(20) is 1 and acosh(1) is 0; in truth tanh(20) is less than 1.
    done = CliRunner().invoke(main, ["simulate", "bouncing_ball", "--until", "acosh(tanh(20))"])
    assert done.exit_code != 0 and "is not a finite real number" in done.output
