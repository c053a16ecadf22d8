"""What several claims of paper 000 look at: growth near singular points, and the quantities of (4) to (8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from zwang import Bilateral, Coulomb, System, asymptotics, derive, trace
from zwang.papers.workshop import Workshop
from zwang.results import Asymptotics, ConfigurationSpace, Growth

CROSSING, TANGENCY = "crossing", "tangency"
SMOOTH, RODS, ROUGH = "ellipse_pendulum", "ellipse_pendulum_cartesian", "ellipse_pendulum_friction"
BOX = {"x": (-1.0, 1.0), "y": (-1.0, 1.0)}
ORIGIN = {"x": 0, "y": 0}
FOLDED = {"phi": 0, "psi": sp.pi}
# C on the axis of the ellipse where the perturbed curve lets it pass, the rods folded where it turns back.
SECTIONS = {1: "l1*sin(phi) + l2*sin(psi)", -1: "psi - phi - pi"}
TOUCHING = {"r1": 1.5625, "r2": 1.25, "a": -0.5625}
EXPONENT = 1e-6
"""What a measured exponent may be off."""


@lru_cache(maxsize=64)
def _growth(system: System, params: tuple[Any, ...], at: tuple[Any, ...], perturb: str | None, section: Any) -> Any:
    chosen = dict(section) if isinstance(section, tuple) else section
    return asymptotics(system, dict(params), at=dict(at), perturb=perturb, section=chosen)


def growth(
    system: System, params: Mapping[str, Any], at: Mapping[str, Any], perturb: str | None = None, section: Any = None
) -> Asymptotics:
    """Return what the multipliers do near a singular point, computed once."""
    known = {item.name for item in system.parameters}
    params = {name: value for name, value in params.items() if name in known}
    key = tuple(section.items()) if isinstance(section, Mapping) else section
    found: Asymptotics = _growth(system, tuple(params.items()), tuple(at.items()), perturb, key)
    return found


@lru_cache(maxsize=64)
def _traced(system: System, params: tuple[Any, ...]) -> ConfigurationSpace:
    return trace(system, dict(params), box=BOX)


def traced(shop: Workshop, kind: str, eps: float = 0.0) -> ConfigurationSpace:
    """Return the curve f = eps of a normal form next to the origin, traced once."""
    return _traced(shop.system(kind), tuple(shop.values(kind, eps=eps)[1].items()))


def family(shop: Workshop, kind: str, section: Any = None, **changes: Any) -> Asymptotics:
    """Return the growth through the perturbed curves of a normal form."""
    return growth(shop.system(kind), shop.values(kind, **changes)[1], ORIGIN, "curve", section)


def rough_pendulum(shop: Workshop, **changes: Any) -> Asymptotics:
    """Return the growth through the perturbed curves of the pendulum with a rough guide."""
    return growth(shop.system(ROUGH), shop.values(ROUGH, **changes)[1], FOLDED, "ellipse", SECTIONS)


def rows(found: Asymptotics, sign: int, *, rough: bool, quantity: str = "curve") -> tuple[Growth, ...]:
    """Return the rows of one sign of eps, without friction or with it."""
    chosen = found.select(sign=sign, quantity=quantity)
    return tuple(row for row in chosen if (row.friction != "without") == rough)


def exponents(found: Asymptotics, sign: int, *, rough: bool, quantity: str = "curve") -> list[float]:
    """Return the measured exponents of these rows."""
    return [row.exponent for row in rows(found, sign, rough=rough, quantity=quantity)]


def counts(found: Asymptotics, sign: int, quantity: str = "curve") -> set[tuple[int, ...]]:
    """Return the numbers of solutions that occur: fewest, then most, over the two directions of motion."""
    return {tuple(sorted(row.solutions.values())) for row in rows(found, sign, rough=True, quantity=quantity)}


def form(shop: Workshop, kind: str, *, A: Any = None, B: Any = None, W: Any = None) -> System:
    """Return a normal form of the gallery with some of its coefficients replaced by expressions of x, y, v_x, v_y."""
    system = shop.system(kind)
    changes: dict[str, Any] = {}
    if A is not None:
        changes["mass"] = sp.Matrix(A)
    if B is not None:
        changes["force"] = -sp.Matrix(list(B))
    if W is not None:
        curve = system.constraints["curve"]
        assert isinstance(curve, Bilateral) and isinstance(curve.friction, Coulomb)
        slip = sum(w * v for w, v in zip(W, system.velocities, strict=True))
        changes["constraints"] = [replace(curve, friction=replace(curve.friction, slip=(sp.Add(slip),)))]
    return system.replace(**changes)


@dataclass(frozen=True)
class FamilyTerms:
    """The quantities of A q'' + B = lam grad f + abs(lam) W and a lam + b abs(lam) = c at one state."""

    A: Any
    B: Any
    W: Any
    gradient: Any
    bending: float
    slip: float

    @property
    def a(self) -> float:
        """Grad f A^-1 grad f."""
        return float(self.gradient @ np.linalg.solve(self.A, self.gradient))

    @property
    def b(self) -> float:
        """Grad f A^-1 W."""
        return float(self.gradient @ np.linalg.solve(self.A, self.W))

    @property
    def c(self) -> float:
        """Grad f A^-1 B - v f'' v."""
        return float(self.gradient @ np.linalg.solve(self.A, self.B)) - self.bending

    def friction(self, acceleration: Any, multiplier: float) -> Any:
        """Return the generalized friction force that the equations leave for an acceleration and a multiplier."""
        return self.A @ acceleration + self.B - multiplier * self.gradient


@lru_cache(maxsize=64)
def _formulas(system: System) -> Any:
    equations = derive(system)
    symbols = [*system.coordinates, *system.velocities, *system.parameters]
    pieces = [equations.mass, equations.force, equations.rows, equations.gamma]
    pieces += [equations.slips, equations.slip_rows, equations.bounds]
    return [item.name for item in symbols], sp.lambdify(symbols, pieces, "numpy")


def terms(system: System, state: Mapping[str, Any], params: Mapping[str, Any]) -> FamilyTerms:
    """Return the quantities of a system with one constraint, from its derived equations."""
    names, compute = _formulas(system)
    values = {**params, **state}
    mass, force, normal, gamma, slip, tangent, bound = compute(*(float(values[name]) for name in names))
    rate = float(slip[0, 0]) if len(slip) else 0.0
    W = -float(bound[0, 0]) * np.sign(rate) * tangent[0] if len(slip) else np.zeros(len(mass))
    return FamilyTerms(np.asarray(mass), -force[:, 0], W, normal[0], -float(gamma[0, 0]), rate)


def terms_of(shop: Workshop, name: str, **changes: Any) -> FamilyTerms:
    """Return the quantities of a gallery system."""
    return terms(shop.system(name), *shop.values(name, **changes))


def multipliers(found: Any) -> list[float]:
    """Return the multipliers of the only constraint, from the smallest on."""
    return sorted(float(item.normal[0]) for item in found.solutions)


def frictions(found: Any) -> list[float]:
    """Return the friction forces along the declared slip, in the order of `multipliers`."""
    ordered = sorted(found.solutions, key=lambda item: float(item.normal[0]))
    return [float(np.ravel(item.tangential[0])[0]) for item in ordered]


def formal(equation: FamilyTerms) -> list[float]:
    """Return the solutions of a lam + b abs(lam) = c by (7): those of the two quotients that have their sign."""
    a, b, c = equation.a, equation.b, equation.c
    return sorted(value for sign, value in ((1, c / (a + b)), (-1, c / (a - b))) if sign * value > 0)


def crossing_at(eps: float, v: float = 1.0, slope: float = 0.0) -> dict[str, float]:
    """Return the state on y^2 - x^2 = eps (eps > 0) with x = slope sqrt(eps), moving along the upper branch."""
    y = float(np.sqrt(eps * (1 + slope**2)))
    x = slope * float(np.sqrt(eps))
    return {"x": x, "y": y, "v_x": v, "v_y": v * x / y, "eps": eps}
