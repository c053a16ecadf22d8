"""A lab in a process of its own, and a page that talks to it without a browser."""

from __future__ import annotations

import http.client
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from websockets.sync.client import ClientConnection, connect

SOURCE = Path(__file__).resolve().parents[1] / "src"
HANG = 120
"""Seconds after which a test gives up: nothing here is a measurement."""


class Lab:
    """`zwang lab --no-browser`, ended by Ctrl-C."""

    def __init__(self, *arguments: str) -> None:
        settings = {**os.environ, "PYTHONPATH": str(SOURCE)}
        command = [sys.executable, "-m", "zwang", "lab", "--no-browser", *arguments]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=settings
        )
        assert self.process.stdout is not None
        assert select.select([self.process.stdout], [], [], HANG)[0], "the lab printed no address"
        self.address = self.process.stdout.readline().strip()
        parts = urlsplit(self.address)
        assert parts.port is not None
        self.port, self.token = parts.port, parts.query.removeprefix("token=")
        self.cookie = ""

    def get(self, path: str, **headers: str) -> tuple[int, http.client.HTTPMessage, bytes]:
        """Answer of the server to a plain request; `Host` and `Cookie` may be given."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG)
        client.putrequest("GET", path, skip_host="Host" in headers)
        for name, value in headers.items():
            client.putheader(name, value)
        client.endheaders()
        answer = client.getresponse()
        found = answer.status, answer.headers, answer.read()
        client.close()
        return found

    def log_in(self) -> str:
        """Fetch the cookie."""
        status, headers, _ = self.get(f"/?token={self.token}")
        assert status == 303
        self.cookie = headers["Set-Cookie"].split(";")[0]
        return self.cookie

    def page(self) -> Page:
        """Open a socket, as the page does."""
        return Page(self)

    def end(self) -> tuple[int, str]:
        """Press Ctrl-C; returns the exit code and what was said on stderr."""
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=HANG)
        return self.process.returncode, said

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.end()


class Page:
    """A socket with numbered requests."""

    def __init__(self, lab: Lab, **headers: str) -> None:
        cookie = lab.cookie or lab.log_in()
        given = {"Cookie": cookie, **headers}
        origin: Any = given.pop("Origin", f"http://127.0.0.1:{lab.port}")
        self.socket: ClientConnection = connect(
            f"ws://127.0.0.1:{lab.port}/ws",
            origin=origin or None,
            additional_headers=given,
            max_size=None,
            open_timeout=HANG,
        )
        self.seq = 0

    def send(self, **request: Any) -> int:
        """Send a request; returns its number."""
        self.seq += 1
        self.socket.send(json.dumps({"seq": self.seq, **request}))
        return self.seq

    def next(self) -> tuple[dict[str, Any], list[bytes]]:
        """The next answer with its frames."""
        head = json.loads(self.socket.recv(timeout=HANG))
        frames = [self.socket.recv(timeout=HANG) for _ in range(head["frames"])]
        assert all(isinstance(item, bytes) for item in frames)
        return head, [item for item in frames if isinstance(item, bytes)]

    def answers(self, **request: Any) -> list[tuple[dict[str, Any], list[bytes]]]:
        """All answers to a request, parts included."""
        seq = self.send(**request)
        found = []
        while True:
            head, frames = self.next()
            if head["seq"] == seq:
                found.append((head, frames))
                if head["status"] != "part":
                    return found

    def ask(self, **request: Any) -> dict[str, Any]:
        """The last answer to a request."""
        return self.answers(**request)[-1][0]

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def children(process: int) -> set[int]:
    """Process numbers of all descendants (Linux)."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                text = (folder / "stat").read_text()
            except OSError:
                continue
            parents[int(folder.name)] = int(text.rpartition(")")[2].split()[1])
    found, new = set(), {process}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found
        found |= new
    return found


def gone(processes: set[int], *, within: float) -> bool:
    """Whether processes have ended, zombies included in those that have, before a time is over."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        if not any(_alive(number) for number in processes):
            return True
        time.sleep(0.02)
    return False


def _alive(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
