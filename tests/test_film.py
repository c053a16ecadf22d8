"""Films: the data of the player, the files it writes, and what it refuses."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import numpy as np
import pytest

import zwang as zw
from zwang._plot.film import Film, player, player_page, write_film
from zwang._plot.scene import Scene, outlines_of


def two_links(frames: int = 50) -> Film:
    t = np.linspace(1.0, 3.0, frames)
    middle = np.stack([np.cos(t), np.sin(t)], axis=1)
    places = np.stack([np.zeros_like(middle), middle, 2 * middle], axis=1)
    scene = Scene(("A", "B", "C"), places, bars=[(0, 1), (1, 2)], ground=[0])
    return Film(t, scene, marks=[(2.0, "stop </script>")], title="arm")


def data_of(html: str) -> dict:
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', html, re.S)[1])


def numbers(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype="<f4")


def test_player_holds_the_places_of_every_frame():
    film = two_links()
    data = data_of(player(film))
    assert np.allclose(numbers(data["places"]).reshape(-1, 3, 2), film.scene.places, atol=1e-6)
    assert np.allclose(numbers(data["times"]) + data["start"], film.times, atol=1e-6)
    assert data["bars"] == [[0, 1], [1, 2]]
    assert data["moving"] == [1, 2]


def test_long_films_are_thinned_to_what_a_screen_shows():
    data = data_of(player(two_links(50_000)))
    times = numbers(data["times"])
    assert len(times) == 1200
    assert times[-1] == pytest.approx(2.0, abs=1e-6)


def test_text_of_an_event_can_not_end_the_script():
    html = player(two_links())
    assert html.count("</script>") == 2
    assert data_of(html)["marks"] == [[1.0, "stop </script>"]]


def test_page_loads_nothing():
    page = player_page(two_links())
    assert page.startswith("<!DOCTYPE html>")
    assert "http" not in page.replace("http-equiv", "")
    assert not re.search(r"<(?:script|img|iframe|link)[^>]*(?:src|href)=\"(?!data:)", page)


def test_frame_has_room_round_a_film_that_stands_still():
    low, high = Scene(("A",), np.ones((1, 1, 2))).corners()
    assert (low < 1).all()
    assert (high > 1).all()


def test_outline_of_a_circle_lies_on_it():
    X, Y = np.meshgrid(np.linspace(-2, 2, 201), np.linspace(-2, 2, 201))
    (line,) = outlines_of([(X, Y, X**2 + Y**2 - 1)])
    # Linear interpolation on a grid of 0.02 misses a circle of radius 1 by at most 0.02**2 / 8.
    assert np.abs(np.hypot(*line.T) - 1).max() < 1e-4


def test_gif_has_pictures_and_html_has_a_player(tmp_path: Path):
    film = two_links(8)
    assert write_film(film, tmp_path / "arm.gif", pictures=6).read_bytes().startswith(b"GIF89a")
    assert "<canvas" in write_film(film, tmp_path / "arm.html").read_text(encoding="utf-8")


def test_mp4_without_ffmpeg_names_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(zw.DeclarationError, match=r"apt install ffmpeg"):
        write_film(two_links(8), tmp_path / "arm.mp4")


def test_unknown_ending_is_refused(tmp_path: Path):
    with pytest.raises(zw.DeclarationError, match=r"\.html, \.gif or \.mp4"):
        write_film(two_links(8), tmp_path / "arm.avi")


def test_drawing_at_arrays_of_states_is_the_drawing_at_each():
    entry = zw.gallery.get("four_bar")
    values = {**entry.params, **entry.state}
    one = entry.drawing.places(values)
    name = entry.system.coordinates[0].name
    several = entry.drawing.places({**values, name: values[name] + np.array([0.0, 0.3])})
    assert several.shape == (2, *one.shape[1:])
    assert np.array_equal(several[0], one[0])
