"""Writes the first items of a released domain again, as a clone of the repository or an export."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgelab.core.panel import Panel

RUNS = {
    "tvd": ("tvd_mi_individual_examples", "tvd_mi_example", "tvd_mi", "tvd_mi_matrix"),
    **{
        run: (f"llm_{how}_individual_examples", f"{run}_example", run, "win_matrix")
        for run, how in (
            ("judge_with_context", "context"),
            ("judge_without_context", "without_context"),
        )
    },
}

Arrays = dict[str, NDArray[Any]]


def arrays(export: Path, key: str, items: int) -> Arrays:
    """The stored arrays of ``domain[__attack]``, cut to item ids below ``items``."""
    with np.load(export / "matrices" / f"{key}.npz") as stored:
        loaded = {name: stored[name] for name in stored.files}
    owner = {"log": "item_ids_log", **{run: f"item_ids_{run}" for run in RUNS}}
    cut = {}
    for name, values in loaded.items():
        run = next((r for r in (*RUNS, "log") if r in name and r != "log"), "log")
        run = "tvd" if "response_chars" in name else run
        cut[name] = values[loaded[owner[run]] < items]
    return cut


def write_export(target: Path, source: Path, keys: Sequence[str], items: int) -> None:
    """A smaller export."""
    (target / "matrices").mkdir(parents=True)
    meta = json.loads((source / "meta.json").read_text())
    meta["domains"] = {key: meta["domains"][key] for key in keys}
    (target / "meta.json").write_text(json.dumps(meta))
    for key in keys:
        stored = arrays(source, key, items)
        np.savez_compressed(target / "matrices" / f"{key}.npz", **stored)  # type: ignore[arg-type]
    for name in ("items", "responses"):
        frame = pd.read_parquet(source / f"{name}.parquet")
        frame[frame["item_id"] < items].to_parquet(target / f"{name}.parquet")


def write_clone(target: Path, source: Path, panels: Mapping[str, Panel], items: int) -> None:
    """A clone with the domains of ``panels`` (key -> texts)."""
    meta = json.loads((source / "meta.json").read_text())
    for key, panel in panels.items():
        entry = meta["domains"][key]
        names = [agent.name for agent in panel.agents]
        folder = target / entry["source_dir"]
        stored = arrays(source, key, items)
        _write_log(folder / "log_individual_examples", stored, names, panel)
        for run in RUNS:
            _write_run(folder, run, stored, names, entry)
    frame = pd.read_parquet(source / "items.parquet")
    for path, rows in frame.groupby("source_path"):
        ordered = rows.sort_values("item_id")
        columns = ordered[["source", "reference"]].rename(columns={"source": "input"})
        dump(target / str(path), columns.to_dict("records"))


def _write_log(folder: Path, stored: Arrays, names: list[str], panel: Panel) -> None:
    texts = {item.id: row for item, row in zip(panel.items, panel.texts, strict=True)}
    for row, item in enumerate(stored["item_ids_log"].tolist()):
        counts = stored["token_counts"][row].tolist()
        used = stored["token_counts_used_by_released_gppm"][row].tolist()
        values = {
            "example_idx": item,
            "translations": list(texts[str(item)]),
            "condition_keys": names,
            "logp_base": stored["logp_base"][row].tolist(),
            "logp_cond": stored["logp_cond"][row].tolist(),
            "gppm_normalized": stored["gppm_normalized_released"][row].tolist(),
            # A worker's list grows: its first item's counts stand before this item's.
            "token_counts": counts if counts == used else used + counts,
        }
        dump(folder / f"peer_prediction_example_{item}.json", values)


def _write_run(
    folder: Path, run: str, stored: Arrays, names: list[str], entry: Mapping[str, Any]
) -> None:
    name, stem, array, field = RUNS[run]
    for row, item in enumerate(stored[f"item_ids_{run}"].tolist()):
        if run == "tvd":
            counts = {
                "num_p_comparisons": int(stored["calls_done_tvd_P"][row]),
                "num_q_comparisons": int(stored["calls_done_tvd_Q"][row]),
            }
            told = {}
        else:
            counts = {"total_comparisons": int(stored[f"calls_done_{run}"][row])}
            told = {"task_description": entry["task_description"]}
        values = {
            "example_idx": item,
            "condition_keys": names,
            field: stored[array][row].tolist(),
            "metadata": {**counts, "cached_count": 0},
            **told,
        }
        dump(folder / name / f"{stem}_{item}.json", values)


def dump(path: Path, values: object) -> None:
    """Write JSON, making the folders on the way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))
