"""The page of the lab in a real Chromium: what a person does there, and what must never happen."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("websockets")
sync_api = pytest.importorskip("playwright.sync_api")

import zwang as zw  # noqa: E402
from lab_pages import HANG, Lab  # noqa: E402
from zwang.lab.exporting import export  # noqa: E402

pytestmark = pytest.mark.browser
PICTURES = ["drawing", "space", "reactions", "map", "motion", "events", "realize", "papers"]
PARTS = ["systems", "model", "parameters", *PICTURES, "take"]
SLOW = HANG * 1000


def chromium() -> str:
    found = next((shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")), None)
    assert found, "no Chromium"
    return found


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab() as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as play:
        found = play.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield found
        found.close()


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
        self.page.goto(lab.address + query)
        self.page.wait_for_selector("body[data-ready=true]")

    def said(self, message: Any) -> None:
        # Drivers that draw without a graphics card say when a screenshot makes them wait.
        if message.type in ("error", "warning") and "GL Driver Message" not in message.text:
            self.troubles.append(message.text)

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

    def view(self) -> dict[str, Any]:
        return dict(self.page.evaluate("() => zwang.view()"))

    def end(self) -> None:
        self.context.close()
        assert self.troubles == []
        assert all(url.startswith(("http://127.0.0.1:", "blob:", "data:")) for url in self.addresses)


@pytest.fixture
def watched(browser: Any, lab: Lab) -> Iterator[Watched]:
    found = Watched(browser, lab)
    yield found
    found.end()


def test_the_page_has_its_twelve_parts_and_loses_its_token(watched: Watched) -> None:
    page = watched.page
    found = [item.get_attribute("data-part") for item in page.locator("section[data-part]").all()]
    assert sorted(found) == sorted(PARTS)
    for name in PARTS:
        part = watched.part(name)
        heading = part.get_attribute("aria-labelledby")
        assert page.locator(f"#{heading}").inner_text()
        assert part.locator("a.help").count() == 1
        assert part.locator("p.sentence").inner_text()
    for name in PICTURES:
        watched.wait(name)
        assert watched.part(name).locator("table").count() >= 1, name
    assert "token" not in page.url
    assert page.evaluate("() => performance.getEntriesByName('zwang-first-view').length") == 1
    assert page.locator("[data-system]").count() == len(zw.gallery.names())
    assert page.locator("[data-claim][data-verdict]").count() > 200


def test_friction_beyond_the_paradox_leaves_no_motion_and_the_link_restores_it(
    watched: Watched, browser: Any, lab: Lab
) -> None:
    watched.wait("reactions")
    assert watched.part("reactions").get_attribute("data-count") == "1"
    before = watched.shown("reactions")
    watched.page.fill("section[data-part=parameters] input[type=number][name=mu]", "1.7")
    watched.page.keyboard.press("Enter")
    watched.wait("reactions", before)
    assert watched.part("reactions").get_attribute("data-count") == "0"
    assert "Tried and rejected" in watched.part("reactions").locator("[data-rejected]").inner_text()
    watched.page.wait_for_function("() => location.search.includes('p.mu=1.7')")
    again = Watched(browser, lab, "&" + watched.page.url.partition("?")[2])
    assert again.view()["params"]["mu"] == 1.7
    again.wait("reactions")
    assert again.part("reactions").get_attribute("data-count") == "0"
    again.end()
    watched.page.click("[data-action=reset]")
    watched.page.wait_for_function("() => document.querySelector('section[data-part=reactions]').dataset.count === '1'")


def test_a_slider_asks_and_older_requests_are_dropped(watched: Watched) -> None:
    watched.wait("motion")
    slider = watched.page.locator("section[data-part=parameters] input[type=range][name=mu]")
    before = watched.shown("reactions")
    slider.focus()
    for _ in range(30):
        slider.press("ArrowRight")
    watched.wait("reactions", before)
    watched.page.wait_for_function("() => zwang.stats().pending === 0")
    low, high = (float(slider.get_attribute(name)) for name in ("min", "max"))
    assert watched.view()["params"]["mu"] == pytest.approx(1.2 + 30 * (high - low) / 100, rel=1e-5)
    slider.press("Shift+ArrowRight")
    assert watched.view()["params"]["mu"] == pytest.approx(1.2 + 30.1 * (high - low) / 100, rel=1e-5)


def test_a_point_is_dragged_along_the_configuration_space(browser: Any, lab: Lab) -> None:
    watched = Watched(browser, lab, "&system=four_bar_crank_rocker")
    watched.wait("reactions")
    watched.wait("space")
    page, handle = watched.page, watched.page.locator("[data-handle=B]")
    before, start = watched.shown("drawing"), watched.view()["state"]["alpha"]
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(8):
        page.mouse.move(x - 8 * k, y + 2 * k)
    watched.wait("drawing", before)
    page.mouse.up()
    page.wait_for_function("() => zwang.stats().pending === 0")
    moved = watched.view()["state"]["alpha"]
    assert abs(moved - start) > 0.02
    handle.focus()
    before = watched.shown("drawing")
    handle.press("ArrowLeft")
    watched.wait("drawing", before)
    assert watched.view()["state"]["alpha"] != moved
    watched.end()


def test_a_mechanism_in_space_is_solid_and_can_be_turned(browser: Any, lab: Lab) -> None:
    watched = Watched(browser, lab)
    watched.wait("motion")
    assert not any(url.endswith("/three.js") for url in watched.addresses)
    page = watched.page
    page.click("[data-system=flyball_governor]")
    page.wait_for_function("() => document.querySelector('section[data-part=drawing]').dataset.solid === 'true'")
    assert any(url.endswith("/three.js") for url in watched.addresses)
    page.wait_for_function("() => zwang.stats().pending === 0")
    before = page.locator("[data-handle]").first.bounding_box()
    turn = page.locator("[data-action=turn]")
    turn.focus()
    for _ in range(5):
        turn.press("ArrowRight")
    assert page.locator("[data-handle]").first.bounding_box() != before
    turn.press("Enter")
    assert page.locator("[data-handle]").first.bounding_box() == before
    handle, start = page.locator("[data-handle]").first, watched.view()["state"]
    shown = watched.shown("drawing")
    handle.press("ArrowRight")
    watched.wait("drawing", shown)
    assert watched.view()["state"] != start
    with page.expect_download() as found:
        page.click("[data-take=png]")
    assert Path(found.value.path()).stat().st_size > 3000
    page.click("[data-system=painleve_rod]")
    assert page.locator("canvas.glass").is_hidden()
    watched.end()


def test_singular_points_are_marked_told_and_critical_values_are_ticks(browser: Any, lab: Lab) -> None:
    watched = Watched(browser, lab, "&system=four_bar_kite")
    watched.wait("space")
    points = watched.page.locator("[data-singular]")
    assert points.count() == 2
    assert points.first.get_attribute("data-kind") == "crossing"
    points.first.click()
    watched.page.wait_for_function("() => document.querySelector('[data-detail=singular] table')")
    assert "coupler" in watched.page.locator("[data-detail=singular]").inner_text()
    watched.page.wait_for_function("() => document.querySelectorAll('datalist option').length > 0")
    watched.end()


def test_the_map_gets_finer_and_a_place_on_it_sets_the_state(watched: Watched) -> None:
    page = watched.page
    page.wait_for_function("() => document.querySelector('section[data-part=map]').dataset.quality === 'full'")
    assert page.locator("[data-legend]").count() == 4
    before, mu = watched.shown("reactions"), watched.view()["params"]["mu"]
    chart = watched.part("map").locator("button.chart")
    box = chart.bounding_box()
    chart.click(position={"x": box["width"] * 0.85, "y": box["height"] * 0.4})
    watched.wait("reactions", before)
    moved = watched.view()["params"]["mu"]
    assert moved > mu
    before = watched.shown("reactions")
    chart.focus()
    for _ in range(5):
        chart.press("ArrowLeft")
    chart.press("Enter")
    watched.wait("reactions", before)
    assert watched.view()["params"]["mu"] < moved
    watched.page.select_option("select[name=map-y]", "v_x")
    watched.page.wait_for_function("() => location.search.includes('map=mu%2Cv_x')")


def test_the_motion_is_played_scrubbed_and_goes_on_where_it_stopped(browser: Any, lab: Lab) -> None:
    watched = Watched(browser, lab, "&system=ellipse_pendulum")
    watched.wait("motion")
    page = watched.page
    assert "Stopped at a singular point: choose one of 3" in watched.part("motion").inner_text()
    length = float(page.locator("input[name=time]").get_attribute("max"))
    page.locator("[data-continuation='2']").click()
    page.wait_for_function(
        "(length) => Number(document.querySelector('input[name=time]').max) > 1.01 * length", arg=length
    )
    page.click("[data-action=play]")
    assert page.locator("[data-action=play]").get_attribute("aria-pressed") == "true"
    page.wait_for_function("(start) => zwang.view().t > start + 0.05", arg=watched.view()["t"])
    assert page.evaluate("() => zwang.stats().frames") > 1
    page.click("[data-action=play]")
    page.locator("[data-event='0']").click()
    assert watched.view()["t"] == pytest.approx(float(page.locator("[data-event='0']").get_attribute("data-time")))
    page.click("[data-action=next-event]")
    page.click("[data-action=step]")
    page.select_option("select[name=speed]", "0.5")
    before = watched.shown("motion")
    page.fill("input[name=until]", "1.5")
    page.keyboard.press("Enter")
    watched.wait("motion", before)
    assert watched.view()["until"] == 1.5
    watched.end()


def test_two_runs_are_overlaid(browser: Any, lab: Lab) -> None:
    watched = Watched(browser, lab, "&system=belt_block")
    watched.wait("motion")
    watched.page.click("[data-action=compare]")
    assert watched.page.locator("[data-action=compare]").get_attribute("aria-pressed") == "true"
    before = watched.shown("motion")
    watched.page.fill("section[data-part=parameters] input[type=number][name=mu]", "0.3")
    watched.page.keyboard.press("Enter")
    watched.wait("motion", before)
    watched.end()


def test_a_mistake_in_the_text_is_shown_at_its_line_and_a_file_is_opened(watched: Watched, tmp_path: Path) -> None:
    watched.wait("model")
    page = watched.page
    page.locator("section[data-part=model] summary").click()
    area = page.locator("textarea")
    text = area.input_value()
    line = next(k for k, row in enumerate(text.split("\n"), 1) if row.startswith("potential"))
    area.fill(text.replace('potential = "', 'potential = "+* '))
    page.wait_for_selector(f"[data-error-line='{line}']", state="attached")
    model = tmp_path / "free.toml"
    model.write_text('schema = 1\nname = "free"\ncoordinates = ["x"]\nkinetic = "m*v_x**2/2"\n\n[params]\nm = 2.0\n')
    before = watched.shown("reactions")
    page.set_input_files("input[type=file]", str(model))
    watched.wait("reactions", before)
    assert watched.view()["system"] == "free" and watched.view()["params"] == {"m": 2}


def test_a_constraint_is_realized_and_the_orders_are_measured(browser: Any, lab: Lab) -> None:
    watched = Watched(browser, lab, "&system=kozlov_neishtadt")
    watched.wait("reactions")
    before = watched.shown("realize")
    watched.page.locator("input[name=strength]").fill("4")
    watched.wait("realize", before)
    assert "With N = 1e+04" in watched.part("realize").inner_text()
    before = watched.shown("realize")
    watched.page.click("[data-action=orders]")
    watched.wait("realize", before + 1)
    assert "order of position" in watched.part("realize").locator("table").text_content()
    watched.end()


def test_everything_can_be_taken_away(watched: Watched) -> None:
    watched.wait("motion")
    page = watched.page
    page.wait_for_function("() => document.querySelector('[data-script]').textContent.includes('zw.simulate')")
    for what, ending in (
        ("model", ".toml"),
        ("png", ".png"),
        ("svg", ".svg"),
        ("csv", ".csv"),
        ("netcdf", ".nc"),
        ("film", ".html"),
    ):
        with page.expect_download() as found:
            page.click(f"[data-take={what}]")
        assert found.value.suggested_filename.endswith(ending)
        assert Path(found.value.path()).stat().st_size > 100
    before = watched.shown("take")
    page.click("[data-take=link]")
    watched.wait("take", before)
    assert "/?system=painleve_rod" in watched.part("take").inner_text()
    before = watched.shown("take")
    page.click("[data-take=python]")
    watched.wait("take", before)


def test_a_claim_is_computed_and_its_system_opened(watched: Watched) -> None:
    watched.wait("papers")
    page, claim = watched.page, watched.page.locator("[data-claim='001-ex1-slack']")
    before = watched.shown("papers")
    claim.locator("[data-action=check]").click()
    watched.wait("papers", before)
    assert "corrected in" in claim.inner_text()
    opening = page.locator("[data-claim] [data-action=open]").first
    opening.click()
    name = opening.get_attribute("aria-label").split(": ")[1].split(",")[0]
    assert watched.view()["system"] == name
    assert page.locator(f"[data-system={name}]").get_attribute("aria-current") == "true"


def test_keys_do_everything(watched: Watched) -> None:
    watched.wait("motion")
    page = watched.page
    page.locator("h1").click()
    page.keyboard.press("n")
    first = watched.view()["t"]
    assert first > 0
    page.keyboard.press(".")
    assert watched.view()["t"] > first
    page.keyboard.press("0")
    assert watched.view()["t"] == 0
    page.keyboard.press(" ")
    page.wait_for_function("() => document.querySelector('[data-action=play]').getAttribute('aria-pressed') === 'true'")
    page.keyboard.press(" ")
    page.keyboard.press("]")
    assert page.locator("select[name=speed]").input_value() == "2"
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    page.keyboard.press("c")
    assert page.locator("[data-action=compare]").get_attribute("aria-pressed") == "true"


def test_nothing_moves_by_itself_where_reduced_motion_is_wanted(browser: Any, lab: Lab) -> None:
    watched = Watched(browser, lab, reduced_motion="reduce")
    watched.wait("motion")
    watched.page.click("[data-action=play]")
    assert watched.page.locator("[data-action=play]").get_attribute("aria-pressed") == "false"
    assert watched.view()["t"] > 0  # at the next event
    watched.end()


def test_the_page_plays_while_python_computes(browser: Any, lab: Lab) -> None:
    watched = Watched(browser, lab, "&system=n_four_bar")
    watched.wait("motion")
    page = watched.page
    page.select_option("select[name=speed]", "0.1")
    page.evaluate("() => zwang.stats()")
    page.fill("section[data-part=parameters] input[type=number][name=l]", "1.07")
    page.keyboard.press("Enter")
    page.click("[data-action=play]")
    page.wait_for_timeout(1500)
    found = page.evaluate("() => zwang.stats()")
    # How even the frames are depends on the machine; that there are frames at all doesn't.
    assert found["frames"] > 10, found
    print(json.dumps(found))
    watched.end()


def test_an_exported_page_plays_from_disk(browser: Any, tmp_path: Path) -> None:
    path = export(tmp_path / "view", {"system": "belt_block"})
    context = browser.new_context()
    page = context.new_page()
    troubles: list[str] = []
    addresses: list[str] = []
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda request: addresses.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector("body[data-ready=true]")
    page.wait_for_function("() => Number(document.querySelector('section[data-part=motion]').dataset.shown) > 0")
    page.click("[data-action=play]")
    page.wait_for_function("() => zwang.view().t > 0.05")
    assert page.evaluate("() => zwang.stats().frames") > 1
    assert page.locator("section[data-part=reactions]").get_attribute("data-count") == "1"
    page.fill("section[data-part=parameters] input[type=number][name=mu]", "0.7")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('section[data-part=reactions]').dataset.status === 'error'")
    assert "has no Python behind it" in page.locator("section[data-part=reactions]").inner_text()
    context.close()
    assert troubles == []
    assert addresses == [path.as_uri()]


def test_a_film_says_how_evenly_it_plays(browser: Any, tmp_path: Path) -> None:
    entry = zw.gallery.get("belt_block")
    path = tmp_path / "film.html"
    zw.simulate(entry.system, entry.state, entry.params, until=2.0).animate(path)
    context = browser.new_context()
    page = context.new_page()
    page.goto(path.as_uri())
    page.click("figure button")
    page.wait_for_timeout(400)
    found = page.evaluate("() => zwang.stats()")
    assert set(found) == {"frames", "longest_gap_ms", "pending", "superseded"} and found["frames"] > 0
    context.close()


@pytest.mark.parametrize("width", [1280, 800, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_and_fits(browser: Any, lab: Lab, width: int, scheme: str) -> None:
    watched = Watched(browser, lab, viewport={"width": width, "height": 900}, color_scheme=scheme)
    watched.wait("motion")
    watched.wait("papers")
    page = watched.page
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    source = axe()
    if source is None:
        pytest.skip("axe-core is not installed: npm install axe-core")
    page.evaluate(source)
    found = page.evaluate("async () => (await axe.run(document, {resultTypes: ['violations']})).violations")
    told = [(item["id"], [node["target"] for node in item["nodes"]][:3]) for item in found]
    assert told == []
    watched.end()


def axe() -> str | None:
    for folder in (Path(__file__).resolve().parents[1], Path.cwd(), Path(os.environ.get("NODE_PATH", ".")).parent):
        path = folder / "node_modules" / "axe-core" / "axe.min.js"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    return None
