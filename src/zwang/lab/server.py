"""The server of the lab: a page, its assets from a fixed table, and a socket to workers; imports no SymPy, no Numba."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import socket
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from importlib import resources
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from zwang.lab.bundle import MODULES
from zwang.lab.protocol import MOST_FRAME, Refused, read_request, seq_of
from zwang.lab.safety import HEADERS, Gate, without_token
from zwang.lab.scheduler import Crew, Job

MOST_SOCKETS = 64  # of one person; more are a mistake or an attack
MOST_UNREAD = 16_000_000
"""Bytes that wait for a page which doesn't read."""
TRY_LATER = 1013  # code of the WebSocket protocol: try again later
FIRST = "painleve_rod"
"""The system of the first view."""

ASSETS: dict[str, tuple[str, str]] = {
    "/": ("page/index.html", "text/html; charset=utf-8"),
    "/lab.css": ("page/lab.css", "text/css; charset=utf-8"),
    "/icon.svg": ("page/icon.svg", "image/svg+xml"),
    "/first_view.json": ("page/first_view.json", "application/json"),
    "/uplot.js": ("page/uplot/uPlot.esm.js", "text/javascript; charset=utf-8"),
    "/uplot.css": ("page/uplot/uPlot.min.css", "text/css; charset=utf-8"),
    "/three.js": ("page/three/three.js", "text/javascript; charset=utf-8"),
    "/help.html": ("page/help.html", "text/html; charset=utf-8"),
    **{f"/{name}.js": (f"page/{name}.js", "text/javascript; charset=utf-8") for name in MODULES},
}
"""Address -> file of this package and its type; there are no others."""


