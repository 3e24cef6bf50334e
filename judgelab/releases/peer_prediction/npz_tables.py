"""The authors' release as tables: meta.json, items.parquet, responses.parquet, matrices/*.npz."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from judgelab.core.errors import DataError
from judgelab.core.panel import Agent, Item
from judgelab.releases.peer_prediction import taxonomy
from judgelab.releases.peer_prediction.domain import (
    TABLES,
    FloatArray,
    IntArray,
    ReleasedDomain,
    ReleasedTexts,
    without_diagonal,
)

if TYPE_CHECKING:
    import pandas as pd

_SHORT = {"log": "log", "tvd_mi": "tvd"}
"""Run -> how the exported item-id array abbreviates it."""

_PAIRS = {
    "logp_cond": "log",
    "tvd_mi": "tvd_mi",
    "judge_with_context": "judge_with_context",
    "judge_without_context": "judge_without_context",
}
"""Pair array -> the run whose items it has."""

_AGENT_ARRAYS = ("logp_base", "token_counts", "gppm_normalized_released")

_CALLS = {
    "tvd_mi_p": ("calls_done_tvd_P", "tvd_mi"),
    "tvd_mi_q": ("calls_done_tvd_Q", "tvd_mi"),
    "judge_with_context": ("calls_done_judge_with_context", "judge_with_context"),
    "judge_without_context": ("calls_done_judge_without_context", "judge_without_context"),
}


def is_layout(root: Path) -> bool:
    """Whether the folder has this layout."""
    return (root / "meta.json").is_file() and (root / "matrices").is_dir()


def domains(root: Path) -> list[tuple[str, str | None]]:
    """(domain, attack) of every recorded matrix file, sorted; clean runs first."""
    found = []
    for file in (root / "matrices").glob("*.npz"):
        domain, _, attack = file.stem.partition("__")
        found.append((domain, attack or None))
    return sorted(found, key=lambda pair: (pair[0], pair[1] or ""))


def read(root: Path, domain: str, attack: str | None) -> ReleasedDomain:
    """One domain of this layout.

    Raises:
        DataError: a file is missing, damaged, or its arrays do not fit together.
    """
    meta = _meta(root)
    key = domain if attack is None else f"{domain}__{attack}"
    entry: Mapping[str, Any] = meta.get("domains", {}).get(key, {})
    file = root / str(entry.get("npz", f"matrices/{key}.npz"))
    agents, task = _agents(root, meta, domain, entry.get("task"))
    arrays = _load(file)
    ids, order = _items(arrays, file)
    values = {name: _pairs(arrays, name, order, len(agents), file) for name in _PAIRS}
    base, tokens, gppm = (
        _rows(arrays, name, order.get("log"), len(agents), file) for name in _AGENT_ARRAYS
    )
    return ReleasedDomain(
        domain=domain,
        attack=attack,
        layout="parquet",
        task=task,
        task_description=str(entry.get("task_description", "")),
        agents=agents,
        item_ids=ids,
        load_texts=partial(read_texts, root, domain, tuple(a.name for a in agents)),
        logp_base=base,
        tokens=tokens,
        gppm_released=None if gppm is None else -gppm,
        calls_done=_calls(arrays, order, file),
        source_files=_sources(entry, file.relative_to(root)),
        **values,
    )


def read_texts(root: Path, domain: str, names: tuple[str, ...]) -> ReleasedTexts:
    """Sources, references and clean responses of a domain (attacked texts are not stored).

    Only items with at least one response are kept, unless the domain has none at all.

    Raises:
        DataError: a parquet file is missing or damaged, or an item has no source.
    """
    items = _parquet(root / "items.parquet", domain)
    responses = _parquet(root / "responses.parquet", domain)
    position = {name: index for index, name in enumerate(names)}
    texts: dict[int, list[str | None]] = {}
    columns = zip(responses["item_id"], responses["agent"], responses["response"], strict=True)
    for item_id, agent, text in columns:
        if agent in position and isinstance(text, str):
            texts.setdefault(int(item_id), [None] * len(names))[position[agent]] = text
    sources = {
        int(i): (source, reference)
        for i, source, reference in zip(
            items["item_id"], items["source"], items["reference"], strict=True
        )
    }
    lost = sorted(set(texts) - set(sources))
    if lost:
        raise DataError(
            f"{root / 'items.parquet'} lacks the source of item {lost[0]} of {domain} "
            f"({len(lost)} in all) that responses.parquet answers: fetch both files again."
        )
    kept = sorted(texts) or sorted(sources)
    return ReleasedTexts(
        items=tuple(
            Item(
                id=str(i),
                source=sources[i][0],
                reference=sources[i][1] if isinstance(sources[i][1], str) else None,
            )
            for i in kept
        ),
        responses=tuple(tuple(texts.get(i, ())) for i in kept),
    )


def _meta(root: Path) -> Mapping[str, Any]:
    path = root / "meta.json"
    try:
        loaded: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as cause:
        raise DataError(f"{path} is not readable JSON ({cause}): fetch it again.") from cause
    if not isinstance(loaded, dict):
        raise DataError(f"{path} holds no JSON object: fetch it again.")
    return loaded


def _agents(
    root: Path, meta: Mapping[str, Any], domain: str, task: str | None
) -> tuple[tuple[Agent, ...], str]:
    """Agents in matrix order: from meta.json, else from the responses."""
    rows: list[Mapping[str, Any]] = list(meta.get("agents", {}).get(domain, []))
    if not rows:
        frame = _parquet(root / "responses.parquet", domain)
        unique = frame.drop_duplicates("agent_index").sort_values("agent_index")
        rows = [{"name": str(name)} for name in unique["agent"]]
    if not rows:
        raise DataError(
            f"{root / 'meta.json'} lists no agents of domain {domain!r} and responses.parquet has "
            f"none: the domains there are {', '.join(meta.get('agents', {})) or 'none'}."
        )
    task = task or taxonomy.task_of(str(row["name"]) for row in rows)
    return tuple(_agent(row, task) for row in rows), task


def _agent(row: Mapping[str, Any], task: str) -> Agent:
    name = str(row["name"])
    category = row.get("category_code") or taxonomy.category(task, name)
    meta = {
        "category_paper": row.get("category_paper") or taxonomy.paper_category(task, name),
        "strategy": row.get("strategy_prompt"),
        "reading": row.get("reading_prompt"),
    }
    return Agent(
        name=name,
        category=str(category),
        reference=name == "Reference",
        meta={key: str(value) for key, value in meta.items() if value},
    )


def _load(file: Path) -> Mapping[str, np.ndarray[Any, Any]]:
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


def _items(
    arrays: Mapping[str, np.ndarray[Any, Any]], file: Path
) -> tuple[dict[str, IntArray], dict[str, IntArray]]:
    """Per run: item ids in increasing order, and where each stands in the stored arrays."""
    ids: dict[str, IntArray] = {}
    order: dict[str, IntArray] = {}
    for table in TABLES:
        stored = arrays.get(f"item_ids_{_SHORT.get(table, table)}")
        if stored is None:
            continue
        unique, first = np.unique(np.asarray(stored, dtype=np.int64), return_index=True)
        if len(unique) != len(stored):
            raise DataError(f"{file}: an item id of {table} occurs twice; fetch the file again.")
        ids[table], order[table] = unique, first
    return ids, order


def _pairs(
    arrays: Mapping[str, np.ndarray[Any, Any]],
    name: str,
    order: Mapping[str, IntArray],
    agents: int,
    file: Path,
) -> FloatArray | None:
    stored = arrays.get(name)
    rows = order.get(_PAIRS[name])
    if stored is None and rows is None:
        return None
    if stored is None or rows is None:
        missing = name if stored is None else f"item_ids_{_SHORT.get(_PAIRS[name], _PAIRS[name])}"
        raise DataError(f"{file} lacks the array {missing}: fetch the file again.")
    _check(stored, (len(rows), agents, agents), name, file)
    return without_diagonal(np.asarray(stored, dtype=np.float64)[rows])


def _rows(
    arrays: Mapping[str, np.ndarray[Any, Any]],
    name: str,
    order: IntArray | None,
    agents: int,
    file: Path,
) -> FloatArray | None:
    if order is None:
        return None
    if name not in arrays:
        raise DataError(f"{file} lacks the array {name}: fetch the file again.")
    _check(arrays[name], (len(order), agents), name, file)
    return np.asarray(arrays[name], dtype=np.float64)[order]


def _calls(
    arrays: Mapping[str, np.ndarray[Any, Any]], order: Mapping[str, IntArray], file: Path
) -> dict[str, IntArray]:
    done = {}
    for name, (stored, table) in _CALLS.items():
        if table not in order:
            continue
        if stored not in arrays:
            raise DataError(f"{file} lacks the array {stored}: fetch the file again.")
        _check(arrays[stored], order[table].shape, stored, file)
        done[name] = np.asarray(arrays[stored], dtype=np.int64)[order[table]]
    return done


def _check(array: np.ndarray[Any, Any], shape: tuple[int, ...], name: str, file: Path) -> None:
    if array.shape != shape:
        raise DataError(
            f"{file}: {name} has shape {array.shape}, but its item ids and the agents of "
            f"meta.json ask for {shape}: the files are of different releases."
        )


def _sources(entry: Mapping[str, Any], file: Path) -> tuple[str, ...]:
    return (str(file), *(str(source) for source in entry.get("source_files", {}).values()))


def _parquet(path: Path, domain: str) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_parquet(path, filters=[("domain", "==", domain)])
    except (OSError, ValueError) as cause:
        raise DataError(f"{path} cannot be read ({cause}): fetch it again.") from cause
