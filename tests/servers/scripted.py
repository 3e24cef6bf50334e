"""An OpenAI-compatible server process that answers by a rule, and misbehaves as told.

Started as ``python -m tests.servers.scripted SETTINGS_JSON LOG``; prints its port. In LOG
(JSONL) every request is noted when it arrives (``seen``), which fault it met, what a provider would
charge (``charged``) and when a whole answer has left. Answers depend on the request's body alone,
faults on the body and on how often it was seen (``schedule``). POST /control changes settings.

Settings beside ``faults``, ``share`` and ``outage``: ``key`` (asked for), ``delay`` (seconds),
``per_second`` (a real limit: 429 above), and those of ``answers``.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import sys
import time
from collections import deque
from typing import Any

from tests.servers.answers import answer, error
from tests.servers.exchange import Exchange, Log, head
from tests.servers.modes import check, misbehave
from tests.servers.schedule import Schedule


class Server:
    def __init__(self, settings: dict[str, Any], log: str) -> None:
        self.settings, self.log = settings, Log(log)
        self.recent: deque[float] = deque()
        self.elsewhere = ""
        self.schedule = Schedule(settings)
        for fault in (*self.schedule.common, *self.schedule.own):
            check(fault)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self.one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        top = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"content-length: (\d+)", top, re.IGNORECASE)
        raw = await reader.readexactly(int(length[1]) if length else 0)
        path = top.split(" ", 2)[1]
        if path == "/control":
            return await self.control(writer, raw)
        key = hashlib.sha256(path.encode() + raw).hexdigest()[:16]
        found = re.search(r"authorization: (.*)\r", top, re.IGNORECASE)
        self.log.note("seen", key, path=path)
        auth = found[1] if found else ""
        x = Exchange(writer, self.log, key, json.loads(raw), auth, self.elsewhere)
        return await self.respond(x)

    async def respond(self, x: Exchange) -> bool:
        fault = self.schedule.strike(x.key)
        if self.settings.get("key") and x.auth != f"Bearer {self.settings['key']}":
            return await x.say(401, error("wrong key"))
        await asyncio.sleep(self.settings.get("delay", 0))
        if self.limited():
            return await x.fail(429, "slow down", "0.2")
        try:
            x.whole = answer(x.body, self.settings)
        except LookupError as cause:
            return await x.fail(int(cause.args[0]), str((*cause.args, "not supported here")[1]))
        used = x.whole["usage"]
        x.tokens = used["prompt_tokens"], used["completion_tokens"]
        if fault is not None:
            return await misbehave(x, fault)
        x.charge()
        return await x.say(200, json.dumps(x.whole).encode())

    def limited(self) -> bool:
        now, limit = time.monotonic(), self.settings.get("per_second")
        while self.recent and now - self.recent[0] > 1:
            self.recent.popleft()
        if limit and len(self.recent) >= limit:
            return True
        self.recent.append(now)
        return False

    async def control(self, writer: asyncio.StreamWriter, raw: bytes) -> bool:
        self.settings = self.settings | json.loads(raw)
        self.schedule = Schedule(self.settings).continued(self.schedule)
        self.log.note("changed", "control")
        writer.write(head(200, {"Content-Length": "2"}) + b"{}")
        await writer.drain()
        return True

    async def other(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Where redirects lead: what arrives here has leaked."""
        data = await reader.readuntil(b"\r\n\r\n")
        self.log.note("leaked", "other", bytes=len(data), auth=b"authorization" in data.lower())
        writer.write(head(200, {"Content-Length": "2"}) + b"{}")
        writer.close()


async def main(settings: str, log: str) -> None:
    server = Server(json.loads(settings), log)
    other = await asyncio.start_server(server.other, "127.0.0.1", 0)
    server.elsewhere = f"http://127.0.0.1:{other.sockets[0].getsockname()[1]}/v1/chat/completions"
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=1000)
    print(listening.sockets[0].getsockname()[1], flush=True)
    await listening.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
