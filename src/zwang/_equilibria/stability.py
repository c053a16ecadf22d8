"""What is known of the stability of an equilibrium, and why.

By energy: the potential (amended, where momenta of steady coordinates are conserved) has a strict minimum on the
admissible set, nothing depends on time, and all other forces are dissipative or gyroscopic. Linear: the eigenvalues of
small motions that keep the contacts as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.system import System
from zwang._linearize import linearize
from zwang._numerics.linear.rank import ROUNDING, decided
from zwang._results.linearization import Linearization
from zwang.errors import DeclarationError, StateError

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
DEFINITE = 1e-9
"""Part of the largest eigenvalue of a stiffness by which the least must be positive."""
ERROR = 1e-9
"""Part of the largest eigenvalue that is its error; the root of it counts where eigenvalues are imaginary or zero."""
BESIDE = 1e-2  # of the unit of a coordinate, radians for angles: far beyond rounding, and near
POLE = 1e-12
"""A pole: the inertia is below this part of that at places so far beside; it grows with the square of the distance."""
TRIALS = 40  # random directions of motion in which energy is asked for


@dataclass(frozen=True)
class StabilityVerdict:
    """Stability, why, and eigenvalues where there are some."""

    stability: str
    reason: str
    eigenvalues: Complex | None = None


def stability_at(
    model: Model,
    state: Mapping[str, float],
    params: Mapping[str, float],
    steady: Mapping[str, float | None],
    closed: tuple[str, ...] = (),
) -> StabilityVerdict:
    """Return what is known of the stability of an equilibrium."""
    system = model.system
    if steady and system.mass is None and _at_pole(system, state, params, steady):
        names = ", ".join(f"'{name}'" for name in steady)
        reason = f"{names} has no inertia here (as a longitude at a pole). Take other coordinates."
        return StabilityVerdict("undecided", reason)
    try:
        small = linearize(model, state, params, steady=tuple(steady))
    except (StateError, DeclarationError) as error:
        return StabilityVerdict("undecided", f"There is no linearization: {error}")
    values = np.asarray(small.eigenvalues, dtype=complex)
    rubs = [str(item.name) for item in system.constraints if isinstance(item, Friction) or item.friction is not None]
    rubs = [name for name in rubs if name not in _unilateral(system) or name in closed]
    minimum = _minimum(system, state, params, steady, small) if not rubs else ""
    if minimum:
        return StabilityVerdict("stable (energy)", minimum, values)
    return _by_eigenvalues(system, values, steady, [*rubs, *(name for name in closed if name not in rubs)])


def _unilateral(system: System) -> set[str]:
    return {str(item.name) for item in system.constraints if not isinstance(item, (Bilateral, Friction))}


def error_of(values: Complex) -> float:
    """Return what counts as the error of real parts of eigenvalues."""
    return ERROR * float(np.abs(values).max(initial=0.0))


def free_of_trivial(values: Complex, count: int) -> Complex:
    """Return eigenvalues without those nearest to zero, one for each coordinate that turns and says nothing."""
    order = np.argsort(np.abs(values))
    trivial = [k for k in order[:count] if abs(values[k]) <= np.sqrt(ERROR) * float(np.abs(values).max(initial=0.0))]
    return np.delete(values, trivial)


def _by_eigenvalues(
    system: System, values: Complex, steady: Mapping[str, float | None], acting: list[str]
) -> StabilityVerdict:
    left = free_of_trivial(values, len(steady))
    error = error_of(values)
    loose = np.sqrt(ERROR) * float(np.abs(values).max(initial=0.0))
    largest = float(left.real.max(initial=-np.inf))
    if largest > loose:
        return StabilityVerdict("unstable (linear)", f"An eigenvalue has the real part {largest:.6g}.", values)
    if acting:
        words = ", ".join(f"'{name}'" for name in acting)
        more = ""
        if len(acting) > 1:
            more = " Two frictional one-sided contacts can chatter in reverse."
        return StabilityVerdict(
            "undecided", f"Contacts act ({words}): eigenvalues are those of motions that keep them.{more}", values
        )
    if not len(left):
        return StabilityVerdict("undecided", "No small motion is possible that keeps the constraints.", values)
    if largest < -error:
        return StabilityVerdict("asymptotically stable (linear)", f"The largest real part is {largest:.6g}.", values)
    zero = int((np.abs(left) <= loose).sum())
    rolling = any(not isinstance(item, Friction) and item.level == "velocity" for item in system.constraints)
    if zero and rolling and np.all(left[np.abs(left) > loose].real < -error):
        reason = (
            f"{zero} zero eigenvalues belong to a family of equilibria (constraints on velocities); the others are "
        )
        return StabilityVerdict("undecided", reason + "negative, so each motion ends in the family.", values)
    what = "Zero" if zero else "Imaginary"
    return StabilityVerdict(
        "undecided", f"{what} eigenvalues decide nothing: the largest real part is {largest:.1g}.", values
    )


def _minimum(
    system: System,
    state: Mapping[str, float],
    params: Mapping[str, float],
    steady: Mapping[str, float | None],
    small: Linearization,
) -> str:
    """Return in words that the potential has a strict minimum, or nothing."""
    if system.mass is not None or not _dissipative(system, state, params, steady):
        return ""
    if any(not isinstance(item, Friction) and item.level == "velocity" for item in system.constraints):
        return ""
    if steady:
        stiffness = _amended(system, state, params, steady)
        words = "The amended potential at these momenta"
    else:
        stiffness = None if small.K is None else np.asarray(small.K, dtype=float)
        words = "The potential"
    if stiffness is None:
        return ""
    if not stiffness.size:
        return "The constraints leave no motion." if not steady else ""
    values = np.linalg.eigvalsh((stiffness + stiffness.T) / 2)
    skew = float(np.abs(stiffness - stiffness.T).max())
    if values[0] > DEFINITE * abs(values[-1]) and skew <= 1e-8 * abs(values[-1]):
        return f"{words} has a strict minimum (least stiffness {values[0]:.6g}), and no force feeds energy in."
    return ""


def _dissipative(
    system: System, state: Mapping[str, float], params: Mapping[str, float], steady: Mapping[str, float | None]
) -> bool:
    """Whether the applied forces vanish at rest and take energy, as far as random states nearby show it."""
    if not system.forces:
        return True
    rest = dict.fromkeys(system.velocities, sp.Integer(0))
    if any(sp.expand(expr.xreplace(rest)) != 0 for expr in system.forces.values()):
        return False
    power = sp.Add(*(expr * key.velocity for key, expr in system.forces.items()))
    symbols = sorted(power.free_symbols, key=lambda symbol: symbol.name)
    value = sp.lambdify(symbols, power, "numpy")
    source = np.random.default_rng(1)
    for _ in range(TRIALS):
        at = []
        for symbol in symbols:
            if symbol.name in params:
                at.append(params[symbol.name])
            elif symbol in system.velocities:
                at.append(state.get(symbol.name, 0.0) + source.normal())
            else:
                at.append(state[symbol.name] + 1e-3 * source.normal())
        if not float(value(*at)) <= 1e-12:
            return False
    return not steady or sp.expand(power) == 0


def _steady_inertia(system: System, steady: Mapping[str, float | None]) -> tuple[Any, Any, list[Any]]:
    """Return the inertia of steady coordinates where the others rest, the kinetic energy then, and their rates."""
    still = {item.velocity: sp.Integer(0) for item in system.coordinates if item.name not in steady}
    kinetic = system.kinetic.xreplace(still)
    spins = [item.velocity for item in system.coordinates if item.name in steady]
    return sp.Matrix([[sp.diff(kinetic, a, b) for a in spins] for b in spins]), kinetic, spins


def _at_pole(
    system: System, state: Mapping[str, float], params: Mapping[str, float], steady: Mapping[str, float | None]
) -> bool:
    """Whether the inertia of the steady coordinates vanishes at a state, to rounding, and not beside it."""
    inertia, _, _ = _steady_inertia(system, steady)
    numbers = {symbol: params[symbol.name] for symbol in system.parameters}
    others = [item for item in system.coordinates if item.name not in steady]
    source = np.random.default_rng(0)

    def least(shift: float) -> tuple[float, float]:
        place = {item: state[item.name] for item in (*system.coordinates, *system.velocities)}
        for item in others:
            place[item] += shift * source.normal() * (1.0 if item.angle else abs(state[item.name]) or 1.0)
        sizes = np.abs(np.linalg.eigvalsh(np.array(inertia.xreplace(numbers).xreplace(place), dtype=float)))
        return float(sizes.min()), float(sizes.max())

    return least(0.0)[0] <= POLE * max(least(BESIDE)[1] for _ in range(4))


def _amended(
    system: System, state: Mapping[str, float], params: Mapping[str, float], steady: Mapping[str, float | None]
) -> Array | None:
    """Return the Hessian of the amended potential on what the constraints leave free; None where it has none."""
    others = [item for item in system.coordinates if item.name not in steady]
    inertia, kinetic, spins = _steady_inertia(system, steady)
    if inertia.det() == 0 or any(sp.diff(kinetic, a).xreplace(dict.fromkeys(spins, sp.Integer(0))) != 0 for a in spins):
        return None
    numbers = {symbol: sp.Float(params[symbol.name]) for symbol in system.parameters}
    here = {item: sp.Float(state[item.name]) for item in (*system.coordinates, *system.velocities)}
    momenta = (inertia * sp.Matrix(spins)).xreplace(numbers).xreplace(here)
    energy = (system.potential + (momenta.T * inertia.inv() * momenta)[0] / 2).xreplace(numbers)
    held = [item for item in system.constraints if isinstance(item, Bilateral)]
    gradient = np.array([float(sp.diff(energy, q).xreplace(here)) for q in others])
    rows = np.array([[float(sp.diff(item.expr, q).xreplace(numbers).xreplace(here)) for q in others] for item in held])
    rows = rows.reshape(len(held), len(others))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rank = decided(rows, np.eye(len(others)), ROUNDING)
    units = rows / np.where(lengths > 0, lengths, 1.0)
    lam = np.linalg.lstsq(units.T, gradient, rcond=ROUNDING)[0] / np.where(lengths > 0, lengths, np.inf)[:, 0]
    total: Any = energy - sp.Add(*(float(a) * item.expr.xreplace(numbers) for a, item in zip(lam, held, strict=True)))
    hessian = np.array([[float(sp.diff(total, a, b).xreplace(here)) for a in others] for b in others])
    free = rank.right[rank.rank :].T
    return np.asarray(free.T @ hessian @ free)
