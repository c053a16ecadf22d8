"""Who may talk to the server: addresses, a token, a cookie, the origin of sockets, and what a page may do.

A server on this machine can be reached by every page that a browser shows: by its name (rebinding of names), by forms,
images and sockets. So requests must name this server as their host, carry a secret that only the address printed by the
command gives, and sockets must come from our own page.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

POLICY = (
    "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""With every answer."""


@dataclass(frozen=True)
class Gate:
    """What a request must know to be let in.

    Attributes
    ----------
    host : str
        On which the server listens.
    port : int
    token : str
        In the address that is printed; good for getting the cookie.
    secret : str
        In the cookie.
    """

    host: str
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def cookie(self) -> str:
        """The name of the cookie: cookies don't know ports."""
        return f"zwang-{self.port}"

    @property
    def hosts(self) -> set[str]:
        """Names under which the server may be asked."""
        own = f"[{self.host}]" if ":" in self.host else self.host
        return {f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", own)}

    @property
    def address(self) -> str:
        """What is printed and opened."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/?token={self.token}"

    def knows_host(self, headers: Mapping[str, str]) -> bool:
        """Say whether a request names this server."""
        return headers.get("host", "").lower() in self.hosts

    def knows_origin(self, headers: Mapping[str, str]) -> bool:
        """Say whether a socket comes from our own page."""
        return self.knows_host(headers) and headers.get("origin", "").lower() == f"http://{headers['host'].lower()}"

    def knows_cookie(self, headers: Mapping[str, str]) -> bool:
        """Say whether a request carries the cookie."""
        try:
            found = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        given = found[self.cookie].value if self.cookie in found else ""
        return secrets.compare_digest(given.encode("utf-8"), self.secret.encode("utf-8"))

    def knows_token(self, query: str) -> bool:
        """Say whether an address has the token."""
        given = dict(parse_qsl(query)).get("token", "")
        return secrets.compare_digest(given.encode("utf-8"), self.token.encode("utf-8"))

    def set_cookie(self) -> str:
        """Return the header that sets the cookie."""
        return f"{self.cookie}={self.secret}; HttpOnly; SameSite=Strict; Path=/"


def without_token(query: str) -> str:
    """Return the address without its token.

    Examples
    --------
    >>> without_token("token=abc&system=sleigh&p.m=2")
    '/?system=sleigh&p.m=2'
    >>> without_token("token=abc")
    '/'
    """
    rest = [(key, value) for key, value in parse_qsl(query, keep_blank_values=True) if key != "token"]
    return f"/?{urlencode(rest)}" if rest else "/"
