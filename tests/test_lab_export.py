"""The lab without its server: exported pages, views in notebooks, results that show themselves."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import zwang as zw
from zwang.cli import main
from zwang.lab.bundle import MODULES, read, script
from zwang.lab.exported_page import export


def test_the_bundle_has_every_module_and_imports_nothing() -> None:
    text = script()
    assert all(f"const module_{name} = " in text for name in (*MODULES, "uplot"))
    ours = text[text.index("const module_elements") :]
    assert not re.search(r"^\s*(import|export)\s", ours, re.MULTILINE)
    assert "export { uPlot" not in text
    assert "MIT License" in text or "Permission is hereby granted" in text


def test_modules_come_after_those_that_they_import() -> None:
    before = {"uplot"}
    for name in MODULES:
        assert set(re.findall(r'from "\./(\w+)\.js"', read(f"{name}.js"))) <= before, name
        before.add(name)


def test_an_exported_page_holds_its_data_and_asks_nobody(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["lab", "belt_block", "--export", str(tmp_path / "view")])
    assert done.exit_code == 0
    text = (tmp_path / "view" / "index.html").read_text(encoding="utf-8")
    helped = (tmp_path / "view" / "help.html").read_text(encoding="utf-8")
    assert 'id="drawing"' in helped and "<style>" in helped and "href=" not in helped
    data = re.search(r'<script type="application/json" id="recorded">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    recorded = json.loads(data[1])
    kinds = {item["request"]["kind"]: item["answers"][-1]["head"]["status"] for item in recorded["answers"]}
    assert {"open", "reactions", "motion", "map", "take", "claims"} <= set(kinds)
    assert set(kinds.values()) == {"done"}
    assert "default-src 'none'" in text and not re.search(r'(src|href)="http', text)


def test_a_file_in_the_way_of_an_export_is_told(tmp_path: Path) -> None:
    target = tmp_path / "taken"
    target.write_text("x")
    with pytest.raises(zw.DeclarationError, match="needs the name of a folder"):
        export(target, {"system": "belt_block"})


def test_results_show_themselves_in_notebooks() -> None:
    entry = zw.gallery.get("belt_block")
    found = zw.reactions(entry.system, entry.state, entry.params)
    assert found._repr_html_().startswith("<pre>Reactions of &#x27;belt_block&#x27;: UNIQUE.")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=0.5)
    html = motion._repr_html_()
    assert "<canvas" in html and "Motion of" in html


def test_a_view_is_a_widget_that_this_process_answers() -> None:
    pytest.importorskip("anywidget")
    widget = zw.view("sleigh")
    sent: list[tuple[dict[str, object], int]] = []
    widget.send = lambda content, buffers=(): sent.append((content, len(buffers)))
    widget._asked(None, {"seq": 4, "kind": "motion", "system": "sleigh", "until": 1.0}, [])
    widget._asked(None, {"seq": 5, "kind": "nonsense"}, [])
    assert [(head["seq"], head["kind"], count) for head, count in sent] == [(4, "motion", 3), (5, "refused", 0)]
    assert widget.start == {"system": "sleigh"}
    assert [item["name"] for item in widget.first["systems"]] == ["sleigh"]
    html = widget._repr_mimebundle_()
    data = html[0] if isinstance(html, tuple) else html
    assert "System" in data["text/html"]


def test_a_view_of_a_system_of_ones_own_carries_its_text() -> None:
    pytest.importorskip("anywidget")
    entry = zw.gallery.get("painleve_rod")
    mu = next(item for item in entry.system.parameters if item.name == "mu")
    others = {name: value for name, value in entry.params.items() if name != "mu"}
    widget = zw.view(entry.system, entry.state, {**others, mu: 0.25})
    assert "mu = 0.25" in widget.start["text"]
    assert zw.view(zw.compile(entry.system), entry.state, entry.params).start["text"]


def test_what_cannot_be_viewed_is_told() -> None:
    with pytest.raises(zw.DeclarationError, match="is no System, entry or name of the gallery, and no result"):
        zw.view(3.5)
