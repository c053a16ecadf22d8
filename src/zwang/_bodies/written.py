"""What a builder was told as plain data, texts and lists as a model file holds them, and told again from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from zwang._bodies.joints import AXIS, BEARING, OPTIONS
from zwang._bodies.parts import JointPart, Told
from zwang._declare.shapes import FORMS
from zwang._declare.vectors import Vector
from zwang._expressions import to_text
from zwang.errors import DeclarationError

FORM_KEYS = {cls: key for key, cls in FORMS.items()}


def to_plain(told: Told, gravity: Vector, coordinates: str) -> dict[str, Any]:
    """Return everything that was told, as texts and lists."""
    plain: dict[str, Any] = {"gravity": _texts(gravity), "frame": coordinates}
    plain["body"] = [
        {
            "name": body.name,
            "mass": to_text(body.mass),
            "inertia": _texts(body.inertia),
            "at": _texts(body.at),
            "turned": [_texts(row) for row in body.turned],
        }
        for body in told.bodies.values()
    ]
    plain["joint"] = [_joint(part) for part in told.joints.values()]
    plain["point"] = [{"name": item.name, "on": item.on, "at": _texts(item.at)} for item in told.points.values()]
    plain["shape"] = [
        {"name": item.name, "on": item.on, "at": _texts(item.at), "turned": [_texts(row) for row in item.turned]}
        | {"form": FORM_KEYS[type(item.form)]}
        | {key: _nested(value) for key, value in item.form.lengths().items()}
        for item in told.shapes.values()
    ]
    plain["contact"] = [_contact(item) for item in told.contacts.values()]
    plain["spring"] = [
        {"name": item.name, "first": item.first, "second": item.second}
        | {key: to_text(getattr(item, key)) for key in ("stiffness", "length", "damping")}
        for item in told.springs
    ]
    plain["relation"] = [{"name": name, "expr": expr} for name, expr in told.relations]
    plain["motor"] = [{"joint": item.coordinate, "value": _text(item.value)} for item in told.motors]
    plain["load"] = [
        {"name": item.name, "point": item.point, "force": [_text(one) for one in item.components], "axes": item.axes}
        for item in told.forces
    ]
    return {key: value for key, value in plain.items() if value}


def _joint(part: JointPart) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": part.kind, "name": part.name, "first": part.first, "second": part.second}

    def both(pair: tuple[Any, Any], write: Callable[[Any], Any]) -> Any:
        return [write(pair[0]), write(pair[1])] if part.local else write(pair[0])

    found["at"] = both(part.at, _texts)
    if part.kind in AXIS:
        several = part.kind == "universal"
        found[AXIS[part.kind]] = both(part.axes, lambda axes: [_texts(a) for a in axes] if several else _texts(axes[0]))
    if part.pitch is not None:
        found["pitch"] = to_text(part.pitch)
    for key in OPTIONS:
        items = [given[key] for given in part.options]
        if any(item is not None and item != 0 for item in items):
            written = [_option(key, item) for item in items]
            found[key] = written[0] if len(written) == 1 else written
    for key in BEARING:
        if getattr(part, key) is not None:
            found[key] = to_text(getattr(part, key))
    if part.closes:
        found["closes"] = True
    return found


def _option(key: str, item: Any) -> Any:
    """Return an option of one coordinate; "" stands for none, which TOML does not have."""
    if key == "limits":
        return ["", ""] if item is None else ["" if one is None else to_text(one) for one in item]
    return "" if item is None else to_text(item)


def _contact(item: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"name": item.name, "first": item.first, "second": item.second}
    if item.friction is not None and not callable(item.friction):
        found["friction"] = _nested(item.friction)
    if item.restitution is not None:
        found["restitution"] = to_text(item.restitution)
    return found


def tell(builder: Any, plain: Mapping[str, Any]) -> Any:
    """Tell a builder everything that plain data holds."""
    for entry in plain.get("body", ()):
        _call(builder.body, entry, ("name",))
    for entry in plain.get("joint", ()):
        given = {key: _given(key, value) for key, value in entry.items() if key not in ("kind", "closes")}
        head = [given.pop(key) for key in ("name", "first", "second")]
        kind = entry["kind"]
        if entry.get("closes"):
            builder.close(kind, *head, **given)
        elif not hasattr(builder, kind):
            raise DeclarationError(f"{builder.name}: unknown kind of joint '{kind!s:.40}'.")
        else:
            getattr(builder, kind)(*head, **given)
    for entry in plain.get("point", ()):
        _call(builder.point, entry, ("name",))
    for entry in plain.get("shape", ()):
        cls = FORMS[entry["form"]]
        own = ("name", "on", "at", "turned", "form")
        form = cls(**{key: value for key, value in entry.items() if key not in own})
        kept = {key: value for key, value in entry.items() if key in ("on", "at", "turned")}
        builder.shape(entry["name"], form=form, **kept)
    for entry in plain.get("contact", ()):
        _call(builder.contact, entry, ("first", "second"))
    for entry in plain.get("spring", ()):
        _call(builder.spring, entry, ("first", "second"))
    for entry in plain.get("relation", ()):
        builder.relation(entry["name"], entry["expr"])
    for entry in plain.get("motor", ()):
        builder.motor(entry["joint"], entry["value"])
    for entry in plain.get("load", ()):
        builder.force(entry["point"], entry["force"], axes=entry.get("axes", "ground"), name=entry.get("name"))
    return builder


def _given(key: str, value: Any) -> Any:
    """Return an option as a builder takes it."""
    if key not in OPTIONS:
        return value
    if isinstance(value, list):
        found = [None if item == "" else _given(key, item) for item in value]
        return None if key == "limits" and found == [None, None] else found
    return None if value == "" else value


def _call(method: Callable[..., Any], entry: Mapping[str, Any], head: tuple[str, ...]) -> None:
    method(*(entry[key] for key in head), **{key: value for key, value in entry.items() if key not in head})


def _texts(items: Any) -> list[str]:
    return [to_text(item) for item in items]


def _text(item: Any) -> str:
    return item if isinstance(item, str) else to_text(item)


def _nested(value: Any) -> Any:
    return [_nested(item) for item in value] if isinstance(value, (tuple, list)) else to_text(value)
