"""Draw the rooms of the package from its imports: a picture for the page on architecture that can't grow old."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from html import escape
from pathlib import Path

ROW, WIDE, LEFT, GAP = 34, 250, 20, 12
LANE = 9
"""Between two lines of imports at the side."""

SAYS = {
    "errors": "what can go wrong, in words",
    "_numerics": "arrays in, arrays out; no symbols",
    "_expressions": "text to symbols and back, nothing executed",
    "_modelfile": "model files as plain data",
    "_plot": "pictures of plain data",
    "_results": "what verbs return: frozen data, files",
    "_declare": "symbols, constraints, laws, systems",
    "_linkage": "a builder of planar mechanisms",
    "_bodies": "rigid bodies in space, joints, contacts",
    "_from_sympy": "systems from sympy.physics.mechanics",
    "_realize": "a constraint made of springs or friction",
    "_graph": "expressions as a graph: derivatives, sources",
    "_derive": "from a system to its equations",
    "_kernels": "compiled code behind one contract",
    "_compile": "the Model: values, states, kernels",
    "gallery": "systems with values and known facts",
    "_reactions": "the verb reactions",
    "_trace": "the verbs trace and critical",
    "_asymptotics": "the verb asymptotics",
    "_simulate": "the verb simulate",
    "_linearize": "nearby motions; the verb linearize",
    "_cycles": "periodic motions; the verb periodic",
    "_sensitivity": "the verbs sensitivity and fit",
    "_equilibria": "the verb equilibria",
    "_drive": "the verb drive: inverse dynamics",
    "_guarantee": "the verb guarantee",
    "_limit": "the verbs limit and recommend",
    "_sweep": "any verb over grids and samples",
    "papers": "the claims of five papers",
    "_report": "the report of zwang reproduce",
    "_selftest": "random problems against brute force",
    "cli": "the command line",
    "lab": "the lab in the browser",
    "pictures": "the look, public",
    "results": "classes of results, public",
    "_interrupts": "Ctrl-C where it must wait, and is not lost",
    "_logs": "the logger `zwang`, silent unless it is asked for",
    "_outputs": "files written whole or not at all",
    "_progress": "bars for long jobs",
    "_workers": "processes that end with their parent",
}


def layers(project: Path) -> list[list[str]]:
    """Return the rooms by layer, the highest first, as the linter's contract lists them."""
    text = tomllib.loads(project.read_text(encoding="utf-8"))
    contract = next(item for item in text["tool"]["importlinter"]["contracts"] if item["type"] == "layers")
    return [[room.strip(" ()") for room in line.split("|")] for line in contract["layers"]]


def imports(source: Path) -> dict[str, set[str]]:
    """Return for each room those that it imports from."""
    found: dict[str, set[str]] = {}
    for path in sorted(source.rglob("*.py")):
        room = path.relative_to(source).parts[0].removesuffix(".py")
        for node in _statements(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("zwang."):
                names = [node.module]
            elif isinstance(node, ast.ImportFrom) and node.module == "zwang":
                names = [f"zwang.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names if alias.name.startswith("zwang.")]
            found.setdefault(room, set()).update(name.split(".")[1] for name in names)
    return {room: others - {room} for room, others in found.items()}


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield every statement of a module, however deep; imports are statements, and expressions ten times as many."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            left += getattr(node, field, ())


def reduced(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the imports that don't follow from others: what a room reaches through another one is left out."""

    def reached(room: str, seen: set[str]) -> set[str]:
        for other in graph.get(room, ()):
            if other not in seen:
                seen.add(other)
                reached(other, seen)
        return seen

    beyond = {room: set().union(*(reached(other, set()) for other in others), set()) for room, others in graph.items()}
    return {room: others - beyond[room] for room, others in graph.items()}


def svg(source: Path, project: Path) -> str:
    """Return the picture: rooms from top to bottom, at the right who imports from whom."""
    graph = imports(source)
    order = [room for line in layers(project) for room in line if room in graph and room != "__init__"]
    sizes = {room: _lines(source, room) for room in order}
    place = {room: number for number, room in enumerate(order)}
    direct = reduced({room: {other for other in graph[room] if other in place} for room in order})
    edges = sorted(((place[a], place[b]) for a in order for b in direct[a]), key=lambda edge: edge[1] - edge[0])
    lanes: list[list[tuple[int, int]]] = []
    drawn = []
    for top, low in edges:
        lane = next((k for k, taken in enumerate(lanes) if all(low <= a or b <= top for a, b in taken)), len(lanes))
        if lane == len(lanes):
            lanes.append([])
        lanes[lane].append((top, low))
        x = LEFT + WIDE + GAP + LANE * (lane + 1)
        y1, y2 = (_middle(top) + 4, _middle(low) - 4)
        start = LEFT + WIDE
        drawn.append(
            f'<path d="M{start} {y1} H{x - 4} Q{x} {y1} {x} {y1 + 4} V{y2 - 4} Q{x} {y2} {x - 4} {y2} H{start + 5}"/>'
            f'<path class="tip" d="M{start} {y2} l6 -3 v6 z"/>'
        )
    text_at = LEFT + WIDE + GAP + LANE * (len(lanes) + 1) + 10
    width, height = text_at + 330, 2 * GAP + ROW * len(order)
    boxes = []
    for room in order:
        y = GAP + ROW * place[room] + 3
        files, lines = sizes[room]
        told = f"{files} file{'' if files == 1 else 's'}, {lines:,} lines"
        boxes.append(
            f'<rect x="{LEFT}" y="{y}" width="{WIDE}" height="{ROW - 6}" rx="3"/>'
            f'<text x="{LEFT + 10}" y="{y + 18}" class="room">{escape(room)}</text>'
            f'<text x="{LEFT + WIDE - 8}" y="{y + 18}" class="size">{told}</text>'
            f'<text x="{text_at}" y="{y + 18}" class="says">{escape(SAYS.get(room, ""))}</text>'
        )
    style = (
        "svg{font:13px system-ui,sans-serif;fill:#1b1f24}rect{fill:#fff;stroke:#d0d7de}.room{font-weight:600}"
        ".size{text-anchor:end;fill:#57606a;font-size:11px}.says{fill:#57606a}"
        "path{fill:none;stroke:#0b5cad;stroke-opacity:.55}.tip{fill:#0b5cad;stroke:none}"
        "@media(prefers-color-scheme:dark){svg{fill:#e6e9ed}rect{fill:#14171b;stroke:#30363d}.size,.says{fill:#9aa4af}"
        "path{stroke:#6cb0f5}.tip{fill:#6cb0f5}}"
    )
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    title = (
        "<title>The rooms of the package, the highest first; lines lead from a room to those it imports from.</title>"
    )
    return f"{head}{title}<style>{style}</style>{''.join(drawn)}{''.join(boxes)}</svg>\n"


def write(source: Path, project: Path, path: Path) -> None:
    """Write the picture where it differs from what is there: Sphinx rebuilds what is newer."""
    text = svg(source, project)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _middle(number: int) -> float:
    return GAP + ROW * number + ROW / 2


def _lines(source: Path, room: str) -> tuple[int, int]:
    files = sorted((source / room).rglob("*.py")) if (source / room).is_dir() else [source / f"{room}.py"]
    return len(files), sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
