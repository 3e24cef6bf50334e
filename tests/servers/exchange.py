"""One request and its answer on the wire, and the log of both."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.servers.answers import Body, error


class Log:
    """JSONL that other processes read while it is written."""

    def __init__(self, path: str) -> None:
        self._file = Path(path).open("ab", buffering=0)  # noqa: SIM115 (lives as long as we do)

    def note(self, event: str, key: str, **facts: Any) -> None:
        entry = {"event": event, "key": key, "at": time.monotonic(), **facts}
        self._file.write((json.dumps(entry) + "\n").encode())


@dataclass
class Exchange:
    """A request as it was read, and the connection that waits for its answer.

    Attributes:
        key: names the request's path and body.
        auth: its Authorization header.
        elsewhere: the address that redirects lead to.
        whole: the answer of the rule; None before the work is done.
        tokens: (input, output) that a provider would charge for it.
    """

    writer: asyncio.StreamWriter
    log: Log
    key: str
    body: Body
    auth: str
    elsewhere: str
    whole: Body = field(default_factory=dict)
    tokens: tuple[int, int] = (0, 0)

    def charge(self) -> None:
        """The work was done: from here on the call costs its true tokens, whatever arrives."""
        self.log.note("charged", self.key, tokens=list(self.tokens))

    async def say(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> bool:
        """A whole answer; True: the connection goes on."""
        await self.write(head(status, {"Content-Length": str(len(body))} | dict(headers or {})))
        await self.write(body)
        self.log.note("answered", self.key, status=status)
        return True

    async def fail(self, status: int, message: str, retry_after: str | None = None) -> bool:
        """An HTTP error, as providers word it."""
        headers = {} if retry_after is None else {"Retry-After": retry_after}
        return await self.say(status, error(message), headers)

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


def head(status: int, headers: Mapping[str, str]) -> bytes:
    """Status line and headers; a header may hold any bytes, spelt in latin-1."""
    lines = {"Content-Type": "application/json"} | dict(headers)
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} X\r\n{text}\r\n".encode("latin-1")
