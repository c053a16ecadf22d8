"""Films as files: .html (the player), .gif (Pillow) or .mp4 (ffmpeg)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from zwang._outputs import check_output, replacing, write_text
from zwang._plot.film.frames import Film
from zwang._plot.film.player import player_page
from zwang._plot.style import INK, QUIET, SERIES, look, matplotlib
from zwang.errors import DeclarationError

ENDINGS = (".html", ".gif", ".mp4")
MOST_GIF = 240


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


def write_film(film: Film, path: Path, *, rate: int = 30, seconds: float | None = None) -> Path:
    """Write a film; the ending of the path says the format.

    Parameters
    ----------
    film : Film
    path : Path
        ``.html`` plays offline in any browser, ``.gif`` needs the extra ``plot``, ``.mp4`` ffmpeg as well.
    rate : int
        Pictures per second of a gif or mp4.
    seconds : float, optional
        How long it lasts; by default as long as the motion, within 4 to 12 seconds.
    """
    check_film(path)
    if path.suffix == ".html":
        return write_text(path, player_page(film))
    from matplotlib.animation import FFMpegWriter, FuncAnimation, PillowWriter

    lasting = seconds if seconds is not None else float(np.clip(np.ptp(film.times), 4.0, 12.0))
    pictures = max(2, int(lasting * rate))
    if path.suffix == ".gif":
        rate, pictures = 20, max(2, min(MOST_GIF, int(lasting * 20)))
    with look():
        figure, show = _stage(film)
        animation = FuncAnimation(figure, show, frames=_times(film, pictures), interval=1000 / rate, blit=False)
        writer: Any = PillowWriter(fps=rate) if path.suffix == ".gif" else FFMpegWriter(fps=rate, bitrate=2500)
        try:
            with replacing(path) as draft:
                animation.save(draft, writer=writer, dpi=110)
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

    low, high = film.corners()
    wide, tall = high - low
    figure = Figure(figsize=(5.6, float(np.clip(5.6 * tall / wide, 2.4, 6.4))))
    FigureCanvasAgg(figure)
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    for line in film.outlines:
        ax.plot(*np.asarray(line).T, color=QUIET, linewidth=1.3)
    trails = [ax.plot([], [], color=SERIES[0], alpha=0.35, linewidth=1)[0] for _ in film.moving]
    bars = [ax.plot([], [], color=SERIES[0], linewidth=4, solid_capstyle="round")[0] for _ in film.segments]
    (joints,) = ax.plot([], [], "o", color="white", markeredgecolor=INK, markersize=6)
    clock = ax.text(0.02, 0.98, "", transform=ax.transAxes, va="top", color=INK)

    def show(time: float) -> list[Any]:
        k = min(int(np.searchsorted(film.times, time)), len(film.times) - 1)
        places = film.places[k]
        for trail, point in zip(trails, film.moving, strict=True):
            trail.set_data(*film.places[: k + 1, point].T)
        for bar, (a, b) in zip(bars, film.segments, strict=True):
            bar.set_data(*places[[a, b]].T)
        joints.set_data(*places.T)
        clock.set_text(f"t = {time:.2f} s")
        return [*trails, *bars, joints, clock]

    return figure, show
