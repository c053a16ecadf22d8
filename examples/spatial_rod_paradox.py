r"""
A rod that slides in space
==========================

Claim: a rod that slides across its own plane is safe from Painlevé's paradox where one that slides along it is not.

A uniform rod of half length 1 touches the floor with its tip, at an angle :math:`\theta` to it. The tip slides away
from the rod's centre, in a direction turned by :math:`\chi` out of the rod's vertical plane. Only the part of the
friction in that plane presses the tip down: without spin no reaction exists where

.. math:: \mu \cos\chi > \frac{1 + 3 \cos^2\theta}{3 \sin\theta \cos\theta}.

If the rod turns so fast that its tip would leave the floor by itself, there are two reactions at the same places.
"""

import matplotlib.pyplot as plt
import numpy as np
import sympy as sp

import zwang as zw

(x, y, z, theta, psi), (vx, vy, vz, vtheta, vpsi) = zw.coordinates("x y z theta psi", angles="theta psi")
m, mu, g = zw.parameters("m mu g")
along = sp.Matrix([sp.cos(theta) * sp.cos(psi), sp.cos(theta) * sp.sin(psi), sp.sin(theta)])
tip = sp.Matrix([x, y, z]) - along
slip = zw.rate(tip)
rod = zw.System(
    name="spatial_rod",
    kinetic=m * (vx**2 + vy**2 + vz**2) / 2 + m * (vtheta**2 + vpsi**2 * sp.cos(theta) ** 2) / 6,
    potential=m * g * z,
    constraints=[zw.Unilateral(tip[2], friction=zw.Coulomb(mu, slip=(slip[0], slip[1])), restitution=0, name="tip")],
)

angle = np.radians(np.linspace(20, 80, 25))
chi = np.radians(np.linspace(0, 90, 19))[:, None]
state = dict.fromkeys(("y", "psi", "v_z", "v_theta", "v_psi"), 0.0)
state |= {"theta": angle, "x": np.cos(angle), "z": np.sin(angle), "v_x": -np.cos(chi), "v_y": np.sin(chi)}
friction = 1.8
found = zw.reactions(rod, state, {"m": 1.0, "mu": friction, "g": 9.81})
print(found)

# %%
# Dark: no reaction. The edge is that of the formula.
found.plot()
plt.show()

# %%
bound = (1 + 3 * np.cos(angle) ** 2) / (3 * np.sin(angle) * np.cos(angle))
paradox = friction * np.cos(chi) > bound
clear = np.abs(friction * np.cos(chi) - bound) > 1e-6
assert ((found.counts == 0) == paradox)[clear].all()
assert paradox[0].any() and not paradox[-1].any()

# %%
# Turning with the rate w, the tip leaves by itself where w^2 sin(theta) > g; friction may hold it down all the same.
spin = 4.0
turning = {**state, "v_theta": spin, "v_z": spin * np.cos(angle), "v_x": -np.cos(chi) - spin * np.sin(angle)}
fast = zw.reactions(rod, turning, {"m": 1.0, "mu": friction, "g": 9.81})
print(fast)
leaves = spin**2 * np.sin(angle) > 9.81
assert (fast.counts == np.where(paradox, np.where(leaves, 2, 0), 1))[clear].all()
assert (fast.counts == 2).any()
