"""The recorded exams of Auto-PRE as answers of each judge, item by item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judgelab.core.parse_reply import read_choice
from judgelab.releases.auto_pre.recorded import CHOICES, AutoPreRecords

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

LEVELS = {
    "null": ("null", "low", "medium", "high", "expert"),
    "doubtful": ("doubtful", "uncertain", "moderate", "confident", "absolute"),
}
"""Prompt of the exam in words -> its labels, least confident first."""

WAYS = (("prob", "prompt1"), ("direct", "null"), ("prob", "prompt2"), ("direct", "doubtful"))
"""Method and prompt, in the order in which the paper prefers them."""


def changes(data: AutoPreRecords, judge: str) -> tuple[Floats, Floats]:
    """[items, pairs] twice: did the pair's first answer win, shown first and shown second?"""
    first, second = data.pairs.T
    cells = data.read[judge]
    return cells[:, first, second], 1 - cells[:, second, first]


def pertinence(
    data: AutoPreRecords, judge: str, relevant: str, irrelevant: str, prompt: int
) -> Floats:
    """[items, 2] 1 where the relevant answer was preferred, shown first and second.

    NaN where nothing was recorded or the reply names neither. Replies that were kept are read
    anew, by their first label; a repeated run counts only where there is no other.
    """
    rows = data.pertinence
    mine = rows[
        (rows["evaluator"] == judge)
        & (rows["L1_RA"] == relevant)
        & (rows["L2_IA"] == irrelevant)
        & (rows["prompt"] == prompt)
    ]
    if "old_run" in mine:
        mine = mine.sort_values("old_run", ascending=False, kind="stable")
    mine = mine[mine["task_id"].isin(data.tasks)]
    said = mine["response"].astype(str) if "response" in mine else [""] * len(mine)
    cells = np.full((len(data.tasks), 2), np.nan)
    for task, first, text, result in zip(
        mine["task_id"], mine["ra_first"], said, mine["result_stored"], strict=True
    ):
        label = read_choice(text, CHOICES)
        won = CHOICES[label] if label else (1 - result) / 2 if result and not text else np.nan
        cells[data.tasks.index(int(task)), 0 if first else 1] = won if first else 1 - won
    return cells


def confidence(
    data: AutoPreRecords, judge: str, way: str | None = None
) -> tuple[Floats, Floats, str] | None:
    """[items, 2] on the easy and on the hard set, and how it was asked; None without data.

    ln p of the emitted label, or a level from 1 to 5. NaN where there was none.

    Args:
        data: the dataset.
        judge: whose.
        way: method and prompt, "prob, prompt1"; None: the judge's first one of ``WAYS``.
    """
    rows = data.confidence
    mine = rows[rows["evaluator"] == judge]
    for method, prompt in WAYS:
        if way not in (None, f"{method}, {prompt}"):
            continue
        part = mine[(mine["method"] == method) & (mine["prompt"] == prompt)]
        if not len(part):
            continue
        if "old_run" in part and not part["old_run"].all():
            part = part[~part["old_run"]]
        values = _probability(part["p_output"]) if method == "prob" else _levels(part, prompt)
        sets = [
            _by_item(part, values, part["set"].astype(str).to_numpy() == name, data.tasks)
            for name in ("easy", "hard")
        ]
        return sets[0], sets[1], f"{method}, {prompt}"
    return None


def _probability(column: object) -> Floats:
    p = np.array(column, dtype=np.float64)
    if np.nanmax(p, initial=0.0) > 1:
        p = p / 100  # the files of hosted models hold per cent
    with np.errstate(divide="ignore"):
        found = np.log(p)
    return np.where(np.isfinite(found), found, np.nan)


def _levels(rows: pd.DataFrame, prompt: str) -> Floats:
    labels = LEVELS[prompt]
    if "response" not in rows:
        stored = rows["level_stored"].to_numpy(np.float64, na_value=np.nan)
        return np.where(stored > 0, stored, np.nan)
    said = [read_choice(text, labels, "last") for text in rows["response"].astype(str)]
    return np.array([labels.index(one) + 1.0 if one else np.nan for one in said])


def _by_item(
    rows: pd.DataFrame, values: Floats, wanted: NDArray[np.bool_], tasks: Sequence[int]
) -> Floats:
    import pandas as pd

    cells = np.full((len(tasks), 2), np.nan)
    place = pd.Index(tasks).get_indexer(pd.Index(rows["task_id"]))
    order = rows["swapped"].to_numpy(np.int64)
    known = wanted & (place >= 0)
    cells[place[known], order[known]] = values[known]
    return cells
