r"""
Through a singular point on springs
===================================

Claim: the ideal pendulum on an ellipse has no equation of motion at its folded pose, where two branches of its
configuration space cross. Made of stiff springs it goes through, and takes the branch on which the fold changes its
sign, at every strength that was tried; under tilted gravity the energy left across falls like :math:`N^{-1/4}`.

All three constraints are softened. Nothing about the branches is put in.
"""

import matplotlib.pyplot as plt
import numpy as np

import zwang as zw

pendulum = zw.gallery.get("ellipse_pendulum_cartesian")
tilted = {**pendulum.params, "tilt": 0.3}
strengths = [1e5, 1e6, 1e7, 1e8]

# %%
# The ideal motion goes straight on where two branches cross; each realized one starts from the same state.
study = zw.limit(
    pendulum.system,
    ["AB", "BC", "ellipse"],
    pendulum.state,
    tilted,
    by=zw.Stiffness(weight=2),
    until=1.2,
    strengths=strengths,
    at_singular="straight",
)
print(study)

# %%
# The label of the branch is the sign of the fold, the angle CAB.
place = {name: k for k, name in enumerate(study.coordinates)}
xb, yb, xc, yc = (study.q[:, :, place[name]] for name in ("x_B", "y_B", "x_C", "y_C"))
fold = np.arctan2(xc * yb - yc * xb, xc * xb + yc * yb)
left = study.energy_over_time[:, -40:].mean(axis=1)
slope = np.polyfit(np.log(strengths[1:]), np.log(left[1:]), 1)[0]
print(f"fold before {fold[:, 0]}, after {fold[:, -1]}; energy left across {left}: power {slope:.2f}")

fig, ax = plt.subplots(layout="constrained")
for row, strength in zip(fold, strengths, strict=True):
    ax.plot(study.t, row, label=f"N = {strength:.0e}")
ax.axhline(0, color="0.6", lw=0.8)
ax.set_xlabel("time [s]")
ax.set_ylabel("angle of the fold [rad]")
ax.legend()

# %%
# What was claimed:
assert np.all(fold[:, 0] > 0)
assert np.all(fold[:, -1] < 0)
assert abs(slope + 0.25) < 0.06
