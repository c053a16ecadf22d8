"""Linear algebra that other rooms share: the metric of the mass matrix, and the one test of dependence."""
