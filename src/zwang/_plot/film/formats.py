"""Films as files: .html (the player), .gif (Pillow) or .mp4 (ffmpeg)."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from zwang._outputs import as_path, check_output, replacing, write_text
from zwang._plot.film.frames import Film
from zwang._plot.film.player import player, player_page
from zwang._plot.mechanism import draw_mechanism
from zwang._plot.style import INK, SERIES, look, matplotlib, words
from zwang._progress import Progress, progress_bar
from zwang.errors import DeclarationError

ENDINGS = (".html", ".gif", ".mp4")
FINE = 240
"""Instants from which paths look smooth."""
GIF_RATE = 20
"""Pictures per second of a gif that says nothing else: viewers slow down faster ones."""


def check_film(path: Path) -> Path:
    """Return a path to which a film can be written; a DeclarationError says why not."""
    check_output(path, endings=ENDINGS, written="films are written as .html, .gif or .mp4")
    if path.suffix != ".html":
        matplotlib()
    if path.suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise DeclarationError(
            f"'{path}': an mp4 is written by ffmpeg, which is not installed. Install it (apt install ffmpeg), or write "
            ".html or .gif, which need nothing else."
        )
    return path


class Shown:
    """A film that a notebook shows where it stands."""

    def __init__(self, html: str) -> None:
        self.html = html

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return f"film of {len(self.html) // 1024} kB; give animate a path (.html, .gif, .mp4) to write it"


def shown(
    film: Callable[[int | None], Film],
    path: str | Path | None,
    *,
    frames: int | None,
    fps: int,
    progress: Progress,
) -> Any:
    """Return a film for a notebook, or write it where there is a path, which is checked before the film is made.

    `film` makes it from a number of instants. Few pictures of a gif or mp4 still have smooth paths behind them.
    """
    for what, value in (("frames", frames), ("fps", fps)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1):
            raise DeclarationError(f"animate: {what}= must be a whole number from 1 on; it was given {value!r:.40}.")
    if path is None:
        return Shown(player(film(frames)))
    file = as_path(path)
    check_film(file)
    with progress_bar(progress, f"film {file.name}") as told:
        instants = frames if file.suffix == ".html" or (frames or 0) > FINE else None
        return write_film(film(instants), file, rate=fps, pictures=frames, progress=told)


def write_film(
    film: Film,
    path: Path,
    *,
    rate: int = 30,
    pictures: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Path:
    """Write a film; the ending of the path says the format.

    Parameters
    ----------
    film : Film
    path : Path
        ``.html`` plays offline in any browser, ``.gif`` needs the extra ``plot``, ``.mp4`` ffmpeg as well.
    rate : int
        Pictures per second of a gif or mp4.
    pictures : int, optional
        How many pictures a gif or mp4 has; by default it lasts as long as the motion, within 4 to 12 seconds.
    progress : callable, optional
        Called with the part that is written, from 0 to 1.
    """
    check_film(path)
    if path.suffix == ".html":
        return write_text(path, player_page(film))
    from matplotlib.animation import FFMpegWriter, FuncAnimation, PillowWriter

    if pictures is None:
        lasting = float(np.clip(np.ptp(film.times), 4.0, 12.0))
        rate = min(rate, GIF_RATE) if path.suffix == ".gif" else rate
        pictures = int(lasting * rate)
    told = None if progress is None else lambda k, count: progress((k + 1) / count)
    with look():
        figure, show = _stage(film)
        animation = FuncAnimation(figure, show, frames=_times(film, pictures), interval=1000 / rate, blit=False)
        writer: Any = PillowWriter(fps=rate) if path.suffix == ".gif" else FFMpegWriter(fps=rate, bitrate=2500)
        try:
            with replacing(path) as draft:
                animation.save(draft, writer=writer, dpi=110, progress_callback=told)
        except subprocess.CalledProcessError as error:
            raise DeclarationError(
                f"{path}: cannot be written: ffmpeg ended with {error.returncode}. Free some space, or write .html or "
                ".gif. What was there before is as it was."
            ) from None
    return path


def _times(film: Film, pictures: int) -> list[float]:
    return [float(time) for time in np.linspace(film.times[0], film.times[-1], pictures)]


def _stage(film: Film) -> tuple[Any, Any]:
    """Return a figure with the film's first picture and the function that shows a time."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    scene = film.scene
    low, high = scene.corners(0.13)
    wide, tall = high - low
    figure = Figure(figsize=(5.6, float(np.clip(5.6 * tall / wide, 2.4, 6.4))))
    FigureCanvasAgg(figure)
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))

    def show(time: float) -> list[Any]:
        k = min(int(np.searchsorted(film.times, time)), len(film.times) - 1)
        ax.clear()
        trails = [scene.places[: k + 1, point] for point in scene.moving]
        for trail in trails:
            ax.plot(*trail.T, color=SERIES[0], alpha=0.35, linewidth=1)
        draw_mechanism(scene, labels=False, frame=k, box=(low, high), ax=ax)
        ax.text(0.02, 0.98, words(film.clock(time)), transform=ax.transAxes, va="top", color=INK)
        return []

    return figure, show
