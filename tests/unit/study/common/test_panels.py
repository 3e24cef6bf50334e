"""Records: everything that was measured, once, and enough to redo the statistics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judgelab.mechanism.mi import Mi
from judgelab.report.jobs import SweepJob
from judgelab.study.common.panels import measurement_records
from judgelab.study.common.sweeps import prompt_effects
from tests.scripted import ScriptedLogProb, panel_of

LM = ScriptedLogProb(lambda context, target: -float(len(context) + 2 * len(target)))


def test_pair_measurements_leave_out_the_diagonal_and_keep_the_marginals() -> None:
    panel = panel_of([["a b", "c", "d e f"], ["g", "h i", None]])
    data = Mi().measure(panel, LM, seed=0)
    table = measurement_records(data)
    assert len(table) == 2 * 3 * 2
    assert {"item", "agent", "peer", "conditional", "marginal", "tokens"} == set(table.columns)
    cell = table[(table.item == "i0") & (table.agent == "a2") & (table.peer == "a0")].iloc[0]
    assert cell.conditional == data["conditional"].values[0, 2, 0]
    assert cell.marginal == data["marginal"].values[0, 2]
    assert table[table.agent == "a2"].conditional.isna().sum() == 2  # the absent text


ITEMS, AGENTS = [f"i{k}" for k in range(12)], ["a", "b"]


def job(folder: Path, words: str, scores: np.ndarray, **more: str) -> SweepJob:
    run = folder / "-".join([words, *more.values()])
    (run / "records").mkdir(parents=True)
    cells = [(item, agent) for item in ITEMS for agent in AGENTS]
    rows = pd.DataFrame(cells, columns=["item", "agent"]).assign(score=scores.ravel())
    rows.sample(frac=1, random_state=len(words)).to_parquet(run / "records/clean_scores.parquet")
    choices = {"prompts": words, **more}
    given = tuple(f"{key}={value}" for key, value in choices.items())
    result: dict[str, Any] = {"summary": {"mechanism": "gem"}, "notes": []}
    return SweepJob(0, given, choices, run, result, None)


def test_the_change_is_that_of_the_items_whatever_their_order(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    ours = rng.normal(size=(12, 2))
    change = rng.normal(0.5, 0.1, size=(12, 2))
    theirs = ours + change
    theirs[3] = np.nan
    jobs = [job(tmp_path, "ours", ours), job(tmp_path, "authors", theirs)]
    [made] = prompt_effects(jobs)
    [row] = made.rows.to_dict("records")
    kept = np.delete(change, 3, axis=0).mean(axis=1)
    assert row["value"] == pytest.approx(kept.mean())
    assert row["low"] < kept.mean() < row["high"]
    assert (row["n"], row["unscored"]) == (11, 2)
    [again] = prompt_effects(jobs[::-1])
    assert again.rows.equals(made.rows)


def test_runs_that_differ_in_more_are_no_pair(tmp_path: Path) -> None:
    scores = np.arange(24.0).reshape(12, 2)
    ours = job(tmp_path, "ours", scores, mechanism="gem")
    theirs = job(tmp_path, "authors", scores, mechanism="gem_s")
    assert prompt_effects([ours, theirs]) == []
    mine = job(tmp_path, "authors", scores + 1, mechanism="gem")
    [made] = prompt_effects([ours, theirs, mine])
    assert made.rows["value"].tolist() == [1.0]
