"""Faults below JSON: errors, silence, broken connections, redirects, bodies without bounds."""

from __future__ import annotations

import asyncio
import gzip
import json
import struct
import time
import zlib
from email.utils import formatdate
from functools import cache

from tests.servers.answers import error
from tests.servers.exchange import Exchange, head

MB = 1 << 20
CONTROL = "\x1b[31mred\x1b]0;title\x07\x1b[2J\x00\x08\u202e"


async def status(x: Exchange, value: str) -> bool:
    if value == "429":
        return await x.fail(429, "slow down", "0.5")
    return await x.fail(int(value), f"trouble with {x.auth}")


async def retry_after(x: Exchange, value: str) -> bool:
    dates = {"date": 3600.0, "past": -3600.0}
    when = formatdate(time.time() + dates[value], usegmt=True) if value in dates else value
    return await x.fail(429, "slow down", when or "86400")


async def quota(x: Exchange, value: str) -> bool:
    return await x.say(429, error("You exceeded your quota", "insufficient_quota"))


async def hang(x: Exchange, value: str) -> bool:
    await asyncio.sleep(float(value or 60))
    return False


async def drop(x: Exchange, value: str) -> bool:
    return False


async def cut(x: Exchange, value: str) -> bool:
    x.charge()
    body = json.dumps(x.whole).encode()
    await x.write(head(200, {"Content-Length": str(len(body))}) + body[: len(body) // 2])
    return False


async def drip(x: Exchange, value: str) -> bool:
    x.charge()
    body = json.dumps(x.whole).encode()
    await x.write(head(200, {"Content-Length": str(len(body))}))
    for k in range(len(body)):
        await x.write(body[k : k + 1])
        await asyncio.sleep(float(value or 0.2))
    x.log.note("answered", x.key, status=200)
    return True


async def redirect(x: Exchange, value: str) -> bool:
    return await x.say(int(value or 307), b"", {"Location": x.elsewhere})


async def big(x: Exchange, value: str) -> bool:
    x.charge()
    padding = b"x" * (int(value or 50) * MB)
    body = b'{"padding": "' + padding + b'", ' + json.dumps(x.whole).encode()[1:]
    return await x.say(200, body)


async def bomb(x: Exchange, value: str) -> bool:
    x.charge()
    return await x.say(200, _bomb(int(value or 1000)), {"Content-Encoding": "gzip"})


@cache
def _bomb(megabytes: int) -> bytes:
    """So many MB of blanks: one of them packed, and that again and again."""
    blanks = b" " * MB
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(blanks) + packer.flush(zlib.Z_FULL_FLUSH)
    checked = 0
    for _ in range(megabytes):
        checked = zlib.crc32(blanks, checked)
    trailer = struct.pack("<II", checked, megabytes * MB & 0xFFFFFFFF)
    return gzip.compress(b"")[:10] + packed * megabytes + packer.flush() + trailer


async def control(x: Exchange, value: str) -> bool:
    return await x.fail(int(value or 400), f"bad {CONTROL} request")


async def surrogate_header(x: Exchange, value: str) -> bool:
    x.charge()
    headers = {"x-request-id": "\xed\xa0\x80", "x-ratelimit-remaining": "\xff"}
    return await x.say(200, json.dumps(x.whole).encode(), headers)


async def garbage(x: Exchange, value: str) -> bool:
    await x.write(b"\x16\x03\x01 this is not HTTP\r\n\r\n")
    return False


async def html(x: Exchange, value: str) -> bool:
    page = b"<html><body>Please sign in to the hotel's network</body></html>"
    return await x.say(200, page, {"Content-Type": "text/html"})
