"""Linear algebra that other rooms share: dense and sparse factorizations, the metric of M, the test of dependence."""
