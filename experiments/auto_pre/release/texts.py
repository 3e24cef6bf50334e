"""Items, what models answered, and what people said of it.

Five people graded each answer, and five told which of two they prefer where the medians tie.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

from experiments.auto_pre.release import dialogues
from experiments.auto_pre.release.files import (
    ITEMS,
    datasets,
    document,
    layout,
    lines,
    records,
    tagged,
)
from judgelab.core.errors import DataError

UNDECIDED = 5  # a preference from -30 to 30 of so little is none
NEEDED_VOTES = 2  # net votes that decide a pair whose medians tie


def sources(root: Path, each: dict[str, Any]) -> list[str]:
    """The items' texts, in their order."""
    return [text for text, _ in _items(root, each)]


def items(root: Path) -> pd.DataFrame:
    """Rows of ``items``."""
    return pd.DataFrame(
        {"dataset": name, "task_id": task, "source": source, "reference": reference}
        for name, each in datasets(root).items()
        for task, (source, reference) in enumerate(_items(root, each))
    )


def answers(root: Path) -> pd.DataFrame:
    """Rows of ``answers``.

    A TSV is read line by line. The authors' pipeline reads it with quotation marks, of which one
    without its partner swallows rows: from there on its answers belong to other items.
    """
    return pd.DataFrame(
        {
            "dataset": name,
            "task_id": k % ITEMS,
            "model": model,
            "task_prompt": k // ITEMS + 1,
            "answer": answer,
        }
        for name, each in datasets(root).items()
        for model, file in tagged(root / each["folder"], [each["answers"]], each["answer_tag"])
        for k, answer in enumerate(_answers(file))
    )


def _items(root: Path, each: dict[str, Any]) -> list[tuple[str, str | None]]:
    """(text, reference)."""
    rows = [line.split("\t") for line in lines(root / each["folder"] / each["items"])]
    if each["heading"]:
        rows = rows[1:]
    return [(_text(row[0]), _text(row[1]) if len(row) > 1 else None) for row in rows]


def _answers(file: Path) -> list[str]:
    if file.suffix == ".json":
        return [str(line["response"]) for line in records(file)]
    return [_text(line) for line in lines(file)]


def _text(field: str) -> str:
    return field.strip().replace("\\n", "\n")


def pointwise(root: Path) -> pd.DataFrame:
    """Rows of ``human_pointwise``; on XSum the grades were stored in ascending order."""
    rows = [
        {"dataset": name, "task_id": task, "model": model}
        | {f"s{k}": grade for k, grade in enumerate(grades, 1)}
        | {"median": float(median(grades))}
        for name, each in datasets(root).items()
        for task, by_model in enumerate(_grades(root, each))
        for model, grades in by_model.items()
    ]
    return pd.concat([pd.DataFrame(rows), *dialogues.people(root)], ignore_index=True)


def gold(root: Path) -> pd.DataFrame:
    """Rows of ``gold_pairs``: 1 where a is better, -1 where b is, 0 undecided."""
    rows = []
    for name, each in datasets(root).items():
        votes = {}
        for task, a, b, scores in _preferred(root, each):
            votes[task, a, b] = _net(scores)
            votes[task, b, a] = -_net(scores)
        for task, grades in enumerate(_grades(root, each)):
            medians = {model: float(median(marks)) for model, marks in grades.items()}
            rows += _pairs(name, task, {m: medians[m] for m in layout()["judged"]}, votes)
    for people in dialogues.people(root):
        for number, part in people.groupby("task_id"):
            medians = dict(zip(part["model"], part["median"], strict=True))
            rows += _pairs(dialogues.NAME, number, medians, {})
    return pd.DataFrame(rows)


def _pairs(
    name: str, task: Any, medians: dict[str, float], preferences: dict[tuple[int, str, str], int]
) -> list[dict[str, object]]:
    rows = []
    for a, b in combinations(medians, 2):
        gap = medians[a] - medians[b]
        votes = preferences.get((task, a, b), 0)
        decided = gap if gap else votes if abs(votes) >= NEEDED_VOTES else 0
        by = "preference" if not gap and (task, a, b) in preferences else "median"
        better = int(decided > 0) - int(decided < 0)
        place = {"dataset": name, "task_id": task, "a": a, "b": b}
        rows.append(place | {"gold": better, "source": by})
    return rows


def _net(scores: list[int]) -> int:
    """People for the first minus those for the second."""
    return sum((score < -UNDECIDED) - (score > UNDECIDED) for score in scores)


def _grades(root: Path, each: dict[str, Any]) -> list[dict[str, list[int]]]:
    """Of each item, model -> grades; the file has items by their texts."""
    file = root / each["folder"] / "annotation" / "pointwise.json"
    by_text: dict[str, dict[str, list[int]]] = {
        text.strip(): grades for text, grades in document(file).items()
    }
    rows = []
    for task, text in enumerate(sources(root, each)):
        grades = by_text.get(text.strip())
        if grades is None:
            raise DataError(f"{str(file)!r} has no grades of item {task}: is it another version?")
        rows.append(grades)
    return rows


def _preferred(root: Path, each: dict[str, Any]) -> list[tuple[int, str, str, list[int]]]:
    """(item, a, b, scores): a list of lists, or an object with keys "item%a%b"."""
    data = document(root / each["folder"] / "annotation" / "preference.json")
    rows = data if isinstance(data, list) else [[*key.split("%"), data[key]] for key in data]
    return [(int(task), a, b, scores) for task, a, b, scores in rows]
