"""The authors' release as a clone of their repository: one JSON file per item and mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from judgelab.errors import DataError
from judgelab.panel import Agent, Item
from judgelab.store import released_taxonomy as taxonomy
from judgelab.store.released_domain import (
    TABLES,
    FloatArray,
    IntArray,
    ReleasedDomain,
    ReleasedTexts,
    without_diagonal,
)
from judgelab.store.released_folders import (
    Folder,
    describe,
    folders,
    is_layout,
    load_json,
    run_names,
)

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


@dataclass(frozen=True)
class _Record:
    """One per-item file."""

    path: Path
    id: int
    names: tuple[str, ...]
    values: Mapping[str, Any]


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
    runs = {run: _records(folder, run) for run in TABLES}
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
        load_texts=partial(_texts, folder, config, names),
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


def _records(folder: Folder, run: str) -> list[_Record]:
    """The files of one run, in order of item id."""
    records: dict[int, _Record] = {}
    for path in folder.files(run):
        values = load_json(path)
        names = _field(values, "condition_keys", path)
        item = _field(values, "example_idx", path)
        if not isinstance(item, int) or not isinstance(names, list):
            raise DataError(f"{path}: example_idx must be a number and condition_keys a list.")
        if item in records:
            raise DataError(
                f"{path} and {records[item].path} both claim item {item}: keep one of them."
            )
        records[item] = _Record(path, item, tuple(str(name) for name in names), values)
    return [records[item] for item in sorted(records)]


def _field(values: Any, key: str, path: Path) -> Any:
    if not isinstance(values, dict) or key not in values:
        raise DataError(f"{path} lacks the field {key!r}: it may have been cut short.")
    return values[key]


def _names(records: list[_Record]) -> tuple[str, ...]:
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


def _pairs(records: list[_Record], run: str, names: tuple[str, ...]) -> FloatArray | None:
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


def _rows(records: list[_Record], key: str, names: tuple[str, ...]) -> FloatArray | None:
    """[items, agents] of one field of the log files, placed by agent name."""
    if not records:
        return None
    position = {name: index for index, name in enumerate(names)}
    rows = np.full((len(records), len(names)), np.nan)
    for row, record in enumerate(records):
        stored = _numbers(record, key, (len(record.names),))
        rows[row, [position[name] for name in record.names]] = stored
    return rows


def _numbers(record: _Record, key: str, shape: tuple[int, ...]) -> FloatArray:
    stored = _field(record.values, key, record.path)
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


def _calls(records: list[_Record], key: str) -> IntArray:
    """Completed calls per item; -1 where the file does not say."""
    counts = [record.values.get("metadata", {}).get(key, -1) for record in records]
    return np.array(counts, dtype=np.int64)


def _texts(folder: Folder, config: Mapping[str, Any], names: tuple[str, ...]) -> ReleasedTexts:
    """Responses from the log files and, for items without one, from the generation run's file."""
    sources = _data_file(folder, config)
    items: dict[int, Item] = {}
    texts: dict[int, tuple[str | None, ...]] = {}
    for record in _records(folder, "log"):
        written = _field(record.values, "translations", record.path)
        texts[record.id] = _placed(written, record.names, names, record.path)
        source, reference = sources.get(record.id, (None, None))
        kept = record.values.get("reference")
        human = written[record.names.index("Reference")] if "Reference" in record.names else None
        # An attacked file's Reference agent is attacked too: the human text is in the data file.
        reference = reference if folder.attack or human is None else human
        if isinstance(kept, str) and kept != human:
            source = kept
        items[record.id] = _item(record.id, source, reference, record.path, config)
    for item, source, responses, path in _generated(folder):
        if item not in texts:
            texts[item] = _placed(list(responses.values()), tuple(responses), names, path)
            items[item] = _item(item, source, responses.get("Reference"), path, config)
    kept_ids = sorted(texts)
    return ReleasedTexts(
        items=tuple(items[item] for item in kept_ids),
        responses=tuple(texts[item] for item in kept_ids),
        attacked=folder.attack is not None,
    )


def _placed(
    written: Any, order: tuple[str, ...], names: tuple[str, ...], path: Path
) -> tuple[str | None, ...]:
    if not isinstance(written, list) or len(written) != len(order):
        raise DataError(f"{path}: {len(order)} agents, but not as many texts: fetch it again.")
    by_name = dict(zip(order, written, strict=True))
    texts = (by_name.get(name) for name in names)
    return tuple(text if isinstance(text, str) else None for text in texts)


def _item(
    item: int, source: str | None, reference: str | None, path: Path, config: Mapping[str, Any]
) -> Item:
    if source is None:
        data = config.get("data_config", {}).get("input_data_path", "data/<domain>.json")
        raise DataError(
            f"No source text for item {item} of {path}: neither the file nor {data} holds it; "
            "fetch the data folder of the clone."
        )
    return Item(id=str(item), source=source, reference=reference)


def _data_file(
    folder: Folder, config: Mapping[str, Any]
) -> dict[int, tuple[str | None, str | None]]:
    """Item id -> (source, reference) of the domain's source file; empty where it is absent."""
    named = config.get("data_config", {}).get("input_data_path")
    # Without a config the shortest name wins: <domain>_200.json, not <domain>_200_filtered.json.
    guessed = sorted(
        (folder.root / "data").glob(f"{folder.domain}*.json"), key=lambda p: len(p.name)
    )
    paths = [folder.root / str(named)] if named else guessed
    if not paths or not paths[0].is_file():
        return {}
    rows = load_json(paths[0])
    if not isinstance(rows, list):
        raise DataError(f"{paths[0]} must hold a list of sources: fetch it again.")
    return {index: (row.get("input"), row.get("reference")) for index, row in enumerate(rows)}


def _generated(folder: Folder) -> list[tuple[int, str | None, dict[str, str | None], Path]]:
    """(item, source, agent -> response, file) of the generation run, where the clone has it."""
    for name in run_names(folder):
        for path in (
            folder.path / f"{name}.json",
            folder.root / "data" / "agents" / f"{name}.json",
        ):
            if path.is_file():
                return _generation_run(path)
    return []


def _generation_run(path: Path) -> list[tuple[int, str | None, dict[str, str | None], Path]]:
    values = load_json(path)
    names = [str(each.get("condition")) for each in _field(values, "agent_perspectives", path)]
    found: list[tuple[int, str | None, dict[str, str | None], Path]] = []
    for item, task in enumerate(_field(values, "tasks", path)):
        responses = task.get("responses", [])
        # One released run has one more name than responses: which is which cannot be known.
        if len(responses) == len(names):
            found.append(
                (item, task.get("context"), dict(zip(names, responses, strict=True)), path)
            )
    return found
