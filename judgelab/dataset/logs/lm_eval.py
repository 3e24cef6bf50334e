"""Samples of lm-eval (``--log_samples``): one task and one model in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judgelab.dataset.logs.log import Log, LogFile, prose, rows_of

TOOL = "lm-eval samples"
ITEMS = "documents"
KNOWN = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}


def recognises(content: Any) -> bool:
    """Samples hold a document and the filtered responses to it."""
    return any({"doc_id", "doc", "filtered_resps"} <= row.keys() for row in rows_of(content))


def read(files: Sequence[LogFile], log: Log) -> None:
    """Metrics are judges, one for each filter; a file is a model's, and its folder names it."""
    several = len({_task(path) for path, _ in files}) > 1
    for path, content in files:
        rows = rows_of(content)
        filters = {row.get("filter") for row in rows}
        model = path.absolute().parent.name if path.name.startswith("samples_") else path.stem
        for row in rows:
            question, free = _request(row.get("arguments"))
            text = _first(row.get("resps")) if free else ""
            unit = log.unit(
                f"{_task(path)} {row['doc_id']}" if several else str(row["doc_id"]),
                model,
                alike=text or str(path),
                text=text,
                source=question,
                reference=prose(row.get("target")) if free else "",  # of choices it is a number
                stratum=_task(path) if several else "",
            )
            for metric in row.get("metrics") or sorted(row.keys() - KNOWN):
                if isinstance(value := row.get(metric), bool | int | float):
                    by = f", {row.get('filter')}" if len(filters) > 1 else ""
                    unit.verdict(metric + by, value)
                elif not metric.endswith("_hash"):
                    log.left_out["scores that are no numbers"] += 1


def _task(path: Path) -> str:
    """``samples_gsm8k_2025-01-31T10-00-00.jsonl`` is of gsm8k."""
    return path.stem.removeprefix("samples_").rpartition("_")[0] or path.stem


def _request(arguments: Any) -> tuple[str, bool]:
    """What the model was asked first, and whether it answered freely, and not by a choice."""
    requests = [*arguments.values()] if isinstance(arguments, Mapping) else arguments or [""]
    first = [*requests[0].values()] if isinstance(requests[0], Mapping) else requests[0]
    first = first if isinstance(first, list) else [first]
    return prose(first[:1]), any(isinstance(one, Mapping) for one in first)


def _first(responses: Any) -> str:
    while isinstance(responses, list) and responses:
        responses = responses[0]
    return responses if isinstance(responses, str) else ""
