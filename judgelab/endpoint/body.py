"""What a server sends, read within bounds and made harmless before anything else sees it."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

LARGEST = 16 * 2**20  # bytes of a body, after decompression
DEEPEST = 64  # levels of JSON
SHORTEST_SECRET = 8  # characters: to blot out a shorter one would blot out words of texts
ASKED = "gzip, deflate"  # ways of compression that we undo within bounds, and so ask for
BODY = "judgelab.body"  # where a response's body is kept
WIDTHS = {"": None, "identity": None, "gzip": 31, "x-gzip": 31, "deflate": 15}
BLOT = "***"
HALVES = re.compile("[\ud800-\udfff]")


class MalformedError(Exception):
    """The body cannot be read; the message says why in a few words."""


@dataclass(frozen=True)
class RefusedError(Exception):
    """The server answered with another status than 2xx."""

    status: int
    headers: Mapping[str, str]
    body: bytes


async def keep_body(response: Any) -> None:
    """A hook of the HTTP client: read the body, no more of it than ``LARGEST``, and keep it.

    Raises:
        MalformedError: it is larger, or compressed in a way that was not asked for.
        RefusedError: the status is not 2xx.
    """
    try:
        body = await _read(response)
    except MalformedError:
        if response.is_success:
            raise
        body = b""
    if not response.is_success:
        raise RefusedError(response.status_code, response.headers, body)
    response.extensions[BODY] = body


async def _read(response: Any) -> bytes:
    coding = response.headers.get("content-encoding", "").strip().lower()
    if coding not in WIDTHS:
        raise MalformedError("compressed in a way that was not asked for")
    width, parts, size = WIDTHS[coding], list[bytes](), 0
    inflate = None if width is None else zlib.decompressobj(width)
    async for part in response.aiter_raw():
        if inflate is not None:
            try:
                part = inflate.decompress(part, LARGEST + 1 - size)
            except zlib.error:
                raise MalformedError(f"not {coding}, though it says so") from None
        parts.append(part)
        size += len(part)
        if size > LARGEST:
            raise MalformedError(f"more than {LARGEST >> 20} MiB")
    return b"".join(parts)


def parse(data: bytes, clean: Callable[[str], str]) -> dict[str, Any]:
    """The JSON object, each of its strings cleaned; MalformedError where it is none."""
    try:
        body = json.loads(data)
    except RecursionError:
        raise MalformedError("nested beyond reason") from None
    except ValueError:
        raise MalformedError("not JSON") from None
    if not isinstance(body, dict):
        raise MalformedError("not a JSON object")
    cleaned: dict[str, Any] = _cleaned(body, clean, DEEPEST)
    return cleaned


def _cleaned(value: Any, clean: Callable[[str], str], levels: int) -> Any:
    if levels == 0:
        raise MalformedError("nested beyond reason")
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(one, clean, levels - 1) for one in value]
    if isinstance(value, dict):
        return {clean(name): _cleaned(one, clean, levels - 1) for name, one in value.items()}
    return value


def cleaner(secret: str | None) -> Callable[[str], str]:
    """What blots the secret out of a text, as it is or escaped, and mends half characters.

    A secret of fewer than ``SHORTEST_SECRET`` characters stays: it would be found in words.
    """
    forms = set[str]()
    if secret and len(secret) >= SHORTEST_SECRET:
        escaped = json.dumps(secret)[1:-1]
        forms = {secret, escaped, escaped.replace("/", "\\/"), quote(secret, safe="")}
    found = re.compile("|".join(map(re.escape, sorted(forms, key=len, reverse=True))) or "(?!)")
    return lambda text: found.sub(BLOT, HALVES.sub("\ufffd", text))


def count(value: Any) -> int | None:
    """A number of tokens that can be believed, else None."""
    real = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 10**9
    return value if real else None


def usage(body: Mapping[str, Any]) -> tuple[int, int] | None:
    """Tokens (input, output) as the server says, where both can be believed."""
    said = body.get("usage")
    if not isinstance(said, dict):
        return None
    read, written = count(said.get("prompt_tokens")), count(said.get("completion_tokens"))
    return None if read is None or written is None else (read, written)
