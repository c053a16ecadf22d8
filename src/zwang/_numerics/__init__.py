"""Numerical kernels: arrays in, arrays out; they know no SymPy and no System."""
