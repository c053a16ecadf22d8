"""Friction along lines: all solutions, exactly, by enumerating modes.

In the order in which they build on each other: `modes` (the laws of one contact), `reduced` (the problem in its
reactions, scaled), `dictionary` and `tree` (compiled linear programs and the search), `search`, `double_description`
and `polyhedra` (vertices), `programs`, `pieces` (a mode's solutions, checked), `merging` (maximal convex pieces);
`lemke` and `newton` find one solution where there are too many modes.
"""

from __future__ import annotations
