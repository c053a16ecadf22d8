"""Machine code made by another process while this one goes on in plain Python.

The kernels that a plain call meets are handed, one at a time, to a process of low priority, which compiles them into
the cache folder; it ends with this one, and by itself when it has had nothing to do for a while. `made(kernels)` says
whether all of them are there; `finish(kernels)` makes what is left in both processes, for a call that can't wait.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable
from typing import Any

from zwang._numerics.jit.generated import Home, load_generated
from zwang._numerics.jit.kernel import Kernel
from zwang._numerics.jit.notices import compile_silently

IDLE = 10.0
"""Seconds without work after which the process is let go."""
NICE = 10  # what is compiled meanwhile must not slow the one who waits
SERVE = "from zwang._numerics.jit.background import serve; serve()"


class _Maker:
    """The process, what it is to make, and what it has made."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[Kernel[Any, Any]] = deque()
        self._known: dict[int, Kernel[Any, Any]] = {}
        self._done: set[int] = set()
        self._busy: Kernel[Any, Any] | None = None
        self._process: subprocess.Popen[str] | None = None
        self._failed = False

    def want(self, kernel: Kernel[Any, Any], *, urgent: bool = False) -> None:
        """Have a kernel made, if nobody has asked for it; an urgent one will be waited for."""
        if kernel.signature is None or id(kernel) in self._known:
            return
        with self._changed:
            self._known[id(kernel)] = kernel
            if kernel._compiled is not None:
                self._done.add(id(kernel))
                return
            self._waiting.append(kernel)
            self._changed.notify_all()
            if self._process is None and not self._failed:
                self._start(0 if urgent else NICE)

    def made(self, kernels: Iterable[Kernel[Any, Any]]) -> bool:
        """Say whether the machine code of all of them is there."""
        return all(id(kernel) in self._done or kernel._compiled is not None for kernel in kernels)

    def finish(self, kernels: Iterable[Kernel[Any, Any]]) -> None:
        """Make what is left of them, here and in the other process, the last one first here."""
        wanted = {id(kernel): kernel for kernel in kernels}
        while True:
            with self._changed:
                left = [kernel for kernel in self._waiting if id(kernel) in wanted]
                if not left:
                    break
                self._waiting.remove(left[-1])
            left[-1].compiled  # noqa: B018  (it is compiled by asking for it)
            with self._changed:
                self._done.add(id(left[-1]))
        with self._changed:
            self._changed.wait_for(lambda: self._process is None or id(self._busy) not in wanted)

    def _start(self, nice: int) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", SERVE, str(os.getpid()), str(nice)], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment,
            )  # fmt: skip
        except (OSError, ValueError, TypeError):  # no such program here: kernels are compiled when they are needed
            self._failed = True
            return
        threading.Thread(target=self._feed, args=(self._process,), name="zwang compiling", daemon=True).start()

    def _feed(self, process: subprocess.Popen[str]) -> None:
        """Hand over one kernel after the other, until nobody has asked for one in a while."""
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            while True:
                with self._changed:
                    if not self._changed.wait_for(lambda: bool(self._waiting), timeout=IDLE):
                        break
                    self._busy = kernel = self._waiting.popleft()
                process.stdin.write(json.dumps(_described(kernel)) + "\n")
                process.stdin.flush()
                answer = process.stdout.readline()
                with self._changed:
                    if answer.strip() == "made":
                        self._done.add(id(kernel))
                    self._busy = None
                    self._changed.notify_all()
                if not answer:
                    self._failed = True
                    break
        with self._changed:
            self._busy = self._process = None
            self._changed.notify_all()
        _end(process)

    def forked(self) -> None:
        """Begin anew in a process that was forked: the thread and the locks of its parent are not its own."""
        self._changed = threading.Condition()
        self._known = {key: kernel for key, kernel in self._known.items() if key in self._done}
        self._waiting.clear()
        self._busy = self._process = None

    def end(self) -> None:
        """End the process, whatever it does."""
        process, self._failed = self._process, True
        if process is not None:
            process.kill()
            process.wait()


MAKER = _Maker()
atexit.register(MAKER.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=MAKER.forked)


def _end(process: subprocess.Popen[str]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    process.kill()
    process.wait()


def _described(kernel: Kernel[Any, Any]) -> dict[str, Any]:
    """Return what another process finds a kernel by."""
    home: Home | None = kernel.generated
    if home is None:
        return {"module": kernel.py_func.__module__, "kernel": kernel.py_func.__qualname__}
    return {"texts": _texts(home), "kernel": kernel.py_func.__qualname__}


def _texts(home: Home) -> list[tuple[str, str]]:
    """Return source and name of a generated module, after those of the modules that it imports."""
    return [*(text for other in home.imported() for text in _texts(other)), (home.source, home.name)]


def make(described: dict[str, Any]) -> None:
    """Compile a kernel that is not on disk, in this process, which says nothing of it."""
    compile_silently()
    if "texts" in described:
        modules = [load_generated(source, name) for source, name in described["texts"]]
        kernel = getattr(modules[-1], described["kernel"])
    else:
        kernel = getattr(importlib.import_module(described["module"]), described["kernel"])
    kernel.compiled  # noqa: B018  (it is compiled by asking for it)


def serve() -> None:
    """Compile what comes in, line by line; end when there is no parent any more."""
    from zwang._workers import die_with_parent

    with contextlib.suppress(ValueError, OSError):
        import signal

        signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent(int(sys.argv[1]))
    with contextlib.suppress(AttributeError, OSError):
        os.nice(int(sys.argv[2]))
    for line in sys.stdin:
        try:
            make(json.loads(line))
            answer = "made"
        except Exception as error:  # noqa: BLE001  (who needs the kernel will see it raised)
            answer = f"failed: {type(error).__name__}"
        print(answer, flush=True)
