"""`zw.view` in JupyterLab and in marimo, in a real browser that reaches nothing but this machine."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("anywidget")
pytest.importorskip("playwright.sync_api")

from lab_browsers import violations
from lab_pages import HANG, SOURCE

pytestmark = pytest.mark.browser
SLOW = HANG * 1000
MOTION = "entry = zw.gallery.get('belt_block')\nzw.simulate(entry.system, entry.state, entry.params, until=1.0)"


@contextmanager
def serving(*command: str, at: str, cwd: Path) -> Iterator[None]:
    """A notebook's server, ended at the end."""
    settings = {**os.environ, "PYTHONPATH": str(SOURCE)}
    # Nobody's own settings; but compiled kernels are where they always are.
    settings |= {f"JUPYTER_{what}_DIR": str(cwd / what.lower()) for what in ("CONFIG", "DATA", "RUNTIME")}
    settings["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{settings['PATH']}"
    with (cwd / "server.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", *command], cwd=cwd, env=settings, stdout=log, stderr=log)
        try:
            end = time.monotonic() + HANG
            while time.monotonic() < end and process.poll() is None:
                try:
                    urllib.request.urlopen(at, timeout=5).close()
                    break
                except (urllib.error.URLError, OSError):
                    time.sleep(0.2)
            else:
                raise AssertionError((cwd / "server.log").read_text(errors="replace")[-2000:])
            yield
        finally:
            process.terminate()
            process.wait(HANG)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Offline:
    """A page that can reach this machine alone; what it asked beyond is kept."""

    def __init__(self, browser: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 1000})
        self.beyond: list[str] = []
        self.context.route("**/*", self.let)
        self.page = self.context.new_page()
        self.page.set_default_timeout(SLOW)

    def let(self, route: Any) -> None:
        address = urlsplit(route.request.url)
        if address.scheme in ("blob", "data") or address.hostname in ("127.0.0.1", "localhost"):
            route.continue_()
        else:
            self.beyond.append(route.request.url)
            route.abort()

    def works(self) -> None:
        """Reactions, the picture and a motion are there; a parameter is moved, and the motion is played."""
        page = self.page  # locators look into shadow trees, where marimo puts its widgets
        reactions = page.locator(".lab [data-part=reactions][data-count='1']")
        reactions.wait_for()
        page.locator(".lab [data-part=motion]:not([data-shown='0'])").wait_for()
        before = reactions.get_attribute("data-shown")
        number = page.locator(".lab [data-part=parameters] input[type=number][name=mu]")
        number.fill("0.6")
        number.press("Enter")
        page.locator(f".lab [data-part=reactions][data-status=idle]:not([data-shown='{before}'])").wait_for()
        page.locator(".lab [data-part=motion][data-status=idle]").wait_for()
        page.locator(".lab [data-action=play]").click()
        end = time.monotonic() + HANG
        while not float(page.locator(".lab input[name=time]").input_value()) > 0.05:
            assert time.monotonic() < end
            page.wait_for_timeout(100)
        page.locator(".lab [data-action=play]").click()
        assert page.locator(".lab").evaluate("(lab) => lab.scrollWidth <= lab.clientWidth + 1")

    def accessible(self) -> None:
        """axe-core finds nothing in the view; what is around it is the notebook's."""
        assert violations(self.page, ".lab") == []


def test_a_view_and_a_motion_work_in_jupyterlab(browser: Any, tmp_path: Path) -> None:
    pytest.importorskip("jupyterlab")
    cells = ["import zwang as zw\nzw.view('belt_block')", MOTION]
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    notebook = {
        "cells": [{**cell, "id": f"cell-{k}", "source": text} for k, text in enumerate(cells)],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (tmp_path / "view.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    port = free_port()
    command = ["jupyterlab", "--no-browser", f"--port={port}", "--ServerApp.token=", "--allow-root", "--ip=127.0.0.1"]
    with serving(*command, "--LabApp.news_url=", at=f"http://127.0.0.1:{port}/api", cwd=tmp_path):
        found = Offline(browser)
        page = found.page
        page.goto(f"http://127.0.0.1:{port}/lab/tree/view.ipynb")
        page.wait_for_selector(".jp-Notebook .jp-CodeCell")
        page.wait_for_selector("text=/[|] Idle/")  # what is run before the kernel is there is dropped
        page.locator("li.lm-MenuBar-item", has_text="Run").first.click()
        page.locator(".lm-Menu-item", has_text="Run All Cells").first.click()
        found.works()
        found.accessible()
        second = page.locator(".jp-CodeCell").nth(1)
        second.scroll_into_view_if_needed()
        second.locator("canvas, iframe").first.wait_for(state="attached")
        assert found.beyond == []
        found.context.close()


def test_a_view_works_in_marimo(browser: Any, tmp_path: Path) -> None:
    pytest.importorskip("marimo")
    (tmp_path / "view.py").write_text(
        "import marimo\n\napp = marimo.App()\n\n\n@app.cell\ndef _():\n    import zwang as zw\n    return (zw,)\n\n\n"
        "@app.cell\ndef _(zw):\n    zw.view('belt_block')\n    return\n\n\n"
        "if __name__ == '__main__':\n    app.run()\n",
        encoding="utf-8",
    )
    port = free_port()
    command = ["marimo", "run", "view.py", "--headless", "--no-token", "--host=127.0.0.1", f"--port={port}"]
    with serving(*command, at=f"http://127.0.0.1:{port}/health", cwd=tmp_path):
        found = Offline(browser)
        found.page.goto(f"http://127.0.0.1:{port}/")
        found.works()
        found.accessible()
        assert found.beyond == []
        found.context.close()
