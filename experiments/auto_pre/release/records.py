"""What the authors of Auto-PRE released, as arrays: annotations, verdicts, grades and exams.

From the authors' repository or from its parquet export, a file for each table. Every dataset of an
export is read; none needs to be known by name, and texts of some were not released.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.auto_pre.release import judges, texts
from experiments.repositories import AUTO_PRE
from judgelab.core.errors import DataError, did_you_mean
from judgelab.core.reply import read_choice

Floats = NDArray[np.float64]
VERDICTS = "verdict_pairwise"

NEEDED: Mapping[str, tuple[str, ...]] = {
    VERDICTS: ("dataset", "evaluator", "task_id", "first", "second", "verdict", "label"),
    "score_pointwise": ("dataset", "format", "evaluator", "task_id", "model", "score"),
    "gold_pairs": ("dataset", "task_id", "a", "b", "gold"),
    "human_pointwise": ("dataset", "task_id", "model", "median"),
    "exam_pertinence": (
        *("dataset", "L1_RA", "L2_IA", "prompt", "evaluator", "task_id", "ra_first"),
        "result_stored",
    ),
    "exam_self_confidence": (
        *("dataset", "method", "prompt", "evaluator", "set", "task_id", "swapped"),
        *("p_output", "level_stored"),
    ),
    "items": ("dataset", "task_id", "source"),
    "answers": ("dataset", "task_id", "model", "task_prompt", "answer"),
}
"""Table -> columns that are read without asking."""

FROM_CLONE: Mapping[str, Callable[[Path], pd.DataFrame]] = {
    VERDICTS: judges.verdicts,
    "score_pointwise": judges.grades,
    "gold_pairs": texts.gold,
    "human_pointwise": texts.pointwise,
    "exam_pertinence": judges.pertinence,
    "exam_self_confidence": judges.self_confidence,
    "items": texts.items,
    "answers": texts.answers,
}
"""Table -> how the authors' repository gives it."""

CHOICES = {"one": 1.0, "two": 0.0, "tie": 0.5}
"""What a reply may say -> did the answer shown first win."""

LEVELS = {
    "null": ("null", "low", "medium", "high", "expert"),
    "doubtful": ("doubtful", "uncertain", "moderate", "confident", "absolute"),
}
"""Prompt of the self-confidence exam in words -> its labels, least confident first."""

WAYS = (("prob", "prompt1"), ("direct", "null"), ("prob", "prompt2"), ("direct", "doubtful"))
"""Method and prompt of that exam, in the order in which the paper prefers them."""


@dataclass(frozen=True)
class AutoPreRecords:
    """One dataset of the release. Verdicts are those of the judge who was shown an answer first."""

    name: str  # as the release calls it
    tasks: tuple[int, ...]  # numbers of the items, ascending
    agents: tuple[str, ...]  # who wrote the answers that people judged
    # [items, agents, agents] 1 where people prefer the row's answer, -1 the column's, 0 undecided,
    # NaN not asked
    gold: Floats
    human: Floats  # [items, agents] median grade; NaN where there is none
    # judge -> [items, agents, agents] as released: 1 where the row's answer, shown first, was
    # preferred to the column's, 0 where not, .5 where neither was chosen; NaN where nothing was
    # recorded
    verdict: Mapping[str, Floats]
    # the same, with replies that were kept read as whole words (the release looks for "one" and
    # "two" anywhere, also inside "mention"), and NaN wherever the reply named neither answer nor a
    # tie
    readable: Mapping[str, Floats]
    # format -> judge -> [items, agents]; NaN where no number was read
    grades: Mapping[str, Mapping[str, Floats]]
    # rows of the exam, as released; empty where there is none
    pertinence: pd.DataFrame = field(repr=False)
    # rows of the exam, as released; empty where there is none
    confidence: pd.DataFrame = field(repr=False)

    @property
    def pairs(self) -> NDArray[np.int64]:
        """[pairs, 2] agents of every unordered pair, in the order of the agents."""
        first, second = np.triu_indices(len(self.agents), 1)
        return np.stack([first, second], axis=1).astype(np.int64)

    def truth(self) -> Floats:
        """[items, pairs] people's preference on ``pairs``."""
        return np.asarray(self.gold[:, self.pairs[:, 0], self.pairs[:, 1]])


