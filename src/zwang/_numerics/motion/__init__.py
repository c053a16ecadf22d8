"""Motion of second-order systems in compiled loops: explicit, stiff, fast, side by side, and by impulses.

`tableau` holds the numbers of Dormand and Prince's method 8(5,3), `steps` its stages and the way back to the
constraints, `dense_output` interpolates, `events` locates where a watched quantity changes its sign, `loop` puts them
together for any model, `lanes` writes it for many motions at once. `oscillatory` and `stiff` are the loops for springs
and strong friction, `course` runs them; `moreau` steps over impacts.
"""

from __future__ import annotations
