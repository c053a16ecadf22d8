r"""
A ball on a shaking table
=========================

Claim: a ball with restitution :math:`e` that hops once in each period of a table :math:`A \sin \omega t` lands at the
phase :math:`\varphi` with :math:`A \omega \cos\varphi = g T (1 - e) / (2 (1 + e))`; its cycle is stable, and each hop
contracts areas of the phase plane by :math:`e^2`.

The flight takes a whole period, so the ball lands with the velocity relative to the table that the last impact left,
which gives the phase. `periodic` finds the same cycle by Newton's method on the return map, through the impact.
"""

import math

import matplotlib.pyplot as plt
import numpy as np
import sympy as sp

import zwang as zw

(y,), (vy,) = zw.coordinates(["y"])
A, w, g, e = zw.parameters("A w g e")
table = A * sp.sin(w * zw.t)
ball = zw.System(
    name="ball on a table",
    kinetic=vy**2 / 2,
    potential=g * y,
    constraints=[zw.Unilateral(y - table, restitution=e, name="table")],
    units={y: "m", A: "m", g: "m/s**2", w: "rad/s"},
)
values = {A: 0.01024, w: 2 * math.pi * 5, g: 9.81, e: 0.8}

# %%
# Thrown upwards about when it should be, it settles; the cycle is then found exactly.
T = 2 * math.pi / values[w]
settling = zw.simulate(ball, {y: 0.02, vy: 0.9, "t": 0.04}, values, until=60 * T)
cycle = zw.periodic(ball, settling.at(59 * T), values, period="2*pi/w")
print(cycle)

# %%
# The ball over the table, for the last six periods.
t = np.linspace(54 * T, 60 * T, 1500)
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.plot(t, 1e3 * settling.at(t)["y"], label="ball")
ax.plot(t, 10.24 * np.sin(values[w] * t), label="table")
ax.set(xlabel="t [s]", ylabel="height [mm]")
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
plt.show()

# %%
# The phase of landing against the closed form, and the product of the two multipliers.
landing = next(event.time for event in cycle.motion.events if event.kind == "impact")
found = values[A] * values[w] * math.cos(values[w] * landing)
expected = values[g] * T * (1 - values[e]) / (2 * (1 + values[e]))
print(f"A w cos(phi) = {found:.12f} m/s, by the formula {expected:.12f} m/s")
assert abs(found - expected) < 1e-9
assert cycle.stable and abs(np.prod(cycle.multipliers).real - values[e] ** 2) < 1e-6
