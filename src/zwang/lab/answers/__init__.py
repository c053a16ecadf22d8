"""What a request is answered with: for each kind a function that yields (header, tables), refined as it goes."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from zwang.lab.protocol import encode, frame

HOMES = {
    "open": "model_texts",
    "parse": "model_texts",
    "reactions": "reactions",
    "drag": "reactions",
    "map": "reactions",
    "space": "spaces",
    "singular": "spaces",
    "critical": "spaces",
    "motion": "motions",
    "realize": "realized",
    "claims": "papers",
    "claim": "papers",
    "take": "downloads",
}
"""Kind -> the module of this package that has ``answer_<kind>``."""


def answer(request: dict[str, Any]) -> Iterator[tuple[bytes, list[bytes]]]:
    """Yield the answers to a request as texts with the binary frames that follow them; the last one is done or error.

    Examples
    --------
    >>> import json
    >>> (text, frames), = answer({"seq": 3, "kind": "reactions", "system": "kozlov_neishtadt"})
    >>> found = json.loads(text)
    >>> found["seq"], found["status"], found["count"], len(frames)
    (3, 'done', '1', 0)
    """
    from zwang import ZwangError
    from zwang.lab.mechanism_numbers import LostState

    seq, kind = int(request["seq"]), str(request["kind"])
    head = {"seq": seq, "kind": kind}
    try:
        found = getattr(importlib.import_module(f"zwang.lab.answers.{HOMES[kind]}"), f"answer_{kind}")(request)
        for told, tables in found:
            frames = [frame(seq, index, table) for index, table in enumerate(tables)]
            yield encode({**head, "status": "done", "frames": len(frames), **told}), frames
    except (ZwangError, LostState) as error:
        yield encode({**head, "status": "error", "frames": 0, "message": str(error)}), []
    except (MemoryError, RecursionError):
        message = "This took more memory than a worker of the lab may have. Ask for less: fewer points, a shorter time."
        yield encode({**head, "status": "error", "frames": 0, "message": message}), []
