"""Expressions as a graph: made from SymPy, differentiated, evaluated and written as source. No system is known here."""
