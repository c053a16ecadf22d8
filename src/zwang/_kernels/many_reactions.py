"""Counting the solutions of many states on a device: `count_solutions` as C, a lane for every so many states.

Terms, who takes part and what is found stay on the device; what comes back is what a map keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from zwang._kernels.c_types import FLOAT, INT, ITEMS, ArrayKind, RecordKind, c_name, record_kind
from zwang._kernels.device import DeviceFunctions, Launcher
from zwang._kernels.many_states import BLOCK, HEAD
from zwang._kernels.outputs import Array, Ints
from zwang._kernels.python_to_c import Translation
from zwang._kernels.term_layout import TermLayout
from zwang._kernels.terms import Terms
from zwang._numerics.contact.counted_motions import MOST_CANDIDATES, NO_MODE, CountedSolutions
from zwang._numerics.contact.counted_state import CountedTerms
from zwang._numerics.contact.counting import count_solutions

LANES = 1 << 18
"""Lanes of one call: more than a device runs at a time, so that none of its parts waits for another."""
NUMBERS = 1 << 27
"""Numbers on the device at a time."""

Admit = Callable[[Terms, Any, Any], tuple[Any, Any, Any]]
"""From terms, q and v to who takes part, what rests (k, B), and where the laws are sound (B,)."""


class DeviceCount:
    """Counts the accelerations of many states on a device.

    Parameters
    ----------
    launcher : Launcher
    functions : DeviceFunctions
        Of the terms.
    layout : TermLayout
    table : (k, 4) int array
        As `count_solutions` takes it.
    """

    def __init__(self, launcher: Launcher, functions: DeviceFunctions, layout: TermLayout, table: Ints) -> None:
        self.launcher, self.functions, self.layout, self.table = launcher, functions, layout, table
        program = layout.program
        self.n, self.lines = len(program.q), len(table)
        normals, slips = len(program.normals), len(program.slips)
        self.shapes: dict[str, tuple[int, ...]] = {
            "mass": (self.n, self.n),
            "force": (self.n,),
            "gamma": (normals,),
            "rows": (normals, self.n),
            "slip": (slips,),
            "slip_bias": (slips,),
            "slip_rows": (slips, self.n),
            "bounds": (len(program.bounds),),
        }
        self.loaded = launcher.load(counts_source(self.n, self.lines, self.shapes))
        self.on_device = launcher.put(table)

    @property
    def portion(self) -> int:
        """States that are counted at a time."""
        own = sum(map(_size, self.shapes.values())) + len(self.layout.nodes) + 3 * self.n + 12 * self.lines
        return max(BLOCK, NUMBERS // own)

    def run(self, given: Sequence[Array], admit: Admit, tol: float) -> tuple[CountedSolutions, Any]:
        """Return what `count_solutions` finds at states t, q, v with parameters, and where the laws are sound."""
        (t, q, v, params), put, fetch = given, self.launcher.put, self.launcher.fetch
        own = params if params.shape[1] == 1 else put(params)
        out, sound = self.there(put(t), put(q), put(v), own, admit, tol)
        # Small numbers travel as such.
        found = {name: fetch(array if array.dtype == "f8" else array.astype("i1")) for name, array in out.items()}
        return CountedSolutions(**found), fetch(sound)

    def there(self, t: Any, q: Any, v: Any, params: Any, admit: Admit, tol: float) -> tuple[dict[str, Any], Any]:
        """Do it with states of the device, whose arrays come back; parameters that all share (p, 1) are NumPy's."""
        launcher, states = self.launcher, q.shape[1]
        terms = self.layout.terms(self.functions.there(t, q, v, params)[0])
        standing, rest, sound = admit(terms, q, v)
        lanes = min(LANES, states)
        out = {
            "counts": launcher.empty((states,), "i8"),
            "free": launcher.filled((states,), 0, "i8"),
            "accelerations": launcher.filled((self.n, states), np.nan),
            "forces": launcher.filled((self.lines, 2, states), np.nan),
            "modes": launcher.filled((self.lines, states), NO_MODE, "i8"),
            "still": launcher.filled((states,), 0, "i8"),
            "worst": launcher.filled((lanes,), 0.0),
        }
        arrays = [launcher.put(getattr(terms, name)) for name in CountedTerms._fields]
        who = (self.on_device, launcher.put(standing), launcher.put(rest.view("u1")))
        self.loaded.launch("count", lanes, *who, *arrays, float(tol), *out.values(), lanes, states)
        return out, sound


def counts_source(n: int, lines: int, shapes: Mapping[str, tuple[int, ...]]) -> str:
    """Return the text of `void count(...)` for systems with n coordinates and so many lines of contacts."""
    size = 2 * lines
    most = {"n": n, "most": lines, "size": size, "many": MOST_CANDIDATES}
    most |= {"count": 2 * size, "found": size}  # a sticking contact has two conditions, an opening or slipping one one
    most |= {"rows": most["count"] + 1, "cols": size + 1, "total": most["count"] + size + 2}
    whole, flags = ArrayKind(INT, 2), ArrayKind(ITEMS["boolean"], 2)
    terms, out = record_kind(CountedTerms), record_kind(CountedSolutions)
    translation = Translation(most)
    name, _ = translation.function(count_solutions, [whole, whole, flags, terms, FLOAT, INT, INT, INT, out])
    found = {"counts": (), "free": (), "accelerations": (n,), "forces": (lines, 2), "modes": (lines,), "still": ()}
    who = "const long long *table, const long long *standing, const unsigned char *rest"
    given = ", ".join(f"const double *{item}" for item, _ in terms.fields)
    kept = ", ".join(f"{kind.item} *{item}" for item, kind in out.fields if isinstance(kind, ArrayKind))
    return (
        HEAD.format(block=BLOCK)
        + translation.text
        + f"""
KERNEL count({who}, {given}, double tol, {kept}, long long lanes, long long n)
{{
    EACH_LANE(lane, lanes) {{
        const {whole.name} lines = {{(long long *)table, {{{lines}, 4}}}};
        const {whole.name} stand = {{(long long *)standing, {{{lines}, n}}}};
        const {flags.name} still_there = {{(unsigned char *)rest, {{{lines}, n}}}};
        const {_record(terms, {item: (*shape, "n") for item, shape in shapes.items()}, "terms")};
        {_record(out, {item: (*shape, "n") for item, shape in found.items()} | {"worst": (1,)}, "out")};
        out.worst.at += lane;
        {name}(lines, stand, still_there, terms, tol, 0, lane, lanes, out);
    }}
}}
"""
    )


def _record(kind: RecordKind, shapes: Mapping[str, Sequence[Any]], name: str) -> str:
    """Return the declaration of a record whose arrays are arguments of the same names."""
    parts = [
        f"{{({c_name(part.item)} *){item}, {{{', '.join(map(str, shapes[item]))}}}}}"
        for item, part in kind.fields
        if isinstance(part, ArrayKind)
    ]
    return f"{kind.name} {name} = {{{', '.join(parts)}}}"


def _size(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=np.int64))
