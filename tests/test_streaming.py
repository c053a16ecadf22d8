"""Long motions that go to their file while they are computed."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from night import by_day
from zwang._results import motion_stream, storage, stream_draft
from zwang._results.motion_parts import MotionPiece
from zwang._results.motion_stream import MotionStream
from zwang._simulate import record, stretch


def peak(until: float, path: Path) -> tuple[int, zw.Motion]:
    (x,), (vx,) = zw.coordinates("x")
    spring = zw.System(name="spring", kinetic=vx**2 / 2, potential=x**2 / 2)
    tracemalloc.start()
    motion = zw.simulate(spring, {"x": 1, "v_x": 0}, {}, until=until, out=path)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found, motion


@pytest.mark.nightly
def test_memory_does_not_grow_with_the_motion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "KEPT", 1000)
    monkeypatch.setattr(stretch, "CHUNK", 500)
    monkeypatch.setattr(motion_stream, "MOST_BYTES", 100_000)  # those of the last stretch
    peak(3000.0, tmp_path / "first.npz")  # modules are loaded and kernels made
    short, _ = peak(6000.0, tmp_path / "short.npz")
    long, motion = peak(12000.0, tmp_path / "long.npz")
    # What stays of a piece that was written is the table of contents of the file.
    assert long < 1.3 * short
    assert long < 3e6  # the whole with its dense output takes 8 MB
    assert len(motion.t) < 2000
    whole = zw.load_result(tmp_path / "long.npz")
    assert len(whole.t) > 15_000
    assert whole.t[-1] == 12000.0
    # T + V = 1/2 all the way; the note gives its range with 15 digits.
    words = motion.reason.split("T + V was between ")[1].split()
    assert float(words[0]) == pytest.approx(0.5, abs=1e-7)
    assert float(words[2]) == pytest.approx(0.5, abs=1e-7)
    assert int(words[4]) > 10


# --- what a killed or interrupted computation leaves ------------------------------------------------------------------


def spring() -> zw.System:
    (x,), (vx,) = zw.coordinates("x")
    return zw.System(name="spring", kinetic=vx**2 / 2, potential=x**2 / 2)


def bouncing() -> zw.Motion:
    """A ball on a floor: impacts, jumps, and at last rest."""
    (y,), (vy,) = zw.coordinates("y")
    floor = zw.Unilateral(y, restitution=sp.Rational(1, 2), name="floor")
    ball = zw.System(name="ball", kinetic=vy**2 / 2, potential=10 * y, constraints=[floor])
    return zw.simulate(ball, {"y": 1, "v_y": 0}, {}, until=3.0)


def cut(piece: MotionPiece, rng: np.random.Generator) -> Iterator[MotionPiece]:
    """The same piece in random parts: each begins with the row that the last one ended with."""
    steps = len(piece.t) - 1
    inner = rng.choice(np.arange(1, steps), size=min(int(rng.integers(0, 4)), max(steps - 1, 0)), replace=False)
    edges = [0, *sorted(int(one) for one in inner), steps] if steps else [0, 0]
    for first, last in itertools.pairwise(edges):
        rows: dict[str, Any] = {name: getattr(piece, name)[first : last + 1] for name in ("t", "q", "v", "a")}
        yield replace(piece, **rows, dense=piece.dense[first:last], jumps=piece.jumps if first == 0 else ())


def streamed(motion: zw.Motion, path: Path, seed: int, *, close: bool = True) -> MotionStream:
    """Send a motion to a file in random parts, as a computation would that is cut by its clock."""
    rng = np.random.default_rng(seed)
    stream = MotionStream(path)
    first = motion.pieces[0]
    start = replace(first, t=first.t[:1], q=first.q[:1], v=first.v[:1], a=first.a[:1], dense=first.dense[:0])
    stream.begin(
        replace(motion, pieces=(start,), events=(), residual=None, computed=None, source=None, drift_per_step=0.0)
    )
    for piece in motion.pieces:
        for part in cut(piece, rng):
            events = [event for event in motion.events if event.time <= part.t[-1]]
            stream.add(part, events, motion.drift_per_step)
    if close:
        stream.close(motion)
    else:
        stream.abandon(motion.events, motion.drift_per_step)
    return stream


def assert_same_motion(found: zw.Motion, motion: zw.Motion) -> None:
    for name in ("t", "q", "v", "a"):
        assert np.array_equal(getattr(found, name), getattr(motion, name), equal_nan=True)
    assert repr(found.events) == repr(motion.events)
    assert found.modes and repr(found.modes) == repr(motion.modes)
    times = np.linspace(motion.t[0], motion.t[-1], 101)
    assert np.array_equal(found.at(times)["y"], motion.at(times)["y"])


@pytest.mark.parametrize("block", [1, 3, 17, 256])
def test_a_file_has_the_same_bytes_however_the_motion_came_to_it(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    motion = bouncing()
    streamed(motion, tmp_path / "plain.npz", 0)
    monkeypatch.setattr(motion_stream, "BLOCK", block)
    for seed in range(1, 5):
        streamed(motion, tmp_path / "cut.npz", seed)
        assert (tmp_path / "cut.npz").read_bytes() == (tmp_path / "plain.npz").read_bytes()
    assert_same_motion(zw.load_result(tmp_path / "cut.npz"), motion)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["cut.npz", "plain.npz"]


def test_a_draft_cut_anywhere_gives_the_motion_up_to_its_last_whole_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(motion_stream, "BLOCK", 3)
    motion = bouncing()
    stream = streamed(motion, tmp_path / "ball.npz", 7, close=False)
    data = stream.part.read_bytes()
    with stream.part.open("rb") as file:
        edges = [place for place, _ in stream_draft.blocks_of(file)]
    assert len(edges) > 5
    rng = np.random.default_rng(3)
    near = [edge + off for edge in (*edges, len(data)) for off in (-1, 0, 1, 3, 12, 17) if 0 <= edge + off <= len(data)]
    seen = set()
    for size in (*near, *(int(one) for one in rng.integers(0, len(data), 80))):
        stream.part.write_bytes(data[:size])
        if size < edges[1]:
            with pytest.raises(
                zw.DeclarationError, match="holds nothing that could be read|is not the draft of a motion"
            ):
                zw.load_result(stream.path)
            continue
        found = zw.load_result(stream.path)
        rows = len(found.t)
        seen.add(rows)
        assert found.status.name == "INTERRUPTED"
        assert "was cut short; 'ball.npz.part' has it up to t = " in found.reason
        assert "it was to go on until 3" in found.reason
        assert np.array_equal(found.t, motion.t[:rows]) and np.array_equal(found.q, motion.q[:rows])
        # Before the last impact of the part that is there, all events are there.
        known = [event for event in motion.events if event.time < found.t[-1]]
        assert repr(list(found.events)[: len(known)]) == repr(known)
    assert len(seen) > 5 and max(seen) == len(motion.t)


def test_a_draft_with_a_changed_byte_is_read_up_to_it_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(motion_stream, "BLOCK", 3)
    motion = bouncing()
    stream = streamed(motion, tmp_path / "ball.npz", 7, close=False)
    data = stream.part.read_bytes()
    rng = np.random.default_rng(5)
    for place in rng.integers(0, len(data), 150):
        broken = bytearray(data)
        broken[place] ^= 1 << int(rng.integers(8))
        stream.part.write_bytes(broken)
        try:
            found = zw.load_result(stream.part)
        except zw.DeclarationError:
            continue
        assert np.array_equal(found.t, motion.t[: len(found.t)])
        assert np.array_equal(found.q, motion.q[: len(found.q)])


def test_a_block_that_was_forged_is_refused(tmp_path: Path) -> None:
    whole = stream_draft.packed({"pieces": (1, 2), "events": (), "drift": 0.0})
    path = tmp_path / "forged.npz.part"
    path.write_bytes(stream_draft.FIRST + whole + whole)
    with pytest.raises(zw.DeclarationError, match="is not the draft of a motion that zwang wrote"):
        zw.load_result(path)
    text = json.dumps({"arrays": [["x", "<f8", [10**12]]], "value": None}).encode()
    data = stream_draft.TEXT.pack(len(text)) + text
    head = stream_draft.HEAD.pack(stream_draft.MARK, len(data), zlib.crc32(data))
    path.write_bytes(stream_draft.FIRST + head + data)
    with pytest.raises(zw.DeclarationError, match="A block of the stream is not one that zwang wrote"):
        zw.load_result(path)


def test_a_finished_file_stays_beside_a_draft_which_is_read_where_it_is_named(tmp_path: Path) -> None:
    motion = bouncing()
    streamed(motion, tmp_path / "ball.npz", 1)
    streamed(motion, tmp_path / "ball.npz", 2, close=False)
    assert zw.load_result(tmp_path / "ball.npz").status is motion.status
    assert zw.load_result(tmp_path / "ball.npz.part").status.name == "INTERRUPTED"


def test_a_draft_that_is_being_written_is_not_taken_over(tmp_path: Path) -> None:
    motion = bouncing()
    stream = MotionStream(tmp_path / "ball.npz")
    stream.begin(replace(motion, residual=None, computed=None, source=None))
    with pytest.raises(zw.DeclarationError, match="is being written by another computation. Give out= another name"):
        MotionStream(tmp_path / "ball.npz")
    stream.abandon()
    assert list(tmp_path.iterdir()) == []
    MotionStream(tmp_path / "ball.npz")


def test_a_state_that_is_refused_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    (y,), (vy,) = zw.coordinates("y")
    held = zw.System(name="held", kinetic=vy**2 / 2, constraints=[zw.Bilateral(y, name="rail")])
    path = tmp_path / "held.npz"
    path.write_bytes(b"old")
    with pytest.raises(zw.StateError):
        zw.simulate(held, {"y": 1, "v_y": 0}, {}, until=1.0, out=path)
    assert path.read_bytes() == b"old"
    assert [item.name for item in tmp_path.iterdir()] == ["held.npz"]


@pytest.mark.parametrize("where", ["no/such/folder/x.npz", ".", "x.npz"])
def test_a_path_that_cannot_be_written_is_told_before_anything_is_computed(where: str, tmp_path: Path) -> None:
    (tmp_path / "x.npz").mkdir()
    with pytest.raises(zw.DeclarationError, match="cannot be written|needs a path that ends in .npz"):
        zw.simulate(spring(), {"x": 1, "v_x": 0}, {}, until=1e9, out=tmp_path / where)
    assert [item.name for item in tmp_path.iterdir()] == ["x.npz"]


@pytest.mark.parametrize("call", [1, 2, 5])
def test_ctrl_c_inside_the_writing_of_a_block_waits_for_its_end(
    call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stretch, "CHUNK", 50)
    calls = 0
    write = stream_draft.Draft._write

    def interrupted(self: stream_draft.Draft, data: bytes) -> None:
        nonlocal calls
        calls += 1
        if calls == 2 + call:  # the first two are the line at the top and the start
            signal.raise_signal(signal.SIGINT)
        write(self, data)

    monkeypatch.setattr(stream_draft.Draft, "_write", interrupted)
    path = tmp_path / "spring.npz"
    motion = zw.simulate(spring(), {"x": 1, "v_x": 0}, {}, until=1e6, out=path)
    whole = zw.load_result(path)
    assert motion.status.name == whole.status.name == "INTERRUPTED"
    assert f"Interrupted at t = {whole.t[-1]:.6g}; it was to go on until 1e+06." in whole.reason
    assert np.array_equal(whole.t, motion.t) and len(whole.t) > 10
    assert np.all(np.diff(whole.t) > 0)
    assert np.abs(whole.q[:, 0] - np.cos(whole.t)).max() < 1e-6
    assert [item.name for item in tmp_path.iterdir()] == ["spring.npz"]


CHILD = """
import sys, zwang as zw
(x,), (vx,) = zw.coordinates("x")
spring = zw.System(name="spring", kinetic=vx**2 / 2, potential=x**2 / 2)
start = {"x": 1, "v_x": 0}
motion = zw.simulate(spring, start, {}, until=1e8, out=sys.argv[1], progress=lambda t: print(t, flush=True))
print("END", motion.status.name, motion.t[-1], flush=True)
"""


ENDED = [("SIGKILL", 1500.0), ("SIGTERM", 2500.0), ("SIGINT", 1500.0)]


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "beyond"), by_day(ENDED, ENDED[:1]))
def test_a_killed_stream_gives_what_was_computed(number: str, beyond: float, tmp_path: Path) -> None:
    path = tmp_path / "spring.npz"
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    reached = 0.0
    while reached < beyond:  # several blocks: how many lines that takes, the machine decides
        reached = float(child.stdout.readline())
    child.send_signal(getattr(signal, number))
    rest, _ = child.communicate(timeout=120)
    found = zw.load_result(path)
    assert found.status.name == "INTERRUPTED"
    # Rows of a stretch that has not ended, and less rows than a block, may still have waited.
    assert found.t[-1] >= reached - (motion_stream.BLOCK + stretch.CHUNK) * np.diff(found.t).max()
    assert np.all(np.diff(found.t) > 0)
    assert np.abs(found.q[:, 0] - np.cos(found.t)).max() < 1e-6 * (1 + found.t[-1])
    if number == "SIGINT":
        assert f"END INTERRUPTED {found.t[-1]}" in rest
        assert [item.name for item in tmp_path.iterdir()] == ["spring.npz"]
    else:
        assert [item.name for item in tmp_path.iterdir()] == ["spring.npz.part"]


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_full_disk_ends_a_stream_with_its_cure_and_keeps_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "spring.npz"
    path.write_bytes(b"old")
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))" + CHILD
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 1
    said = done.stderr.strip().splitlines()[-1]
    assert "spring.npz.part: cannot be written: File too large. Free some space, or choose another place." in said
    assert "spring.npz.part', which load_result reads." in said
    assert path.read_bytes() == b"old"
    found = zw.load_result(tmp_path / "spring.npz.part")
    assert len(found.t) > 1000 and np.abs(found.q[:, 0] - np.cos(found.t)).max() < 1e-6


def test_a_full_disk_at_the_end_keeps_the_whole_motion_in_the_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(storage, "write_array", full)
    path = tmp_path / "spring.npz"
    with pytest.raises(
        zw.DeclarationError, match=r"No space left on device\. Free some space.*spring\.npz\.part', which"
    ):
        zw.simulate(spring(), {"x": 1, "v_x": 0}, {}, until=10.0, out=path)
    found = zw.load_result(path)
    assert (found.status.name, found.t[-1]) == ("REACHED", 10.0)
    assert [item.name for item in tmp_path.iterdir()] == ["spring.npz.part"]
