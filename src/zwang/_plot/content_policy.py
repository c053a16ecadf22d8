"""What a page of ours may do: show what is in it, run the scripts that we put there, and nothing else.

Names in a page are escaped; should one of them slip through all the same, a browser that knows this policy runs no
script of its own, loads nothing, sends nothing and follows no form.
"""

from __future__ import annotations

import base64
import hashlib


def content_policy(*scripts: str) -> str:
    """Return the element for the head of a page in which these scripts of ours may run.

    They are named by their checksums, so that no other does. Styles are allowed, since pictures carry theirs in
    attributes; images only as data inside the page.

    Examples
    --------
    >>> for rule in content_policy("let x = 1").split("; "):
    ...     print(rule)
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'
    script-src 'sha256-+9RIDzvx0TGl4PMcwUdjIf3oi5QYiuHS1C+f52uNBBc='
    style-src 'unsafe-inline'
    img-src data:
    base-uri 'none'
    form-action 'none'">
    """
    rules = ["default-src 'none'"]
    rules += [f"script-src {' '.join(_checksum(text) for text in scripts)}"] if scripts else []
    rules += ["style-src 'unsafe-inline'", "img-src data:", "base-uri 'none'", "form-action 'none'"]
    return f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules)}">'


def _checksum(script: str) -> str:
    found = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(found).decode('ascii')}'"
