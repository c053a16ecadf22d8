r"""
The pull of a pendulum's rod
============================

Claim: the rod of a pendulum released at rest from the angle :math:`\theta_0` pulls with
:math:`N(\theta) = m g (3 \cos\theta - 2 \cos\theta_0)`. Beyond :math:`\theta_0 = 90^\circ` it first pushes.

The pendulum is declared in Cartesian coordinates with the rod as a constraint, so that the multiplier is the force in
the rod. Its sign is that of the declared expression: a positive multiplier pushes towards larger values of it, here
away from the pivot. A pull is therefore negative.
"""

import matplotlib.pyplot as plt
import numpy as np
import sympy as sp

import zwang as zw

(x, y), (vx, vy) = zw.coordinates("x y")
m, g, l = zw.parameters("m g l")
pendulum = zw.System(
    name="pendulum",
    kinetic=m * (vx**2 + vy**2) / 2,
    potential=m * g * y,
    constraints=[zw.Bilateral(sp.sqrt(x**2 + y**2) - l, name="rod")],
)
print(pendulum)

# %%
# Every state of the swing at once: arrays in the state make a batch. The speed follows from the energy.
values = {m: 2.0, g: 9.81, l: 0.5}
mass, gravity, length = values.values()


def pull(start: float, angle: np.ndarray) -> np.ndarray:
    speed = np.sqrt(2 * gravity * length * (np.cos(angle) - np.cos(start)))
    state = {
        x: length * np.sin(angle),
        y: -length * np.cos(angle),
        vx: speed * np.cos(angle),
        vy: speed * np.sin(angle),
    }
    return -zw.compile(pendulum).multipliers(state, values)["rod"]


# %%
# The curves are computed from the equations, the dots are the closed form.
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
largest_error = 0.0
for degrees in (60, 90, 120):
    start = np.radians(degrees)
    angle = np.linspace(-start, start, 181)
    computed = pull(start, angle)
    closed = mass * gravity * (3 * np.cos(angle) - 2 * np.cos(start))
    largest_error = max(largest_error, np.abs(computed - closed).max() / (mass * gravity))
    (line,) = axes.plot(np.degrees(angle), computed, label=f"released at {degrees}°")
    axes.plot(np.degrees(angle[::15]), closed[::15], "o", color=line.get_color(), markersize=4)
axes.axhline(0, color="black", linewidth=0.8)
axes.set(xlabel="angle [°]", ylabel="pull of the rod [N]")
axes.legend()
plt.show()

# %%
# Rounding is all that is left: the energies and roots above lose a few digits of sixteen.
print(f"largest difference from the closed form: {largest_error:.1e} of the weight")
assert largest_error < 1e-12
