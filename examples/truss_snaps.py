"""
A truss that snaps through
==========================

Claim: a shallow truss of two bars snaps through at the load 2 k (L0^(2/3) - a^(2/3))^(3/2).

Half span a, rest length L0, stiffness k of each bar, load P downwards: the branch of symmetric equilibria over P folds
at that load of either sign, beyond which the truss jumps to the other side.
"""

import sympy as sp

import zwang as zw

(x, y), (vx, vy) = zw.coordinates("x y")
a, L0, k, m, P = zw.parameters("a L0 k m P")
bars = [sp.sqrt((x + side * a) ** 2 + y**2) for side in (1, -1)]
truss = zw.System(
    name="truss",
    kinetic=m * (vx**2 + vy**2) / 2,
    potential=sum(k * (bar - L0) ** 2 / 2 for bar in bars) + P * y,
)
values = {"a": 1, "L0": 1.2, "k": 1, "m": 1}
found = zw.equilibria(truss, values, vary=P, within=(-0.5, 0.5), box={"x": (-0.5, 0.5), "y": (-1.5, 1.5)})
print(found)

snap = 2 * (1.2 ** (2 / 3) - 1) ** 1.5
assert len(found.folds) == 2 and all(abs(abs(fold.value) - snap) < 1e-9 for fold in found.folds)
