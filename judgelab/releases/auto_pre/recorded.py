"""What the authors of Auto-PRE released, as arrays: annotations, verdicts, grades and exams.

The parquet export of the repository: one table each for annotated pairs (gold_pairs), grades by
people (human_pointwise), verdicts (verdict_pairwise), grades by judges (score_pointwise), the
exams (exam_pertinence, exam_self_confidence), and, for datasets whose texts were released, items
and answers. Every dataset of that layout is read; none needs to be known by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import DataError, did_you_mean
from judgelab.core.parse_reply import read_choice

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

VERDICTS = "verdict_pairwise"
CHOICES = {"one": 1.0, "two": 0.0, "tie": 0.5}
"""What a reply may say -> did the answer shown first win."""

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


@dataclass(frozen=True)
class AutoPreRecords:
    """One dataset of the release. Verdicts are those of the judge who was shown an answer first.

    Attributes:
        name: as the release calls it.
        tasks: numbers of the items, ascending.
        agents: who wrote the answers that people judged.
        gold: [items, agents, agents] 1 where people prefer the row's answer, -1 the column's,
            0 undecided, NaN not asked.
        human: [items, agents] median grade; NaN where there is none.
        verdict: judge -> [items, agents, agents] as released: 1 where the row's answer, shown
            first, was preferred to the column's, 0 where not, .5 where neither was chosen; NaN
            where nothing was recorded.
        read: the same, with replies that were kept read as whole words (the release looks for
            "one" and "two" anywhere, also inside "mention"), and NaN wherever the reply named
            neither answer nor a tie.
        unlabelled: judge -> [items, agents, agents] 1 where neither answer was chosen and neither
            label nor reply was kept, so that it may have been a tie; else 0.
        grades: format -> judge -> [items, agents]; NaN where no number was read.
        graded: the same with replies without a number as they are marked; NaN without a reply.
        pertinence: rows of the exam, as released; empty where there is none.
        confidence: rows of the exam, as released; empty where there is none.
    """

    name: str
    tasks: tuple[int, ...]
    agents: tuple[str, ...]
    gold: Floats
    human: Floats
    verdict: Mapping[str, Floats]
    read: Mapping[str, Floats]
    unlabelled: Mapping[str, Floats]
    grades: Mapping[str, Mapping[str, Floats]]
    graded: Mapping[str, Mapping[str, Floats]]
    pertinence: pd.DataFrame = field(repr=False)
    confidence: pd.DataFrame = field(repr=False)

    @property
    def pairs(self) -> NDArray[np.int64]:
        """[pairs, 2] agents of every unordered pair, in the order of the agents."""
        first, second = np.triu_indices(len(self.agents), 1)
        return np.stack([first, second], axis=1).astype(np.int64)

    def truth(self) -> Floats:
        """[items, pairs] people's preference on ``pairs``."""
        return np.asarray(self.gold[:, self.pairs[:, 0], self.pairs[:, 1]])


def is_release(path: str | Path) -> bool:
    """Whether the folder holds this release."""
    return (Path(path).expanduser() / f"{VERDICTS}.parquet").is_file()


def list_datasets(path: str | Path) -> tuple[str, ...]:
    """Names of the datasets with verdicts.

    Raises:
        DataError: the folder does not hold the release.
    """
    return tuple(dict.fromkeys(map(str, _table(path, VERDICTS)["dataset"].unique())))


def read_dataset(path: str | Path, name: str) -> AutoPreRecords:
    """One dataset.

    Raises:
        DataError: there is no such dataset, or a table is missing or damaged.
    """
    known = list_datasets(path)
    if name not in known:
        raise DataError(f"{path} has no dataset {name!r}.{did_you_mean(name, known)}")
    rows = {key: _rows(path, key, name) for key in (*NEEDED,) if key not in ("items", "answers")}
    gold, human, verdicts = rows["gold_pairs"], rows["human_pointwise"], rows[VERDICTS]
    agents = _agents(gold, human, verdicts)
    tasks = tuple(sorted(set(map(int, verdicts["task_id"])) | set(map(int, gold["task_id"]))))
    place = _Places(tasks, agents)
    return AutoPreRecords(
        name,
        tasks,
        agents,
        _gold(gold, place),
        place.fill(human, ("task_id", "model"), human["median"]),
        *_verdicts(verdicts, place),
        *_grades(rows["score_pointwise"], place),
        rows["exam_pertinence"],
        rows["exam_self_confidence"],
    )


