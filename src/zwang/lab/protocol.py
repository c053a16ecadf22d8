"""What a page and the server say to each other: which requests there are, how large they may be, and binary frames.

A text frame is JSON. An answer announces how many binary frames follow it: ``ZWF1``, then seq, index, rows, columns as
little-endian unsigned integers of four bytes, then the numbers by rows as four-byte floats. Nothing here knows a
system.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

MOST_TEXT = 100_000
"""Bytes of a model's text."""
MOST_FRAME = 1_000_000
"""Bytes of one frame from a page."""
MOST_NAMES = 2_000
"""Values that a request gives, of parameters or of a state."""
MOST_CELLS = 1_000_000
"""Points of a map."""
MOST_TIMES = 5_000
"""Times of a table that an input follows."""
MOST_UNTIL = 1e5
"""Seconds of motion."""
MOST_SECONDS = 10.0
"""Seconds that one request may take."""
MOST_ROWS = 20_000
"""Rows of a motion that are sent."""
MOST_SEQ = 2**32 - 1  # of a 32-bit number in the header of a frame
MAGIC = b"ZWF1"
INTERPOLATIONS = ("linear", "cubic", "previous")
"""How a table goes on between its times: those of `zwang.Table`, which this process doesn't load."""

Check = Callable[[Any], bool]


class Refused(Exception):
    """A request that no worker gets to see; the text says what would fit."""


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 200 and value.isprintable()


def _values(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and len(value) <= MOST_NAMES
        and all(_name(key) and _number(number) for key, number in value.items())
    )


def _tables(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and len(value) <= MOST_NAMES
        and all(map(_name, value))
        and all(map(_table, value.values()))
    )


def _table(value: Any) -> bool:
    if not isinstance(value, dict) or set(value) != {"times", "values", "kind"}:
        return False
    columns = (value["times"], value["values"])
    fits = all(isinstance(one, list) and len(one) <= MOST_TIMES and all(map(_number, one)) for one in columns)
    return fits and isinstance(value["kind"], str) and value["kind"] in INTERPOLATIONS


