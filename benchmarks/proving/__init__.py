"""The proving ground: problems with a known answer that the package is held to, as a table that runs.

``python -m benchmarks.proving`` runs all of them (or those whose names hold a word) and ends with 1 where one fails;
with ``--record`` it writes ``docs/proving_ground.md`` anew.
"""
