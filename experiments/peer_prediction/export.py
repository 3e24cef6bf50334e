"""The authors' release as tables: meta.json, items.parquet, responses.parquet, matrices/*.npz."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.peer_prediction.domain import (
    ARRAYS,
    CALLS,
    RUNS,
    Domain,
    IntArray,
    released_agent,
    task_of,
    with_arrays,
)
from experiments.peer_prediction.folders import load_json
from judgelab.core.errors import DataError
from judgelab.core.panel import Agent, Item, Texts

NpArray = np.ndarray[Any, Any]
TOLD = {
    "category": "category_code",
    "category_paper": "category_paper",
    "strategy": "strategy_prompt",
    "reading": "reading_prompt",
}


def domains(root: Path) -> list[tuple[str, str | None]]:
    """(domain, attack) of every recorded matrix file."""
    parts = [file.stem.partition("__") for file in (root / "matrices").glob("*.npz")]
    return [(domain, attack or None) for domain, _, attack in parts]


def read(root: Path, domain: str, attack: str | None) -> Domain:
    """One domain of this layout."""
    meta = load_json(root / "meta.json")
    if not isinstance(meta, dict):
        raise DataError(f"{root / 'meta.json'} holds no JSON object: fetch it again.")
    key = domain if attack is None else f"{domain}__{attack}"
    entry: Mapping[str, Any] = meta.get("domains", {}).get(key, {})
    agents, task = _agents(root, meta, domain, entry.get("task"))
    texts = partial(read_texts, root, domain, tuple(agent.name for agent in agents))
    data = Domain(domain, attack, task, str(entry.get("task_description", "")), agents, texts)
    file = root / str(entry.get("npz", f"matrices/{key}.npz"))
    return with_arrays(data, *_arrays(file, len(agents)))


def _arrays(file: Path, agents: int) -> tuple[dict[str, IntArray], dict[str, NpArray]]:
    """Run -> item ids, and name -> array, of one file, in the order of item ids."""
    content = _load(file)
    ids: dict[str, IntArray] = {}
    order: dict[str, NpArray] = {}
    keys = {run: f"item_ids_{'tvd' if run == 'tvd_mi' else run}" for run in RUNS}
    for run, key in keys.items():
        if key in content:
            numbers = np.asarray(content[key], dtype=np.int64)
            ids[run], order[run] = np.unique(numbers, return_index=True)
            if len(ids[run]) != len(numbers):
                raise DataError(f"{file}: an item id of {run} occurs twice; fetch the file again.")
    arrays = {}
    for one in (*ARRAYS, *CALLS):
        if one.run not in order and one.npz not in content:
            continue
        for key in (one.npz, keys[one.run]):
            if key not in content:
                raise DataError(f"{file} lacks the array {key}: fetch the file again.")
        array, shape = content[one.npz], (len(order[one.run]), *[agents] * one.axes)
        if array.shape != shape:
            raise DataError(
                f"{file}: {one.npz} has shape {array.shape}, but its item ids and the agents of "
                f"meta.json ask for {shape}: the files are of different releases."
            )
        arrays[one.name] = array[order[one.run]]
    return ids, arrays


def _load(file: Path) -> Mapping[str, NpArray]:
    if not file.is_file():
        raise DataError(f"{file} is missing: this domain has no recorded scores in the folder.")
    try:
        # numpy leaves a file open that it cannot read, so it is opened here.
        with file.open("rb") as handle, np.load(handle, allow_pickle=False) as content:
            return {name: content[name] for name in content.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as cause:
        raise DataError(f"{file} is damaged ({cause}): fetch it again.") from cause


def read_texts(root: Path, domain: str, names: tuple[str, ...]) -> tuple[tuple[Item, ...], Texts]:
    """Sources, references and clean responses of a domain (attacked texts are not stored).

    Only items with at least one response are kept, unless the domain has none at all.
    """
    items = _parquet(root / "items.parquet", domain)
    responses = _parquet(root / "responses.parquet", domain)
    sources = items.set_index("item_id")[["source", "reference"]]
    of_agents = responses[responses["agent"].isin(names)]
    texts = of_agents.pivot_table(
        index="item_id", columns="agent", values="response", aggfunc="last", observed=True
    ).reindex(columns=list(names))
    absent = texts.index.difference(sources.index)
    if len(absent):
        raise DataError(
            f"{root / 'items.parquet'} lacks the source of item {absent[0]} of {domain} "
            f"({len(absent)} in all) that responses.parquet answers: fetch both files again."
        )
    ids = sources.index.sort_values() if texts.empty else texts.index
    rows = texts.itertuples(index=False, name=None)
    return tuple(
        Item(id=str(name), source=source, reference=_text(reference))
        for name, source, reference in sources.loc[ids].itertuples(name=None)
    ), ((),) * len(ids) if texts.empty else tuple(tuple(map(_text, row)) for row in rows)


def _text(cell: object) -> str | None:
    return cell if isinstance(cell, str) else None


def _agents(
    root: Path, meta: Mapping[str, Any], domain: str, task: str | None
) -> tuple[tuple[Agent, ...], str]:
    """Agents in matrix order."""
    by_domain: Mapping[str, list[Mapping[str, Any]]] = meta.get("agents", {})
    if not (rows := by_domain.get(domain, [])):
        raise DataError(
            f"{root / 'meta.json'} lists no agents of domain {domain!r}: the domains there are "
            f"{', '.join(by_domain) or 'none'}."
        )
    task = task or task_of(str(row["name"]) for row in rows)
    agents = tuple(
        released_agent(str(row["name"]), task, **{key: row.get(name) for key, name in TOLD.items()})
        for row in rows
    )
    return agents, task


def _parquet(path: Path, domain: str) -> pd.DataFrame:
    try:
        return pd.read_parquet(path, filters=[("domain", "==", domain)])
    except (OSError, ValueError) as cause:
        raise DataError(f"{path} cannot be read ({cause}): fetch it again.") from cause
