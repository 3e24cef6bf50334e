"""Logs of Inspect: samples and scores of one task, a file of JSON or a zip for each model."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from judgelab.core.errors import DataError, some
from judgelab.dataset.files import Row
from judgelab.dataset.logs.log import Log, LogFile, Unit, either, part, prose, rows_of

TOOL = "an Inspect log"
ITEMS = "samples"
ATTACHED = re.compile(r"attachment://(\w+)")
NO_GRADE = "Grade not found"  # how the explanation of a score begins that no reply gave
LETTERS = {"C": "correct", "I": "incorrect", "P": "partial", "N": "no answer"}


HEADS = ("header.json", "_journal/start.json")  # of a run that ended, and of one that was killed
ZSTD = 93  # a zip entry's method, which Python's zipfile reads from 3.14 on
LOCAL = 30  # bytes of an entry's own header, before its name and its extra field


def recognises(content: Any) -> bool:
    """A log names its task and model apart from its samples."""
    return isinstance(content, Mapping) and {"task", "model"} <= part(content, "eval").keys()


def read(files: Sequence[LogFile], log: Log) -> None:
    """Models are agents, scorers judges, edits of scores their authors' labels."""
    tasks = sorted({str(content["eval"]["task"]) for _, content in files})
    if len(tasks) > 1:
        raise DataError(f"These logs are of several tasks ({some(tasks)}): read each alone.")
    models = [(content["eval"]["model"], rows_of(content, "samples")) for _, content in files]
    with_scores = [one for one in models if any(sample.get("scores") for sample in one[1])]
    samples = [(str(model), sample) for model, its in with_scores or models for sample in its]
    log.left_out["samples of logs without scores"] = sum(len(x) for _, x in models) - len(samples)
    log.counts["epochs"] = len({sample.get("epoch") for _, sample in samples})
    pairs = [pair for _, sample in samples for pair in (sample.get("scores") or {}).items()]
    scorers = {name: [""] for name, _ in pairs}
    scorers |= {name: list(x["value"]) for name, x in pairs if isinstance(x.get("value"), Mapping)}
    keys = set[object]()
    for model, sample in samples:
        scores, key = sample.get("scores") or {}, (model, sample.get("uuid") or id(sample))
        if sample.get("invalidation") or (sample.get("error") and not scores):
            log.left_out["samples with errors" if sample.get("error") else "invalid samples"] += 1
        elif key in keys:  # the log of a retry repeats what was done
            log.left_out["samples that two logs hold"] += 1
        else:
            keys.add(key)
            unit = _unit(log, model, sample)
            for name, criteria in scorers.items():
                _score(unit, name, scores.get(name) or {"explanation": "no score"}, criteria)


def _unit(log: Log, model: str, sample: Row) -> Unit:
    output, attachments = part(sample, "output"), part(sample, "attachments")
    choices = [choice.get("message") for choice in rows_of(output, "choices")]
    facts = {"text": either(output, "completion") or choices[:1], "source": sample.get("input")}
    texts = {
        name: ATTACHED.sub(lambda at: attachments.get(at[1], at[0]), prose(value))
        for name, value in (facts | {"reference": sample.get("target")}).items()
    }
    alike = texts["text"] or f"epoch {sample.get('epoch')}"
    return log.unit(str(sample["id"]), model, alike=alike, **texts)


def _score(unit: Unit, name: str, score: Row, criteria: Sequence[str]) -> None:
    """The first value is the scorer's, edits are people's; letters are words."""
    for k, one in enumerate(score.get("history") or [score]):
        value, author = one.get("value"), part(one, "provenance").get("author")
        its = value if isinstance(value, Mapping) else dict.fromkeys(criteria, value)
        for key, cell in its.items():
            cell = LETTERS.get(cell, cell) if isinstance(cell, str) else cell
            why = prose(one.get("explanation") or score.get("explanation"))
            cell = None if not k and why.startswith(NO_GRADE) else cell
            if k or "human" in name.lower():
                unit.label(author or name, "" if cell == "UNCHANGED" else cell, key)
            else:
                unit.verdict(name, cell, key, why or "unscored")


def unzip(file: Path) -> dict[str, Any]:
    """The JSON log that an ``.eval`` file stands for.

    Raises:
        DataError: it is another zip, or damaged.
    """
    try:
        with file.open("rb") as raw, zipfile.ZipFile(raw) as archive:
            names = dict.fromkeys(archive.namelist())  # of a name that comes twice the last entry
            head = next((name for name in HEADS if name in names), None)
            if head is None:
                raise DataError(f"{str(file)!r} is a zip, and no Inspect log: unpack it first.")
            samples = [name for name in names if name.startswith("samples/")]
            log: dict[str, Any] = json.loads(_entry(raw, archive, head))
            return log | {"samples": [json.loads(_entry(raw, archive, name)) for name in samples]}
    except (zipfile.BadZipFile, OSError, ValueError) as cause:
        raise DataError(f"{str(file)!r} is no whole Inspect log: {cause}.") from cause


def _entry(raw: BinaryIO, archive: zipfile.ZipFile, name: str) -> bytes:
    info = archive.getinfo(name)
    if info.compress_type != ZSTD:
        return archive.read(info)
    import pyarrow as pa

    raw.seek(info.header_offset)
    local = raw.read(LOCAL)
    before = int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little")
    raw.seek(info.header_offset + LOCAL + before)
    data = pa.py_buffer(raw.read(info.compress_size))
    with pa.input_stream(data, compression="zstd") as stream:
        return bytes(stream.read())
