"""The lab: a page in the browser on which a mechanism can be moved and asked, and the same view in a notebook.

One server process talks to pages and imports neither SymPy nor Numba; worker processes compute, and can be killed. The
page makes the frames itself, from binary tables.
"""

from __future__ import annotations
