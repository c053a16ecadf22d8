"""Explicit stepping of second-order systems in compiled loops: Dormand-Prince 8(5,3), dense output, watches.

`tableau` holds the numbers of the method, `stages` writes the source of one step, `projecting` returns to the
constraints, `dense` interpolates, `watching` finds when a watched quantity changes its sign, `loop` puts them together,
`drivers` compiles the loop for any model.
"""

from __future__ import annotations
