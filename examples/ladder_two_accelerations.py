r"""
A ladder with two accelerations
===============================

Claim: a ladder rests on a rough floor and a rough wall, and its matrix of Theorem 12 (Ivanov 2013) is positive definite
for all friction coefficients up to the given ones. The theorem as printed promises one acceleration. There are two: the
ladder can stay at rest, and it can start to slide.

The matrix is

.. math:: \Omega_{ij}(\bar\mu) = n_i^\top A^{-1} (n_j + \bar\mu_j t_j), \qquad \left|\bar\mu_j\right| \le \mu_j,

with the normals :math:`n_j`, the tangents :math:`t_j` and the mass matrix :math:`A`. Positive definite means here that
its symmetric part is. That proves existence, for every force. Uniqueness follows only where every contact slides.
"""

import matplotlib.pyplot as plt
import numpy as np

import zwang as zw

entry = zw.gallery.get("ladder")
params = {**entry.params, "g": 0.0, "mu": 0.8, "mu_wall": 0.4, "F1": 0.5, "F2": -1.0, "F3": 1.0}
found = zw.reactions(entry.system, entry.state, params)
print(found)

# %%
# The least eigenvalue of the matrix is concave in the coefficients, so its minimum lies at a corner of the box.
terms = zw.compile(entry.system).terms(entry.state, params)
inverse = np.linalg.inv(terms.mass[:, :, 0])
normals, tangents = terms.rows[:, :, 0], terms.slip_rows[:, :, 0]
least = np.inf
for floor in (-0.8, 0.8):
    for wall in (-0.4, 0.4):
        omega = normals @ inverse @ (normals + np.diag([floor, wall]) @ tangents).T
        least = min(least, np.linalg.eigvalsh((omega + omega.T) / 2)[0])
print(f"least eigenvalue over all coefficients: {least:.3f}")

# %%
# The package claims existence from this matrix, and says itself that it is not enough for uniqueness.
for certificate in found.certificates:
    print(f"{certificate.kind}, {certificate.scope}: {certificate.sentence}")

# %%
# Blue: at rest the forces are not determined, each may be anywhere in a short interval, since floor and wall may
# squeeze the ladder more or less. Orange: the forces with which it starts to slide.
found.plot("forces")
plt.show()

# %%
# The second acceleration, against an independent enumeration: (0.2742, 0, 0.0914), with the floor pressing 0.8076.
rest, sliding = sorted(found.solutions, key=lambda solution: np.abs(solution.acceleration).max())
print("at rest: ", rest.modes, "the floor presses", rest.ranges["floor"]["normal"])
print("starting:", sliding.modes, "acceleration", sliding.acceleration)

assert (
    least > 0.4
    and found.status.name == "MULTIPLE"
    and found.complete
    and np.allclose(rest.acceleration, 0, atol=1e-12)
    and np.allclose(sliding.acceleration, [0.2742, 0, 0.0914], atol=5e-5)
    and np.allclose(sliding.normal, [0.8076, 0.2832], atol=5e-5)
)
