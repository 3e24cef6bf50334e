"""Tables of scores, and studies of them, for the tests of rankings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgelab.config import resolved
from judgelab.config.composing import composed
from judgelab.core.result import Result
from judgelab.engine.context import Context, build_parts
from judgelab.report.format import frame
from judgelab.store.run_dir import RunDir

SMALL = ("study.bootstrap=200", "study.pairs=20", "study.evaluations=20")


def outcome(folder: Path, *overrides: str) -> Result:
    """What the study of these overrides finds, without a page."""
    parts = build_parts(resolved(composed([*overrides, "tracker=none"])))
    return parts.study.run(Context.of(parts, run_dir=RunDir(folder / "run"), seed=0, limit=None))


def context_of(folder: Path, limit: int | None = None) -> Context:
    """The context of the default parts, for studies that measure nothing."""
    parts = build_parts(resolved(composed(["study=plan"])))
    return Context.of(parts, run_dir=RunDir(folder), seed=0, limit=limit)


def finished(folder: Path, result: Result) -> RunDir:
    """The run of ``outcome`` in this folder, with its result and DONE."""
    run = RunDir(folder / "run")
    run.write_json("result.json", result.to_json())
    run.finish()
    return run


def tables(result: Result) -> dict[str, pd.DataFrame]:
    return {table["name"]: frame(table) for table in result.to_json()["tables"]}  # type: ignore[attr-defined]


def scores(
    folder: Path,
    systems: int = 7,
    items: int = 60,
    sign: float = 1.0,
    slope: float = 0.0,
    **columns: Any,
) -> tuple[str, pd.DataFrame]:
    """A score table: judge = 2 human + bias of the system + noise, + slope x number of the system;
    ``columns`` are functions of it, or values."""
    generator = np.random.default_rng(5)
    quality, bias = np.linspace(0, 0.6, systems), generator.normal(0, 0.15, systems)
    rows = [
        {"item": f"i{i}", "system": f"s{s}", "human": h, "metric": sign * 2 * (h + bias[s] + e)}
        for i in range(items)
        for s in range(systems)
        for h, e in [(quality[s] + generator.normal(0, 0.5), generator.normal(0, 0.8))]
    ]
    table = pd.DataFrame(rows)
    table["metric"] += slope * table["system"].str[1:].astype(float)
    table = table.assign(**columns)
    table.loc[3, "metric"] = np.nan
    path = folder / "scores.csv"
    table.to_csv(path, index=False)
    return str(path), table


def table_study(path: str, *more: str) -> list[str]:
    return [
        "study=ranking_confidence",
        "dataset=table",
        "dataset.judges=[metric]",
        "mechanism=recorded_scores",
        f"dataset.path={path}",
        *more,
        *SMALL,
    ]
