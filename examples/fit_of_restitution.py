"""
Restitution from the sound of a ball
====================================

Claim: how the times of a ball's bounces depend on its restitution is known exactly, and gives it back from data.

The n-th impact of a ball dropped from h is at T (1 + 2 (e + ... + e^(n - 1))) with T = sqrt(2 h/g). `sensitivity`
differentiates the motion through its impacts; `fit` uses that to find e and g from noisy heights, with intervals.
"""

import numpy as np

import zwang as zw

ball = zw.gallery.get("bouncing_ball")
truth, start = {"m": 1.0, "g": 9.81, "e": 0.8}, {"y": 1.0, "v_y": 0.0}
found = zw.sensitivity(ball.system, start, truth, until=1.8, wrt=["e", "g"], of=["events"])
print(found)

T = np.sqrt(2 / 9.81)
assert np.allclose(found.derivative["events"]["e"], [0, 2 * T, 2 * T * (1 + 2 * 0.8)], atol=1e-9)

times = np.linspace(0.02, 1.7, 60)
motion = zw.simulate(ball.system, start, truth, until=1.8)
heard = np.array([motion.at(t)["y"] for t in times]) + 1e-3 * np.random.default_rng(1).normal(size=len(times))
fit = zw.fit(ball.system, {"y": (times, heard)}, state=start, params={**truth, "e": 0.78, "g": 9.7}, free=["e", "g"])
print(fit)

low, high = fit.intervals["e"]
assert fit.status.name == "CONVERGED" and low < 0.8 < high and high - low < 0.01
