"""The page of the lab in a real Chromium: what a person does there, and what must never happen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

pytest.importorskip("starlette")
pytest.importorskip("websockets")
pytest.importorskip("playwright.sync_api")

import zwang as zw
from lab_browsers import PARTS, PICTURES, Watched
from lab_pages import Lab

pytestmark = pytest.mark.browser


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
    watched.kinds()
    slider.press("Shift+ArrowRight")
    assert watched.view()["params"]["mu"] == pytest.approx(1.2 + 30.1 * (high - low) / 100, rel=1e-5)
    assert watched.page.evaluate("() => zwang.stats().pending") > 0  # what waits for the reactions is counted
    watched.page.wait_for_function("() => zwang.stats().pending === 0")
    asked = watched.kinds()
    assert asked[0] == "reactions" and {*asked} >= {"motion", "space", "map", "take"}


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


def test_the_map_shows_what_happens_too(browser: Any, lab: Lab) -> None:
    watched = Watched(browser, lab, "&system=incline_block&map=mu,slope")
    page = watched.page
    watched.wait("map")
    before = watched.shown("map")
    page.select_option("select[name=map-what]", "kinds")
    watched.wait("map", before)
    found = [item.get_attribute("data-legend") for item in page.locator("[data-legend]").all()]
    assert found == ["holds", "slides", "tips", "lifts", "moves", "none", "several"]
    assert "slides" in watched.part("map").locator("table").text_content()
    page.wait_for_function("() => location.search.includes('mapping=kinds')")
    watched.end()


def test_a_claim_is_computed_and_its_figure_is_shown(watched: Watched) -> None:
    watched.wait("papers")
    page = watched.page
    claim = page.locator("[data-claim='001-ex1-slack']")
    claim.locator("[data-action=check]").click()
    page.wait_for_function(
        "() => document.querySelector('[data-claim=\"001-ex1-slack\"] figure img')?.naturalWidth > 100"
    )
    assert claim.locator("figcaption").inner_text()
    assert claim.locator("table").count() == 1


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


def test_a_link_carries_a_model_of_ones_own(browser: Any, lab: Lab, tmp_path: Path) -> None:
    (x,), (v,) = zw.coordinates("x")
    m, mu = sp.symbols("m mu")
    floor = zw.Friction(9.81 * mu * m, slip=v, name="floor")
    block = zw.System(name="bloc_a", kinetic=m * v**2 / 2, constraints=[floor], drawing=zw.Drawing({"P": (x, 0)}))
    path = tmp_path / "block.toml"
    block.save(path, params={"m": 1.0, "mu": 0.2}, state={"x": 0.0, "v_x": 1.0})
    first = Watched(browser, lab)
    first.page.locator("section[data-part=model] input[type=file]").set_input_files(path)
    first.page.wait_for_function("() => zwang.view().system === 'bloc_a'")
    field = first.page.locator("section[data-part=parameters] input[type=number][name=mu]")
    field.fill("0.7")
    field.press("Enter")
    first.page.wait_for_function("() => location.hash.startsWith('#model=') && location.search.includes('p.mu=0.7')")
    again = Watched(browser, lab)  # another browser, which has the cookie by now
    again.page.goto(first.page.url)
    again.page.wait_for_function("() => globalThis.zwang && zwang.view().system === 'bloc_a'")
    again.page.wait_for_function("() => zwang.stats().pending === 0")
    assert again.view() == first.view() and again.view()["params"]["mu"] == 0.7
    assert again.page.locator("textarea[name=model]").input_value() == path.read_text(encoding="utf-8")
    again.page.goto("about:blank")
    again.page.goto(first.page.url.split("#")[0] + "#model=_not_a_model")  # nothing is read from it
    again.page.wait_for_selector("body[data-ready=true]")
    again.end()
    first.end()


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
