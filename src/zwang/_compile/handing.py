"""A model handed on: as LaTeX, and as a function for JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from zwang._declare.system import System
from zwang._derive import derive
from zwang.errors import CompileError, DeclarationError


def as_latex(system: System) -> str:
    """Return the equations of motion as an aligned block of LaTeX, without dollar signs."""
    equations = derive(system)
    accelerations = sp.Matrix([sp.Symbol(f"\\ddot{{{sp.latex(item)}}}") for item in system.coordinates])
    right = [sp.latex(sp.Matrix(equations.force))]
    if len(equations.rows):
        names = [item for item in system.constraints if hasattr(item, "expr")]
        multipliers = sp.Matrix([sp.Symbol(f"\\lambda_{{{k + 1}}}") for k in range(len(names))])
        right.append(f"{sp.latex(sp.Matrix(equations.rows).T)} {sp.latex(multipliers)}")
    if len(equations.slip_rows):
        count = equations.slip_rows.shape[0]
        friction = sp.Matrix([sp.Symbol(f"T_{{{k + 1}}}") for k in range(count)])
        right.append(f"{sp.latex(sp.Matrix(equations.slip_rows).T)} {sp.latex(friction)}")
    lines = [f"{sp.latex(sp.Matrix(equations.mass))} {sp.latex(accelerations)} &= {' + '.join(right)}"]
    for item in system.constraints:
        if hasattr(item, "expr"):
            sign = "=" if type(item).__name__ == "Bilateral" else r"\ge"
            lines.append(f"{sp.latex(item.expr)} &{sign} 0")
    body = " \\\\\n".join(lines)
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


def as_jax(system: System, chosen: Sequence[int]) -> Callable[[Any, Any, Any, Any], tuple[Any, Any]]:
    """Return (t, q, v, params) -> accelerations and multipliers as a pure function for JAX."""
    if system.inputs:
        raise DeclarationError(
            f"{system.name}: jax: it has the input '{system.inputs[0]}'. Make it a parameter, or put an expression of "
            "t in its place."
        )
    from zwang._kernels.jax import BatchKernels

    try:
        import jax.numpy as jnp
    except ImportError:
        raise CompileError(f"{system.name}: jax needs JAX: pip install 'zwang[gpu]'.") from None
    rows = BatchKernels(system).traceable(tuple(chosen))
    n, k = len(system.coordinates), len(chosen)

    def motion(t: Any, q: Any, v: Any, params: Any) -> tuple[Any, Any]:
        def lanes(values: Any) -> list[Any]:
            return [jnp.reshape(item, (1,)) for item in values]

        out = rows(jnp.reshape(jnp.asarray(t, dtype=float), (1,)), lanes(q), lanes(v), lanes(params))
        return out[:n, 0], out[n : n + k, 0]

    return motion
