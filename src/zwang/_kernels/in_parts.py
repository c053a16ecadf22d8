"""Long straight code as several functions: compilers take a time that grows faster than the length of a function.

The lines are cut into parts of even length. What one part computes and another needs goes through a short memory of
the lane (`M`), whose places are used again when nobody needs what they held; outputs are written by the part that
computes them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PART = 800
"""Lines of a part: with half as many the numbers that go from part to part cost a tenth of the time, and all lines in
one function take three times as long to compile (a chain of 40 links, whose motions are 5,000 lines)."""

_NAME = re.compile(r"\b[a-z]\d+\b|\bt\b")
_ASSIGNED = re.compile(r"const (double|int) (\w+) = ")


@dataclass(frozen=True)
class CodePart:
    """Lines that compute something, with what they read and what goes through the memory.

    Attributes
    ----------
    inputs : tuple of str
        Names of t, coordinates, velocities and prepared numbers that are read.
    taken, left : mapping
        Name -> place in the memory, of what is read from there before and written there after the lines.
    lines : tuple of str
    written : tuple of int
        Outputs that are known after this part and were not before.
    """

    inputs: tuple[str, ...]
    taken: Mapping[str, int]
    lines: tuple[str, ...]
    left: Mapping[str, int]
    written: tuple[int, ...]


@dataclass(frozen=True)
class InParts:
    """Straight code cut into parts, the size of the memory between them, and which names are truths."""

    parts: tuple[CodePart, ...]
    memory: int
    truths: frozenset[str]


def in_parts(inputs: Sequence[str], lines: Sequence[str], outputs: Sequence[str], size: int = PART) -> InParts:
    """Return assignments cut into parts of so many lines, with outputs (texts of names or numbers) written on the way.

    `inputs`: names that each part reads for itself.
    """
    kinds, used = [], []
    for line in lines:
        found = _ASSIGNED.match(line)
        assert found is not None  # as `C99` writes it
        kinds.append(found.groups())
        used.append({*_NAME.findall(line[found.end() :])})
    home = {name: k // size for k, (_, name) in enumerate(kinds)}
    last: dict[str, int] = {}
    for k, names in enumerate(used):
        last |= dict.fromkeys(names, k // size)
    due = [home.get(text, 0) for text in outputs]
    free: list[int] = []
    place: dict[str, int] = {}
    made, memory = [], 0
    for k in range(max(1, -(-len(lines) // size))):
        span = slice(k * size, (k + 1) * size)
        own = [name for _, name in kinds[span]]
        written = tuple(j for j, at in enumerate(due) if at == k)
        wanted = {item for names in used[span] for item in names} | {outputs[j] for j in written}
        taken = {name: place[name] for name in sorted(wanted - set(own)) if name in place}
        free += [place[name] for name in taken if last[name] == k]
        left: dict[str, int] = {}
        for name in own:
            if last.get(name, k) > k:
                if not free:
                    free.append(memory)
                    memory += 1
                left[name] = place[name] = free.pop()
        read = tuple(name for name in inputs if name in wanted)
        made.append(CodePart(read, taken, tuple(lines[span]), left, written))
    return InParts(tuple(made), memory, frozenset(name for kind, name in kinds if kind == "int"))
