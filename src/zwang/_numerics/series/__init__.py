"""Series over numbers of any kind, and what they decide: one algebra for floats, balls and rationals.

`arithmetic`, `balls` and `rationals` have the numbers, `power` the series, `functions` their elementary functions,
`field` linear equations over both, `roots` the real roots of polynomials, and `germ` the half-branches of a plane curve
at a point.
"""
