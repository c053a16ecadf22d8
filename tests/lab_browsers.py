"""A page of the lab in a real browser, whose requests, messages and errors are kept."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from lab_pages import HANG, Lab

PICTURES = ["drawing", "space", "reactions", "map", "motion", "events", "realize", "papers"]
PARTS = ["systems", "model", "parameters", *PICTURES, "take"]
SLOW = HANG * 1000


def chromium() -> str:
    found = next((shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")), None)
    assert found, "no Chromium"
    return found


class Watched:
    """A page whose requests, messages and errors are kept."""

    def __init__(self, browser: Any, lab: Lab, query: str = "", **context: Any) -> None:
        self.context = browser.new_context(accept_downloads=True, **context)
        self.page = self.context.new_page()
        self.page.set_default_timeout(SLOW)
        self.troubles: list[str] = []
        self.addresses: list[str] = []
        self.page.on("console", self.said)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", lambda request: self.addresses.append(request.url))
        self.asked: list[str] = []
        self.page.on("websocket", lambda socket: socket.on("framesent", self.sent))
        self.page.goto(lab.address + query)
        self.page.wait_for_selector("body[data-ready=true]")

    def said(self, message: Any) -> None:
        # Drivers that draw without a graphics card say when a screenshot makes them wait.
        if message.type in ("error", "warning") and "GL Driver Message" not in message.text:
            self.troubles.append(message.text)

    def sent(self, text: Any) -> None:
        self.asked.append(text)

    def part(self, name: str) -> Any:
        return self.page.locator(f"section[data-part={name}]")

    def shown(self, name: str) -> int:
        return int(self.part(name).get_attribute("data-shown"))

    def wait(self, name: str, more_than: int = 0, status: str = "idle") -> None:
        """Until a part has painted another answer and waits for none."""
        self.page.wait_for_function(
            "([name, count, status]) => { const s = document.querySelector(`section[data-part=${name}]`);"
            " return Number(s.dataset.shown) > count && s.dataset.status === status; }",
            arg=[name, more_than, status],
        )

    def kinds(self) -> list[str]:
        """What was asked since the last call, in the order in which it was sent."""
        found = [json.loads(text)["kind"] for text in self.asked]
        self.asked.clear()
        return found

    def view(self) -> dict[str, Any]:
        return dict(self.page.evaluate("() => zwang.view()"))

    def end(self) -> None:
        self.context.close()
        assert self.troubles == []
        assert all(url.startswith(("http://127.0.0.1:", "blob:", "data:")) for url in self.addresses)


def violations(page: Any, within: str = "body") -> list[Any]:
    """What axe-core finds wrong, also in a shadow tree: the rule, and the first places."""
    source = axe()
    if source is None:
        pytest.skip("axe-core is not installed: npm install axe-core")
    page.evaluate(source)
    found = page.locator(within).first.evaluate(
        "async (at) => (await axe.run(at, {resultTypes: ['violations']})).violations"
    )
    return [(item["id"], [node["target"] for node in item["nodes"]][:3]) for item in found]


def axe() -> str | None:
    for folder in (Path(__file__).resolve().parents[1], Path.cwd(), Path(os.environ.get("NODE_PATH", ".")).parent):
        path = folder / "node_modules" / "axe-core" / "axe.min.js"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    return None
