"""Who computes what: a quick lane, a long lane, a spare; newer requests push older ones of their kind aside.

The server's side of the workers, in asyncio; nothing here knows a system.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from zwang.lab.host import LOADED
from zwang.lab.protocol import MOST_SECONDS, QUICK
from zwang.lab.wire import LENGTH, MOST, pack

GRACE = 0.3
"""Seconds that a computation has to stop before its process is killed."""
AT_ONCE = 0.05
"""Seconds within which a worker that dies had died before it was asked: another is asked then."""
LONG_WORKERS = 2  # worker processes for what takes seconds
URGENT = {"motion": 0, "space": 1, "singular": 1, "map": 2, "realize": 2, "take": 1, "critical": 4, "claim": 3}
"""Kinds of the long lane, the most urgent first."""

Sink = Callable[[bytes, list[bytes]], None]


@dataclass(eq=False)
class Job:
    """A request on its way.

    Attributes
    ----------
    page : object
        Whose it is.
    request : dict
    sink : callable
        Takes a text and the frames that follow it.
    """

    page: Any
    request: dict[str, Any]
    sink: Sink
    number: int = 0
    stopping: bool = False
    ended: bool = False

    @property
    def kind(self) -> str:
        """What is asked, and for whom: two runs of motion don't push each other aside."""
        return f"{self.request['kind']} {self.request.get('run', '')}{self._own()}"

    def _own(self) -> str:
        return str(self.request.get("vary", "") or (self.request["what"] if self.request["kind"] == "take" else ""))

    def tell(self, status: str, **more: Any) -> None:
        """Answer without a worker."""
        head = {"seq": self.request["seq"], "kind": self.request["kind"], "status": status, "frames": 0, **more}
        self.ended = True
        self.sink(json.dumps(head).encode("utf-8"), [])


class Gone(Exception):
    """A worker has died."""


