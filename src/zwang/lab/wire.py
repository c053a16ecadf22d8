"""Messages between the server and its workers: a length, a JSON text, and as many binary frames as it announces."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

LENGTH = struct.Struct("<I")
MOST = 64 * 1024 * 1024
"""Bytes of a message; a worker that sends more is broken."""


def pack(text: bytes, frames: list[bytes]) -> bytes:
    """Return a message.

    Examples
    --------
    >>> pack(b"{}", [b"abc"])[:8] == struct.pack("<II", 1, 2)
    True
    """
    parts = [LENGTH.pack(len(frames))]
    for item in (text, *frames):
        parts += [LENGTH.pack(len(item)), item]
    return b"".join(parts)


def receive(channel: socket.socket) -> dict[str, Any] | None:
    """Return the next message of a blocking socket, without frames; None where the other side is gone."""
    head = _exactly(channel, 8)
    if head is None:
        return None
    size = LENGTH.unpack_from(head, 4)[0]
    text = _exactly(channel, size) if size <= MOST else None
    return None if text is None else dict(json.loads(text))


def _exactly(channel: socket.socket, size: int) -> bytes | None:
    parts, left = [], size
    while left:
        try:
            part = channel.recv(min(left, 1 << 20))
        except OSError:
            return None
        if not part:
            return None
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
