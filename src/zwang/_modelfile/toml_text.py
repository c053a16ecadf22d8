"""TOML text <-> plain dictionaries, and the files they stand in."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zwang import _outputs
from zwang.errors import DeclarationError, nearest

from .bodies import TABLES as BODIES
from .schema import BODY_TOP, TABLES, TOP, checked

RESULTS = (b"PK\x03\x04", b"\x89HDF", b"CDF\x01", b"CDF\x02", b"SQLite format 3\x00")  # .npz, .nc, stores of studies
MOST_PARTS = 32  # dots of a key; nobody nests deeper, and readers recurse
_KEY = re.compile(r"[\w\s.\-\"'\[\]]*")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def read(path: str | Path) -> dict[str, Any]:
    """Read a model file into a plain dictionary.

    Parameters
    ----------
    path : path
        The file, TOML in UTF-8.

    Returns
    -------
    dict
        As `loads` gives it.
    """
    file = Path(path)
    try:
        with file.open("rb") as opened:
            result = opened.read(16).startswith(RESULTS)
        text = "" if result else file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        near = [item.name for item in sorted(file.parent.glob("*.toml"))] if file.parent.is_dir() else []
        cure = nearest(file.name, near) if near else "There is no model file in that folder."
        raise DeclarationError(f"{path}: no such file. {cure}") from None
    except UnicodeDecodeError as error:
        raise DeclarationError(f"{path}: not a text in UTF-8 (byte {error.start}). Save it as UTF-8.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DeclarationError(f"{path}: cannot be read: {reason}. Give the path of a readable file.") from None
    if result:
        raise DeclarationError(f"{path}: a file of numbers, not a model. Read a result with zwang.load_result.")
    return loads(text, str(path))


def loads(text: str, where: str = "model") -> dict[str, Any]:
    r"""Read the text of a model file into a plain dictionary.

    Parameters
    ----------
    text : str
        TOML.
    where : str
        The place, for messages.

    Returns
    -------
    dict
        The keys of the file, checked; expressions are texts.

    Examples
    --------
    >>> plain = loads('schema = 1\nname = "free"\ncoordinates = ["x"]\nkinetic = "m*v_x**2/2"')
    >>> plain["kinetic"]
    'm*v_x**2/2'
    """
    _check_keys(text, where)
    try:
        plain = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        lines = text.split("\n")
        end = f"(at line {len(lines)}, column {len(lines[-1]) + 1})"
        reason = reason.replace("(at end of document)", end).rstrip(".")
        raise DeclarationError(f"{where}: not TOML: {reason}. Correct it there.") from None
    return checked(plain, where)


def _check_keys(text: str, where: str) -> None:
    """Refuse keys of many parts: Python's reader of TOML takes a time like the square of their number."""
    for number, line in enumerate(text.split("\n"), 1):
        key = line.split("=", 1)[0] if "=" in line or line.lstrip().startswith("[") else ""
        if key.count(".") > MOST_PARTS and _KEY.fullmatch(key):
            raise DeclarationError(
                f"{where}: a key of {key.count('.') + 1} parts at line {number}; a model file nests its tables once."
            )


def dumps(plain: Mapping[str, Any]) -> str:
    """Return the text of the model file that holds a plain dictionary, the same for the same content.

    Examples
    --------
    >>> print(dumps({"schema": 1, "name": "free", "coordinates": ["x"], "kinetic": "m*v_x**2/2", "params": {"m": 2.0}}))
    schema = 1
    name = "free"
    coordinates = ["x"]
    kinetic = "m*v_x**2/2"
    <BLANKLINE>
    [params]
    m = 2.0
    <BLANKLINE>
    """
    content = checked(plain, str(plain.get("name", "model")))
    head = BODY_TOP if "body" in content else TOP
    blocks = [_block("", {key: content[key] for key in head if key in content})]
    blocks += [_block(f"[[{key}]]", entry) for key in BODIES for entry in content.get(key, ())]
    for key in TABLES:
        if key == "drawing" and key in content:
            blocks += _drawing_blocks(content[key])
        elif key == "event":
            blocks += [_block("[[event]]", entry) for entry in content.get(key, ())]
        elif key != "constraint" and key in content:
            blocks.append(_block(f"[{key}]", content[key]))
        for entry in content.get(key, ()) if key == "constraint" else ():
            law = entry.pop("friction", None)
            blocks.append(_block("[[constraint]]", entry))
            blocks += [_block("[constraint.friction]", law)] if law else []
    return "\n".join(blocks)


def write(path: str | Path, plain: Mapping[str, Any]) -> None:
    """Write a plain dictionary to a model file, which is replaced at once or not at all."""
    _outputs.write_text(path, dumps(plain))


def _drawing_blocks(values: Mapping[str, Any]) -> list[str]:
    """Return the tables of a drawing: its lists, then its points, then each curve and each body."""
    plain = {key: value for key, value in values.items() if not isinstance(value, Mapping)}
    blocks = [_block("[drawing]", plain), _block("[drawing.points]", values.get("points", {}))]
    for key in ("curves", "bodies"):
        blocks += [_block(f"[drawing.{key}.{_key(name)}]", entry) for name, entry in values.get(key, {}).items()]
    return blocks


def _key(name: str) -> str:
    """Return a name as a key of TOML, quoted where it has to be."""
    return name if name and all(char.isascii() and (char.isalnum() or char in "_-") for char in name) else _quoted(name)


def _block(header: str, values: Mapping[str, Any]) -> str:
    lines = [header] if header else []
    lines += [f"{_key(key)} = {_value(value)}" for key, value in values.items()]
    return "".join(f"{line}\n" for line in lines)


def _value(value: Any) -> str:
    if isinstance(value, list):
        if value and isinstance(value[0], list):
            return "[\n" + "".join(f"    {_value(row)},\n" for row in value) + "]"
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_value(item)}' for key, item in value.items())} }}"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _quoted(value) if isinstance(value, str) else repr(value)


def _quoted(text: str) -> str:
    escaped = (_ESCAPES.get(char) or (f"\\u{ord(char):04X}" if _is_control(char) else char) for char in text)
    return f'"{"".join(escaped)}"'


def _is_control(char: str) -> bool:
    return char < " " or char == "\x7f"
