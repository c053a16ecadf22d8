"""Pages say what they may do: their own scripts by checksum, no other, and nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from zwang._plot.content_policy import content_policy
from zwang._plot.film import Film, player, player_page
from zwang._plot.scene import Scene
from zwang._report.page import page

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def film(name: str = "A") -> Film:
    t = np.linspace(0.0, 1.0, 9)
    places = np.stack([np.stack([np.cos(t), np.sin(t)], axis=1), np.zeros((9, 2))], axis=1)
    return Film(t, Scene((name, "B"), places, bars=[(0, 1)]), title=name)


def policy_of(text: str) -> dict[str, str]:
    head = text.partition("</head>")[0]
    found = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', head)
    assert len(found) == 1
    assert head.index("Content-Security-Policy") < min(
        head.find(tag) % len(head) for tag in ("<style", "<script", "<link")
    )
    return dict(rule.split(" ", 1) for rule in found[0].split("; "))


def scripts(text: str) -> list[str]:
    return re.findall(r"<script>(.*?)</script>", text, re.DOTALL)


@pytest.mark.parametrize(
    "text", [player_page(film()), page("Two films", player(film()) + player(film("C"))), page("None", "<main></main>")]
)
def test_a_page_allows_its_own_scripts_and_nothing_from_elsewhere(text: str) -> None:
    rules = policy_of(text)
    sums = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in scripts(text)]
    assert rules.pop("script-src", "") == " ".join(dict.fromkeys(f"'sha256-{one}'" for one in sums))
    assert rules == {
        "default-src": "'none'",
        "style-src": "'unsafe-inline'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    # What the policy forbids is not needed: no script with an address, no handler in an attribute.
    assert not re.search(r"<script [^>]*src|\son[a-z]+=|javascript:|<iframe|<object|@import|url\((?!#)", text)


def in_a_browser(text: str, folder: Path) -> str:
    copy = folder / "page.html"
    copy.write_text(text, encoding="utf-8")
    browser = next(found for found in map(shutil.which, BROWSERS) if found)
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--enable-logging=stderr"]
    command += ["--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=3000"]
    command += [f"--user-data-dir={folder / 'profile'}", "--dump-dom", copy.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout + "\nLOG " + "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)


@pytest.mark.browser
@pytest.mark.skipif(not any(map(shutil.which, BROWSERS)), reason="no Chromium: apt install chromium")
def test_a_player_plays_under_its_policy_and_a_script_that_slipped_in_does_not_run(tmp_path: Path) -> None:
    (tmp_path / "good").mkdir()
    (tmp_path / "bad").mkdir()
    shown = in_a_browser(player_page(film()), tmp_path / "good")
    assert re.search(r"<output>t = \d", shown) and 'data-ready="1"' in shown  # the clock was set by the script
    assert "CONSOLE" not in shown
    slipped = '<img src="x" onerror="document.title=\'ran\'"><script>document.title = "ran"</script>'
    shown = in_a_browser(player_page(film()).replace("</body>", slipped + "</body>"), tmp_path / "bad")
    assert "<title>A</title>" in shown and 'data-ready="1"' in shown
    assert "Content Security Policy" in shown.partition("\nLOG ")[2]


def test_a_script_that_slipped_into_a_page_is_not_allowed() -> None:
    good, bad = player(film()), "<script>alert(1)</script>"
    assert policy_of(page("x", good + bad)) == policy_of(page("x", good))
    assert policy_of(page("x", bad)) == policy_of(page("x", good))
    assert content_policy("1") != content_policy("2")
