"""`zwang lab --export`: a page that shows and plays a prepared view from disk, without Python behind it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zwang._outputs import write_text
from zwang._plot.content_policy import content_policy
from zwang.errors import DeclarationError
from zwang.lab.answers import answer
from zwang.lab.bundle import read, script, style
from zwang.lab.models import CATEGORIES, description, open_model
from zwang.lab.protocol import encode

FIRST = "painleve_rod"
MAP = 64
"""Points on a side of the map that is recorded."""


def export(folder: Path, start: dict[str, Any]) -> Path:
    """Write ``folder/index.html`` with its help beside it, and return its path.

    Parameters
    ----------
    folder : Path
        Made where it isn't there.
    start : dict
        The name of a system or the text of a model; empty for the first system.
    """
    if folder.exists() and not folder.is_dir():
        raise DeclarationError(f"'{folder}' is a file; --export needs the name of a folder.")
    page = page_of(start or {"system": FIRST})
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "help.html", help_page())
    return write_text(folder / "index.html", page)


def help_page() -> str:
    """Return the page of help with its style in it."""
    text = re.sub(r'<link rel="icon"[^>]*>\n', "", read("help.html"))
    return text.replace('<link rel="stylesheet" href="lab.css">', f"<style>\n{style()}\n</style>")


def page_of(start: dict[str, Any]) -> str:
    """Return the page of a prepared view."""
    drawing = open_model(start).system.drawing
    spatial = drawing is not None and drawing.dimension == 3
    code = f"globalThis.ZWANG_RECORDED = true;\n{script(spatial=spatial)}\n" + (
        'module_main.film(JSON.parse(document.querySelector("#recorded").textContent));\n'
    )
    if "</script" in code:
        raise AssertionError("the script of the page would end early")
    data = encode(record(start)).decode("utf-8").replace("<", "\\u003c")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{content_policy(code)}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>zwang lab</title>
<style>
{style()}
</style>
</head>
<body>
<div id="lab"></div>
<script type="application/json" id="recorded">{data}</script>
<script>{code}</script>
</body>
</html>
"""


def record(start: dict[str, Any]) -> dict[str, Any]:
    """Return everything that the page asks of a view, with the answers."""
    opened = open_model(start)
    told = description(opened)
    answers = [{"request": request, "answers": _answers(request)} for request in _requests(start, told)]
    return {"first": {"systems": [told], "categories": CATEGORIES}, "start": start, "answers": answers}


def _requests(start: dict[str, Any], told: dict[str, Any]) -> Iterator[dict[str, Any]]:
    whose = {**start, "params": told["params"]}
    run = {**whose, "until": told["until"]}
    yield {"kind": "open", **start}
    yield {"kind": "reactions", **whose}
    yield {"kind": "motion", **run}
    yield {"kind": "space", **whose}
    names = [*told["params"], *told["coordinates"], *told["velocities"]]
    x, y = _axes(told)
    if x in names and y in names and x != y:
        for what in ("counts", "kinds"):
            yield {"kind": "map", **whose, "what": what, "x": _axis(x, told), "y": _axis(y, told), "n": MAP}
    for what in ("python", "model", "csv", "film"):
        yield {"kind": "take", "what": what, **run}
    yield {"kind": "claims"}


def _axes(told: dict[str, Any]) -> tuple[str, str]:
    """Return the quantities that the page chooses for its map at first."""
    params, places = list(told["params"]), told["coordinates"]
    turning = [name for name, angle in zip(places, told["angles"], strict=True) if angle]
    x = next((name for name in params if name.startswith("mu")), [*params, *places][0])
    others = [*turning[:1], told["velocities"][0], *places]
    return x, next((name for name in others if name != x), told["velocities"][0])


def _axis(name: str, told: dict[str, Any]) -> list[Any]:
    if name not in told["ranges"]:
        return [name, *told["reach"][name]]
    reach = told["ranges"][name]
    ends = (reach["low"], reach["high"])
    return [name, *(10.0**end for end in ends)] if reach["scale"] == "log" else [name, *ends]


def _answers(request: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"head": json.loads(text), "frames": [base64.b64encode(item).decode("ascii") for item in frames]}
        for text, frames in answer({"seq": 0, **request})
    ]
