r"""
The rod of Painlevé: none, one or two answers
=============================================

Claim: a uniform rod that slides on its tip has exactly one acceleration as long as the coefficient of friction is below
:math:`4/3`. The paradox begins there, at the angle :math:`\arctan 2`: beyond it there are angles at which no reaction
satisfies the laws, or two do.

The laws are asked, state by state, which accelerations they allow. Nothing about the paradox is put in.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import zwang as zw

rod = zw.gallery.get("painleve_rod")
print(rod.system)

# %%
# A batch of states: the angle varies along one axis, friction along the other. The tip stays on the floor and slides
# with 1 m/s against the slope of the rod, which turns with 3.3 rad/s.
spin, slip, length = 3.3, -1.0, rod.params["l"]


def count(points: int):
    theta = np.linspace(0, np.pi / 2, points)
    mu = np.linspace(0, 3, points)[:, None]
    height, reach = length * np.sin(theta), length * np.cos(theta)
    state = {"x": 0, "y": height, "theta": theta, "v_x": slip - height * spin, "v_y": reach * spin, "v_theta": spin}
    return zw.reactions(rod.system, state, {**rod.params, "mu": mu})


found = count(500)
print(found)

# %%
# Where the floor can push as the laws demand, there is one answer. In the upper part friction turns the rod into the
# floor faster than the floor can push it away: there is none, or, where the rod would leave the floor by itself, two.
figure, axes = plt.subplots(figsize=(7.2, 4.3), layout="constrained")
found.plot(x="theta", y="mu", ax=axes, legend=False)
for degrees, friction, words, colour in (
    (25, 0.75, "one solution", "black"),
    (48, 2.45, "no solution", "white"),
    (71.5, 2.45, "two\nsolutions", "black"),
):
    axes.text(np.radians(degrees), friction, words, ha="center", va="center", fontsize=13, color=colour)
axes.plot(np.arctan(2), 4 / 3, "o", color="black", markersize=5)
axes.annotate(
    "4/3 at arctan 2", (np.arctan(2), 4 / 3), xytext=(0, -8), textcoords="offset points", ha="center", va="top"
)
axes.set(xlabel="angle between rod and floor", ylabel="coefficient of friction")
axes.set_xticks(np.radians(range(0, 91, 15)), [f"{degrees}°" for degrees in range(0, 91, 15)])
if sys.argv[1:] and sys.argv[1].endswith(".png"):  # python examples/painleve_map.py docs/_static/painleve_map.png
    figure.savefig(sys.argv[1], dpi=150)
plt.show()

# %%
# The smallest friction with a paradox, on finer and finer grids: it comes down to 4/3 with the spacing of the grid.
excess, steps = [], []
for points in (101, 301, 901):
    counted = count(points)
    rows, columns = np.nonzero(counted.counts != 1)
    smallest, angle = counted.values["mu"][rows.min()], counted.values["theta"][columns[rows == rows.min()]].mean()
    excess.append(smallest - 4 / 3)
    steps.append(3 / (points - 1))
    print(f"{points:3d} x {points:3d} states: {smallest:.4f} at {np.degrees(angle):.1f}°")

assert (
    all(0 <= above < 2 * step for above, step in zip(excess, steps, strict=True)) and abs(angle - np.arctan(2)) < 0.02
)
