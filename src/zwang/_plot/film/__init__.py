"""Moving pictures: frames as arrays, played in a page that works offline or written as mp4 or gif."""

from __future__ import annotations

from zwang._plot.film.formats import check_film, shown, write_film
from zwang._plot.film.frames import Film
from zwang._plot.film.player import player, player_page

__all__ = ["Film", "check_film", "player", "player_page", "shown", "write_film"]
