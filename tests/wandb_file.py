"""Reading what W&B wrote offline: records of protocol buffers in a log of blocks (LevelDB's)."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BLOCK, HEADER = 32768, 7
"""Bytes of a block, of the file's own header, and of that of each piece of a record."""
FULL, FIRST, LAST = 1, 2, 4
"""Types of pieces; 3 is one in the middle."""


def records(file: Path) -> list[Any]:
    """Every record of a .wandb file, as wandb.proto has it."""
    from wandb.proto import wandb_internal_pb2

    return [wandb_internal_pb2.Record.FromString(data) for data in _whole(file.read_bytes())]


def _whole(data: bytes) -> Iterator[bytes]:
    place, parts = HEADER, b""
    while place + HEADER <= len(data):
        if BLOCK - place % BLOCK < HEADER:  # too little is left for another piece
            place += BLOCK - place % BLOCK
            continue
        _, length, kind = struct.unpack_from("<IHB", data, place)
        piece = data[place + HEADER : place + HEADER + length]
        if len(piece) < length:  # still being written
            return
        place += HEADER + length
        parts = piece if kind in (FULL, FIRST) else parts + piece
        if kind in (FULL, LAST):
            yield parts


def finished(root: Path, seconds: float = 30) -> list[list[Any]]:
    """The records of every offline run below ``root``, once W&B has written their ends.

    In the order in which they began: names of files have seconds, and two runs may share one.
    """
    until = time.monotonic() + seconds
    while True:
        found = [records(file) for file in root.glob("wandb/offline-run-*/*.wandb")]
        found.sort(key=_begun)
        ended = [any(one.WhichOneof("record_type") == "exit" for one in run) for run in found]
        if found and all(ended):
            return found
        assert time.monotonic() < until, "W&B did not finish in time"
        time.sleep(0.1)


def _begun(run: list[Any]) -> int:
    """Nanoseconds; 0 before W&B has said so."""
    at = next((one.run.start_time for one in run if one.WhichOneof("record_type") == "run"), None)
    return 0 if at is None else int(at.ToNanoseconds())


class Seen:
    """One W&B run by what was sent about it."""

    def __init__(self, sent: list[Any]) -> None:
        kinds: dict[str, list[Any]] = {}
        for one in sent:
            kind = one.WhichOneof("record_type")
            kinds.setdefault(kind, []).append(getattr(one, kind))
        run = kinds["run"][0]
        self.name, self.group, self.job_type = run.display_name, run.run_group, run.job_type
        self.tags = list(run.tags)
        configs = [*(one.config for one in kinds["run"]), *kinds.get("config", ())]
        self.config = {key: value for one in configs for key, value in _items(one)}
        self.summary = {k: v for one in kinds.get("summary", ()) for k, v in _items(one)}
        self.artifacts = kinds.get("artifact", [])


def _items(changed: Any) -> Iterator[tuple[str, Any]]:
    for one in changed.update:
        yield one.key or "/".join(one.nested_key), json.loads(one.value_json)
