"""The authors' release as a clone of their repository: one JSON file per item and mechanism.

The log files of a domain carry every agent's response. The source lies in the same file or in
the domain's data file. Items that were never scored by log-probability have their responses only
in the file of the generation run, where the clone still has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.peer_prediction.domain import (
    ARRAYS,
    CALLS,
    RUNS,
    Domain,
    Stored,
    released_agent,
    with_arrays,
)
from experiments.peer_prediction.folders import (
    Folder,
    Record,
    describe,
    field_of,
    folders,
    load_json,
    run_names,
)
from judgelab.core.errors import DataError
from judgelab.core.panel import Item, Texts

NpArray = np.ndarray[Any, Any]


def domains(root: Path) -> list[tuple[str, str | None]]:
    """(domain, attack) of every folder with recorded scores."""
    return list(folders(root))


def read(root: Path, domain: str, attack: str | None) -> Domain:
    """One domain of a clone."""
    every = folders(root)
    folder = every[domain, attack]
    task, description, config = describe(folder, every.get((domain, None)))
    runs = {run: folder.records(run) for run in RUNS}
    # Every agent that some file names, in the order of the file that names most.
    lists = [record.names for records in runs.values() for record in records]
    widest = max(lists, key=len, default=())
    names = tuple(dict.fromkeys([*widest, *(name for some in lists for name in some)]))
    prompts = {each.get("condition"): each for each in config.get("agent_perspectives", [])[::-1]}
    agents = tuple(
        released_agent(
            name, task, **{k: prompts.get(name, {}).get(k) for k in ("strategy", "reading")}
        )
        for name in names
    )
    texts = partial(read_texts, folder, config, names)
    data = Domain(domain, attack, task, description, agents, texts)
    present = {run: records for run, records in runs.items() if records}
    ids = {run: np.array([one.id for one in records]) for run, records in present.items()}
    return with_arrays(data, ids, _arrays(present, names))


def _arrays(runs: Mapping[str, Sequence[Record]], names: tuple[str, ...]) -> dict[str, NpArray]:
    """Agents are placed by name; NaN where one took no part."""
    place = {name: index for index, name in enumerate(names)}
    arrays: dict[str, NpArray] = {}
    for one in ARRAYS:
        if one.run in runs:
            array = np.full((len(runs[one.run]), *[len(names)] * one.axes), np.nan)
            for row, record in enumerate(runs[one.run]):
                cells = [[place[name] for name in record.names]] * one.axes
                array[np.ix_([row], *cells)] = _numbers(record, one)
            arrays[one.name] = array
    for one in CALLS:
        if one.run in runs:  # -1 where a file does not say how many calls came back
            counts = [r.values.get("metadata", {}).get(one.json, -1) for r in runs[one.run]]
            arrays[one.name] = np.array(counts, dtype=np.int64)
    return arrays


def _numbers(record: Record, one: Stored) -> NpArray:
    values = field_of(record.values, one.json, record.path)
    if one.name == "tokens":
        # The list grows with every item its worker handled; the last ones are this item's.
        values = values[-len(record.names) :]
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as cause:
        raise DataError(f"{record.path}: {one.json} holds more than numbers ({cause}).") from cause
    shape = (len(record.names),) * one.axes
    if array.shape != shape:
        raise DataError(
            f"{record.path}: {one.json} has shape {array.shape}, but its {len(record.names)} "
            f"agents ask for {shape}: fetch the file again."
        )
    return array


Row = tuple[str | None, ...]


@dataclass(frozen=True)
class _Answered:
    """One item as some file has it: agent -> response, and the source if the file keeps it."""

    id: int
    path: Path
    responses: Mapping[str, str | None]
    source: str | None

    def row(self, names: tuple[str, ...]) -> Row:
        return tuple(self.responses.get(name) for name in names)


def read_texts(
    folder: Folder, config: Mapping[str, Any], names: tuple[str, ...]
) -> tuple[tuple[Item, ...], Texts]:
    """Every item with responses, in order of id; responses in the order of ``names``."""
    items_by_id = {each.id: each for each in _logged(folder)}
    generated = {each.id: each for each in _generated(folder)}
    shared = items_by_id.keys() & generated.keys()
    if all(items_by_id[item].row(names) == generated[item].row(names) for item in shared):
        # Otherwise the file is of another run than the one that was scored.
        items_by_id = {**generated, **items_by_id}
    data = _data_file(folder, config)
    in_order = [items_by_id[item] for item in sorted(items_by_id)]
    items = tuple(_item(each, data, folder, config) for each in in_order)
    return items, tuple(each.row(names) for each in in_order)


def _logged(folder: Folder) -> Iterator[_Answered]:
    for record in folder.records("log"):
        texts = field_of(record.values, "translations", record.path)
        if not isinstance(texts, list) or len(texts) != len(record.names):
            raise DataError(
                f"{record.path}: {len(record.names)} agents, but not as many texts: fetch it again."
            )
        responses = _present(record.names, texts)
        field = record.values.get("reference")
        # The field holds the source, unless the run had a human text to put there.
        is_source = isinstance(field, str) and field != responses.get("Reference")
        yield _Answered(record.id, record.path, responses, field if is_source else None)


def _generated(folder: Folder) -> Iterator[_Answered]:
    """What the file of the generation run holds, where the clone has it."""
    for name in run_names(folder):
        for place in (folder.path, folder.root / "data" / "agents"):
            path = place / f"{name}.json"
            values = load_json(path) if path.is_file() else {}
            if isinstance(values, dict) and {"tasks", "agent_perspectives"} <= values.keys():
                yield from _generation_run(values, path)
                return


def _generation_run(values: Mapping[str, Any], path: Path) -> Iterator[_Answered]:
    names = tuple(str(each.get("condition")) for each in values["agent_perspectives"])
    for item, task in enumerate(values["tasks"]):
        responses = task.get("responses", [])
        # One released run has one more name than responses: which is which cannot be known.
        if len(responses) == len(names):
            yield _Answered(item, path, _present(names, responses), task.get("context"))


def _present(names: tuple[str, ...], texts: list[Any]) -> dict[str, str | None]:
    return {
        name: text if isinstance(text, str) else None
        for name, text in zip(names, texts, strict=True)
    }


def _item(
    record: _Answered,
    data: Mapping[int, tuple[str | None, str | None]],
    folder: Folder,
    config: Mapping[str, Any],
) -> Item:
    source, reference = data.get(record.id, (None, None))
    if folder.attack is None:
        # An attacked run's Reference agent is attacked too: only the data file has the human text.
        reference = record.responses.get("Reference") or reference
    source = record.source or source
    if source is None:
        file = config.get("data_config", {}).get("input_data_path", "data/<domain>.json")
        raise DataError(
            f"No source text for item {record.id} of {record.path}: neither the file nor "
            f"{file} holds it; fetch the data folder of the clone."
        )
    return Item(id=str(record.id), source=source, reference=reference)


def _data_file(
    folder: Folder, config: Mapping[str, Any]
) -> dict[int, tuple[str | None, str | None]]:
    """Item id -> (source, reference) of the domain's source file; empty where it is absent."""
    own = config.get("data_config", {}).get("input_data_path")
    # Without a config the shortest name wins: <domain>_200.json, not <domain>_200_filtered.json.
    guessed = sorted(
        (folder.root / "data").glob(f"{folder.domain}*.json"), key=lambda path: len(path.name)
    )
    paths = [folder.root / str(own)] if own else guessed
    if not paths or not paths[0].is_file():
        return {}
    rows = load_json(paths[0])
    if not isinstance(rows, list):
        raise DataError(f"{paths[0]} must hold a list of sources: fetch it again.")
    return {index: (row.get("input"), row.get("reference")) for index, row in enumerate(rows)}
