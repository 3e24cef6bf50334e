"""What leaves to a terminal: foreign texts (a server's, a file's) control none."""

from __future__ import annotations

import re
import sys
from typing import TextIO

_BREAK = re.compile("\r\n|[\r\u2028\u2029]")
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 with ESC, DEL, C1; but tab and newline
    "\u202a-\u202e\u2066-\u2069"  # overrides of the direction of reading
    "\ud800-\udfff]"  # halves of characters
)


def harmless(text: str) -> str:
    """The text without what controls a terminal or turns its order around.

    Newlines and tabs stay; a carriage return, which would overwrite the line, becomes a space.
    Files keep texts as they are: this is for what is shown.
    """
    text = _BREAK.sub(lambda match: "\n" if len(match[0]) == 2 else " ", text)
    return _CONTROL.sub("", text)


def say(text: str, stream: TextIO | None = None) -> None:
    """Print a harmless line to ``stream`` (stdout) at once, "?" for what its encoding lacks."""
    stream = stream or sys.stdout
    encoding = stream.encoding or "utf-8"
    line = harmless(text).encode(encoding, "replace").decode(encoding)
    print(line, file=stream, flush=True)
