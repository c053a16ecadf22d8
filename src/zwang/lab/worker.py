"""A process that computes what pages ask, one request at a time, with a limit on its memory.

A thread reads what the server says, so that a computation can be told to stop, and ends the process when the server is
gone. Everything else happens in the main thread, where verbs can be interrupted.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import socket
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from zwang.lab.protocol import QUICK, encode
from zwang.lab.wire import pack, receive

MEMORY = 3 * 2**30
"""Bytes of address space that a worker may ask for beyond what it has at its start."""
BEHIND = 5
"""By how much workers of the long lane stand behind that of the quick one, where processors are scarce."""


class Stopped(BaseException):
    """The page wants something else by now."""


def limit_memory(extra: int = MEMORY) -> None:
    """Let the process grow by so much and no more, where the system can be told so."""
    try:
        import resource

        now = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + extra, now + extra))
    except (ImportError, OSError, ValueError):  # not Linux: the limit of seconds remains
        return


class Worker:
    """The loop of a worker.

    Parameters
    ----------
    channel : socket
        To the server; requests come with the number of a job, which goes back with every answer.
    """

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.jobs: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.current = 0
        self.behind = False
        self.lock = threading.Lock()

    def read(self) -> None:
        """Take messages until the server is gone: jobs to do, and jobs to stop."""
        while True:
            message = receive(self.channel)
            if message is None:
                os._exit(0)
            if "stop" in message:
                with self.lock:
                    if self.current == message["stop"]:
                        signal.raise_signal(signal.SIGINT)
            else:
                self.jobs.put(message)

    def tell(self, job: int, text: bytes, frames: list[bytes]) -> None:
        """Send an answer, or that the job has ended (an empty text)."""
        self.channel.sendall(pack(encode({"job": job}), [text, *frames]))

    def run(self) -> None:
        """Answer until the server is gone."""
        signal.signal(signal.SIGINT, self._stop)
        threading.Thread(target=self.read, daemon=True).start()
        self.tell(0, b"", [])
        while True:
            message = self.jobs.get()
            self._one(int(message["job"]), message["request"])

    def _stop(self, number: int, frame: Any) -> None:
        if self.current:
            raise Stopped

    def _one(self, job: int, request: dict[str, Any]) -> None:
        from zwang.lab.answers import answer

        head = {"seq": request["seq"], "kind": request["kind"], "frames": 0}
        self._stand(request["kind"])
        try:
            with self.lock:
                self.current = job
            for text, frames in answer(request):
                self.tell(job, text, frames)
        except (Stopped, KeyboardInterrupt):
            self._quietly(job, {**head, "status": "cancelled"})
        except Exception as error:  # noqa: BLE001 - a page is told, and the process goes on
            traceback.print_exc(file=sys.stderr)
            words = f"The computation failed: {type(error).__name__}: {error!s:.300}"
            self._quietly(job, {**head, "status": "error", "message": words})
        finally:
            with self.lock:
                self.current = 0
        with contextlib.suppress(Stopped):
            self.tell(job, b"", [])

    def _stand(self, kind: str) -> None:
        """Let the quick lane go first: a worker stays in the lane of its first request."""
        if kind not in QUICK and not self.behind and hasattr(os, "nice"):
            self.behind = True
            os.nice(BEHIND)

    def _quietly(self, job: int, told: dict[str, Any]) -> None:
        with contextlib.suppress(Stopped, MemoryError):
            with self.lock:
                self.current = 0
            self.tell(job, encode(told), [])


def work(channel: socket.socket) -> None:
    """Be a worker until the server is gone."""
    limit_memory()
    os.environ["OMP_NUM_THREADS"] = "1"
    Worker(channel).run()
