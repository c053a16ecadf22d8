r"""
The legs of a table
===================

Claim: a table on four legs has one acceleration under any load, but its legs share the load in a continuum of ways.
With the load in the middle an outer leg carries anything from nothing to one half of it, an inner leg anything up to
three quarters. The stop that the table is pushed against is determined all the same.

In the plane a rigid table has three degrees of freedom, and four feet on the floor are two too many. A solver that
returns one vector of forces has made a choice that mechanics doesn't make.
"""

import matplotlib.pyplot as plt
import numpy as np
import sympy as sp

import zwang as zw

(x, y, phi), (vx, vy, w) = zw.coordinates("x y phi", angles="phi")
m, J, load, place, push = zw.parameters("m J P s F")
feet = {"far left": -3, "left": -1, "right": 1, "far right": 3}
table = zw.System(
    name="table",
    kinetic=m * (vx**2 + vy**2) / 2 + J * w**2 / 2,
    forces={x: push, y: -load, phi: -load * place * sp.cos(phi)},
    constraints=[
        *(zw.Unilateral(y + a * sp.sin(phi), name=name) for name, a in feet.items()),
        zw.Unilateral(-x, name="stop"),
    ],
)
at_rest = dict.fromkeys(("x", "y", "phi", "v_x", "v_y", "v_phi"), 0.0)
values = {"m": 1.0, "J": 2.0, "P": 1.0, "s": 0.0, "F": 0.2}
middle = zw.reactions(table, at_rest, values)
print(middle)

# %%
# The load is moved along the table. Bands are what a leg may carry; where a band is a line, the force is determined.
# Beyond the last foot the table starts to tip over it, and then everything is determined.
places = np.linspace(-4, 4, 33)
ranges = {name: [] for name in feet}
for s in places:
    found = zw.reactions(table, at_rest, {**values, "s": s}, certify=False)
    for name in feet:
        ranges[name].append(found.solutions[0].ranges[name]["normal"])

figure, axes = plt.subplots(4, 1, figsize=(7, 6.5), sharex=True, sharey=True, layout="constrained")
for axis, (name, a) in zip(axes, feet.items(), strict=True):
    low, high = np.array(ranges[name]).T
    axis.fill_between(places, low, high, alpha=0.35, linewidth=0)
    axis.plot(places, low, places, high, color="C0", linewidth=1)
    axis.axvline(a, color="black", linewidth=0.8, linestyle=":")
    axis.set_ylabel(name)
axes[0].set_title("what each leg may carry, as a part of the load (dotted: where the leg stands)")
axes[-1].set_xlabel("place of the load")
plt.show()

# %%
# The package says in words what depends on what, and which reactions are determined.
for sentence in middle.redundancy.sentences:
    print(sentence)

# %%
# The most that the far left leg carries is with the far right one alone: one half. The inner left leg carries most
# together with the far right one: three quarters, by the law of the lever.
solution = middle.solutions[0]
assert (
    middle.status.name == "UNIQUE_MOTION"
    and np.allclose(solution.ranges["far left"]["normal"], (0, 1 / 2))
    and np.allclose(solution.ranges["left"]["normal"], (0, 3 / 4))
    and np.allclose(solution.ranges["stop"]["normal"], 0.2)
    and middle.redundancy.determined == ("stop",)
)