@dataclass(eq=False)
class Seat:
    """A worker's process as the server sees it."""

    process: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    job: Job | None = None
    alone: subprocess.Popen[bytes] | None = None

    @property
    def dead(self) -> bool:
        """Whether the process is known to have ended."""
        return self.reader.at_eof()

    async def message(self) -> tuple[int, list[bytes]]:
        """Return the next message: the number of its job, and the text and frames of the answer."""
        try:
            count = LENGTH.unpack(await self.reader.readexactly(4))[0]
            parts = []
            for _ in range(count + 1):
                size = LENGTH.unpack(await self.reader.readexactly(4))[0]
                if size > MOST:
                    raise Gone
                parts.append(await self.reader.readexactly(size))
        except (asyncio.IncompleteReadError, OSError):
            raise Gone from None
        return int(json.loads(parts[0])["job"]), parts[1:]

    def say(self, message: dict[str, Any]) -> None:
        """Send the worker a message."""
        self.writer.write(pack(json.dumps(message).encode("utf-8"), []))

    def kill(self) -> None:
        """End the process, whatever it is doing."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self.alone is not None:
                self.alone.kill()
            else:
                os.kill(self.process, signal.SIGKILL)
        self.writer.close()


class Nursery:
    """Where workers come from: a host that forks them, or processes of their own where there is no fork."""

    def __init__(self, first: dict[str, Any]) -> None:
        self.first = first
        self.host: subprocess.Popen[bytes] | None = None
        self.channel: socket.socket | None = None
        self.ready = asyncio.Event()
        self.trouble = ""
        self._born: asyncio.Queue[int] = asyncio.Queue()
        self._lock = asyncio.Lock()
        self._listening: asyncio.Task[None] | None = None

    async def seat(self) -> Seat:
        """Return a new worker."""
        return await (self._forked() if hasattr(os, "fork") else self._alone())

    async def _forked(self) -> Seat:
        async with self._lock:
            if self.host is None or self.host.poll() is not None:
                self.start()
            assert self.channel is not None
            mine, theirs = socket.socketpair()
            try:
                socket.send_fds(self.channel, [b"f"], [theirs.fileno()])
            except OSError as error:
                mine.close()
                raise Gone from error
            finally:
                theirs.close()
            waiting = asyncio.ensure_future(self._born.get())
            assert self._listening is not None
            await asyncio.wait([waiting, self._listening], return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                waiting.cancel()
                mine.close()
                raise Gone
            process = waiting.result()
        reader, writer = await asyncio.open_connection(sock=mine)
        return Seat(process, reader, writer)

    def start(self) -> None:
        """Start the host."""
        mine, theirs = socket.socketpair()
        command = [sys.executable, "-m", "zwang.lab.host", str(theirs.fileno()), json.dumps(self.first)]
        # Its own group: Ctrl-C in a terminal is for the server, which ends its workers itself.
        self.host = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=sys.stderr, start_new_session=True
        )
        theirs.close()
        mine.setblocking(False)
        self.channel = mine
        self._born = asyncio.Queue()
        self._listening = asyncio.create_task(self._listen(mine))

    async def _listen(self, channel: socket.socket) -> None:
        """Take what the host says until it is gone; what it loaded is checked, since forks inherit it or don't."""
        loop, rest = asyncio.get_running_loop(), b""
        while True:
            with contextlib.suppress(OSError):
                data = await loop.sock_recv(channel, 65536)
                if data:
                    *lines, rest = (rest + data).split(b"\n")
                    for line in lines:
                        self._heard(json.loads(line))
                    continue
            self.trouble = "The process that makes workers ended; the next request starts another."
            return

    def _heard(self, told: dict[str, Any]) -> None:
        if "process" in told:
            self._born.put_nowait(told["process"])
        elif told.get("ready"):
            assert set(told["loaded"]) == set(LOADED), told
            self.ready.set()

    async def _alone(self) -> Seat:
        """Start a worker as a process of its own, which connects to us with a word that only it knows."""
        import secrets

        word = secrets.token_hex(32)
        arrived: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Future()

        async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            given = await reader.readexactly(64)
            if secrets.compare_digest(given, word.encode("ascii")) and not arrived.done():
                arrived.set_result((reader, writer))
            else:
                writer.close()

        server = await asyncio.start_server(meet, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        command = [sys.executable, "-m", "zwang.lab.host", "--alone", f"127.0.0.1:{port}"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=sys.stderr)
        assert process.stdin is not None
        process.stdin.write(word.encode("ascii") + b"\n")
        process.stdin.flush()
        reader, writer = await asyncio.wait_for(arrived, 60)
        server.close()
        return Seat(process.pid, reader, writer, alone=process)

    def close(self) -> None:
        """End the host; its workers end with the server's sockets."""
        if self._listening is not None:
            self._listening.cancel()
        if self.channel is not None:
            self.channel.close()
        if self.host is not None and self.host.poll() is None:
            self.host.kill()
            self.host.wait()


@dataclass(eq=False)
class Lane:
    """Requests that wait, and the workers that take them."""

    crew: Crew
    waiting: OrderedDict[tuple[int, str], Job] = field(default_factory=OrderedDict)
    running: set[Job] = field(default_factory=set)
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, job: Job) -> int:
        """Take a request in; older ones of its kind and page give way. Returns how many did."""
        pushed = 0
        key = (id(job.page), job.kind)
        older = self.waiting.pop(key, None)
        if older is not None:
            older.tell("cancelled")
            pushed += 1
        for other in list(self.running):
            if other.page is job.page and other.kind == job.kind:
                self.crew.stop(other)
                pushed += 1
        self.waiting[key] = job
        self.wake.set()
        return pushed

    def drop(self, page: Any, seq: int | None = None) -> None:
        """Forget what a page has asked, all of it or one request."""
        for key, job in list(self.waiting.items()):
            if job.page is page and seq in (None, job.request["seq"]):
                del self.waiting[key]
                job.tell("cancelled")
        for job in list(self.running):
            if job.page is page and seq in (None, job.request["seq"]):
                self.crew.stop(job)

    async def take(self) -> Job:
        """Return the most urgent request, when there is one."""
        while not self.waiting:
            self.wake.clear()
            await self.wake.wait()
        key = min(self.waiting, key=lambda item: URGENT.get(self.waiting[item].request["kind"], 3))
        return self.waiting.pop(key)