def read_texts(path: str | Path, name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of items and of answers of one dataset; both empty where no text was released."""
    return _rows(path, "items", name), _rows(path, "answers", name)


@dataclass(frozen=True)
class _Places:
    """Where tasks and agents stand in the arrays."""

    tasks: tuple[int, ...]
    agents: tuple[str, ...]

    def fill(self, rows: pd.DataFrame, keys: Sequence[str], values: pd.Series) -> Floats:
        """[items, agents(, agents)] values by task and agents; rows of others are left out."""
        array = np.full((len(self.tasks), *[len(self.agents)] * (len(keys) - 1)), np.nan)
        cells = [_codes(rows[keys[0]].to_numpy(), self.tasks)]
        cells += [_codes(rows[key].astype(str).to_numpy(), self.agents) for key in keys[1:]]
        known = np.all([cell >= 0 for cell in cells], axis=0)
        array[tuple(cell[known] for cell in cells)] = values.to_numpy(np.float64, na_value=np.nan)[
            known
        ]
        return array


def _codes(values: NDArray[Any], known: Sequence[Any]) -> NDArray[np.int64]:
    import pandas as pd

    found = pd.Index(np.array(known)).get_indexer(pd.Index(values))
    return np.asarray(found, dtype=np.int64)


def _agents(gold: pd.DataFrame, human: pd.DataFrame, verdicts: pd.DataFrame) -> tuple[str, ...]:
    """Those of annotated pairs, in their order; else those graded by people; else all judged."""
    if len(gold):
        return tuple(dict.fromkeys(map(str, [*gold["a"], *gold["b"]])))
    if len(human):
        return tuple(dict.fromkeys(map(str, human["model"])))
    return tuple(dict.fromkeys(map(str, verdicts["first"])))


def _gold(rows: pd.DataFrame, place: _Places) -> Floats:
    gold = place.fill(rows, ("task_id", "a", "b"), rows["gold"])
    mirrored = -np.swapaxes(gold, 1, 2)
    return np.where(np.isnan(gold), mirrored, gold)


def _verdicts(
    rows: pd.DataFrame, place: _Places
) -> tuple[dict[str, Floats], dict[str, Floats], dict[str, Floats]]:
    """As released; with every reply that was kept read anew, unreadable ones as NaN; and which
    of them neither a label nor a reply explains."""
    keys = ("task_id", "first", "second")
    values = (rows["verdict"].astype(np.float64) + 1) / 2
    # without labels a tie looks like an unreadable reply
    neither, label = rows["verdict"] == 0, rows["label"].astype(str)
    strict = values.mask(neither & ~label.isin(["tie", ""]), np.nan)
    unknown = (neither & (label == "")).astype(np.float64)
    if "raw_text" in rows:
        kept = rows["raw_text"].notna()
        said = [read_choice(text, CHOICES) for text in rows.loc[kept, "raw_text"]]
        unknown[kept] = 0.0
        strict[kept] = np.array([CHOICES.get(one or "", np.nan) for one in said], np.float64)
    released, read, unlabelled = {}, {}, {}
    for judge, index in rows.groupby("evaluator", observed=True).groups.items():
        mine = rows.loc[index]
        released[str(judge)] = place.fill(mine, keys, values.loc[index])
        read[str(judge)] = place.fill(mine, keys, strict.loc[index])
        unlabelled[str(judge)] = np.nan_to_num(place.fill(mine, keys, unknown.loc[index]))
    return released, read, unlabelled


def _grades(
    rows: pd.DataFrame, place: _Places
) -> tuple[dict[str, dict[str, Floats]], dict[str, dict[str, Floats]]]:
    grades: dict[str, dict[str, Floats]] = {}
    graded: dict[str, dict[str, Floats]] = {}
    for (form, judge), mine in rows.groupby(["format", "evaluator"], observed=True):
        cells = place.fill(mine, ("task_id", "model"), mine["score"])
        graded.setdefault(str(form), {})[str(judge)] = cells
        read = np.where(cells < 0, np.nan, cells)  # -1 marks a reply without a number
        grades.setdefault(str(form), {})[str(judge)] = read
    return grades, graded


def _rows(path: str | Path, key: str, name: str) -> pd.DataFrame:
    table = _table(path, key)
    return table[table["dataset"].astype(str) == name]


def _table(path: str | Path, key: str) -> pd.DataFrame:
    file = Path(path).expanduser() / f"{key}.parquet"
    changed = file.stat().st_mtime_ns if file.is_file() else 0
    return _read(file, key, changed)


@lru_cache(maxsize=16)
def _read(file: Path, key: str, changed: int) -> pd.DataFrame:
    """The table; read again only where the file has changed."""
    import pandas as pd

    try:
        table = pd.read_parquet(file)
    except (OSError, ValueError) as cause:
        raise DataError(
            f"{str(file)!r} cannot be read: give the folder of the Auto-PRE release, with "
            f"{', '.join(sorted(NEEDED))} as parquet files."
        ) from cause
    missing = [column for column in NEEDED[key] if column not in table.columns]
    if missing:
        raise DataError(f"{str(file)!r} has no column {missing[0]!r}: is it the right file?")
    return table
