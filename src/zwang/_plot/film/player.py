"""A player of films as HTML: a canvas, a button, a time line; the data are in the page and nothing is loaded."""

from __future__ import annotations

import base64
import json
from html import escape
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from zwang._plot.content_policy import content_policy
from zwang._plot.film.frames import Film
from zwang._plot.scene import Solid

MOST_FRAMES = 1200  # more only makes files long


def player(film: Film, *, autoplay: bool = False) -> str:
    """Return a player as a piece of HTML that works in any page, several times in one page too.

    Parameters
    ----------
    film : Film
    autoplay : bool
        Whether it starts by itself (never where the reader asked for reduced motion).

    Examples
    --------
    >>> from zwang._plot.scene import Scene
    >>> film = Film(np.linspace(0, 1, 5), Scene(("A", "B"), np.zeros((5, 2, 2)), bars=[(0, 1)]), title="a <b>")
    >>> html = player(film)
    >>> html.count("<canvas"), "http" in html, "a &lt;b&gt;" in html
    (1, False, True)
    """
    data = _data(film) | {"autoplay": autoplay}
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    label, quantity = escape(film.title or "motion"), escape("time" if film.quantity == "t" else film.quantity)
    body = (
        f'<figure class="zwang-film" aria-label="{label}"><canvas role="img" aria-label="{label}"></canvas>'
        '<div class="bar"><button type="button" aria-label="play">&#9654;</button>'
        f'<div class="line"><input type="range" min="0" max="1" step="any" value="0" aria-label="{quantity}"></div>'
        '<output></output><select aria-label="speed"><option value="0.25">¼×</option><option value="0.5">½×</option>'
        '<option value="1" selected>1×</option><option value="2">2×</option><option value="4">4×</option></select>'
        f"</div><figcaption>{label}</figcaption>"
        f'<script type="application/json">{text}</script></figure>'
    )
    return f"<style>{_asset('player.css')}</style>{body}<script>{player_script()}</script>"


def player_script() -> str:
    """Return the script of the player, the only one that our pages run."""
    return _asset("player.js")


def player_page(film: Film) -> str:
    """Return a whole page with one player in it."""
    head = (
        f'<meta charset="utf-8">{content_policy(player_script())}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{escape(film.title or "motion")}</title>'
        "<style>body{margin:0;background:#fff}</style>"
    )
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{player(film, autoplay=True)}</body></html>\n'


def _data(film: Film) -> dict[str, object]:
    count = len(film.times)
    chosen = np.unique(np.linspace(0, count - 1, min(count, MOST_FRAMES)).round().astype(int))
    scene = film.scene
    low, high = scene.corners()
    return {
        "times": _packed(film.times[chosen] - film.times[0]),
        "start": float(film.times[0]),
        "quantity": film.quantity,
        "unit": film.unit,
        "digits": film.digits,
        "places": _packed(scene.places[chosen]),
        "names": list(scene.names),
        "bars": [[int(a), int(b)] for a, b in scene.bars],
        "springs": [[int(a), int(b)] for a, b in scene.springs],
        "ground": [int(k) for k in scene.ground],
        "joints": scene.joints,
        "moving": scene.moving,
        "bodies": [_body(solid, chosen) for solid in scene.bodies],
        "outlines": [_packed(line) for line in (*scene.outlines, *scene.endless)],
        "surfaces": [[*at, *normal] for at, normal in scene.surfaces],
        "marks": [[float(time - film.times[0]), text] for time, text in film.marks],
        "box": [float(value) for value in (*low, *high)],
    }


def _body(solid: Solid, chosen: NDArray[np.int64]) -> dict[str, object]:
    if len(solid.corners):
        return {"corners": [int(k) for k in solid.corners]}
    return {"outline": _packed(solid.outline), "at": _packed(solid.at[chosen])}


def _packed(array: object) -> str:
    """Return numbers as text: float32 in base64, a third of the size of digits."""
    return base64.b64encode(np.ascontiguousarray(array, dtype="<f4").tobytes()).decode("ascii")


def _asset(name: str) -> str:
    return resources.files("zwang._plot.film").joinpath(name).read_text(encoding="utf-8").strip()
