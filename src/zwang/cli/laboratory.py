"""The command lab: the page in the browser."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import Any

import click

from zwang.cli.completion import complete_model
from zwang.cli.output import tell_mistakes
from zwang.errors import DeclarationError, nearest

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@click.command()
@click.argument("model", metavar="[MODEL]", required=False, shell_complete=complete_model)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port; by default a free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--export", "folder", type=click.Path(path_type=Path), help="Write a page that plays without Python.")
@tell_mistakes
def lab(model: str | None, port: int, host: str, no_browser: bool, folder: Path | None) -> None:
    """Open the lab in a browser: see a mechanism, drag it, ask it.

    The address is printed when the server answers; it holds a token that only you know. Ctrl-C ends the lab.
    """
    start = _start(model)
    if folder is not None:
        from zwang.lab.exported_page import export

        click.echo(f"{export(folder, start)}: opens in any browser, without Python", err=True)
        return
    try:
        from zwang.lab.server import serve
    except ImportError as error:
        raise DeclarationError(
            f"The lab needs {error.name}, which is not installed. Cure: pip install 'zwang[lab]'."
        ) from None
    if host not in LOOPBACK:
        click.echo(f"--host {host}: other machines can reach the lab. Keep its address to yourself.", err=True)

    def told(address: str) -> None:
        click.echo(address)
        sys.stdout.flush()
        if not no_browser:
            webbrowser.open(address)

    try:
        serve(host, port, start, told=told)
    except OSError as error:
        raise DeclarationError(
            f"The lab can't listen on {host}:{port}: {error.strerror or error}. Give another --port, or none."
        ) from None


def _start(model: str | None) -> dict[str, Any]:
    """Return what the page opens first; names and files are checked here, models in a worker."""
    if model is None:
        return {}
    from zwang.lab.first_view import known_names
    from zwang.lab.protocol import MOST_TEXT

    path = Path(model)
    if model in known_names() and not path.is_file():
        return {"system": model}
    if not path.is_file():
        raise DeclarationError(
            f"'{model}' is neither a model file (.toml) nor a system of the gallery. {nearest(model, known_names())}"
        )
    text = path.read_text(encoding="utf-8-sig", errors="backslashreplace")
    if len(text.encode("utf-8", "surrogatepass")) > MOST_TEXT:
        raise DeclarationError(f"'{model}': the lab takes models of at most {MOST_TEXT:,} bytes.")
    return {"text": text}
