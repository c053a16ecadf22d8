"""Where the numbers of a run stand in its arrays, and how a run ends."""

from __future__ import annotations

REACHED, FIRED, PAUSED, STEP_TOO_SMALL, IRREGULAR, NOT_FINITE, CROSSED = range(7)

# In `counts`. Given: held constraints on positions, held rows in all, watched quantities (the surfaces are the last of
# them), where the sides of the surfaces stand among the parameters, whether to keep the dense output, attempts allowed.
POSITIONS, ROWS, WATCHES, SURFACES, SIDES, KEEP, ATTEMPTS = range(7)
# Found: steps taken, steps tried, steps rejected. In between, kept over pauses: why the last one was rejected, whether
# it was, how often in succession a watched quantity was not resolved, whether the run has begun.
STEPS, TRIED, REJECTED, CAUSE, HELD_BACK, BLURRED, BEGUN = range(7, 14)
COUNTS = 14  # counters of a loop

# In `reals`. Given: until, tolerance. Given and found: next step, largest drift of positions and of velocities. In
# between: time, length and end of the step at hand, and what to try after it.
UNTIL, TOL, STEP, DRIFT, DRIFT_RATE, TIME, LENGTH, END, PROPOSED = range(9)
REALS = 9  # of them
