r"""
Five equal bars and a surface of genus four
===========================================

Claim: the configurations of a closed chain of five equal bars, one of them on the ground, form one closed orientable
surface of genus 4. With lengths :math:`l` and :math:`a_k` the number of sets of k + 1 bars that contain the longest and
are shorter than half of the sum, the Betti numbers are :math:`b_0 = a_0 + a_2` and :math:`b_1 = 2 a_1`; here
:math:`a_0 = 1, a_1 = 4, a_2 = 0`.
"""

import matplotlib.pyplot as plt

import zwang as zw

chain = zw.Linkage("five bars").ground("A", 0, 0).ground("E", 1, 0).points("B C D", mass=1)
for first, second in ("AB", "BC", "CD", "DE"):
    chain = chain.bar(first, second, length=1)
space = zw.trace(chain.system(coordinates="joint"), {}, resolution=0.3)
print(space)

# %%
# The surface in the torus of the three angles: it goes on at the opposite sides.
space.plot()
plt.show()

# %%
# The plane of the two cranks: where the chain can be closed, two configurations lie over each place.
space.plot(onto=("theta_B", "theta_D"))
plt.show()

(piece,) = space.pieces
assert (piece.genus, piece.euler, piece.orientable, space.components) == (4, -6, True, 1)
assert len(space.sheets(("theta_B", "theta_D"))) == 2