def read_table(path: str | Path, key: str) -> pd.DataFrame:
    """One of the tables, whichever layout the folder has.

    Raises:
        DataError: a file is missing or damaged, or a table lacks a column.
    """
    folder = Path(path).expanduser()
    if AUTO_PRE.layout(folder) == "clone":
        return _from_clone(folder, key)
    return _from_file(folder / f"{key}.parquet", key)


@lru_cache(maxsize=16)
def _from_clone(clone: Path, key: str) -> pd.DataFrame:
    table = FROM_CLONE[key](clone)
    return table if len(table) else table.reindex(columns=[*NEEDED.get(key, ())])


@lru_cache(maxsize=16)
def _from_file(file: Path, key: str) -> pd.DataFrame:
    try:
        table = pd.read_parquet(file)
    except (OSError, ValueError) as cause:
        raise DataError(
            f"{str(file)!r} cannot be read: give a clone of {AUTO_PRE.address}, or a folder with "
            f"{', '.join(sorted(NEEDED))} as parquet files."
        ) from cause
    absent = [column for column in NEEDED.get(key, ()) if column not in table.columns]
    if absent:
        raise DataError(f"{str(file)!r} has no column {absent[0]!r}: is it the right file?")
    return table


def list_datasets(path: str | Path) -> tuple[str, ...]:
    """Names of the datasets with verdicts.

    Raises:
        DataError: the folder does not hold the release.
    """
    return tuple(map(str, read_table(path, VERDICTS)["dataset"].unique()))


def read_dataset(path: str | Path, name: str) -> AutoPreRecords:
    """One dataset.

    Raises:
        DataError: there is no such dataset, or a table is missing or damaged.
    """
    names = list_datasets(path)
    if name not in names:
        raise DataError(f"{path} has no dataset {name!r}.{did_you_mean(name, names)}")
    rows = {key: _rows(path, key, name) for key in NEEDED if key not in ("items", "answers")}
    gold, human, verdicts = rows["gold_pairs"], rows["human_pointwise"], rows[VERDICTS]
    agents = _agents(gold, human, verdicts)
    tasks = tuple(sorted(set(map(int, verdicts["task_id"])) | set(map(int, gold["task_id"]))))
    preferred = _placed(gold, gold["gold"], task_id=tasks, a=agents, b=agents)
    return AutoPreRecords(
        name,
        tasks,
        agents,
        np.where(np.isnan(preferred), -np.swapaxes(preferred, 1, 2), preferred),
        _placed(human, human["median"], task_id=tasks, model=agents),
        *_verdicts(verdicts, tasks, agents),
        _grades(rows["score_pointwise"], tasks, agents),
        rows["exam_pertinence"],
        rows["exam_self_confidence"],
    )


