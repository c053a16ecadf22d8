"""The lab's server, without a browser: who gets in, what is refused, what a hostile page can do, how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import struct
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
websockets = pytest.importorskip("websockets")

import zwang as zw  # noqa: E402
from lab_pages import HANG, Lab, Page, children, gone  # noqa: E402
from zwang.lab import protocol  # noqa: E402
from zwang.lab.scheduler import Crew  # noqa: E402
from zwang.lab.server import ASSETS, MOST_SOCKETS, MOST_UNREAD  # noqa: E402
from zwang.lab.server import Page as ServedPage  # noqa: E402

LINUX = sys.platform == "linux"


# --- who gets in -----------------------------------------------------------------------------------------------------


def test_the_token_is_traded_for_a_cookie_and_leaves_the_address(lab: Lab) -> None:
    status, headers, _ = lab.get(f"/?token={lab.token}&system=sleigh&p.m=2")
    assert (status, headers["Location"]) == (303, "/?system=sleigh&p.m=2")
    cookie = headers["Set-Cookie"]
    assert cookie.startswith(f"zwang-{lab.port}=") and lab.token not in cookie
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}


@pytest.mark.parametrize("path", ["/", "/?token=", "/?token=wrong", "/main.js", "/start.json", "/nothing", "/ws"])
def test_without_token_and_cookie_nothing_is_served(lab: Lab, path: str) -> None:
    status, headers, body = lab.get(path)
    assert status == 403 or (path == "/ws" and status in (403, 404, 426))
    assert lab.token.encode() not in body and headers.get("Set-Cookie") is None


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost:", ""])
def test_other_names_of_the_host_are_answered_with_400(lab: Lab, host: str) -> None:
    cookie = lab.log_in()
    status, _, body = lab.get("/", Host=host.format(port=lab.port), Cookie=cookie)
    assert status == 400
    assert b"<html" not in body


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}"])
def test_our_own_names_are_served(lab: Lab, host: str) -> None:
    assert lab.get("/", Host=host.format(port=lab.port), Cookie=lab.log_in())[0] == 200


def test_every_answer_has_the_policy(lab: Lab) -> None:
    cookie = lab.log_in()
    for path in (*ASSETS, "/nothing", "/start.json"):
        for given in ({"Cookie": cookie}, {}):
            _, headers, _ = lab.get(path, **given)
            policy = headers["Content-Security-Policy"]
            assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert (headers["Referrer-Policy"], headers["Cache-Control"]) == ("no-referrer", "no-store")


def test_assets_come_from_the_table_alone(lab: Lab) -> None:
    cookie = lab.log_in()
    for path, (_, kind) in ASSETS.items():
        status, headers, body = lab.get(path, Cookie=cookie)
        assert (status, headers["Content-Type"]) == (200, kind), path
        assert body
    for path in ("/../server.py", "/%2e%2e/server.py", "/server.py", "//etc/passwd", "/page/index.html", "/main.js/.."):
        assert lab.get(path, Cookie=cookie)[0] == 404, path


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Cookie": "zwang-1=x"},
        {"Cookie": "zwang-{port}=wrong"},
        {"Cookie": "zwang-{port}=" + "é"},
    ],
)
def test_sockets_of_others_are_refused_before_they_are_accepted(lab: Lab, headers: dict[str, str]) -> None:
    given = {name: value.format(port=lab.port).encode("utf-8").decode("latin-1") for name, value in headers.items()}
    with pytest.raises(websockets.exceptions.InvalidStatus) as refusal:
        Page(lab, **given)
    assert refusal.value.response.status_code == 403


# --- the protocol ----------------------------------------------------------------------------------------------------


def test_an_answer_announces_its_frames_and_they_hold_the_motion(lab: Lab) -> None:
    with lab.page() as page:
        head, frames = page.answers(kind="motion", system="belt_block", until=3.0)[-1]
    assert head["status"] == "done" and head["frames"] == len(frames) == 3
    magic, seq, index, rows, columns = struct.unpack_from("<4s4I", frames[0])
    assert (magic, seq, index, columns) == (b"ZWF1", 1, 0, len(head["columns"]))
    table = np.frombuffer(frames[0], "<f4", offset=20).reshape(rows, columns)
    entry = zw.gallery.get("belt_block")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=3.0)
    x = motion.at(table[:, 0].astype(float).clip(0, 3.0))["x"]
    # Four-byte floats have 24 bits: 6e-8 of the largest value, twice (time and position).
    assert np.abs(table[:, head["columns"].index("x")] - x).max() < 1e-6
    assert [item["time"] for item in head["events"]] == [event.time for event in motion.events]


def test_reactions_are_those_of_the_verb(lab: Lab) -> None:
    entry = zw.gallery.get("painleve_rod")
    with lab.page() as page:
        one = page.ask(kind="reactions", system="painleve_rod")
        none = page.ask(kind="reactions", system="painleve_rod", params={"mu": 1.6})
    found = zw.reactions(entry.system, entry.state, entry.params)
    assert one["count"] == "1"
    assert one["solutions"][0]["normal"]["tip"] == pytest.approx(found.solutions[0].normal[0], rel=1e-12)
    # Painlevé: above the paradoxical friction no reaction exists at this state.
    assert entry.facts["smallest_paradox_friction"].value < 1.6
    assert (none["count"], none["solutions"]) == ("0", [])
    assert any("the contact would pull" in item["sentence"] for item in none["rejected"])


def test_a_moved_parameter_carries_the_state_along_and_says_so(lab: Lab) -> None:
    with lab.page() as page:
        told = page.ask(kind="reactions", system="four_bar_crank_rocker", params={"l2": 2.3})
        lost = page.ask(kind="reactions", system="four_bar_crank_rocker", params={"l2": 100.0})
    assert told["carried"].startswith("Carried to the constraint: ")
    system = zw.gallery.get("four_bar_crank_rocker").system
    assert zw.compile(system).check(told["state"], told["params"]) < 1e-9
    assert lost["status"] == "error" and "no configuration near" in lost["message"]


def test_a_handle_follows_the_pointer_along_the_configuration_space(lab: Lab) -> None:
    with lab.page() as page:
        told = page.ask(kind="drag", system="four_bar_crank_rocker", handle="B", x=0.0, y=1.0)
        wrong = page.ask(kind="drag", system="four_bar_crank_rocker", handle="Z", x=0.0, y=1.0)
    system = zw.gallery.get("four_bar_crank_rocker").system
    assert zw.compile(system).check(told["state"], told["params"]) < 1e-9
    # B turns about the origin on the crank: the nearest place to (0, 1) is straight above it.
    assert np.sin(told["state"]["alpha"]) == pytest.approx(1.0, abs=1e-6)
    assert "has no handle 'Z'; it has B, C" in wrong["message"]


def test_a_map_is_refined_and_counts_what_reactions_count(lab: Lab) -> None:
    with lab.page() as page:
        answers = page.answers(kind="map", system="painleve_rod", x=["mu", 0.0, 2.0], y=["theta", 0.2, 1.4], n=64)
    assert [(head["status"], head["n"]) for head, _ in answers] == [("part", 24), ("done", 64)]
    counts = np.frombuffer(answers[-1][1][0], "<f4", offset=20).reshape(64, 64)
    entry = zw.gallery.get("painleve_rod")
    for row, column in ((3, 2), (50, 60), (30, 63), (10, 63)):
        theta, mu = np.linspace(0.2, 1.4, 64)[row], np.linspace(0.0, 2.0, 64)[column]
        params = {**entry.params, "mu": mu}
        # The tip stays on the floor.
        height = entry.params["l"] * np.sin(theta)
        state = {**entry.state, "theta": theta, "y": height}
        assert counts[row, column] == min(len(zw.reactions(entry.system, state, params).accelerations), 3)


def test_a_motion_goes_on_where_a_page_chooses(lab: Lab) -> None:
    with lab.page() as page:
        stopped = page.ask(kind="motion", system="ellipse_pendulum", until=2.0)
        gone_on = page.ask(kind="motion", system="ellipse_pendulum", until=2.0, **{"continue": 2})
        beyond = page.ask(kind="motion", system="ellipse_pendulum", until=2.0, **{"continue": 99})
    assert stopped["status_name"] == "SINGULAR" and "choose one of 3" in stopped["sentence"]
    assert gone_on["length"] > stopped["length"]
    assert "there is no continuation 99" in beyond["message"]


def test_a_mistake_in_a_model_is_told_with_its_line(lab: Lab) -> None:
    text = 'schema = 1\nname = "free"\ncoordinates = ["x"]\nkinetic = "m*v_x**2/2 +* 3"\n'
    with lab.page() as page:
        wrong = page.ask(kind="parse", text=text)
        right = page.ask(kind="parse", text=text.replace(" +* 3", ""))
    assert (wrong["status"], wrong["line"]) == ("error", 4)
    assert right["model"]["coordinates"] == ["x"] and right["model"]["missing"] == ["m"]
    assert "<math" in right["equations"][0]["mathml"]


def test_the_script_that_is_taken_away_computes_what_is_shown(lab: Lab) -> None:
    with lab.page() as page:
        taken = page.ask(kind="take", what="python", system="painleve_rod", params={"mu": 0.3}, until=0.5)
        shown = page.ask(kind="motion", system="painleve_rod", params={"mu": 0.3}, until=0.5)
    names: dict[str, object] = {}
    exec(compile(taken["text"], "taken.py", "exec"), names)
    motion = names["motion"]
    assert isinstance(motion, type(zw.simulate(*_belt(), until=0.1)))
    assert dict(motion.end) == shown["end"]


def _belt() -> tuple[object, ...]:
    entry = zw.gallery.get("belt_block")
    return entry.system, entry.state, entry.params


@pytest.mark.parametrize(
    "request_, words",
    [
        ({"kind": "nothing"}, "'kind' must be one of open, parse"),
        ({"kind": "reactions"}, "reactions needs 'system'"),
        ({"kind": "reactions", "system": "sleigh", "extra": 1}, "reactions has no key 'extra'"),
        ({"kind": "reactions", "system": 3}, "'system' must be the name of a system"),
        ({"kind": "reactions", "system": "sleigh", "params": {"m": "2"}}, "'params' must be finite numbers"),
        ({"kind": "reactions", "system": "sleigh", "params": {"m": True}}, "'params' must be finite numbers"),
        ({"kind": "reactions", "system": "sleigh", "state": [1]}, "'state' must be finite numbers"),
        ({"kind": "parse", "text": "x" * 100_001}, "at most 100,000 bytes"),
        ({"kind": "map", "system": "sleigh", "x": ["m", 0, 1]}, "map needs 'y'"),
        ({"kind": "map", "system": "sleigh", "x": ["m", 0, 1], "y": ["J", 0, 1], "n": 1001}, "from 2 to 1000"),
        ({"kind": "motion", "system": "sleigh", "until": 1e6}, "'until' must be a time from 0 to 100000 s"),
        ({"kind": "motion", "system": "sleigh", "continue": [1.5]}, "the number of a continuation"),
        ({"kind": "cancel"}, "cancel needs 'of'"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(lab: Lab, request_: dict[str, object], words: str) -> None:
    with lab.page() as page:
        seq = page.send(**request_)
        head, _ = page.next()
    assert (head["kind"], head["seq"]) == ("refused", seq)
    assert words in head["message"]


def test_numbers_that_are_none_are_refused(lab: Lab) -> None:
    with lab.page() as page:
        for text in ('{"seq":1,"kind":"reactions","system":"sleigh","params":{"m":NaN}}', '{"seq":1e9}', "[]", "", "{"):
            page.socket.send(text)
            assert page.next()[0]["kind"] == "refused"
        page.socket.send(b"\x00\x01")
        assert "binary" in page.next()[0]["message"]


def test_a_newer_request_supersedes_the_older_one_of_its_kind(lab: Lab) -> None:
    with lab.page() as page:
        slow = page.send(kind="space", system="n_four_bar", params={"l": 1.1})
        quick = page.send(kind="space", system="kozlov_neishtadt")
        heads = [page.next()[0], page.next()[0]]
    assert {(head["seq"], head["status"]) for head in heads} == {(slow, "cancelled"), (quick, "done")}


def test_cancel_stops_what_runs(lab: Lab) -> None:
    with lab.page() as page:
        slow = page.send(kind="space", system="n_four_bar", params={"l": 1.2})
        seq = page.send(kind="cancel", of=slow)
        heads = {head["seq"]: head["status"] for head in (page.next()[0], page.next()[0])}
    assert heads == {slow: "cancelled", seq: "done"}


# --- hostile pages ---------------------------------------------------------------------------------------------------


def malformed(rng: random.Random) -> str | bytes:
    """A frame that no page of ours would send."""
    good = {"seq": rng.randrange(9), "kind": rng.choice(list(protocol.KINDS)), "system": "sleigh"}
    way = rng.randrange(8)
    if way == 0:
        return rng.randbytes(rng.randrange(200))
    if way == 1:
        return "".join(
            chr(rng.choice((0, 10, 34, 92, 123, 0x1F600, 0x202E, rng.randrange(32, 300)))) for _ in range(40)
        )
    if way == 2:
        return json.dumps(good)[: rng.randrange(40)]
    if way == 3:
        return "[" * rng.randrange(1, 5000)
    junk = rng.choice([None, True, -1, 1e308, 2**70, "", "x" * 300, [], {}, {"a": {}}, [[1]], "\x1b[2J", "../../etc"])
    if way == 4:
        return json.dumps({**good, rng.choice(["seq", "kind"]): junk})
    if way == 5:
        return json.dumps({**good, "bad" + str(junk)[:5]: junk})
    if way == 6:
        return json.dumps({**good, "kind": "map", "x": junk, "y": junk})
    return json.dumps({"seq": 1, "kind": "motion", "system": "sleigh", "until": junk, "params": junk})


@pytest.mark.parametrize("frames", [1500, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_malformed_frames_are_refused_one_by_one_and_the_server_goes_on(lab: Lab, frames: int) -> None:
    rng = random.Random(8)
    with lab.page() as page:
        for _ in range(frames // 50):
            for _ in range(50):
                page.socket.send(malformed(rng))
            heads = [page.next()[0] for _ in range(50)]
            assert all(head["kind"] == "refused" and head["message"] for head in heads)
        assert page.ask(kind="reactions", system="sleigh")["status"] == "done"
    print(f"{frames} frames, seed 8")


def test_a_frame_beyond_a_megabyte_ends_its_page_alone(lab: Lab) -> None:
    with lab.page() as other, lab.page() as page:
        page.socket.send("x" * 1_100_000)
        with pytest.raises(websockets.exceptions.ConnectionClosed):
            page.next()
        assert other.ask(kind="reactions", system="sleigh")["status"] == "done"


def test_the_sixty_fifth_page_is_told_to_come_later() -> None:
    with Lab() as lab:
        lab.log_in()
        pages = [lab.page() for _ in range(MOST_SOCKETS)]
        late = [lab.page() for _ in range(10)]
        for page in late:
            with pytest.raises(websockets.exceptions.ConnectionClosed) as end:
                page.next()
            assert end.value.rcvd is not None and end.value.rcvd.code == 1013
        assert pages[7].ask(kind="reactions", system="sleigh")["status"] == "done"
        for page in pages:
            page.close()
        with lab.page() as page:
            assert page.ask(kind="reactions", system="sleigh")["status"] == "done"


class Unread:
    """A socket whose other side sends and never reads."""

    def __init__(self) -> None:
        self.sent = 0

    async def receive(self) -> dict[str, object]:
        await asyncio.sleep(0)
        self.sent += 1
        return {"type": "websocket.receive", "text": "no request" * 20}

    async def send_text(self, text: str) -> None:
        await asyncio.Event().wait()


def test_a_page_that_does_not_read_is_given_up() -> None:
    """Else what waits for it would fill the memory."""
    crew = Crew({})

    async def talk() -> int:
        socket = Unread()
        page = ServedPage(socket, crew)  # type: ignore[arg-type]
        reading = asyncio.create_task(page.run())
        page.send(b"x" * 1000, [b"y" * (MOST_UNREAD // 2)])
        await asyncio.sleep(0.01)
        assert not reading.done()
        page.send(b"x", [b"y" * (MOST_UNREAD // 2)])
        await asyncio.wait_for(reading, HANG)
        return socket.sent

    assert asyncio.run(talk()) > 0


def test_a_hostile_model_is_answered_with_a_sentence(lab: Lab) -> None:
    head = 'schema = 1\nname = "bad"\ncoordinates = ["x"]\n'
    texts = [
        head + 'kinetic = "v_x**2/2"\npotential = "' + "(" * 20_000 + '"\n',
        head + "kinetic = \"__import__('os').system('true')\"\n",
        head + 'kinetic = "v_x**(9**9**9)"\n',
        "a." * 20_000 + "b = 1",
    ]
    with lab.page() as page:
        for text in texts:
            told = page.ask(kind="parse", text=text)
            assert told["status"] == "error" and told["message"] and told["line"] >= 1
        assert page.ask(kind="reactions", system="sleigh")["status"] == "done"


# --- processes -------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not LINUX, reason="looks into /proc")
def test_a_worker_that_dies_is_replaced_and_the_page_is_told() -> None:
    with Lab() as lab, lab.page() as page:
        page.ask(kind="space", system="kozlov_neishtadt")
        hosts = {number for number in children(lab.process.pid) if children(number)}
        workers = children(lab.process.pid) - hosts
        assert workers
        seq = page.send(kind="space", system="n_four_bar", params={"l": 1.4})
        time.sleep(0.3)
        for number in workers:
            os.kill(number, signal.SIGKILL)
        head, _ = page.next()
        assert head["seq"] == seq
        if head["status"] != "done":  # it may have been quicker than the kill
            assert head["status"] == "error" and "another takes its place" in head["message"]
        assert page.ask(kind="space", system="kozlov_neishtadt")["status"] == "done"
        assert page.ask(kind="reactions", system="sleigh")["status"] == "done"


@pytest.mark.skipif(not LINUX, reason="looks into /proc")
def test_ctrl_c_ends_the_lab_and_its_workers_with_exit_code_0() -> None:
    lab = Lab()
    with lab.page() as page:
        page.ask(kind="reactions", system="sleigh")
        page.send(kind="space", system="n_four_bar", params={"l": 1.5})
        processes = children(lab.process.pid)
        assert processes
        code, said = lab.end()
    assert code == 0
    assert "Traceback" not in said
    assert gone(processes, within=HANG)


@pytest.mark.skipif(not LINUX, reason="looks into /proc")
def test_workers_end_when_the_server_is_killed() -> None:
    lab = Lab()
    with lab.page() as page:
        page.ask(kind="reactions", system="sleigh")
        processes = children(lab.process.pid)
        lab.process.kill()
        lab.process.communicate(timeout=HANG)
        assert gone(processes, within=HANG)


def test_the_server_imports_no_sympy_and_no_numba() -> None:
    code = "import sys, zwang.cli.laboratory, zwang.lab.server\n"
    code += "print(*(n for n in ('sympy', 'numba', 'scipy') if n in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_name_that_is_no_model_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "zwang", "lab", "--no-browser", "slegh"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "neither a model file (.toml) nor a system of the gallery. Did you mean 'sleigh'?" in done.stderr


def test_a_taken_port_is_told(lab: Lab) -> None:
    command = [sys.executable, "-m", "zwang", "lab", "--no-browser", "--port", str(lab.port)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG)
    assert done.returncode == 2
    assert f"can't listen on 127.0.0.1:{lab.port}" in done.stderr
