"""The lab in a real Chromium: space and surfaces, pages without a server, notebooks, and everyone's access."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("websockets")
pytest.importorskip("playwright.sync_api")

import zwang as zw
from lab_browsers import Watched, violations
from lab_pages import Lab
from zwang.lab.exported_page import export

pytestmark = pytest.mark.browser


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


def test_a_surface_can_be_turned_and_a_place_on_it_sets_the_state(browser: Any, lab: Lab, tmp_path: Path) -> None:
    five = zw.Linkage("five").ground("A", 0, 0).ground("E", 1.5, 0)
    for name in "BCD":
        five = five.point(name, mass=1)
    for a, b, length in (("A", "B", 1), ("B", "C", 1.2), ("C", "D", 1.2), ("D", "E", 1)):
        five = five.bar(a, b, length)
    system = five.system(coordinates="joint")
    start = dict(zip((item.name for item in system.coordinates), zw.trace(system).surface.points[0], strict=True))
    path = tmp_path / "five.toml"
    system.save(path, state={**start, **{item.name: 0.0 for item in system.velocities}})
    watched = Watched(browser, lab)
    page = watched.page
    watched.wait("model")
    page.locator("section[data-part=model] input[type=file]").set_input_files(path)
    page.wait_for_function("() => document.querySelector('section[data-part=space]').dataset.surface === 'true'")
    assert "genus 4" in watched.part("space").inner_text()
    page.locator("[data-action=turn-space]").press("ArrowUp")
    page.select_option("select[name=space-z]", "theta_B")
    page.select_option("select[name=space-x]", "theta_D")
    page.wait_for_function("() => zwang.stats().pending === 0")
    shown, state = watched.shown("reactions"), watched.view()["state"]
    canvas = watched.part("space").locator("canvas").first
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] * 0.5, "y": box["height"] * 0.5})
    watched.wait("reactions", shown)
    moved = watched.view()["state"]
    assert moved != state
    assert zw.compile(system).check(moved, {}) < 1e-9
    watched.end()


def test_curves_on_which_a_surface_is_singular_are_drawn_and_listed(browser: Any, lab: Lab) -> None:
    watched = Watched(browser, lab, "&system=surface_umbrella")
    page = watched.page
    page.wait_for_function("() => document.querySelector('section[data-part=space]').dataset.surface === 'true'")
    assert "Singular along 2 curves" in watched.part("space").inner_text()
    watched.part("space").locator("summary", has_text="Table of arcs").click()
    table = watched.part("space").locator("table", has_text="Singular curves")
    assert sorted(table.locator("tbody tr td:nth-child(2)").all_inner_texts()) == ["crossing", "isolated"]
    watched.end()


def test_an_input_follows_a_table_that_is_typed_dropped_or_in_the_address(
    browser: Any, lab: Lab, tmp_path: Path
) -> None:
    (x,), (v,) = zw.coordinates("x")
    force = zw.inputs("u")
    block = zw.System(name="block", kinetic=v**2 / 2, forces={x: force}, drawing=zw.Drawing({"P": (x, 0)}))
    path = tmp_path / "block.toml"
    block.save(path, state={"x": 0.0, "v_x": 0.0})
    watched = Watched(browser, lab)
    page = watched.page
    watched.wait("model")
    page.locator("section[data-part=model] input[type=file]").set_input_files(path)
    table = page.locator("[data-table=u]")
    table.locator("summary").click()
    area = table.locator("textarea")
    page.wait_for_function("() => zwang.stats().pending === 0")
    before = watched.shown("motion")
    area.fill("t; u\n0;0\n1,5;3\n")  # a header, and decimal commas between semicolons
    watched.wait("motion", before)
    assert "follows a table of 2 times, straight between the times" in table.inner_text()
    assert page.locator("input[type=range][name=u]").is_disabled()
    assert "ends at t = 1.5, and the motion with it" in watched.part("motion").inner_text()
    assert float(page.locator("input[name=time]").get_attribute("max")) == pytest.approx(1.5)
    page.wait_for_function("() => document.querySelector('[data-script]').textContent.includes('zw.Table')")
    assert "Inputs" in watched.part("motion").inner_text()
    area.fill("0, 0\n1, x")
    table.locator('text=Line 2: "x" is no number.').wait_for()
    area.fill("0, 0\n1, 1\n0.5, 2")
    table.locator("text=Line 3: the times must rise; 1 is followed by 0.5.").wait_for()
    before = watched.shown("motion")
    # What a hand does with a file: drop it on the slider's row.
    page.evaluate(
        """() => { const data = new DataTransfer();
          data.items.add(new File(["time,w,u\\n0,9,1\\n4,9,1\\n"], "u.csv", {type: "text/csv"}));
          const row = document.querySelector("input[type=range][name=u]").closest(".field");
          row.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true})); }"""
    )
    watched.wait("motion", before)
    assert area.input_value().startswith("time,w,u")
    assert float(page.locator("input[name=time]").get_attribute("max")) == pytest.approx(4.0)
    page.wait_for_function("() => location.search.includes('i.u=linear%2C0%2C1%2C4%2C1')")
    assert violations(page) == []
    before = watched.shown("motion")
    table.locator("[data-action=hold-u]").click()
    watched.wait("motion", before)
    assert page.locator("input[type=range][name=u]").is_enabled()
    watched.end()


def test_every_way_on_is_shown_at_once(browser: Any, lab: Lab) -> None:
    watched = Watched(browser, lab, "&system=ellipse_pendulum&until=3")
    watched.wait("motion")
    page, before = watched.page, watched.shown("motion")
    page.click("[data-action=every]")
    watched.wait("motion", before)
    assert int(page.locator("[data-ways]").get_attribute("data-ways")) >= 3
    page.click("[data-action=play]")
    page.wait_for_function("() => zwang.view().t > 0.05")
    before = watched.shown("motion")
    page.click("[data-action=one]")
    watched.wait("motion", before)
    assert page.locator("[data-continuation]").count() == 3
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
    assert violations(page) == []
    watched.end()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("system", ["incline_table", "surface_umbrella"])
def test_pictures_in_space_are_accessible(browser: Any, lab: Lab, system: str, scheme: str) -> None:
    watched = Watched(browser, lab, f"&system={system}", color_scheme=scheme)
    watched.wait("motion")
    watched.wait("space")
    watched.page.wait_for_function(
        "() => document.querySelector('section[data-part=drawing]').dataset.solid === 'true'"
    )
    assert violations(watched.page) == []
    watched.end()