def read_texts(path: str | Path, name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of items and of answers of one dataset; both empty where no text was released."""
    return _rows(path, "items", name), _rows(path, "answers", name)


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
    replies = mine["response"].astype(str) if "response" in mine else [""] * len(mine)
    won = []
    for text, result in zip(replies, mine["result_stored"], strict=True):
        label = read_choice(text, CHOICES)
        # a result of 0 is a reply that the release could not read
        won.append(CHOICES[label] if label else (1 - result) / 2 if result and not text else np.nan)
    values = np.where(mine["ra_first"], won, 1 - np.array(won, dtype=np.float64))
    return _placed(mine, values, task_id=data.tasks, ra_first=(True, False))


def confidence(
    data: AutoPreRecords, judge: str, way: str | None = None
) -> tuple[Floats, Floats, str] | None:
    """[items, 2] on the easy and on the hard set, and how it was asked; None without data.

    ln p of the emitted label, or a level from 1 to 5. NaN where there was none.

    Args:
        way: method and prompt, "prob, prompt1"; None: the judge's first one of ``WAYS``.
    """
    mine = data.confidence[data.confidence["evaluator"] == judge]
    for method, prompt in WAYS:
        part = mine[(mine["method"] == method) & (mine["prompt"] == prompt)]
        if way not in (None, f"{method}, {prompt}") or not len(part):
            continue
        if "old_run" in part and not part["old_run"].all():
            part = part[~part["old_run"]]
        values = _probability(part["p_output"]) if method == "prob" else _levels(part, prompt)
        part = part.assign(swapped=part["swapped"].astype(np.int64))
        easy, hard = _placed(part, values, set=("easy", "hard"), task_id=data.tasks, swapped=(0, 1))
        return easy, hard, f"{method}, {prompt}"
    return None


def _probability(column: object) -> Floats:
    p = np.array(column, dtype=np.float64)
    if np.nanmax(p, initial=0.0) > 1:
        p = p / 100  # the files of hosted models hold per cent
    with np.errstate(divide="ignore"):
        nats = np.log(p)
    return np.where(np.isfinite(nats), nats, np.nan)


def _levels(rows: pd.DataFrame, prompt: str) -> Floats:
    labels = LEVELS[prompt]
    if "response" not in rows:
        numbers = rows["level_stored"].to_numpy(np.float64, na_value=np.nan)
        return np.where(numbers > 0, numbers, np.nan)
    names = [read_choice(text, labels, "last") for text in rows["response"].astype(str)]
    return np.array([labels.index(one) + 1.0 if one else np.nan for one in names])


def _placed(rows: pd.DataFrame, values: object, **axes: Sequence[Any]) -> Floats:
    """[one axis for each column] the rows' values; NaN elsewhere, the last of several counts.

    Args:
        axes: column -> what stands along its axis; rows with anything else are left out.
    """
    places = [pd.Index(along).get_indexer(pd.Index(rows[name])) for name, along in axes.items()]
    inside = np.all([place >= 0 for place in places], axis=0)
    array = np.full([len(along) for along in axes.values()], np.nan)
    numbers = pd.Series(values).to_numpy(np.float64, na_value=np.nan)
    array[tuple(place[inside] for place in places)] = numbers[inside]
    return array


def _agents(gold: pd.DataFrame, human: pd.DataFrame, verdicts: pd.DataFrame) -> tuple[str, ...]:
    """Those of annotated pairs, in their order; else those graded by people; else all judged."""
    if len(gold):
        return tuple(dict.fromkeys(map(str, [*gold["a"], *gold["b"]])))
    listed = human["model"] if len(human) else verdicts["first"]
    return tuple(map(str, listed.unique()))


def _verdicts(
    rows: pd.DataFrame, tasks: Sequence[int], agents: Sequence[str]
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """``verdict`` and ``readable`` of ``AutoPreRecords``."""
    released = (rows["verdict"].astype(np.float64) + 1) / 2
    # without labels a tie looks like an unreadable reply
    neither, label = rows["verdict"] == 0, rows["label"].astype(str)
    readable = released.mask(neither & ~label.isin(["tie", ""]), np.nan)
    if "raw_text" in rows:
        whole = rows["raw_text"].notna()
        labels = [read_choice(text, CHOICES) for text in rows.loc[whole, "raw_text"]]
        readable[whole] = np.array([CHOICES.get(one or "", np.nan) for one in labels], np.float64)
    by_judge = rows.groupby("evaluator", observed=True).groups

    def placed(values: pd.Series) -> dict[str, Floats]:
        axes = {"task_id": tasks, "first": agents, "second": agents}
        return {
            str(judge): _placed(rows.loc[index], values.loc[index], **axes)
            for judge, index in by_judge.items()
        }

    return placed(released), placed(readable)


def _grades(
    rows: pd.DataFrame, tasks: Sequence[int], agents: Sequence[str]
) -> dict[str, dict[str, Floats]]:
    """``grades`` of ``AutoPreRecords``."""
    grades: dict[str, dict[str, Floats]] = {}
    for (form, judge), mine in rows.groupby(["format", "evaluator"], observed=True):
        cells = _placed(mine, mine["score"], task_id=tasks, model=agents)
        # -1 marks a reply without a number
        grades.setdefault(str(form), {})[str(judge)] = np.where(cells < 0, np.nan, cells)
    return grades


def _rows(path: str | Path, key: str, name: str) -> pd.DataFrame:
    table = read_table(path, key)
    return table[table["dataset"].astype(str) == name]
