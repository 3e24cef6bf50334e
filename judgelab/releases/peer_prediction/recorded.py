"""The recorded arrays of one domain: which there are, and what both layouts call them."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from judgelab.core.errors import DataError
from judgelab.releases.peer_prediction.domain import (
    TABLES,
    IntArray,
    ReleasedDomain,
    without_diagonal,
)
from judgelab.releases.peer_prediction.folders import ReleasedRecord, field_of

NpArray = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Stored:
    """One recorded array.

    Attributes:
        name: as ``ReleasedDomain`` has it (a batch of calls: its key in ``calls_done``).
        run: of ``TABLES``; says which items it has.
        npz: its key in ``matrices/*.npz``.
        json: its key in the files of one item each.
        axes: how many axes of agents follow that of items; counts of calls have none.
    """

    name: str
    run: str
    npz: str
    json: str
    axes: int


ARRAYS = (
    Stored("logp_cond", "log", "logp_cond", "logp_cond", 2),
    Stored("tvd_mi", "tvd_mi", "tvd_mi", "tvd_mi_matrix", 2),
    *(Stored(run, run, run, "win_matrix", 2) for run in TABLES[2:]),
    Stored("logp_base", "log", "logp_base", "logp_base", 1),
    Stored("tokens", "log", "token_counts", "token_counts", 1),
    Stored("gppm_released", "log", "gppm_normalized_released", "gppm_normalized", 1),
)
CALLS = (
    Stored("tvd_mi_p", "tvd_mi", "calls_done_tvd_P", "num_p_comparisons", 0),
    Stored("tvd_mi_q", "tvd_mi", "calls_done_tvd_Q", "num_q_comparisons", 0),
    *(Stored(run, run, f"calls_done_{run}", "total_comparisons", 0) for run in TABLES[2:]),
)


def item_ids_key(run: str) -> str:
    """The key of a run's item ids in ``matrices/*.npz``."""
    return f"item_ids_{'tvd' if run == 'tvd_mi' else run}"


@dataclass(frozen=True)
class RecordedArrays:
    """What was recorded, by run and by key of the npz files; what the release lacks is absent."""

    item_ids: Mapping[str, IntArray]
    arrays: Mapping[str, NpArray]

    def domain(self, **about: Any) -> ReleasedDomain:
        """With the other facts of the domain, as its value."""
        values: dict[str, Any] = {}
        for one in ARRAYS:
            if one.npz in self.arrays:
                array = np.asarray(self.arrays[one.npz], dtype=np.float64)
                values[one.name] = without_diagonal(array) if one.axes == 2 else array
        if "gppm_released" in values:
            values["gppm_released"] = -values["gppm_released"]
        calls = {one.name: self.arrays[one.npz] for one in CALLS if one.npz in self.arrays}
        return ReleasedDomain(item_ids=self.item_ids, calls_done=calls, **values, **about)


def from_npz(file: Path, agents: int) -> RecordedArrays:
    """The arrays of one file, in the order of item ids."""
    stored = _load(file)
    ids: dict[str, IntArray] = {}
    order: dict[str, NpArray] = {}
    for run in TABLES:
        if item_ids_key(run) in stored:
            numbers = np.asarray(stored[item_ids_key(run)], dtype=np.int64)
            ids[run], order[run] = np.unique(numbers, return_index=True)
            if len(ids[run]) != len(numbers):
                raise DataError(f"{file}: an item id of {run} occurs twice; fetch the file again.")
    found = {}
    for one in (*ARRAYS, *CALLS):
        if one.run not in order and one.npz not in stored:
            continue
        for key in (one.npz, item_ids_key(one.run)):
            if key not in stored:
                raise DataError(f"{file} lacks the array {key}: fetch the file again.")
        array, shape = stored[one.npz], (len(order[one.run]), *[agents] * one.axes)
        if array.shape != shape:
            raise DataError(
                f"{file}: {one.npz} has shape {array.shape}, but its item ids and the agents of "
                f"meta.json ask for {shape}: the files are of different releases."
            )
        found[one.npz] = array[order[one.run]]
    return RecordedArrays(ids, found)


def _load(file: Path) -> Mapping[str, NpArray]:
    if not file.is_file():
        raise DataError(
            f"{file} is missing: this domain has no recorded scores in the folder; "
            "list_domains names those that have."
        )
    try:
        # numpy leaves a file open that it cannot read, so it is opened here.
        with file.open("rb") as handle, np.load(handle, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as cause:
        raise DataError(f"{file} is damaged ({cause}): fetch it again.") from cause


def from_records(
    runs: Mapping[str, Sequence[ReleasedRecord]], names: tuple[str, ...]
) -> RecordedArrays:
    """The arrays of files of one item each, agents placed by name; NaN where one took no part."""
    kept = {run: records for run, records in runs.items() if records}
    ids = {run: np.array([one.id for one in records]) for run, records in kept.items()}
    place = {name: index for index, name in enumerate(names)}
    found: dict[str, NpArray] = {}
    for one in ARRAYS:
        if one.run in kept:
            array = np.full((len(kept[one.run]), *[len(names)] * one.axes), np.nan)
            for row, record in enumerate(kept[one.run]):
                cells = [[place[name] for name in record.names]] * one.axes
                array[np.ix_([row], *cells)] = _numbers(record, one)
            found[one.npz] = array
    for one in CALLS:
        if one.run in kept:  # -1 where a file does not say how many calls came back
            counts = [r.values.get("metadata", {}).get(one.json, -1) for r in kept[one.run]]
            found[one.npz] = np.array(counts, dtype=np.int64)
    return RecordedArrays(ids, found)


def _numbers(record: ReleasedRecord, one: Stored) -> NpArray:
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