class Page:
    """One socket: what it asked, and what waits to be sent."""

    def __init__(self, websocket: WebSocket, crew: Crew) -> None:
        self.websocket, self.crew = websocket, crew
        self.waiting: deque[bytes | str] = deque()
        self.unread = 0
        self.wake = asyncio.Event()
        self.flooded = False
        self.over = asyncio.Event()  # the writer may hang in a send that nobody reads, so it can't say so itself

    def send(self, text: bytes, frames: list[bytes]) -> None:
        """Put an answer in the row; a page that doesn't read is given up."""
        if self.flooded:
            return
        self.unread += len(text) + sum(map(len, frames))
        self.flooded = self.unread > MOST_UNREAD
        if self.flooded:
            self.over.set()
        else:
            self.waiting.append(text.decode("utf-8"))
            self.waiting.extend(frames)
        self.wake.set()

    async def write(self) -> None:
        """Send what waits, until the page is given up."""
        while not self.flooded:
            while self.waiting and not self.flooded:
                item = self.waiting.popleft()
                if isinstance(item, str):
                    await self.websocket.send_text(item)
                else:
                    await self.websocket.send_bytes(item)
                self.unread -= len(item)
            self.wake.clear()
            if not self.waiting and not self.flooded:
                await self.wake.wait()

    async def read(self) -> None:
        """Take requests until the page is gone."""
        while True:
            message = await self.websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text")
            if text is None:
                self.refuse(None, "Requests are text frames of JSON; this one is binary.")
                continue
            try:
                self.take(read_request(text))
            except Refused as error:
                self.refuse(seq_of(text), str(error))

    def take(self, request: dict[str, Any]) -> None:
        """Hand a request to the workers."""
        if request["kind"] == "cancel":
            self.crew.forget(self, request["of"])
            head = {"seq": request["seq"], "kind": "cancel", "status": "done", "frames": 0}
            self.send(json.dumps(head).encode("ascii"), [])
            return
        self.crew.ask(Job(self, request, self.send))

    def refuse(self, seq: int | None, words: str) -> None:
        """Answer what doesn't fit."""
        told = {"seq": seq, "kind": "refused", "status": "error", "frames": 0, "message": words}
        self.send(json.dumps(told).encode("utf-8"), [])

    async def run(self) -> None:
        """Serve the page until it is gone or given up."""
        tasks = [asyncio.create_task(task) for task in (self.read(), self.write(), self.over.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.flooded = True  # nothing more is sent
            self.crew.forget(self)
            for task in tasks:
                task.cancel()
            for found in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(found, Exception) and not isinstance(found, WebSocketDisconnect | RuntimeError | OSError):
                    raise found


def application(gate: Gate, start: dict[str, Any]) -> Starlette:
    """Return the application.

    Parameters
    ----------
    gate : Gate
    start : dict
        What the page opens first: the name of a system, or the text of a model.
    """
    crew = Crew({"kind": "reactions", **start} if start else {"kind": "reactions", "system": FIRST})
    pages: set[Page] = set()

    async def asset(request: Request) -> Response:
        headers, query = request.headers, request.url.query
        if not gate.knows_host(headers):
            return _plain(400, "This server is asked by another name. Open the address that zwang lab printed.")
        path = request.url.path
        if path == "/" and gate.knows_token(query):
            return Response(
                status_code=303, headers={**HEADERS, "Location": without_token(query), "Set-Cookie": gate.set_cookie()}
            )
        if not gate.knows_cookie(headers):
            return _plain(403, "The address lacks its token. Open the whole address that zwang lab printed.")
        if path == "/start.json":
            return Response(json.dumps(start or {"system": FIRST}), media_type="application/json", headers=HEADERS)
        if path not in ASSETS:
            return _plain(404, "There is no such page.")
        name, kind = ASSETS[path]
        return Response(_content(name), headers={**HEADERS, "Content-Type": kind})

    async def talk(websocket: WebSocket) -> None:
        if not (gate.knows_origin(websocket.headers) and gate.knows_cookie(websocket.headers)):
            await websocket.close(1008)  # before it was accepted: the answer is 403
            return
        await websocket.accept()
        if len(pages) >= MOST_SOCKETS:
            await websocket.close(TRY_LATER, f"{MOST_SOCKETS} pages are open already")
            return
        page = Page(websocket, crew)
        pages.add(page)
        try:
            await page.run()
        finally:
            pages.discard(page)
            with contextlib.suppress(RuntimeError, WebSocketDisconnect, TimeoutError, OSError):
                await asyncio.wait_for(websocket.close(TRY_LATER), 0.5)

    @contextlib.asynccontextmanager
    async def living(app: Starlette) -> AsyncIterator[None]:
        crew.start()
        try:
            yield
        finally:
            await crew.close()

    routes = [WebSocketRoute("/ws", talk), Route("/{path:path}", asset, methods=["GET"])]
    app = Starlette(routes=routes, lifespan=living)
    app.state.crew, app.state.pages = crew, pages
    return app


def _plain(code: int, words: str) -> Response:
    return Response(words, status_code=code, media_type="text/plain", headers=HEADERS)


def _content(name: str) -> bytes:
    return resources.files("zwang.lab").joinpath(name).read_bytes()


class _Server(uvicorn.Server):
    """uvicorn without its handling of signals: Ctrl-C is the normal end here."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield


def serve(host: str, port: int, start: dict[str, Any], *, told: Callable[[str], None]) -> None:
    """Serve until Ctrl-C.

    Parameters
    ----------
    host : str
    port : int
        0 takes a free one.
    start : dict
        What the page opens first.
    told : callable
        Gets the address when the server answers.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    if sys.platform != "win32":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    gate = Gate(host, listener.getsockname()[1])
    config = uvicorn.Config(
        application(gate, start),
        ws="websockets-sansio",
        ws_max_size=MOST_FRAME,
        ws_per_message_deflate=False,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
        lifespan="on",
    )
    server = _Server(config)

    async def run() -> None:
        loop = asyncio.get_running_loop()

        def stop() -> None:
            server.should_exit = True

        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                loop.add_signal_handler(number, stop)
            except NotImplementedError:  # Windows
                signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop))
        serving = asyncio.create_task(server.serve([listener]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)
        if server.started:
            told(gate.address)
        await serving

    asyncio.run(run())
