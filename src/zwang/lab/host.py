"""The process that workers come from: it has loaded everything and run each verb once, and forks when it is asked.

So a new worker is there in some hundredths of a second, with all kernels. ``python -m zwang.lab.host FD`` talks over a
socket: ``fork`` with the socket of the worker-to-be goes in, its process number comes out. Where there is no fork
(Windows), each worker is a process of its own: ``python -m zwang.lab.host --alone ADDRESS``.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Iterator
from typing import Any

PRACTICE: tuple[dict[str, Any], ...] = (
    {"kind": "motion", "system": "painleve_rod", "until": 0.5},
    {"kind": "reactions", "system": "painleve_rod"},
    {"kind": "open", "system": "painleve_rod"},
    {"kind": "drag", "system": "four_bar_crank_rocker", "handle": "B", "x": 0.5, "y": 0.5},
    {"kind": "space", "system": "four_bar_crank_rocker"},
    {"kind": "motion", "system": "four_bar_crank_rocker", "until": 0.5},
    {"kind": "map", "system": "painleve_rod", "x": ["mu", 0, 2], "y": ["theta", 0.2, 1.4], "n": 8},
)
"""Requests that load what every later one needs; the first view's system comes before them."""


LOADED = ("sympy", "zwang._simulate", "zwang._trace", "zwang._reactions")
"""What must be there before workers are forked, else each of them would load it anew."""


def practice(first: dict[str, Any]) -> Iterator[str]:
    """Answer one request after the other; yields the kind of each, and raises where one could not be answered."""
    from zwang.lab.answers import answer

    for request in (first, *PRACTICE):
        texts = [json.loads(text) for text, _ in answer({"seq": 0, **request})]
        if request is not first and texts[-1]["status"] == "error":
            raise RuntimeError(f"the lab can't answer {request['kind']}: {texts[-1]['message']}")
        yield request["kind"]


class Host:
    """The loop that forks workers, and practises while nobody asks."""

    def __init__(self, channel: socket.socket, first: dict[str, Any]) -> None:
        self.channel = channel
        self.steps = practice(first)
        self.ready = False
        self.forks = 0
        self.done = 0

    def run(self) -> None:
        """Serve until the server is gone."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        while True:
            asked, _, _ = select.select([self.channel], [], [], 0.0 if not self.ready else 0.5)
            self._reap()
            # The first worker comes when reactions are known, all others when motions are too: what was loaded before
            # a fork is loaded once.
            if asked and (self.ready or self.done > min(self.forks, 1)):
                self.forks += 1
                if not self._fork():
                    return
            elif not self.ready:
                self.ready = next(self.steps, None) is None
                self.done += 1
                if self.ready:
                    self._say({"ready": True, "loaded": [name for name in LOADED if name in sys.modules]})

    def _say(self, told: dict[str, Any]) -> None:
        self.channel.sendall(json.dumps(told).encode("ascii") + b"\n")

    @staticmethod
    def _reap() -> None:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    def _fork(self) -> bool:
        """Fork a worker that talks over the socket which came along; False where the server is gone."""
        try:
            data, extra, _, _ = self.channel.recvmsg(1, socket.CMSG_SPACE(4))
        except OSError:
            return False
        if not data:
            return False
        numbers = array.array("i")
        for level, kind, content in extra:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                numbers.frombytes(content[: len(content) - len(content) % numbers.itemsize])
        (number,) = numbers
        process = os.fork()
        if process == 0:
            self._become_worker(number)
        os.close(number)
        self._say({"process": process})
        return True

    def _become_worker(self, number: int) -> None:
        try:
            self.channel.close()
            from zwang.lab.worker import work

            work(socket.socket(fileno=number))
        finally:
            os._exit(1)


def main() -> None:
    """Be a host, or a worker alone."""
    if sys.argv[1] == "--alone":
        from zwang.lab.worker import work

        host, port = sys.argv[2].rsplit(":", 1)
        channel = socket.create_connection((host, int(port)))
        channel.sendall(sys.stdin.readline().strip().encode("ascii"))
        work(channel)
        return
    first = json.loads(sys.argv[2])
    Host(socket.socket(fileno=int(sys.argv[1])), first).run()


if __name__ == "__main__":
    main()
