"""Logs of Inspect: samples and scores of one task, a file for each model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgelab.core.errors import DataError, some
from judgelab.dataset.files import Row
from judgelab.dataset.logs.log import Log, Opened, Unit, either, part, prose, rows_of

TOOL = "an Inspect log"
ITEMS = "samples"
LETTERS = {"C": "correct", "I": "incorrect", "P": "partial", "N": "no answer"}


def recognises(content: Any) -> bool:
    """A log names its task and model apart from its samples."""
    return isinstance(content, Mapping) and {"task", "model"} <= part(content, "eval").keys()


def read(files: Sequence[Opened], log: Log) -> None:
    """Models are agents, scorers judges, edits of scores their authors' labels."""
    tasks = sorted({str(content["eval"]["task"]) for _, content in files})
    if len(tasks) > 1:
        raise DataError(f"These logs are of several tasks ({some(tasks)}): read each alone.")
    models = [(content["eval"]["model"], rows_of(content, "samples")) for _, content in files]
    scored = [one for one in models if any(sample.get("scores") for sample in one[1])]
    if scored:  # else there is nothing but texts
        log.left_out["samples of logs without scores"] += sum(len(its) for _, its in models)
        log.left_out["samples of logs without scores"] -= sum(len(its) for _, its in scored)
    samples = [(str(model), sample) for model, its in scored or models for sample in its]
    scorers = dict.fromkeys(name for _, sample in samples for name in sample.get("scores") or {})
    seen = set[object]()
    log.counts["epochs"] = len({sample.get("epoch") for _, sample in samples})
    for model, sample in samples:
        scores = sample.get("scores") or {}
        key = (model, sample.get("uuid") or id(sample))
        if sample.get("invalidation") or (sample.get("error") and not scores):
            log.left_out["samples with errors" if sample.get("error") else "invalid samples"] += 1
        elif key in seen:  # the log of a retry repeats what was done
            log.left_out["samples that two logs hold"] += 1
        else:
            seen.add(key)
            attached = sample.get("attachments") or {}
            output = part(sample, "output")
            choices = [choice.get("message") for choice in rows_of(output, "choices")]
            text, source, reference = (
                attached.get(its.removeprefix("attachment://"), its)
                for its in (
                    prose(either(output, "completion") or choices[:1]),
                    prose(sample.get("input")),
                    prose(sample.get("target")),
                )
            )
            facts = {"text": text, "source": source, "reference": reference}
            alike = text or f"epoch {sample.get('epoch')}"
            unit = log.unit(str(sample["id"]), model, alike=alike, **facts)
            for name in scorers:
                _score(unit, name, scores.get(name) or {"explanation": "no score"})


def _score(unit: Unit, name: str, score: Row) -> None:
    """The first value is the scorer's, edits are people's."""
    first, *edits = score.get("history") or [score]
    for key, value in _values(first.get("value")):
        if "human" in name.lower():
            unit.label(name, value, key)
        else:
            unit.verdict(name, value, key, score.get("explanation") or "unscored")
    for edit in edits:
        for key, value in _values(edit.get("value")):
            if value not in (None, "UNCHANGED"):
                unit.label(part(edit, "provenance").get("author") or "people", value, key)


def _values(value: object) -> Iterator[tuple[str, object]]:
    """(criterion, value); letters as the words that they stand for."""
    for key, one in value.items() if isinstance(value, Mapping) else [("", value)]:
        yield key, LETTERS.get(one, one) if isinstance(one, str) else one
