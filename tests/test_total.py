"""Plain Python has the arithmetic of compiled code: the same values, the same messages, no foreign exception."""

from __future__ import annotations

import ast
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang._numerics import jit
from zwang._numerics.total import FUNCTIONS, SPELLED, TOTAL_NAMES, divide, power, total_function, total_math

VALUES = (0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e308, -1e308, 5e-324, 800.0, math.inf, -math.inf, math.nan)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_the_values_of_numpy_where_math_raises(name: str) -> None:
    with np.errstate(all="ignore"):
        expected = [float(getattr(np, SPELLED.get(name, name))(np.float64(x))) for x in VALUES]
    np.testing.assert_allclose([getattr(total_math, name)(x) for x in VALUES], expected, rtol=1e-15)


def test_division_and_powers_have_the_values_of_numpy() -> None:
    for a in VALUES:
        for b in VALUES:
            with np.errstate(all="ignore"):
                quotient, raised = np.float64(a) / np.float64(b), np.float64(a) ** np.float64(b)
            np.testing.assert_equal(divide(a, b), float(quotient))
            np.testing.assert_allclose(power(a, b), float(raised), rtol=1e-15)


def test_source_is_rewritten_wherever_it_divides() -> None:
    scope: dict[str, Any] = dict(TOTAL_NAMES)
    text = (
        "def f(x):\n    y = 1.0 / (x[0] - 2.0) + 0.0 ** -1.0\n    for _ in range(2):\n        x[0] /= 0.0\n"
        "    x[0] **= 2.0\n    k = (7 // 2\n         + 2 ** 3)\n    return x, y, k\n"
    )
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    exec(compile(total_function(function, text), "<text>", "exec"), scope)
    assert scope["f"]([2.0]) == ([math.inf], math.inf, 11)


def test_kernels_in_plain_python_have_total_functions() -> None:
    @jit.njit("float64(float64)")
    def root(x: float) -> float:
        return math.sqrt(x) + math.exp(-1000.0 * x)

    assert math.isnan(root.plain(-1.0))
    assert math.isnan(root(-1.0))


# --- hostile states, compiled and plain ------------------------------------------------------------------------------

(X, Y), (VX, VY) = zw.coordinates("x y")
FORCES = {
    # Branches that are not taken are computed all the same: they must not raise.
    "guarded": sp.Piecewise(
        (sp.sqrt(X) + sp.log(X) + 1 / X + sp.acosh(1 + X) + X ** sp.Float(0.3), X > 0), (sp.Integer(1), True)
    ),
    "open": 1 / X + sp.log(Y) + sp.exp(1000 * Y) + sp.cosh(Y) ** Y,
    "signs": sp.sin(1 / sp.sign(X)) + sp.asin(Y) + sp.atanh(Y),
    "instant": 1 / zw.t + sp.sqrt(zw.t - 1),
}
PLACES = [(0.0, 0.0), (-2.0, 1.0), (0.5, 0.5), (1.0, 2.0), (1e-100, -1.0), (0.0, 1.0)]


def outcomes() -> list[Any]:
    """Return what `evaluate`, `reactions` and `simulate` say at each place, in a form that can be written."""
    found: list[Any] = []
    for name, force in FORCES.items():
        floor = zw.Unilateral(Y + 1, friction=zw.Coulomb(0.5, slip=VX), restitution=0, name="floor")
        system = zw.System(name=name, kinetic=(VX**2 + VY**2) / 2, forces={X: force, Y: -1}, constraints=[floor])
        for x, y in PLACES:
            state = {"x": x, "y": y, "v_x": 0.0, "v_y": 0.0}
            found += [told(lambda s=system, at=state: accelerations(s, at))]
            found += [told(lambda s=system, at=state: zw.reactions(s, at).status.name)]
        found += [told(lambda s=system: ending(s))]
    return found


def accelerations(system: zw.System, state: dict[str, float]) -> list[float]:
    return [float(f"{value:.12g}") for value in zw.compile(system).evaluate(state).accelerations]


def ending(system: zw.System) -> Any:
    motion = zw.simulate(system, {"x": 1.0, "y": 0.5, "v_x": -2.0, "v_y": 0.0}, until=0.02, tol=1e-6)
    return motion.status.name, [float(f"{value:.6g}") for value in motion.q[-1]]


def told(ask: Any) -> Any:
    try:
        with np.errstate(all="ignore"):  # NumPy's own words on overflow are not what is compared
            return ask()
    except zw.ZwangError as error:
        return f"{type(error).__name__}: {error}"


def test_hostile_states_have_the_same_outcomes_compiled_and_in_plain_python() -> None:
    folder = Path(__file__).parent
    code = "import json, test_total; print(json.dumps(test_total.outcomes()))"
    settings = os.environ | {"ZWANG_NO_JIT": "1", "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=settings, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    plain, compiled = json.loads(done.stdout.splitlines()[-1]), json.loads(json.dumps(outcomes()))
    assert plain == compiled
    assert sum(isinstance(item, str) and item.startswith("StateError") for item in plain) >= 8
