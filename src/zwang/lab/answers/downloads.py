"""What a page takes away: a script, a model file, tables, a film."""

from __future__ import annotations

import base64
import csv
import io
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import zwang as zw
from zwang.lab.answers.motions import PlayedRun, offers, run_of
from zwang.lab.answers.request_state import settled
from zwang.lab.models import Opened, model_text

Answers = Iterator[tuple[dict[str, Any], list[Any]]]
MOST_BYTES = 12_000_000  # what a browser still takes at once


def answer_take(request: dict[str, Any]) -> Answers:
    """Make a file of what is shown."""
    what = request["what"]
    opened, params, state, _ = settled(request)
    stem = opened.key or "model"
    if what == "python":
        yield {"what": what, "name": f"{stem}.py", "text": script(opened, params, state, request)}, []
        return
    if what == "model":
        yield {"what": what, "name": f"{stem}.toml", "text": model_text(opened, params, state)}, []
        return
    *_, run = run_of(request)
    if what == "csv":
        yield {"what": what, "name": f"{stem}.csv", "text": table(run)}, []
        return
    ending = {"netcdf": ".nc", "film": ".html"}[what]
    with tempfile.TemporaryDirectory(prefix="zwang-lab-") as folder:
        path = Path(folder) / f"{stem}{ending}"
        if what == "netcdf":
            run.last.save(path)
        else:
            run.last.animate(path)
        data = path.read_bytes()
    if len(data) > MOST_BYTES:
        raise zw.DeclarationError(
            f"The file has {len(data) / 1e6:.0f} MB; the lab hands out 12. Take a shorter motion."
        )
    yield {"what": what, "name": f"{stem}{ending}", "data": base64.b64encode(data).decode("ascii")}, []


def table(run: PlayedRun) -> str:
    """Return the rows of a run as CSV, all digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    first = run.parts[0]
    forces = [name for name in first.constraints if name in first.reactions and first.reactions[name].ndim == 1]
    rubs = [name for name in first.constraints if name in first.friction and first.friction[name].ndim == 1]
    heads = [*(f"reaction of {name}" for name in forces), *(f"friction of {name}" for name in rubs)]
    writer.writerow(["t", *first.coordinates, *first.velocities, *heads, "energy"])
    for motion in run.parts:
        columns = [motion.reactions[name] for name in forces] + [motion.friction[name] for name in rubs]
        for k, time in enumerate(motion.t):
            row = [time, *motion.q[k], *motion.v[k], *(column[k] for column in columns), motion.energy["total"][k]]
            writer.writerow([repr(float(value)) for value in row])
    return text.getvalue()


def script(opened: Opened, params: Mapping[str, float], state: Mapping[str, float], request: Mapping[str, Any]) -> str:
    """Return a script that computes exactly what is shown."""
    shown = {name: float(value) for name, value in state.items() if name != "t" or value}
    lines = ['"""What the lab showed, as a script."""', ""]
    if opened.key:
        lines += ["import zwang as zw", "", f"system = zw.gallery.get({opened.key!r}).system"]
    else:
        lines += ["import tempfile", "from pathlib import Path", "", "import zwang as zw", ""]
        lines += [f"MODEL = {opened.text!r}", "", "with tempfile.TemporaryDirectory() as folder:"]
        lines += ['    path = Path(folder) / "model.toml"', '    path.write_text(MODEL, encoding="utf-8")']
        lines += ["    system = zw.load(path)"]
    kept = {item.name: params.get(item.name, opened.params[item.name]) for item in opened.declared.parameters}
    lines += [_mapping("params", kept), _mapping("state", shown)]
    if opened.inputs:
        lines += [_mapping("inputs", {name: params.get(name, 0.0) for name in opened.inputs} | opened.tables)]
    more = ", inputs=inputs" if opened.inputs else ""
    lines += ["", f"reactions = zw.reactions(system, state, params{more})", "print(reactions)", ""]
    if request.get("until"):
        lines += _motion_lines(request, min(float(request["until"]), opened.end), more)
    return "\n".join(lines) + "\n"


def _mapping(name: str, values: Mapping[str, Any]) -> str:
    inner = "".join(f"    {key!r}: {_written(value)},\n" for key, value in values.items())
    return f"{name} = {{\n{inner}}}" if inner else f"{name} = {{}}"


def _written(value: Any) -> str:
    if isinstance(value, zw.Table):
        return f"zw.Table({value.times.tolist()}, {value.values.tolist()}, kind={value.kind!r})"
    return repr(value if isinstance(value, tuple) else float(value))


def _motion_lines(request: Mapping[str, Any], until: float, more: str) -> list[str]:
    """Return the lines of the motion, with the rules that were chosen at its stops."""
    if not request.get("continue"):
        return [f"motion = zw.simulate(system, state, params, until={until!r}{more})", "print(motion)"]
    *_, run = run_of(request)
    rules = run.rules
    lines = [f"chosen = {list(rules.choices)!r}  # at the stops, in their order", ""]
    lines += ["", "def choose(found):"]
    lines += ["    return chosen.pop(0) if chosen and isinstance(chosen[0], int) else None", ""]
    lines += ["", "def branch(ways):", "    wanted = chosen.pop(0) if chosen and isinstance(chosen[0], str) else None"]
    lines += ["    return next((way for way in ways if way.sentence == wanted), None)", "", ""]
    if rules.starts:
        lines += [_mapping("state", rules.starts) + "  # after the impact that was chosen"]
    lines += ["motion = zw.simulate("]
    lines += [f"    system, state, params, until={until!r}, at_choice=choose, at_singular=branch,"]
    lines += [f"    at_paradox={rules.paradox!r}{more},", ")", "print(motion)"]
    ends = offers(run.last)
    return lines + ([f"# It stops where {len(ways)} ways lead on." for ways in [ends] if ways])
