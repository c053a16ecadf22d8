"""The report on the papers as a page: well formed, nothing to load, told for a person who doesn't know the papers."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from zwang import papers
from zwang._plot.content_policy import content_policy
from zwang._plot.film.player import player_script
from zwang._report.computation import compute, drawn, openings
from zwang._report.page import page
from zwang._report.reproduction import TITLE, reproduction_body
from zwang.papers import Picture

pytest.importorskip("matplotlib")

# One claim of each kind of picture: none, a drawing, a map, graphs.
CHOSEN = ("001-ex1-slack", "001-ex2-first-data", "001-ex4-unique-at-rest", "001-thm12-mixed")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def text() -> str:
    records = compute([papers.get(id) for id in CHOSEN], pictures=True)
    begun = {chapter.paper: openings(chapter) for chapter in papers.chapters() if chapter.paper == "001"}
    return page(TITLE, reproduction_body(papers.chapters(), records, begun, full=False))


class Balanced(HTMLParser):
    """Elements that are opened must be closed in order."""

    EMPTY = {"meta", "img", "br", "mspace", "input"}

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        return

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()


def test_every_element_is_closed(text: str) -> None:
    assert Balanced(text).open == []


def test_the_page_loads_nothing(text: str) -> None:
    assert not re.search(r"<(link|iframe|object|embed|base)\b|@import|url\((?!#)", text)
    assert all(source.startswith("data:image/png;base64,") for source in re.findall(r'src="([^"]*)', text))
    assert set(re.findall(r"https?://[^\s\"'<>)]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_ids_are_unique_and_links_lead_somewhere(text: str) -> None:
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(ids)


def test_a_chapter_begins_with_the_question_a_picture_and_the_answer(text: str) -> None:
    chapter = text[text.index('class="chapter"') :]
    places = [chapter.index(mark) for mark in ('class="question"', "<figure>", 'class="answer"', "<article")]
    assert places == sorted(places)


def test_every_picture_says_in_words_what_it_shows(text: str) -> None:
    assert all('alt="' in tag or 'aria-label="' in tag for tag in re.findall(r"<img [^>]*|<svg [^>]*", text))


def test_chapters_and_verdicts_stay_at_hand_and_every_item_has_claims_or_a_reason(text: str) -> None:
    head = text[text.index('<nav class="stay"') : text.index("</nav>")]
    assert head.count('type="radio"') == 1 + len(papers.Verdict) and 'href="#paper-001"' in head
    # each button hides the articles of other verdicts by the style sheet alone
    assert all(f"#show-{verdict.value.replace(' ', '-')}:checked" in text for verdict in papers.Verdict)
    assert 'class="verdict-corrected"' in text and "prefers-color-scheme:dark" in text
    assert 'id="items"' in text and 'id="misprints"' in text
    for paper in ("000", "001", "002", "003", "004"):
        for item in papers.items_of(paper, papers.claims()):
            assert item.claims or item.reason, f"{paper}, {item.name}: neither a claim nor a reason"


def test_reasons_are_for_items_without_claims_alone() -> None:
    from zwang.papers.unclaimed import REASONS

    for paper, reasons in REASONS.items():
        known = {item.name: item.claims for item in papers.items_of(paper, papers.claims())}
        assert all(name in known and not known[name] for name in reasons), paper


def test_no_formula_of_a_claim_is_left_as_code() -> None:
    from zwang._report.formula_text import rich

    for item in papers.claims():
        for words in (item.statement, item.printed, item.new):
            assert "<code>" not in rich(words), f"{item.id}: {words}"


def test_formulas_of_claims_have_the_parts_that_browsers_need() -> None:
    from zwang._report.formula_text import rich

    for item in papers.claims():
        for markup in re.findall(r"<math.*?</math>", rich(item.statement + item.printed)):
            for element in ElementTree.fromstring(markup).iter():
                assert element.tag not in {"mfrac", "msup", "msub", "mover"} or len(element) == 2, item.id


def test_a_picture_may_be_markup_of_its_own() -> None:
    moving = drawn(Picture("player", "It moves.", lambda: "<div>player</div>"), "x")
    assert moving.make() == "<div>player</div>"


def test_paper_pages_have_every_claim_and_numbers_only_from_a_ledger(tmp_path: Path) -> None:
    import importlib.util
    import json

    place = Path(__file__).resolve().parents[1] / "docs" / "_ext" / "paper_pages.py"
    spec = importlib.util.spec_from_file_location("paper_pages", place)
    assert spec and spec.loader
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    pages.write(tmp_path, tmp_path / "ledger.json")
    told = (tmp_path / "001.md").read_text(encoding="utf-8")
    everything = "".join(page.read_text(encoding="utf-8") for page in tmp_path.glob("*.md"))
    assert all(everything.count(f'id="{item.id}"') == 1 for item in papers.claims())
    assert 'id="001-ex1-beta"' in told and "<em>Computed:</em>" not in everything
    ledger = papers.ledger([papers.get("001-ex1-beta").run()])
    (tmp_path / "ledger.json").write_text(json.dumps(ledger), encoding="utf-8")
    pages.write(tmp_path, tmp_path / "ledger.json")
    assert (tmp_path / "001.md").read_text(encoding="utf-8").count("<em>Computed:</em>") == 1


@pytest.mark.browser
@pytest.mark.skipif(not any(map(shutil.which, BROWSERS)), reason="no Chromium: apt install chromium")
@pytest.mark.parametrize("width", [1200, 500])
def test_the_report_opens_in_a_browser_with_no_error_and_nothing_too_wide(
    text: str, tmp_path: Path, width: int
) -> None:
    measure = """<script>addEventListener("load", () => {
      const flat = [...document.querySelectorAll("math")].filter(m => m.getBoundingClientRect().height < 2).length;
      document.title = `flat ${flat}, over ${document.documentElement.scrollWidth - innerWidth}`; });</script>"""
    copy = tmp_path / "report.html"
    own = re.search("<meta http-equiv[^>]*>", text)
    assert own is not None
    inner = measure.removeprefix("<script>").removesuffix("</script>")
    allowed = text.replace(own[0], content_policy(player_script(), inner))  # what measures may run too
    copy.write_text(allowed.replace("</body>", measure + "</body>"), encoding="utf-8")
    browser = next(found for found in map(shutil.which, BROWSERS) if found)
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--enable-logging=stderr"]
    command += ["--host-resolver-rules=MAP * ~NOTFOUND", f"--window-size={width},900"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", copy.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r"<title>flat (\d+), over (-?\d+)</title>", done.stdout)
    assert found, done.stderr[-2000:]
    assert int(found[1]) == 0 and int(found[2]) <= 1
    assert "CONSOLE" not in done.stderr


def test_a_legend_that_covers_a_curve_goes_beneath_the_axes() -> None:
    from zwang._plot import new_figure
    from zwang._report.figures import lettered

    figure, ax = new_figure((4, 3))
    for k in range(6):
        ax.plot([0, 1], [k, k], label=f"a curve with a long name, number {k}")
    ax.legend(loc="center")
    lettered(figure)
    assert ax.get_legend() is None and len(figure.legends) == 1
    below = figure.legends[0].get_window_extent()
    assert below.x1 <= figure.bbox.x1 and below.y1 <= ax.get_window_extent().y0


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("theta_1 - phi", "$θ_{1}$ - φ"),
        ("order -0.00", "order 0.00"),
        ("−00", "−00"),
        ("2.5e-08", r"$2.5\cdot 10^{-8}$"),
        ("slip-, x-axis", "slip−, x-axis"),
        (r"\$mu", r"\$mu"),
    ],
)
def test_labels_are_typeset(given: str, shown: str) -> None:
    from zwang._plot.style import typeset

    assert typeset(given) == shown
