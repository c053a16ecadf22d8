"""Ties between modes decided in rational arithmetic: doubles are rationals, so nothing about them needs a tolerance.

In the order in which they build on each other: `rational` (the problem in its reactions, over the rationals),
`integer_dictionary` (linear programs over the integers), `mode_tree` (the search below a node), `rational_polyhedra`
(vertices, rays and lines of a mode's solutions, inclusion, union), `sets` (the solution set and what is said of it).
"""

from __future__ import annotations
