"""The built pages, read as files: they need no network, their links lead somewhere, their formulas are there.

`make docs` builds the pages; `make test` does so before the tests. `make browser` looks at the same pages in a browser.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import zwang

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "docs" / "_build" / "html"
PAGES = sorted(path for path in BUILT.rglob("*.html") if "_static" not in path.parts)

needs_pages = pytest.mark.skipif(not PAGES, reason="the documentation has not been built: make docs")

# Attributes that make a browser load something, by element; a link to follow (a href) is not one.
LOADS = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "iframe": ("src",),
    "video": ("src", "poster"),
    "audio": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "link": ("href",),
    "use": ("href", "xlink:href"),
    "image": ("href", "xlink:href"),
}
# Relations of a <link> that name a page and fetch nothing.
NAMES_A_PAGE = {"author", "canonical", "copyright", "help", "index", "next", "prev", "search", "top"}


class Page(HTMLParser):
    """What a page loads, the ids it defines, the links it has, and its elements and text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.loads: list[str] = []
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.elements: list[str] = []
        self.styles: list[str] = []
        self.text: list[str] = []
        self._inside: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.elements.append(tag)
        if "id" in values:
            self.ids.add(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        fetches = tag != "link" or not set(values.get("rel", "").split()) <= NAMES_A_PAGE
        if fetches:
            self.loads += [values[name] for name in LOADS.get(tag, ()) if name in values]
        self.styles.append(values.get("style", ""))
        if tag in {"style", "script", "pre", "code"}:
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if "style" in self._inside:
            self.styles.append(data)
        elif not self._inside:
            self.text.append(data)


@pytest.fixture(scope="module")
def pages() -> dict[Path, Page]:
    return {path: Page(path) for path in PAGES}


def is_external(address: str) -> bool:
    return bool(re.match(r"\s*(https?:)?//", address))


def external_in_css(text: str) -> list[str]:
    addresses = re.findall(r"url\(\s*['\"]?([^'\")]+)", text) + re.findall(r"@import\s+['\"]([^'\"]+)", text)
    return [address for address in addresses if is_external(address)]


@needs_pages
def test_pages_load_nothing_from_outside(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        assert [address for address in page.loads if is_external(address)] == [], path
        assert [found for style in page.styles for found in external_in_css(style)] == [], path


@needs_pages
def test_style_sheets_load_nothing_from_outside() -> None:
    for sheet in BUILT.rglob("*.css"):
        assert external_in_css(sheet.read_text(encoding="utf-8")) == [], sheet


@needs_pages
def test_what_pages_load_from_inside_is_there(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        for address in page.loads:
            if not address.startswith(("data:", "#")):
                assert (path.parent / unquote(urlsplit(address).path)).is_file(), (path, address)


def internal_links(page: Page) -> Iterator[tuple[Path, str]]:
    for link in page.links:
        parts = urlsplit(link)
        if not parts.scheme and not parts.netloc:
            target = page.path.parent / unquote(parts.path) if parts.path else page.path
            yield target.resolve(), unquote(parts.fragment)


@needs_pages
def test_internal_links_lead_to_a_page_and_an_id_on_it(pages: dict[Path, Page]) -> None:
    known = {path.resolve(): page.ids for path, page in pages.items()}
    for path, page in pages.items():
        for target, fragment in internal_links(page):
            assert target.exists(), (path, target)
            if fragment and target in known:
                assert fragment in known[target], (path, target.name, fragment)


@needs_pages
def test_formulas_are_present_as_mathml_and_none_is_left_as_latex(pages: dict[Path, Page]) -> None:
    signs = pages[BUILT / "concepts" / "signs.html"]
    assert signs.elements.count("math") >= 10  # counted in docs/concepts/signs.md
    for path, page in pages.items():
        text = " ".join(page.text)
        assert not re.search(r"\\(frac|begin|lambda|sum|dot|ge|le)\b|\$\$", text), path
        assert "MathJax" not in path.read_text(encoding="utf-8"), path


def test_pages_that_the_readme_links_to_read_well_as_they_are() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    linked = sorted(set(re.findall(r"\]\((?:\S*/)?(docs/[\w/]+\.md)\)", text)))
    assert len(linked) > 10
    for name in linked:
        page = (ROOT / name).read_text(encoding="utf-8")
        assert re.findall(r"\{[\w:]+\}`", page) == [], name  # roles
        assert set(re.findall(r"^(?:```|:::)\{([\w-]+)\}", page, flags=re.MULTILINE)) <= {"toctree"}, name


def test_every_class_of_results_is_on_the_page_of_results() -> None:
    page = (ROOT / "docs" / "reference" / "results.md").read_text(encoding="utf-8")
    assert set(zwang.results.__all__) <= set(re.findall(r"autoclass:: (\w+)", page))


@needs_pages
def test_every_public_name_has_its_place_in_the_reference(pages: dict[Path, Page]) -> None:
    listing = BUILT / "reference" / "generated" / "index.html"
    places = {link.split("#")[0].removesuffix(".html") for link in pages[listing].links} | pages[listing].ids
    assert [name for name in zwang.__all__ if f"zwang.{name}" not in places] == []


# --- the renderer itself ---------------------------------------------------------------------------------------------


@pytest.fixture
def mathml(monkeypatch: pytest.MonkeyPatch) -> object:
    pytest.importorskip("latex2mathml")
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    import mathml

    yield mathml.mathml
    sys.modules.pop("mathml", None)


def test_inline_formula_becomes_mathml_that_keeps_its_source(mathml) -> None:
    markup = mathml(r"\lambda_j \ge 0")
    assert markup.startswith("<math ")
    assert r'alttext="\lambda_j \ge 0"' in markup
    assert 'display="inline"' in markup


@pytest.mark.parametrize("environment", ["aligned", "split", "align*"])
def test_aligned_lines_become_a_table_with_two_rows(mathml, environment: str) -> None:
    markup = mathml(rf"\begin{{{environment}}} a &= b \\ c &= d \end{{{environment}}}", display=True)
    assert markup.count("<mtr>") == 2
    assert 'display="block"' in markup


def test_lines_without_an_environment_become_a_table(mathml) -> None:
    assert mathml(r"a &= b \\ c &= d", display=True).count("<mtr>") == 2


def test_function_names_stand_apart_from_what_they_follow(mathml) -> None:
    assert '<mo lspace="0.1667em" rspace="0.1667em">cos</mo>' in mathml(r"3 \cos x")
    assert '<mo lspace="0.1667em" rspace="0">cos</mo>' in mathml(r"3 \cos(x)")


@pytest.mark.parametrize("latex", [r"\nosuchcommand x", r"x_{", r"\begin{tabularx} a & b \end{tabularx}"])
def test_what_the_converter_does_not_know_is_an_error_and_never_raw_text(mathml, latex: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        mathml(latex)


def test_what_an_index_shows_has_absolute_links_alone():
    import importlib.util
    import re
    from pathlib import Path

    root = Path(__file__).resolve().parents[1]
    found = importlib.util.spec_from_file_location("hatch_build", root / "hatch_build.py")
    module = importlib.util.module_from_spec(found)
    pytest.importorskip("hatchling")
    found.loader.exec_module(module)
    shown = module.absolute((root / "README.md").read_text(encoding="utf-8"), "https://forge/zwang")
    links = re.findall(r"\]\(([^)\s]+)\)", shown)
    assert links
    assert all(link.startswith("https://") for link in links)
    assert "https://forge/zwang/raw/main/docs/_static/painleve_map.png" in links
    assert "https://forge/zwang/blob/main/docs/start.md" in links
