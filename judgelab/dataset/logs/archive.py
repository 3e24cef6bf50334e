"""Inspect's ``.eval`` file: a zip of a header and of a JSON file for each sample."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from judgelab.core.errors import DataError

HEADS = ("header.json", "_journal/start.json")  # of a run that ended, and of one that was killed
ZSTD = 93  # a zip entry's method, which Python's zipfile reads from 3.14 on
LOCAL = 30  # bytes of an entry's own header, before its name and its extra field


def unzipped(file: Path) -> dict[str, Any]:
    """The JSON log that an ``.eval`` file stands for.

    Raises:
        DataError: it is another zip, or damaged.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            names = dict.fromkeys(archive.namelist())  # of a name that comes twice the last entry
            head = next((name for name in HEADS if name in names), None)
            if head is None:
                raise DataError(f"{str(file)!r} is a zip, and no Inspect log: unpack it first.")
            samples = [name for name in names if name.startswith("samples/")]
            log: dict[str, Any] = json.loads(_entry(archive, head))
            return log | {"samples": [json.loads(_entry(archive, name)) for name in samples]}
    except (zipfile.BadZipFile, OSError, ValueError) as cause:
        raise DataError(f"{str(file)!r} is no whole Inspect log: {cause}.") from cause


def _entry(archive: zipfile.ZipFile, name: str) -> bytes:
    info = archive.getinfo(name)
    if info.compress_type != ZSTD:
        return archive.read(info)
    import pyarrow as pa

    if archive.fp is None or not pa.Codec.is_available("zstd"):
        raise DataError(
            f"{name} is compressed by zstd, which needs a pyarrow that reads it (1.0 or newer)."
        )
    archive.fp.seek(info.header_offset)
    local = archive.fp.read(LOCAL)
    before = int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little")
    archive.fp.seek(info.header_offset + LOCAL + before)
    packed = pa.py_buffer(archive.fp.read(info.compress_size))
    with pa.input_stream(packed, compression="zstd") as stream:
        return bytes(stream.read())
