"""Verdicts and grades of the judges, from the files that the authors' tables are made of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.auto_pre.release import dialogues
from experiments.auto_pre.release.files import (
    ITEMS,
    datasets,
    document,
    judge_of,
    layout,
    lines,
    orders,
    tagged,
)
from judgelab.core.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

LABELS = ("one", "two", "tie", "nan", "others")
"""What a reduced verdict may be; another line is the reply itself."""


def verdicts(root: Path) -> pd.DataFrame:
    """Rows of ``verdict_pairwise``: the label that stands first in the line, as in the scripts."""
    import pandas as pd

    parts = []
    for name, each in datasets(root).items():
        for tag, shown, said in _complete(root, each):
            first, second = np.repeat(np.array(shown), ITEMS, axis=0).T
            labels = [one if one in LABELS else "text" for one in map(str.lower, said)]
            parts.append(
                pd.DataFrame(
                    {
                        "dataset": name,
                        "evaluator": judge_of(tag),
                        "file_tag": tag,
                        "task_id": np.tile(np.arange(ITEMS), len(shown)),
                        "first": first,
                        "second": second,
                        "verdict": [preferred(one) for one in said],
                        "label": labels,
                        "raw_text": [
                            reply if label == "text" else None
                            for reply, label in zip(said, labels, strict=True)
                        ],
                    }
                )
            )
    return pd.concat([*parts, *dialogues.verdicts(root)], ignore_index=True)


def grades(root: Path) -> pd.DataFrame:
    """Rows of ``score_pointwise``; -1 marks a reply without a number."""
    import pandas as pd

    parts = []
    for name, each in datasets(root).items():
        for form, pattern in each["grades"].items():
            for tag, file in tagged(root / each["folder"], [pattern], each["grade_tag"]):
                for model, scores in _graded(file):
                    parts.append(
                        pd.DataFrame(
                            {
                                "dataset": name,
                                "format": form,
                                "evaluator": judge_of(tag),
                                "file_tag": tag,
                                "task_id": np.arange(ITEMS),
                                "model": model,
                                "score": scores,
                            }
                        )
                    )
    return pd.concat([*parts, *dialogues.grades(root)], ignore_index=True)


def preferred(reply: str) -> int:
    """1: "one" stands first in the reply, anywhere; -1: "two" does; 0: neither is there."""
    found = re.search("one|two", reply.lower())
    return 0 if found is None else (1 if found[0] == "one" else -1)


def _complete(
    root: Path, each: dict[str, Any]
) -> Iterator[tuple[str, list[tuple[str, str]], list[str]]]:
    """(tag, orders, replies) of every file of verdicts that has them all."""
    for tag, file in tagged(root / each["folder"], each["verdicts"], each["verdict_tag"]):
        said = _verdict_lines(file, each)
        shown = _shown(len(said))
        if shown is not None:
            yield tag, shown, said


def _verdict_lines(file: Path, each: dict[str, Any]) -> list[str]:
    return [line.strip() for line in lines(file)[int(each["heading"]) :]]


def _shown(count: int) -> list[tuple[str, str]] | None:
    """The orders of a file of so many verdicts; None: it was broken off."""
    models = layout()["models"]
    for compared in (models, models[: len(layout()["judged"])]):
        shown = orders((one, later) for k, later in enumerate(compared) for one in compared[:k])
        if len(shown) * ITEMS == count:
            return shown
    return None


def _graded(file: Path) -> Iterator[tuple[str, list[float]]]:
    """(model, its grades): an object of lists, or a grade a line, model by model."""
    said = lines(file)
    if len(said) == 1:
        for model, scores in document(file).items():
            yield str(model), _checked([float(score) for score in scores], file)
        return
    numbers = [re.search(r"-?\d+", line) for line in said]  # the first whole number, as released
    values = [float(found[0]) if found else -1.0 for found in numbers]
    for k, model in enumerate(layout()["models"][: len(values) // ITEMS]):
        yield model, _checked(values[k * ITEMS : (k + 1) * ITEMS], file)


def _checked(scores: list[float], file: Path) -> list[float]:
    if len(scores) != ITEMS:
        raise DataError(f"{str(file)!r}: {len(scores)} grades of a model, {ITEMS} were expected.")
    return scores
