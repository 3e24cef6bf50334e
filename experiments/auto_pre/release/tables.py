"""The release as tables: a parquet file each, or made from the authors' repository as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.auto_pre.release import exams, judgments, people, texts
from experiments.repositories import AUTO_PRE
from judgelab.core.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

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
    VERDICTS: judgments.verdicts,
    "score_pointwise": judgments.grades,
    "gold_pairs": people.gold,
    "human_pointwise": people.pointwise,
    "exam_pertinence": exams.pertinence,
    "exam_self_confidence": exams.self_confidence,
    "items": texts.items,
    "answers": texts.answers,
}
"""Table -> how the authors' repository gives it."""


def is_release(path: str | Path) -> bool:
    """Whether the folder holds this release, as the authors' repository or as its export."""
    return AUTO_PRE.layout(Path(path).expanduser()) is not None


def read_table(path: str | Path, key: str) -> pd.DataFrame:
    """One of the tables, whichever layout the folder has.

    Raises:
        DataError: a file is missing or damaged, or a table lacks a column.
    """
    folder = Path(path).expanduser()
    if AUTO_PRE.layout(folder) == "clone":
        return _made(folder, key)
    return _stored(folder / f"{key}.parquet", key)


@lru_cache(maxsize=16)
def _made(clone: Path, key: str) -> pd.DataFrame:
    table = FROM_CLONE[key](clone)
    return table if len(table) else table.reindex(columns=[*NEEDED.get(key, ())])


@lru_cache(maxsize=16)
def _stored(file: Path, key: str) -> pd.DataFrame:
    import pandas as pd

    try:
        table = pd.read_parquet(file)
    except (OSError, ValueError) as cause:
        raise DataError(
            f"{str(file)!r} cannot be read: give a clone of {AUTO_PRE.address}, or a folder with "
            f"{', '.join(sorted(NEEDED))} as parquet files."
        ) from cause
    missing = [column for column in NEEDED.get(key, ()) if column not in table.columns]
    if missing:
        raise DataError(f"{str(file)!r} has no column {missing[0]!r}: is it the right file?")
    return table
