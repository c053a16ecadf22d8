"""The package held against itself and against independent computations, on problems that nobody chose.

In the order in which they build on each other: `complaint` (what is found, and how it is made small), `brute_force`,
`planar_problems`, `spatial_problems`, `mechanisms`, `verbs` (problems with independent checks), `canary`, `hostile` and
`fuzz` (inputs that are meant to do harm), `problem_kinds` (all of them by name), `check_worker` and `run` (in parallel,
each problem with its limits).
"""

from __future__ import annotations
