"""`zwang.view`: the lab's page in a notebook (anywidget), and results that show themselves."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from zwang._numerics.tolerances import by_name, real
from zwang.errors import DeclarationError


def view(
    shown: Any, state: Mapping[Any, float] | None = None, params: Mapping[Any, float] | None = None, **options: Any
) -> Any:
    """Return something that a notebook shows: the lab's page for a system, a player for a result that moves.

    Parameters
    ----------
    shown : System, Model, Entry of the gallery, name in the gallery, or a result
        A system opens the lab's page (extra ``notebook``); the kernel of the notebook answers it. A result shows its
        summary, and plays where it can.
    state, params : mapping, optional
        Values to open a system with; an entry of the gallery brings its own.
    **options
        For a result: those of its ``animate``.

    Examples
    --------
    >>> import zwang as zw
    >>> entry = zw.gallery.get("belt_block")
    >>> motion = zw.simulate(entry.system, entry.state, entry.params, until=1.0)
    >>> zw.view(motion)._repr_html_().count("<canvas")
    1
    """
    if hasattr(shown, "animate"):
        return shown.animate(**options)
    start = _start(shown, state, params)
    if start is None:
        if hasattr(shown, "_repr_html_"):
            return shown
        raise DeclarationError(
            f"view: {shown!r:.60} is no System, entry or name of the gallery, and no result. Give one of these."
        )
    from zwang.lab.models import open_model

    drawing = open_model(start).system.drawing
    return _widget(spatial=drawing is not None and drawing.dimension == 3)(start)


def _start(shown: Any, state: Mapping[Any, float] | None, params: Mapping[Any, float] | None) -> dict[str, Any] | None:
    """Return what the page opens; None for what is no system."""
    from zwang import gallery
    from zwang._declare.system import System

    entry = gallery.get(shown) if isinstance(shown, str) else shown if isinstance(shown, gallery.Entry) else None
    if entry is not None and not state and not params and entry.name in gallery.names():
        return {"system": entry.name}
    system = shown if isinstance(shown, System) else getattr(entry or shown, "system", None)
    if not isinstance(system, System):
        return None
    own = (dict(entry.params), dict(entry.state)) if entry is not None else ({}, {})
    values = {**own[0], **_named(params)}, {**own[1], **_named(state)}
    with tempfile.TemporaryDirectory(prefix="zwang-view-") as folder:
        path = Path(folder) / "model.toml"
        system.save(path, params=values[0], state={name: value for name, value in values[1].items() if name != "t"})
        return {"text": path.read_text(encoding="utf-8")}


def _named(values: Mapping[Any, float] | None) -> dict[str, float]:
    named = by_name(values, "state or params", where="view")
    return {name: real(value, name, where="view") for name, value in named.items()}


@cache
def _widget(*, spatial: bool = False) -> Any:
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise DeclarationError(
            "view needs anywidget to show a system, which is not installed. Cure: pip install 'zwang[notebook]'."
        ) from None
    from zwang.lab.answers import answer
    from zwang.lab.bundle import script, style
    from zwang.lab.models import CATEGORIES, description, open_model
    from zwang.lab.protocol import Refused, plain, read_request

    class LabView(anywidget.AnyWidget):
        """The lab's page for one system; what it asks is answered by this process."""

        _esm = f"{script(spatial=spatial)}\nexport default {{ render: module_main.widget }};\n"
        _css = style()
        first = traitlets.Dict().tag(sync=True)
        start = traitlets.Dict().tag(sync=True)

        def __init__(self, start: dict[str, Any]) -> None:
            opened = open_model(start)
            super().__init__(first=plain({"systems": [description(opened)], "categories": CATEGORIES}), start=start)
            self.summary = repr(opened.system)
            self.on_msg(self._asked)

        def _asked(self, _: Any, content: Any, buffers: Any) -> None:
            try:
                request = read_request(json.dumps(content))
            except Refused as error:
                seq = content.get("seq") if isinstance(content, dict) else None
                told = {"seq": seq, "kind": "refused", "status": "error", "frames": 0, "message": str(error)}
                self.send(told)
                return
            for text, frames in answer(request):
                self.send(json.loads(text), buffers=frames)

        def _repr_mimebundle_(self, **kwargs: Any) -> Any:
            found = super()._repr_mimebundle_(**kwargs)
            data = found[0] if isinstance(found, tuple) else found
            # For notebooks that are exported: what can be said without a kernel.
            if data is not None:
                data.setdefault("text/html", f"<pre>{escape(self.summary)}</pre>")
            return found

    return LabView
