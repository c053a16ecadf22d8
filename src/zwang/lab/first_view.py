"""The first view: what the page shows of every system of the gallery before a worker has answered.

It is a file of the package, made by ``python -m zwang.lab.first_view`` and held against the gallery by the tests, so
that the page needs neither SymPy nor a worker to show systems, parameters and the drawing.
"""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

from zwang._outputs import write_text


def known_names() -> list[str]:
    """Return the names of the systems in the file."""
    return [item["name"] for item in load()["systems"]]


def load() -> dict[str, Any]:
    """Return what the file holds."""
    text = resources.files("zwang.lab").joinpath("page/first_view.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def made() -> dict[str, Any]:
    """Return what the file should hold, from the gallery."""
    import zwang as zw
    from zwang.lab.models import CATEGORIES, description, open_model
    from zwang.lab.protocol import plain

    systems = [description(open_model({"system": name})) for name in zw.gallery.names()]
    found: dict[str, Any] = plain({"categories": CATEGORIES, "systems": systems})
    return found


def main() -> None:
    """Write the file."""
    path = Path(str(resources.files("zwang.lab").joinpath("page/first_view.json")))
    write_text(path, json.dumps(made(), separators=(",", ":"), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
