"""`progress=` means the same everywhere, changes no answer, and shows a bar only where somebody sees it."""

from __future__ import annotations

import numpy as np
import pytest

import zwang as zw
from zwang import _progress
from zwang._progress import progress_bar


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_progress, "_seen", lambda: True)
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    monkeypatch.setattr(_progress, "BETWEEN", 0.0)


def test_nothing_is_drawn_where_nobody_looks_unless_asked(capsys: pytest.CaptureFixture[str]) -> None:
    for given in (None, False):
        with progress_bar(given, "work") as show:
            assert show is None
    with progress_bar(True, "work") as show:
        assert show is not None
        show(0.5)
    assert "work" in capsys.readouterr().err


def test_a_bar_comes_by_itself_in_a_terminal_and_only_one_at_a_time(
    watched: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress_bar(None, "outer", start=1.0, end=3.0) as outer:
        assert outer is not None
        outer(2.0)
        with progress_bar(None, "inner") as inner:
            assert inner is None
    with progress_bar(None, "later") as later:
        assert later is not None
    text = capsys.readouterr().err
    assert "outer" in text and "50%" in text and "inner" not in text and "later" not in text


def test_short_jobs_draw_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(_progress, "_seen", lambda: True)
    monkeypatch.setattr(_progress, "PATIENCE", 1e9)
    with progress_bar(None, "short") as show:
        assert show is not None
        show(0.5)
    assert capsys.readouterr().err == ""


def test_motions_and_maps_are_the_same_with_a_bar_and_without(
    watched: None, capsys: pytest.CaptureFixture[str]
) -> None:
    ball, rod = zw.gallery.get("bouncing_ball"), zw.gallery.get("painleve_rod")
    many = {**rod.params, "mu": np.linspace(0.0, 2.0, 5000)}
    told: list[float] = []
    for progress in (None, True, False, told.append):
        motion = zw.simulate(ball.system, ball.state, ball.params, until=1.0, progress=progress)
        assert motion.status.name == "REACHED"
        found = zw.reactions(rod.system, rod.state, many, progress=progress)
        if progress is None:
            first, counts = motion.q.tobytes(), found.counts
        assert motion.q.tobytes() == first
        np.testing.assert_array_equal(found.counts, counts)
    assert told and max(told[-3:]) <= 1.0
    assert "reactions of painleve_rod" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["simulate", "reactions", "limit"])
def test_what_is_no_progress_is_refused_by_every_verb(verb: str) -> None:
    ball = zw.gallery.get("bouncing_ball")
    more = {"simulate": {"until": 1.0}, "reactions": {}, "limit": {"until": 1.0, "by": zw.Stiffness}}[verb]
    arguments = (ball.system, "floor") if verb == "limit" else (ball.system,)
    with pytest.raises(zw.DeclarationError, match=r"progress= must be a function, True, False or None; it was given 3"):
        getattr(zw, verb)(*arguments, ball.state, ball.params, progress=3, **more)
