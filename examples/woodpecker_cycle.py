"""
A woodpecker in its cycle
=========================

Claim: the woodpecker toy hops down its pole in a stable cycle of 0.14598 s, to which it comes alternating.

Glocker's data (1995). The sleeve and the beak hit the pole, stick and slip; Newton's method on the return map goes
through all of it. One multiplier is -0.84: every other hop is a little longer. Two are 1, time and the height.
"""

import sympy as sp

import zwang as zw

(y, a, b), (vy, va, vb) = zw.coordinates("y a b")  # the sleeve's height and angle, the bird's angle
rO, rM, hM, lM, lG, hS, lS = 0.0025, 0.0031, 0.0058, 0.010, 0.015, 0.02, 0.0201
mM, mS, JM, JS, c, mu, g = 0.0003, 0.0045, 5e-9, 7e-7, 0.0056, 0.3, 9.81
sleeve = zw.Coulomb(mu, slip=vy + rM * va)
beak = zw.Coulomb(mu, slip=vy + lM * va + (lG - lS) * vb)
bird = vy + lM * va + lG * vb
toy = zw.System(
    name="woodpecker",
    kinetic=mM * vy**2 / 2 + JM * va**2 / 2 + mS * bird**2 / 2 + JS * vb**2 / 2,
    potential=mM * g * y + mS * g * (y + lM * a + lG * b) + c * (a - b) ** 2 / 2,
    constraints=[
        zw.Unilateral(lM + lG - lS - rO - hS * b, friction=beak, restitution=sp.Rational(1, 2), name="beak"),
        zw.Unilateral(rM - rO + hM * a, friction=sleeve, restitution=0, name="lower"),
        zw.Unilateral(rM - rO - hM * a, friction=sleeve, restitution=0, name="upper"),
    ],
)
start = {y: 0, a: -6 / 58, b: -0.2788, vy: -0.3411, va: 0, vb: -7.4583}
cycle = zw.periodic(toy, start, {}, period=0.146, steady=y, impact="newton")
print(cycle)

assert cycle.stable and abs(cycle.period - 0.14598) < 5e-6
assert abs(cycle.motion.q[0, 0] - cycle.motion.q[-1, 0] - 0.0194) < 1e-4  # it sinks 19.4 mm a hop
assert abs(min(cycle.multipliers.real) + 0.839) < 1e-3