class Crew:
    """All workers: one for what must be quick, two for what takes longer, and a spare that steps in."""

    def __init__(self, first: dict[str, Any]) -> None:
        self.nursery = Nursery(first)
        self.quick, self.long = Lane(self), Lane(self)
        self.seats: set[Seat] = set()
        self.spare: asyncio.Task[Seat] | None = None
        self.numbers = itertools.count(1)
        self.tasks: list[asyncio.Task[None]] = []
        self.restarts = 0

    def start(self) -> None:
        """Start the lanes; the host begins to load at once, before anybody asks."""
        if hasattr(os, "fork"):
            self.nursery.start()
        lanes = [self.quick, *([self.long] * LONG_WORKERS)]
        self.tasks = [asyncio.create_task(self._serve(lane)) for lane in lanes]

    def lane_of(self, kind: str) -> Lane:
        """Return the lane of a kind."""
        return self.quick if kind in QUICK else self.long

    def ask(self, job: Job) -> int:
        """Take a request in; returns how many older ones it pushed aside."""
        return self.lane_of(job.request["kind"]).put(job)

    def forget(self, page: Any, seq: int | None = None) -> None:
        """Drop what a page has asked."""
        self.quick.drop(page, seq)
        self.long.drop(page, seq)

    def stop(self, job: Job) -> None:
        """Tell a running job to stop; its process is killed if it doesn't within the grace."""
        if job.stopping:
            return
        job.stopping = True
        seat = next((item for item in self.seats if item.job is job), None)
        if seat is None:
            return
        with contextlib.suppress(OSError):
            seat.say({"stop": job.number})
        asyncio.get_running_loop().call_later(GRACE, self._kill_if_busy, seat, job)

    def _kill_if_busy(self, seat: Seat, job: Job) -> None:
        if seat.job is job and seat in self.seats:
            seat.kill()

    async def _seat(self) -> Seat:
        """Return a worker that is ready: the spare, or a new one; then another spare is made."""
        if self.spare is not None and self.spare.done():
            task, self.spare = self.spare, None
            with contextlib.suppress(Gone):
                seat = task.result()
                if not seat.dead:
                    self._make_spare()
                    return seat
                self.seats.discard(seat)
        seat = await self._born()
        self._make_spare()
        return seat

    def _make_spare(self) -> None:
        if self.spare is None:
            self.spare = asyncio.create_task(self._spare())
            self.spare.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _spare(self) -> Seat:
        if hasattr(os, "fork"):  # a fork inherits what the host has practised: better late than empty
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.nursery.ready.wait(), 60)
        return await self._born()

    async def _born(self) -> Seat:
        for attempt in range(3):
            try:
                seat = await self.nursery.seat()
                self.seats.add(seat)
                await seat.message()  # it says when it is there
                return seat
            except Gone:
                await asyncio.sleep(0.1 * (attempt + 1))
        raise Gone

    async def _serve(self, lane: Lane) -> None:
        """Work through a lane with one worker after the other."""
        seat: Seat | None = None
        if lane is self.quick:
            with contextlib.suppress(Gone):
                seat = await self._seat()
        while True:
            job = await lane.take()
            lane.running.add(job)
            try:
                seat = await self._worked(seat, job)
            except Gone:
                seat = None
                if not job.ended:
                    self._tell_end(job)
            finally:
                lane.running.discard(job)

    async def _worked(self, seat: Seat | None, job: Job) -> Seat:
        """Return the worker that did a job: the one that is given, or a new one where that has died before."""
        loop, again = asyncio.get_running_loop(), True
        while True:
            if seat is not None and seat.dead:  # it died while nobody asked it
                self._lose(seat)
                seat = None
            seat, asked = seat or await self._seat(), loop.time()
            try:
                await self._answer(seat, job)
                return seat
            except Gone:
                self._lose(seat)
                if job.ended or job.stopping or not again or loop.time() - asked > AT_ONCE:
                    raise
                seat, again = None, False  # it had died, and nobody had noticed: a job that kills takes longer

    def _lose(self, seat: Seat) -> None:
        self.seats.discard(seat)
        seat.kill()
        self.restarts += 1

    @staticmethod
    def _tell_end(job: Job) -> None:
        if job.stopping:
            job.tell("cancelled")
        else:
            words = "The process that computed this has died; another takes its place. Ask again, or ask for less."
            job.tell("error", message=words)

    async def _answer(self, seat: Seat, job: Job) -> None:
        if job.stopping:
            job.tell("cancelled")
            return
        job.number, seat.job = next(self.numbers), job
        late = asyncio.get_running_loop().call_later(MOST_SECONDS, self._too_long, seat, job)
        try:
            seat.say({"job": job.number, "request": job.request})
            while True:
                number, parts = await seat.message()
                if number != job.number:
                    continue
                if not parts[0]:
                    break
                if job.stopping and not job.ended:
                    job.tell("cancelled")  # what it found all the same is of no use any more
                if not job.ended:
                    job.sink(parts[0], parts[1:])
                    # The last answer says so; a part may be followed by a cancellation.
                    job.ended = b'"status":"part"' not in parts[0][:200]
        finally:
            late.cancel()
            seat.job = None

    def _too_long(self, seat: Seat, job: Job) -> None:
        if seat.job is job and not job.ended:
            words = f"This took longer than {MOST_SECONDS:g} s, the most that the lab allows. Ask for less."
            job.tell("error", message=words)
            seat.kill()

    async def close(self) -> None:
        """End everything."""
        for task in self.tasks:
            task.cancel()
        if self.spare is not None:
            self.spare.cancel()
        for seat in list(self.seats):
            seat.kill()
        self.nursery.close()
        await asyncio.gather(*self.tasks, return_exceptions=True)
