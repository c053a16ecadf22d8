"""Write the page of the gallery: every system with its picture, its source and what is known of it."""

from __future__ import annotations

from pathlib import Path

from zwang import gallery
from zwang._plot import draw_mechanism, new_figure
from zwang._report import pose_of

HEAD = """# The gallery

Systems that ship with the package, each with values, a state, a drawing and facts that its tests hold it to. Take one
with `zw.gallery.get("four_bar")`, list them with `zwang gallery`, write one to a file to edit with
`zwang gallery four_bar --save four_bar.toml`, or drag it in [the lab](lab.md) with `zwang lab four_bar`.
"""


def write(path: Path, pictures: Path) -> None:
    """Write the page and those pictures that are not there yet."""
    pictures.mkdir(parents=True, exist_ok=True)
    parts = [HEAD]
    for name in gallery.names():
        entry = gallery.get(name)
        picture = pictures / f"{name}.svg"
        if not picture.exists() and entry.system.drawing is not None:
            figure, ax = new_figure((3.6, 2.6))
            draw_mechanism(pose_of(entry.system, entry.state, entry.params), ax=ax)
            figure.savefig(picture, metadata={"Date": None})
        parts.append(_part(name, entry, picture))
    text = "\n".join(parts)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _part(name: str, entry: gallery.Entry, picture: Path) -> str:
    system = entry.system
    counts = f"{len(system.coordinates)} coordinates, {len(system.constraints)} constraints"
    lines = [f"## `{name}`", "", f"{entry.title}. {counts}. Source: {entry.source}", ""]
    if picture.exists():
        lines += [f"![{entry.title}]({picture.parent.name}/{picture.name})", ""]
    lines += [f"- {fact.statement} `{fact.value!s:.60}`" for fact in entry.facts.values()]
    return "\n".join([*lines, ""])
