r"""
A slider-crank with clearance in its pin
========================================

Claim: with a clearance :math:`c` in its wrist pin, the slider of a crank that turns evenly leaves one side of the pin
just where the force of an ideal pin vanishes, crosses, and strikes the other side; it stays within :math:`c` of the
ideal motion. A pin that is elastic instead tends to the ideal one like 1/stiffness.

The rod is light, so its end prescribes :math:`X(t) = r\cos\omega t + \sqrt{l^2 - r^2\sin^2\omega t}`, and the ideal pin
exerts :math:`m\ddot X`. Two one-sided constraints are the two sides of the hole.
"""

import matplotlib.pyplot as plt
import numpy as np
import sympy as sp

import zwang as zw

(s,), (vs,) = zw.coordinates(["s"])
m, r, l, w, c = zw.parameters("m r l w c")
end = r * sp.cos(w * zw.t) + sp.sqrt(l**2 - r**2 * sp.sin(w * zw.t) ** 2)
units = {s: "m", m: "kg", r: "m", l: "m", w: "rad/s"}
loose = zw.System(
    name="pin with clearance",
    kinetic=m * vs**2 / 2,
    constraints=[
        zw.Unilateral(s - end + c, restitution=sp.Rational(1, 5), name="inner side"),
        zw.Unilateral(end - s + c, restitution=sp.Rational(1, 5), name="outer side"),
    ],
    units={**units, c: "m"},
)
ideal = zw.System(name="ideal pin", kinetic=m * vs**2 / 2, constraints=[zw.Bilateral(s - end, name="pin")], units=units)
values = {m: 0.6, r: 0.05, l: 0.2, w: 100.0, c: 1e-4}
turn = 2 * np.pi / values[w]

# %%
# At the outer dead centre the rod pulls the slider back: it lies against the outer side.
given = {name: value for name, value in values.items() if name is not c}
start = {s: 0.25 + 1e-4, vs: 0.0}
motion = zw.simulate(loose, start, values, until=2 * turn)
perfect = zw.simulate(ideal, {s: 0.25, vs: 0.0}, given, until=2 * turn)
print(motion)

# %%
# Forces between impacts, and the impulses of the impacts; then the place of the pin in its hole.
figure, (above, below) = plt.subplots(2, 1, figsize=(9, 6.4), layout="constrained")
motion.plot("reactions", ax=above)
t = np.linspace(0, 2 * turn, 2000)
play = motion.at(t)["s"] - perfect.at(t)["s"]
below.plot(t, 1e6 * play)
below.set(xlabel="t [s]", ylabel="slider beside the ideal one [µm]")
plt.show()

# %%
# Where the force of the ideal pin vanishes, and where the slider leaves its side.
force = perfect.reactions["pin"]
zeros = [perfect.t[k] for k in np.flatnonzero(np.diff(np.sign(force)))]
leaves = [event.time for event in motion.events if event.kind == "lift-off"]
print(f"ideal force vanishes near t = {zeros[0]:.4f} s, the slider leaves at t = {leaves[0]:.6f} s")
angle = values[w] * leaves[0]
acceleration = sp.lambdify(zw.t, sp.diff(end.subs(given), zw.t, 2))(leaves[0])
study = zw.limit(ideal, "pin", {s: 0.25, vs: 0.0}, given, by=zw.Stiffness, until=0.5 * turn)
print(study)
assert abs(acceleration) < 1e-6 * 0.05 * 100.0**2
assert np.abs(play).max() < 1e-4 * (1 + 1e-6)
assert abs(study.orders["position"].value + 1) < 0.05
