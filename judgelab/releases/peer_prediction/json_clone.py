"""The authors' release as a clone of their repository: one JSON file per item and mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from judgelab.core.errors import DataError
from judgelab.core.panel import Agent
from judgelab.releases.peer_prediction import taxonomy
from judgelab.releases.peer_prediction.domain import (
    TABLES,
    FloatArray,
    IntArray,
    ReleasedDomain,
    without_diagonal,
)
from judgelab.releases.peer_prediction.folders import describe, folders, is_layout
from judgelab.releases.peer_prediction.json_records import ReleasedRecord, field_of, read_records
from judgelab.releases.peer_prediction.texts import read_texts

__all__ = ["domains", "is_layout", "read"]

_MATRIX = {
    "log": "logp_cond",
    "tvd_mi": "tvd_mi_matrix",
    "judge_with_context": "win_matrix",
    "judge_without_context": "win_matrix",
}

_CALLS = {
    "tvd_mi_p": ("tvd_mi", "num_p_comparisons"),
    "tvd_mi_q": ("tvd_mi", "num_q_comparisons"),
    "judge_with_context": ("judge_with_context", "total_comparisons"),
    "judge_without_context": ("judge_without_context", "total_comparisons"),
}


def domains(root: Path) -> list[tuple[str, str | None]]:
    """(domain, attack) of every folder with recorded scores, sorted; clean runs first."""
    found = [(folder.domain, folder.attack) for folder in folders(root)]
    return sorted(found, key=lambda pair: (pair[0], pair[1] or ""))


def read(root: Path, domain: str, attack: str | None) -> ReleasedDomain:
    """One domain of a clone.

    Raises:
        DataError: a file is cut short, lacks a field, or a matrix has the wrong shape.
    """
    every = folders(root)
    folder = next(each for each in every if (each.domain, each.attack) == (domain, attack))
    clean = next((each for each in every if (each.domain, each.attack) == (domain, None)), None)
    task, description, config = describe(folder, clean)
    runs = {run: read_records(folder, run) for run in TABLES}
    names = _names([record for records in runs.values() for record in records])
    ids = {
        run: np.array([record.id for record in records], dtype=np.int64)
        for run, records in runs.items()
        if records
    }
    log = runs["log"]
    gppm = _rows(log, "gppm_normalized", names)
    return ReleasedDomain(
        domain=domain,
        attack=attack,
        layout="clone",
        task=task,
        task_description=description,
        agents=tuple(_agent(name, task, config) for name in names),
        item_ids=ids,
        load_texts=partial(read_texts, folder, config, names),
        logp_cond=_pairs(log, "log", names),
        logp_base=_rows(log, "logp_base", names),
        tokens=_rows(log, "token_counts", names),
        gppm_released=None if gppm is None else -gppm,
        tvd_mi=_pairs(runs["tvd_mi"], "tvd_mi", names),
        judge_with_context=_pairs(runs["judge_with_context"], "judge_with_context", names),
        judge_without_context=_pairs(runs["judge_without_context"], "judge_without_context", names),
        calls_done={
            name: _calls(runs[run], stored) for name, (run, stored) in _CALLS.items() if runs[run]
        },
        source_files=(str(folder.path.relative_to(root)),),
    )


def _names(records: list[ReleasedRecord]) -> tuple[str, ...]:
    """Every agent that some file names, in the order of the file that names most."""
    widest = max((record.names for record in records), key=len, default=())
    names = dict.fromkeys(widest)
    for record in records:
        names.update(dict.fromkeys(record.names))
    return tuple(names)


def _agent(name: str, task: str, config: Mapping[str, Any]) -> Agent:
    perspectives: list[Mapping[str, Any]] = config.get("agent_perspectives", [])
    named = [each for each in perspectives if each.get("condition") == name]
    prompts = named[0] if named else {}
    meta = {
        "category_paper": taxonomy.paper_category(task, name),
        "strategy": prompts.get("strategy"),
        "reading": prompts.get("reading"),
    }
    return Agent(
        name=name,
        category=taxonomy.category(task, name),
        reference=name == "Reference",
        meta={key: str(value) for key, value in meta.items() if value},
    )


def _pairs(records: list[ReleasedRecord], run: str, names: tuple[str, ...]) -> FloatArray | None:
    """[items, agents, agents] of one run, placed by agent name; None without files."""
    if not records:
        return None
    position = {name: index for index, name in enumerate(names)}
    pairs = np.full((len(records), len(names), len(names)), np.nan)
    for row, record in enumerate(records):
        stored = _numbers(record, _MATRIX[run], (len(record.names), len(record.names)))
        place = [position[name] for name in record.names]
        pairs[np.ix_([row], place, place)] = stored
    return without_diagonal(pairs)


def _rows(records: list[ReleasedRecord], key: str, names: tuple[str, ...]) -> FloatArray | None:
    """[items, agents] of one field of the log files, placed by agent name."""
    if not records:
        return None
    position = {name: index for index, name in enumerate(names)}
    rows = np.full((len(records), len(names)), np.nan)
    for row, record in enumerate(records):
        stored = _numbers(record, key, (len(record.names),))
        rows[row, [position[name] for name in record.names]] = stored
    return rows


def _numbers(record: ReleasedRecord, key: str, shape: tuple[int, ...]) -> FloatArray:
    stored = field_of(record.values, key, record.path)
    if key == "token_counts":
        # The list grows with every item its worker handled; the last ones are this item's.
        stored = stored[-shape[0] :]
    try:
        array = np.asarray(stored, dtype=np.float64)
    except (TypeError, ValueError) as cause:
        raise DataError(f"{record.path}: {key} holds more than numbers ({cause}).") from cause
    if array.shape != shape:
        raise DataError(
            f"{record.path}: {key} has shape {array.shape}, but its {len(record.names)} agents "
            f"ask for {shape}: fetch the file again."
        )
    return array


def _calls(records: list[ReleasedRecord], key: str) -> IntArray:
    """Completed calls per item; -1 where the file does not say."""
    counts = [record.values.get("metadata", {}).get(key, -1) for record in records]
    return np.array(counts, dtype=np.int64)
