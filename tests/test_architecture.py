"""What a machine can check of the house, a machine checks: sizes, names, imports, forbidden calls, docstrings."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import zwang

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "zwang"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MODULES = sorted(SOURCE.rglob("*.py"))
PUBLIC = sorted(zwang.__all__)

PUBLIC_OBJECTS = set(PUBLIC) - {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in MODULES}

LONGEST_FILE = 500
NAMELESS = {"utils", "core", "common", "misc", "helpers"}


def layer_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def python_files() -> Iterator[Path]:
    for folder in ("src", "tests", "examples", "benchmarks"):
        yield from (ROOT / folder).rglob("*.py")


class Facts(NamedTuple):
    """What is looked at in a module, gathered once; trees of all modules together would be millions of objects."""

    imports: list[str]  # import a, b
    imports_from: list[tuple[int, str, list[str]]]  # from ..a import b, c: (2, "a", ["b", "c"])
    classes: list[str]
    functions: list[tuple[str, int, int]]  # name, number of parameters, lines after the docstring
    executed: list[str]


@cache
def facts(path: Path) -> Facts:
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    nodes = list(ast.walk(tree))
    sources = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return Facts(
        [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names],
        [(node.level, node.module or "", [alias.name for alias in node.names]) for node in sources],
        [node.name for node in tree.body if isinstance(node, ast.ClassDef)],
        [(node.name, *extent(node)) for node in nodes if isinstance(node, ast.FunctionDef)],
        text_executed_by(nodes),
    )


def extent(node: ast.FunctionDef) -> tuple[int, int]:
    """Number of parameters, and of lines from the first statement to the last."""
    arguments = node.args
    count = len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs)
    last = max((inner.lineno for inner in ast.walk(node) if hasattr(inner, "lineno")), default=node.lineno)
    first = node.body[1].lineno if ast.get_docstring(node) and len(node.body) > 1 else node.body[0].lineno
    return count, last - first


# --- sizes and names -------------------------------------------------------------------------------------------------


def test_no_python_file_is_longer_than_500_lines() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in python_files()}
    too_long = {str(path.relative_to(ROOT)): length for path, length in lengths.items() if length > LONGEST_FILE}
    assert not too_long, "make it a folder of the same name"


def test_folders_and_modules_are_named_for_what_they_hold() -> None:
    names = {part.lstrip("_") for path in python_files() for part in path.relative_to(ROOT).with_suffix("").parts}
    assert not names & NAMELESS


# A result has its class, its picture and the lab's answer in files of one name; both builders have the same parts.
FACES, BUILDERS = {"_results", "_plot", "lab/answers"}, {"_bodies", "_linkage"}


def test_a_file_name_stands_for_one_thing() -> None:
    """Beside them: each room's verb, the commands, which are named as they are called, and the papers' own chapters."""
    homes: dict[str, set[str]] = {}
    for path in MODULES:
        place = path.relative_to(SOURCE)
        room = str(place.parent)
        if path.stem not in {"__init__", "verb"} and place.parts[0] not in {"papers", "cli"}:
            whose = "a result" if room in FACES else "a builder" if room in BUILDERS else str(place)
            homes.setdefault(path.stem, set()).add(whose)
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_no_module_has_the_name_of_a_public_function() -> None:
    """The import system would put the module in the place of the function: a lazy package returns the module."""
    modules = {layer_of(path) for path in MODULES}
    assert [name for name in modules & set(PUBLIC) if not inspect.ismodule(getattr(zwang, name))] == []


# --- imports ---------------------------------------------------------------------------------------------------------

HEAVY = ("numba", "jax", "matplotlib", "clarabel", "click", "scipy")
IMPORT_SECONDS = 0.5

# What the layers alone do not say: these know nothing of symbols and systems. Results may ask to be drawn.
NARROW = {
    "errors": set(),
    "_interrupts": {"errors"},
    "_outputs": {"errors"},
    "_progress": {"errors"},
    "_workers": {"errors"},
    "_numerics": {"errors", "_interrupts", "_outputs", "_workers"},
    "_plot": {"errors", "_outputs", "_progress"},
    "_results": {"errors", "_outputs", "_numerics", "_plot", "_progress"},
}
# Layers above every verb may use the package as its users do; below, the root would lead around the layers.
MAY_USE_THE_ROOT = {"__init__", "__main__", "cli", "lab", "_report", "papers"}


@cache
def imported_by(path: Path) -> set[str]:
    """The dotted names of our own modules that a file imports, wherever in the file."""
    package = ["zwang", *path.relative_to(SOURCE).parts[:-1]]
    found = set(facts(path).imports)
    for level, module, names in facts(path).imports_from:
        parents = package[: len(package) - level + 1] if level else []
        base = ".".join([*parents, *([module] if module else [])])
        found |= {f"{base}.{name}" for name in names} if base == "zwang" else {base}
    return {name for name in found if name.split(".")[0] == "zwang"}


@pytest.mark.parametrize("layer", sorted(NARROW))
def test_layers_that_know_no_system_import_only_what_they_may(layer: str) -> None:
    for path in MODULES:
        if layer_of(path) == layer:
            used = {name.split(".")[1] for name in imported_by(path) if "." in name}
            assert used <= NARROW[layer] | {layer}, path.name


def test_no_module_below_the_verbs_goes_around_the_layers_through_the_root() -> None:
    root = {"zwang", *(f"zwang.{name}" for name in PUBLIC_OBJECTS)}
    below = [path for path in MODULES if layer_of(path) not in MAY_USE_THE_ROOT]
    through_root = {str(path.relative_to(SOURCE)): names for path in below if (names := imported_by(path) & root)}
    assert not through_root, "import from the module that defines it"


@pytest.mark.parametrize("path", [path for path in MODULES if layer_of(path) == "papers"], ids=str)
def test_the_papers_speak_the_public_language_alone(path: Path) -> None:
    private = {name for name in imported_by(path) if name.startswith("zwang._") and name != "zwang.__version__"}
    assert not private, f"{path.name} imports {sorted(private)}: what a claim needs is public, or belongs to the claim"


def circles() -> list[list[str]]:
    """Groups of our modules that import each other in circles, imports inside functions and for types included."""
    names = {
        ".".join(("zwang", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__"): path
        for path in MODULES
    }
    uses: dict[str, set[str]] = {}
    for name, path in names.items():
        found = {one for one in imported_by(path) if one in names}
        for level, module, parts in facts(path).imports_from:  # a module may be imported from its package by name
            if module and not level:
                found |= {f"{module}.{part}" for part in parts} & set(names)
        uses[name] = {one for one in found if one != name and not name.startswith(f"{one}.")}

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        left = [start]
        while left:
            new = uses[left.pop()] - seen
            seen |= new
            left += new
        return seen

    ahead = {name: reached(name) for name in names}
    groups = {frozenset(one for one in ahead[name] if name in ahead[one]) for name in names if name in ahead[name]}
    return sorted(sorted(group) for group in groups)


def test_no_modules_import_each_other_in_circles() -> None:
    assert not circles()


def test_no_two_classes_share_a_name() -> None:
    homes: dict[str, list[str]] = {}
    for path in MODULES:
        for name in facts(path).classes:
            homes.setdefault(name, []).append(str(path.relative_to(SOURCE)))
    assert not {name: places for name, places in homes.items() if len(places) > 1}


MOST_PARAMETERS, MOST_LINES = 12, 80


def test_private_functions_have_few_parameters_and_fit_on_a_screen() -> None:
    found = set()
    for path in MODULES:
        if layer_of(path) in {"cli", "papers"}:  # options of a command are its parameters
            continue
        for name, count, lines in facts(path).functions:
            public = name in PUBLIC or not layer_of(path).startswith("_")
            if not public and (count > MOST_PARAMETERS or lines >= MOST_LINES) and name != "__init__":
                found.add(name)
    assert not found, sorted(found)


def in_a_fresh_interpreter(code: str) -> str:
    # Without bytecode every import compiles its source and looks ten times slower than it is.
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    settings["PYTHONPATH"] = str(SOURCE.parent)
    done = subprocess.run([sys.executable, "-c", code], env=settings, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_importing_zwang_loads_no_heavy_package() -> None:
    loaded = in_a_fresh_interpreter("import sys, zwang; print(*sorted({name.split('.')[0] for name in sys.modules}))")
    assert not set(loaded.split()) & set(HEAVY)


def test_importing_zwang_takes_under_half_a_second() -> None:
    code = "import time; start = time.perf_counter(); import zwang; print(time.perf_counter() - start)"
    # The best of several: the first writes bytecode, and other processes share the machine.
    assert min(float(in_a_fresh_interpreter(code)) for _ in range(5)) < IMPORT_SECONDS


# --- what must not be called -----------------------------------------------------------------------------------------

EXECUTES_TEXT = {"eval", "exec", "sympify", "parse_expr", "nsimplify"}
# The one module that runs source: the source that the package itself generated.
MAY_EXECUTE = {Path("_numerics/jit/generated.py"): {"exec"}}


def text_executed_by(nodes: Iterable[ast.AST]) -> list[str]:
    """Calls through which SymPy or Python would execute text: ``eval(...)``, ``sp.sympify(...)``, ``S("...")``."""
    found = []
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        text = bool(node.args) and isinstance(node.args[0], ast.JoinedStr | ast.Constant)
        text = text and not (isinstance(node.args[0], ast.Constant) and not isinstance(node.args[0].value, str))
        if name in EXECUTES_TEXT or (name == "S" and text):
            found.append(f"line {node.lineno}: {name}")
    return found


def test_no_module_executes_text() -> None:
    found: dict[str, list[str]] = {}
    for path in MODULES:
        name = path.relative_to(SOURCE)
        allowed = MAY_EXECUTE.get(name, set())
        found[str(name)] = [call for call in facts(path).executed if call.split(": ")[1] not in allowed]
    assert {name: calls for name, calls in found.items() if calls} == {}


@pytest.mark.parametrize("code", ["eval('1')", "sp.sympify(x)", "S('x')", "sp.S(f'{x}')", "exec(code)"])
def test_the_search_for_executed_text_finds(code: str) -> None:
    assert text_executed_by(ast.walk(ast.parse(code)))


@pytest.mark.parametrize("code", ["S(1)", "S.One", "re.compile('x')", "evaluate(x)", "model.eval"])
def test_the_search_for_executed_text_leaves_alone(code: str) -> None:
    assert not text_executed_by(ast.walk(ast.parse(code)))


# --- public names ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_can_be_loaded_and_has_one_home(name: str) -> None:
    value = getattr(zwang, name)
    home = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", "zwang")
    assert home.split(".")[0] in {"zwang", "sympy"}
    assert name in dir(zwang)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_a_docstring_with_an_example(name: str) -> None:
    value = getattr(zwang, name)
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return  # a module speaks in its own docstring, and a constant is an instance of a documented class
    text = inspect.getdoc(value) or ""
    assert text, f"zwang.{name} has no docstring"
    if not (inspect.isclass(value) and issubclass(value, Exception)):
        assert re.search(r"^Examples\n-{8}$", text, re.MULTILINE), f"zwang.{name} has no Examples section"
        assert ">>> " in text


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        importlib.import_module("zwang").nonsense


# --- the project's own files -----------------------------------------------------------------------------------------


def test_the_version_is_the_same_everywhere() -> None:
    version = PROJECT["project"]["version"]
    assert zwang.__version__ == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def locked(path: Path) -> dict[str, str]:
    pins = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in pins}


def declared(*extras: str) -> list[Requirement]:
    table = PROJECT["project"]
    texts = [*table["dependencies"], *(text for extra in extras for text in table["optional-dependencies"][extra])]
    return [Requirement(text) for text in texts]


@pytest.mark.parametrize(
    ("file", "extras"),
    [
        ("requirements.txt", ("plot",)),
        ("requirements-dev.txt", ("certify", "plot", "io", "gpu", "lab", "notebook", "dask")),
    ],
)
def test_the_lock_files_meet_what_the_project_declares(file: str, extras: tuple[str, ...]) -> None:
    pins = locked(ROOT / file)
    for requirement in declared(*extras):
        version = pins.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement.name} is not in {file}: run `make lock`"
        assert requirement.specifier.contains(version, prereleases=True), f"{requirement}: run `make lock`"


def test_the_demonstration_is_locked_to_the_versions_that_are_tested_and_needs_no_accelerator_package() -> None:
    demo, development = locked(ROOT / "requirements.txt"), locked(ROOT / "requirements-dev.txt")
    assert demo.items() <= development.items()
    assert not {"jax", "jaxlib", "pytest", "sphinx"} & demo.keys()


def test_every_locked_package_has_hashes_and_no_file_names_an_index() -> None:
    for file in ("requirements.txt", "requirements-dev.txt"):
        text = (ROOT / file).read_text(encoding="utf-8")
        assert "://" not in text
        entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
        assert all("--hash=sha256:" in entry for entry in entries)


FRAGMENTS = sorted(path for path in (ROOT / "changes").iterdir() if path.name != "README.md")


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.name)
def test_changelog_fragments_have_the_right_form(path: Path) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*\.(added|changed|fixed|removed)\.md", path.name)
    text = path.read_text(encoding="utf-8").strip()
    assert text.endswith(".")
    assert not text.startswith("#")


# The page on architecture

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:_\w+|cli|zwang)(?:/\w+)+(?:\.py)?|_\w+(?:/\w+)*)`", PAGE)))


@pytest.mark.parametrize("name", NAMED)
def test_the_page_on_architecture_names_files_that_are_there(name: str) -> None:
    assert (SOURCE / name.removeprefix("zwang/")).exists()


def test_the_page_on_architecture_names_every_room() -> None:
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    try:
        import rooms
    finally:
        sys.path.pop(0)
    drawn = rooms.svg(SOURCE, ROOT / "pyproject.toml")
    homes = {layer_of(path) for path in MODULES} - {"__init__"}
    assert all(f">{home}<" in drawn for home in homes)
    said = homes - set(rooms.SAYS) - {"__main__"}
    assert not said, f"docs/_ext/rooms.py doesn't say what {sorted(said)} is for"
