"""The built pages in a real browser, with no network: formulas have a size, pages fit a narrow window.

Run by `make browser`, where Chromium is installed.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "docs" / "_build" / "html"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PAGES = sorted(path for path in BUILT.rglob("*.html") if "_static" not in path.parts)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not any(map(shutil.which, BROWSERS)), reason="no Chromium: apt install chromium"),
    pytest.mark.skipif(not PAGES, reason="the documentation has not been built: make docs"),
]

MEASURE = """
<script>
addEventListener("load", () => {
  const sizes = [...document.querySelectorAll("math")].map(m => { const b = m.getBoundingClientRect();
                                                                  return [b.width, b.height]; });
  const note = document.createElement("pre");
  note.id = "measured";
  note.textContent = JSON.stringify({sizes, scroll: document.documentElement.scrollWidth, width: innerWidth,
                                     styled: getComputedStyle(document.body).fontFamily});
  document.body.append(note);
});
</script>
"""


def measured(path: Path, folder: Path, width: int = 1200) -> dict[str, object]:
    """Open a copy of the page that measures itself, with every host name unresolvable."""
    copy = folder / "page.html"
    text = path.read_text(encoding="utf-8")
    text = text.replace("<head>", f'<head><base href="{path.parent.as_uri()}/">', 1)
    copy.write_text(text.replace("</body>", MEASURE + "</body>"), encoding="utf-8")
    browser = next(found for found in map(shutil.which, BROWSERS) if found)
    quiet = ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    offline = "--host-resolver-rules=MAP * ~NOTFOUND"
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", *quiet, offline, f"--window-size={width},900"]
    command += [f"--user-data-dir={folder / 'profile'}", "--dump-dom", copy.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'<pre id="measured">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stderr[-2000:]
    return json.loads(found[1].replace("&amp;", "&").replace("&quot;", '"'))


def test_every_formula_of_the_page_on_signs_has_a_size(tmp_path: Path) -> None:
    page = measured(BUILT / "concepts" / "signs.html", tmp_path)
    assert len(page["sizes"]) >= 10
    assert all(width > 1 and height > 1 for width, height in page["sizes"])


@pytest.mark.parametrize("name", ["index.html", "concepts/signs.html", "choose.html"])
def test_pages_fit_a_narrow_window(tmp_path: Path, name: str) -> None:
    page = measured(BUILT / name, tmp_path, width=500)  # the narrowest window that Chromium opens
    assert page["scroll"] <= page["width"] + 1
