"""Opening a model, and reading one that is being written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import zwang as zw
from zwang.lab.models import description, equations, error_line, model_text, open_model

Answers = Iterator[tuple[dict[str, Any], list[Any]]]


def answer_open(request: dict[str, Any]) -> Answers:
    """Tell everything about a model that needs no computation."""
    opened = open_model(request)
    text = opened.text or model_text(opened, opened.params, opened.state)
    yield {"model": description(opened), "equations": equations(opened), "text": text}, []


def answer_parse(request: dict[str, Any]) -> Answers:
    """Read a model's text; a mistake in it is told with its line."""
    try:
        opened = open_model(request)
        found = {"model": description(opened), "equations": equations(opened), "text": request["text"]}
    except zw.ZwangError as error:
        yield {"status": "error", "message": str(error), "line": error_line(request["text"], str(error))}, []
        return
    yield found, []
