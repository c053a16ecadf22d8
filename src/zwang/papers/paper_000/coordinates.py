"""Section 5 of paper 000: other coordinates, theorem 3 and corollary 2."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import sympy as sp

from zwang import Bilateral, Coulomb, System, coordinates
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_corrected, as_printed, sound
from zwang.papers.paper_000.studies import (
    CROSSING,
    EXPONENT,
    ROUGH,
    FamilyTerms,
    counts,
    exponents,
    family,
    growth,
    terms,
)
from zwang.papers.wording import num, vec
from zwang.papers.workshop import Workshop

NEW = coordinates("p1 p2")


class Change:
    """A change of coordinates q = X(p): its values, its differential DX, and (DX p')'_p p'."""

    def __init__(self, expressions: tuple[Any, ...], new: tuple[tuple[Any, ...], tuple[Any, ...]] = NEW) -> None:
        p, rates = list(new[0]), sp.Matrix(new[1])
        X = sp.Matrix(expressions)
        DX = X.jacobian(p)
        drift = (DX * rates).jacobian(p) * rates
        self.expressions = expressions
        self.names = [item.name for item in (*new[0], *new[1])]
        self._compute = sp.lambdify([*p, *new[1]], [X, DX, drift], "numpy")

    def __call__(self, p: Any, rates: Any) -> tuple[Any, Any, Any]:
        """Return X, DX and the drift at a point with a velocity."""
        X, DX, drift = self._compute(*p, *rates)
        return np.ravel(X), np.asarray(DX, dtype=float), np.ravel(drift)

    def system(self, system: System) -> System:
        """Return a system in the new coordinates."""
        return system.transformed(dict(zip(system.coordinates, self.expressions, strict=True)))


def _bend(shop: Workshop) -> Change:
    """Return a curved change of the pendulum's angles, which sends p = 0 to the folded pose."""
    p1, p2 = NEW[0]
    return Change((p1 + p2**2 / 2 + p1 * p2 / 5, sp.pi + p2 - p1 / 3 + sp.sin(p1) ** 2))


def _pair(shop: Workshop, name: str, change: Change, p: Any, rates: Any) -> tuple[FamilyTerms, FamilyTerms, Any, Any]:
    """Return the quantities in old and new coordinates at the same state, DX and the drift."""
    system, params = shop.system(name), shop.values(name)[1]
    return _both(system, change.system(system), params, change, p, rates)


def _both(
    before: System, after: System, params: Any, change: Change, p: Any, rates: Any
) -> tuple[FamilyTerms, FamilyTerms, Any, Any]:
    X, DX, drift = change(p, rates)
    names = [item.name for item in (*before.coordinates, *before.velocities)]
    old = dict(zip(names, [*X, *(DX @ rates)], strict=True))
    new = dict(zip(change.names, [*p, *rates], strict=True))
    return terms(before, old, params), terms(after, new, params), DX, drift


def _off(old: FamilyTerms, new: FamilyTerms, DX: Any, drift: Any) -> float:
    """Return by how much the quantities in new coordinates differ from those of theorem 3."""
    pairs = (
        (new.A, DX.T @ old.A @ DX),
        (new.B, DX.T @ (old.B + old.A @ drift)),
        (new.W, DX.T @ old.W),
        (new.gradient, DX.T @ old.gradient),
    )
    return max(float(np.abs(got - wanted).max()) for got, wanted in pairs)


@claim(
    "000-theorem-3",
    place="theorem 3, (21)",
    statement="A change of coordinates turns the equations into equations of the same form.",
    printed="`A_p = DX^T A DX`, `B_p = DX^T (B + A d)`, `W_p = DX^T W`, where d is what `DX p'` changes by along p",
    recorded="confirmed",
    systems=(ROUGH,),
)
def theorem_3(shop: Workshop) -> Finding:
    rng, change = shop.rng(84), _bend(shop)
    off, count = 0.0, shop.many(20, 400)
    for _ in range(count):
        p, rates = rng.uniform(-0.4, 0.4, 2), rng.uniform(-1, 1, 2)
        off = max(off, _off(*_pair(shop, ROUGH, change, p, rates)))
    return Finding(
        computed=f"The rough pendulum in curved coordinates, its equations derived anew from the kinetic energy: at "
        f"{count} random states they are those of the theorem to {num(off, 1)}.",
        comparisons=(as_printed("A, B, W and the gradient", off, 0.0, tol=1e-11),),
    )


def _of_dimension(m: int, seed: int) -> tuple[System, Change]:
    """Return a random system with m coordinates, one rough constraint and forces of every kind, and a change."""
    source = random.Random(seed)

    def bend(at: Any, i: int) -> Any:
        """Return a product of two coordinates with a random coefficient, one of them the next after the i-th."""
        return sp.Rational(source.choice([-1, 1]) * source.randint(20, 60), 100) * at[(i + 1) % m] * source.choice(at)

    q, v = coordinates([f"q{i + 1}" for i in range(m)])
    new = coordinates([f"p{i + 1}" for i in range(m)])
    system = System(
        name=f"rough constraint in {m} coordinates",
        kinetic=sp.Add(*((v[i] + bend(q, i) * v[(i + 1) % m]) ** 2 / 2 for i in range(m))),
        potential=sp.Add(*(bend(q, i) for i in range(m))),
        forces={q[i]: bend(q, i) - v[i] * source.randint(1, 9) / 10 for i in range(m)},
        constraints=[
            Bilateral(
                sp.Add(*q) + bend(q, 0) * q[0] + bend(q, 1),
                friction=Coulomb("mu", slip=sp.Add(*((1 + i + bend(q, i)) * v[i] for i in range(m)))),
                name="curve",
            )
        ],
    )
    return system, Change(tuple(new[0][i] + bend(new[0], i) for i in range(m)), new)


@claim(
    "000-theorem-3-dimensions",
    place="theorem 3, (21), last line of its proof",
    statement="The same holds for a change of any number m of coordinates.",
    printed="`X: R^m -> R^m`",
    recorded="confirmed",
)
def theorem_3_dimensions(shop: Workshop) -> Finding:
    rng, off, size, same, wanted = shop.rng(86), 0.0, 0.0, [], []
    sizes = (3, 4, 5, 6) if shop.full else (3, 4)
    for m in sizes:
        system, change = _of_dimension(m, 500 + m)
        after = change.system(system)
        for _ in range(shop.many(8, 40)):
            old, new, DX, drift = _both(
                system, after, {"mu": 0.4}, change, rng.uniform(-0.3, 0.3, m), rng.uniform(-1, 1, m)
            )
            off = max(off, _off(old, new, DX, drift))
            size = max(size, float(np.abs(drift).max()))
            same += [new.a, new.b, new.c]
            wanted += [old.a, old.b, old.c]
    return Finding(
        computed=f"Random kinetic energies, forces and rough constraints in {', '.join(map(str, sizes))} coordinates, "
        f"the equations derived anew from the kinetic energy after a curved change: A, B, W and the gradient are those "
        f"of the theorem to {num(off, 1)}; a, b and c, and with them the multipliers, are the same.",
        comparisons=(
            as_printed("A, B, W and the gradient", off, 0.0, tol=1e-11),
            as_printed("a, b, c", same, wanted, tol=1e-10),
            sound("the change bends", size > 0.1),
        ),
    )


@claim(
    "000-theorem-3-multipliers",
    place="theorem 3, and section 5, first lines",
    statement="The multipliers do not depend on the coordinates, so that theorems 1 and 2 hold wherever a change of "
    "coordinates leads to a normal form.",
    printed="the same lambda in (4) and (21)",
    recorded="confirmed",
    systems=(CROSSING, ROUGH),
)
def same_multipliers(shop: Workshop) -> Finding:
    rng, change = shop.rng(85), _bend(shop)
    got, wanted = [], []
    for _ in range(shop.many(20, 400)):
        old, new, _, _ = _pair(shop, ROUGH, change, rng.uniform(-0.4, 0.4, 2), rng.uniform(-1, 1, 2))
        got += [new.a, new.b, new.c]
        wanted += [old.a, old.b, old.c]
    p1, p2 = NEW[0]
    skewed = Change((p1 + p2**2, p2 - p1 * p2)).system(shop.system(CROSSING))
    there = growth(skewed, shop.values(CROSSING)[1], {"p1": 0, "p2": 0}, "curve", "p1 + p2**2")
    here = family(shop, CROSSING)
    powers = exponents(there, 1, rough=False) + exponents(there, 1, rough=True)
    return Finding(
        computed=f"a, b and c of the pendulum are the same in curved coordinates. The crossing in curved coordinates "
        f"has the exponents {num(powers[0])} and {num(powers[-1])} and the threshold {num(there.threshold)}; in its "
        f"own it is {num(here.threshold)}.",
        comparisons=(
            as_printed("a, b, c", got, wanted, tol=1e-11),
            as_printed("threshold", there.threshold, here.threshold),
            as_printed("numbers of solutions", counts(there, 1) == counts(here, 1)),
            sound("exponents", powers, [-1.0] * 2 + [-0.5] * (len(powers) - 2), tol=EXPONENT),
        ),
        residual=there.residual,
    )


@claim(
    "000-corollary-2",
    place="corollary 2",
    statement="The vector that the conditions of theorems 1 and 2 look at, at the point `p_{*}` of the singular pose, "
    "from quantities in the old coordinates.",
    printed="`A_p^-1 W_p` at `X(p_{*})` is `DX^-1 A^-1 W` at `q_{*}`",
    recorded="corrected",
    systems=(ROUGH,),
    errata=("burian2024-13",),
)
def corollary_2(shop: Workshop) -> Finding:
    change, zero, rates = _bend(shop), np.zeros(2), np.array([1.0, 0.3])
    old, new, DX, _ = _pair(shop, ROUGH, change, zero, rates)
    image = change(zero, rates)[0]
    _, elsewhere, _, _ = _pair(shop, ROUGH, change, image, rates)
    wanted = np.linalg.solve(DX, np.linalg.solve(old.A, old.W))
    at_point = np.linalg.solve(new.A, new.W)
    at_image = np.linalg.solve(elsewhere.A, elsewhere.W)
    # The identity itself, for any mass matrix, friction and differential.
    names = sp.symbols("d1:5 a1:4 w1:3")
    D, W = sp.Matrix(2, 2, names[:4]), sp.Matrix(names[7:9])
    A = sp.Matrix([[names[4], names[5]], [names[5], names[6]]])
    rest = ((D.T * A * D).inv() * (D.T * W) - D.inv() * A.inv() * W).applyfunc(sp.simplify)
    return Finding(
        computed=f"The singular pose has `p_{{*}} = (0, 0)` and `X(p_{{*}}) = (0, π)`. `A_p^-1 W_p` is "
        f"{vec(at_point, 5)} at the first and {vec(at_image, 5)} at the second; `DX^-1 A^-1 W` is {vec(wanted, 5)}.",
        comparisons=(
            as_printed("at X(p)", at_image, wanted),
            as_corrected("at p", at_point, wanted),
            sound("for symbols A, W, DX", bool(rest == sp.zeros(2, 1))),
            sound("X moves the point", bool(np.abs(image).max() > 1)),
        ),
        corrected="`A_p^-1 W_p` at `p_{*}`: these are functions of p.",
    )
