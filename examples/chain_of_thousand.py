r"""
A chain of a thousand links
===========================

Claim: in a chain that hangs at rest between two supports, the pull in link :math:`i` is
:math:`\sqrt{H^2 + V_i^2}`, where :math:`H` is the horizontal pull and :math:`V_i` the weight between that link and the
lowest point. A thousand points in Cartesian coordinates give it to ten digits. When one support lets go, the free end
starts downwards faster than a falling stone.

Two thousand coordinates are no reason to write the equations differently: each link is a constraint that touches two
points, and the compiled code keeps that sparsity.
"""

import matplotlib.pyplot as plt
import numpy as np

import zwang as zw

n, gravity, length, mass = 1000, 9.81, 0.01, 0.002
weight = n * mass * gravity
horizontal = weight / 4

# %%
# The shape of equilibrium: the direction of each link is that of the force in it. Link i has i points to its left.
lift = (np.arange(n + 1) - n / 2) * mass * gravity
pull = np.hypot(horizontal, lift)
steps = length * np.stack([np.full(n + 1, horizontal), lift], axis=1) / pull[:, None]
nodes = np.concatenate([[[0.0, 0.0]], np.cumsum(steps, axis=0)])
points, right = nodes[1:-1], nodes[-1]

# %%
# The mechanism, and its state: every point at its place and at rest.
names = ["left", *(f"p{i}" for i in range(n)), "right"]
linkage = zw.Linkage("chain", gravity=(0, -gravity))
linkage = linkage.ground("left", 0, 0).ground("right", float(right[0]), float(right[1]))
linkage = linkage.points(names[1:-1], mass=mass).chain(names, lengths=length)
chain = linkage.system()
state = {}
for name, (x, y) in zip(names[1:-1], points, strict=True):
    state |= {f"x_{name}": x, f"y_{name}": y, f"v_x_{name}": 0.0, f"v_y_{name}": 0.0}
model = zw.compile(chain)
print(model)

# %%
# A positive multiplier of a link pushes its ends apart; a pull is negative.
hanging = model.evaluate(state)
links = list(hanging.multipliers)
tension = -np.array([hanging.multipliers[name] for name in links])
error = np.abs(tension - pull).max() / weight
still = np.abs(hanging.accelerations).max() / gravity
print(f"largest error of the pulls: {error:.1e} of the weight; largest acceleration: {still:.1e} g")

# %%
# The right support lets go: its link is no longer active. The same model answers.
released = model.evaluate(state, active=links[:-1])
after = -np.array([released.multipliers[name] for name in links[:-1]])
downwards = -released.accelerations.reshape(n, 2)[-1, 1]
print(f"the free end starts downwards with {downwards / gravity:.2f} g; residual {released.residual:.1e}")

figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
axes[0].plot(*nodes.T)
axes[0].plot(*nodes[[0, -1]].T, "ks", markersize=5)
axes[0].set(title="the chain at rest", xlabel="x [m]", ylabel="y [m]", aspect="equal")
axes[1].plot(tension, label="hanging at both ends")
axes[1].plot(after, label="the right end has just been let go")
axes[1].set(title="pull in the links [N]", xlabel="number of the link", ylim=(0, None))
axes[1].legend()
plt.show()

# %%
# Rounding is all there is: sums over a thousand links lose a few of sixteen digits.
assert error < 1e-10 and still < 1e-8 and released.residual < 1e-10 and downwards > gravity