def _axis(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and _name(value[0]) and all(map(_number, value[1:]))


def _numbers(count: int) -> Check:
    return lambda value: isinstance(value, list) and len(value) == count and all(map(_number, value))


def _path(value: Any) -> bool:
    steps = value if isinstance(value, list) else [value]
    return len(steps) <= 64 and all(_number(item) and isinstance(item, int) and 0 <= item < 10_000 for item in steps)


def _text(value: Any) -> bool:
    return isinstance(value, str) and len(value.encode("utf-8", "surrogatepass")) <= MOST_TEXT


def _between(low: float, high: float, *, whole: bool = False) -> Check:
    def check(value: Any) -> bool:
        return _number(value) and low <= value <= high and (not whole or isinstance(value, int))

    return check


def _among(*words: str) -> Check:
    return lambda value: isinstance(value, str) and value in words


WHOSE: dict[str, tuple[Check, str]] = {
    "system": (_name, "the name of a system of the gallery"),
    "text": (_text, f"the text of a model of at most {MOST_TEXT:,} bytes"),
    "params": (_values, "finite numbers by name"),
    "state": (_values, "finite numbers by name"),
    "was": (_values, "finite numbers by name: the parameters at which the state was right"),
    "inputs": (
        _tables,
        f"tables by name: {{'times': [...], 'values': [...], 'kind': 'linear', 'cubic' or 'previous'}}, at most "
        f"{MOST_TIMES:,} times each",
    ),
}
_UNTIL = (_between(0, MOST_UNTIL), f"a time from 0 to {MOST_UNTIL:g} s")
_CONTINUE = (_path, "the number of a continuation, or a list of at most 64: one for each stop")
_RUN = {"until": _UNTIL, "continue": _CONTINUE}
KINDS: dict[str, dict[str, tuple[Check, str]]] = {
    "open": WHOSE,
    "parse": {"text": WHOSE["text"]},
    "reactions": {**WHOSE, **_RUN, "time": (_between(0, MOST_UNTIL), "a time since the start of the motion")},
    "drag": {
        **WHOSE,
        "handle": (_name, "the name of a handle"),
        "x": (_number, "a finite number"),
        "y": (_number, "a finite number"),
        "view": (_numbers(6), "six finite numbers: the images of the three axes in the picture's plane"),
    },
    "space": WHOSE,
    "singular": {**WHOSE, "at": (_values, "finite numbers by name: the singular point")},
    "critical": {
        **WHOSE,
        "vary": (_name, "the name of a parameter"),
        "low": (_number, "a finite number"),
        "high": (_number, "a finite number"),
    },
    "map": {
        **WHOSE,
        "x": (_axis, "[name, low, high]"),
        "y": (_axis, "[name, low, high]"),
        "n": (_between(2, 1000, whole=True), f"a whole number from 2 to 1000 (at most {MOST_CELLS:,} points)"),
        "what": (_among("counts", "kinds"), "'counts' (how many motions) or 'kinds' (what happens)"),
    },
    "motion": {**WHOSE, **_RUN, "run": (_among("", "compare", "every"), "'', 'compare' or 'every'")},
    "realize": {
        **WHOSE,
        "until": _UNTIL,
        "constraint": (_name, "the name of a constraint"),
        "by": (_among("stiffness", "viscosity"), "'stiffness' or 'viscosity'"),
        "strength": (_between(-6, 14), "a decimal logarithm from -6 to 14"),
        "orders": (lambda value: isinstance(value, bool), "true or false"),
    },
    "claims": {},
    "claim": {"id": (_name, "the id of a claim")},
    "take": {
        **WHOSE,
        **_RUN,
        "what": (_among("python", "model", "csv", "netcdf", "film"), "python, model, csv, netcdf or film"),
        "t": (_number, "a finite number"),
    },
    "cancel": {"of": (_between(0, MOST_SEQ, whole=True), "the seq of a request")},
}
"""Kind of a request -> its keys beside seq and kind, each with its check and what it needs in words."""

NEEDED = {
    "parse": ("text",),
    "drag": ("handle", "x", "y"),
    "singular": ("at",),
    "critical": ("vary", "low", "high"),
    "map": ("x", "y"),
    "realize": ("constraint", "by", "strength"),
    "claim": ("id",),
    "take": ("what",),
    "cancel": ("of",),
}
QUICK = ("open", "parse", "reactions", "drag")
"""Kinds that the quick lane answers; all others go the long way."""
ALONE = ("parse", "claims", "claim", "cancel")
"""Kinds that need no system."""


def read_request(text: str) -> dict[str, Any]:
    """Return a request that fits, or raise `Refused`.

    Examples
    --------
    >>> read_request('{"seq": 1, "kind": "reactions", "system": "sleigh", "params": {"m": 2}}')["params"]
    {'m': 2}
    >>> read_request('{"seq": 1, "kind": "reactions", "system": "sleigh", "params": {"m": 1e999}}')
    Traceback (most recent call last):
        ...
    zwang.lab.protocol.Refused: 'params' must be finite numbers by name.
    """
    if len(text) > MOST_FRAME:
        raise Refused(f"A request is at most {MOST_FRAME:,} bytes long; this one is {len(text):,}.")
    try:
        found = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Refused("A request is one JSON object; this text is none.") from None
    if not isinstance(found, dict):
        raise Refused("A request is one JSON object with seq and kind.")
    seq, kind = found.get("seq"), found.get("kind")
    if not isinstance(seq, int) or isinstance(seq, bool) or not 0 <= seq <= MOST_SEQ:
        raise Refused(f"'seq' must be a whole number from 0 to {MOST_SEQ}.")
    if not isinstance(kind, str) or kind not in KINDS:
        raise Refused(f"'kind' must be one of {', '.join(KINDS)}.")
    keys = KINDS[kind]
    for key, value in found.items():
        if key in ("seq", "kind"):
            continue
        if key not in keys:
            raise Refused(f"{kind} has no key {ascii(key)[:60]}; it has {', '.join(('seq', 'kind', *keys))}.")
        check, words = keys[key]
        if not check(value):
            raise Refused(f"'{key}' must be {words}.")
    for key in NEEDED.get(kind, ()):
        if key not in found:
            raise Refused(f"{kind} needs '{key}': {keys[key][1]}.")
    if kind not in ALONE and "system" not in found and "text" not in found:
        raise Refused(f"{kind} needs 'system', the name of a system of the gallery, or 'text', that of a model.")
    return found


def _refuse_constant(word: str) -> Any:
    raise Refused(f"{word} is no finite number.")


def seq_of(text: str) -> int | None:
    """Return the seq of a request that was refused, as far as it can be told."""
    try:
        seq = json.loads(text[:MOST_FRAME]).get("seq")
    except (ValueError, RecursionError, AttributeError):
        return None
    return seq if isinstance(seq, int) and not isinstance(seq, bool) and 0 <= seq <= MOST_SEQ else None


def frame(seq: int, index: int, rows: ArrayLike) -> bytes:
    """Return a binary frame of a table of numbers.

    Examples
    --------
    >>> made = frame(7, 0, [[1.0, 2.0], [3.0, 4.0]])
    >>> made[:4], struct.unpack_from("<4I", made, 4), len(made)
    (b'ZWF1', (7, 0, 2, 2), 36)
    """
    with np.errstate(over="ignore"):  # what is too large for four bytes is infinite
        table = np.atleast_2d(np.asarray(rows, dtype=np.float64)).astype("<f4")
    head = struct.pack("<4I", seq, index, *table.shape)
    return MAGIC + head + np.ascontiguousarray(table).tobytes()


def plain(value: Any) -> Any:
    """Return a value as JSON has it: arrays as lists, enums by name, what is not finite as None.

    Examples
    --------
    >>> plain({"a": np.array([1.0, np.inf])})
    {'a': [1.0, None]}
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int):
        return value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value)


def encode(header: dict[str, Any]) -> bytes:
    """Return the text of an answer."""
    return json.dumps(plain(header), allow_nan=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
