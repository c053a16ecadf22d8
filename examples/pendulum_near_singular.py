r"""
Multipliers near a singular point
=================================

Claim: where the two branches of the pendulum on an ellipse cross, its multipliers stay finite, although the constraints
lose rank there; with gravity tilted by any angle they grow like :math:`1/\varphi`; where the branches touch they grow
like :math:`1/\varphi^2`, with coefficients :math:`0.8\, m v^2 (-1/2,\ 1,\ r_1)`.

The exponents are predicted from series of the equations at the point, and measured with eighty digits next to it.
"""

import matplotlib.pyplot as plt

import zwang as zw

entry = zw.gallery.get("ellipse_pendulum_cartesian")
folded = {"x_B": 2, "y_B": 0, "x_C": 1, "y_C": 0}
cases = {
    "crossing": {},
    "crossing, gravity tilted": {"tilt": 0.2},
    "tangency": {"r1": 1.5625, "r2": 1.25, "a": -0.5625},
}

# %%
# The end C moves with unit speed, and its height above the axis measures the distance: near the point it is the polar
# angle :math:`\varphi` of C.
found = {
    name: zw.asymptotics(entry.system, {**entry.params, **changes}, at=folded, speed_of="y_C", distance="y_C")
    for name, changes in cases.items()
}
print(found["crossing"])

# %%
# One half-branch of each, on logarithmic axes.
figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
for name, result in found.items():
    row = result.select(branch=0, quantity="BC")[0]
    ax.loglog(
        row.x, abs(row.values), "o-", markersize=3, label=f"{name}: exponent {row.exponent:.3f}".replace("-", "−")
    )
ax.set(xlabel="distance of C from the vertex of the ellipse", ylabel="multiplier of the rod BC")
ax.legend()
plt.show()

# %%
# What was claimed.
exponents = {name: {round(row.exponent, 6) + 0.0 for row in result.rows} for name, result in found.items()}
print(exponents)
touching = [row.coefficient for row in found["tangency"].select(branch=0)]
assert exponents == {"crossing": {0.0}, "crossing, gravity tilted": {-1.0}, "tangency": {-2.0}}
assert max(abs(a - b) for a, b in zip(touching, (-0.4, 0.8, 1.25), strict=True)) < 1e-9
