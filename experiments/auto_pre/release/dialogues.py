"""DailyDialog, of which the authors released the logs of their scripts alone.

A log has for each item the people's medians (or preferences) and the judge's grades (or verdicts).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.auto_pre.release.files import judge_of, layout, lines, orders
from judgelab.core.errors import DataError

NAME = "DailyDialog"
SCORES = re.compile(r"(human|model)_scores is (\[.*\])")


def verdicts(root: Path) -> list[pd.DataFrame]:
    """Rows of ``verdict_pairwise``, judge by judge."""
    pairs = orders(combinations(layout()["positions"], 2))
    first, second = np.array(pairs).T
    return [
        pd.DataFrame(
            {
                "dataset": NAME,
                "evaluator": judge_of(tag),
                "file_tag": tag,
                "task_id": np.repeat(np.arange(len(rows)), len(pairs)),
                "first": np.tile(first, len(rows)),
                "second": np.tile(second, len(rows)),
                "verdict": np.concatenate(rows).astype(np.int64),
                "label": "",
            }
        )
        for tag, file, _, rows in _logs(root, "pairwise", len(pairs))
    ]


def grades(root: Path) -> list[pd.DataFrame]:
    """Rows of ``score_pointwise``, judge by judge."""
    answers = layout()["positions"]
    return [
        pd.DataFrame(
            {
                "dataset": NAME,
                "format": form,
                "evaluator": judge_of(tag),
                "file_tag": tag,
                "task_id": np.repeat(np.arange(len(rows)), len(answers)),
                "model": answers * len(rows),
                "score": np.concatenate(rows).astype(np.float64),
            }
        )
        for form, word in layout()["dialogues"]["forms"].items()
        for tag, file, _, rows in _logs(root, word, len(answers))
    ]


def people(root: Path) -> list[pd.DataFrame]:
    """Rows of ``human_pointwise``: medians, the same in every log; nothing without logs.

    Raises:
        DataError: two logs disagree, so that items or answers stand in another order.
    """
    answers = layout()["positions"]
    medians_of_all: list[list[float]] | None = None
    for word in layout()["dialogues"]["forms"].values():
        for _, file, medians, _ in _logs(root, word, len(answers)):
            if medians_of_all not in (None, medians):
                raise DataError(f"{str(file)!r}: people's grades are not those of the other logs.")
            medians_of_all = medians
    if medians_of_all is None:
        return []
    pairs = [place for pair in combinations(range(len(answers)), 2) for place in (pair[::-1], pair)]
    preferred = [[np.sign(row[one] - row[two]) for one, two in pairs] for row in medians_of_all]
    for _, file, rows, _ in _logs(root, "pairwise", len(pairs)):
        if rows != preferred:
            raise DataError(f"{str(file)!r}: people's preferences are not those of their grades.")
    return [
        pd.DataFrame(
            {
                "dataset": NAME,
                "task_id": np.repeat(np.arange(len(medians_of_all)), len(answers)),
                "model": answers * len(medians_of_all),
                "median": np.concatenate(medians_of_all).astype(np.float64),
            }
        )
    ]


def _logs(
    root: Path, form: str, width: int
) -> Iterator[tuple[str, Path, list[list[float]], list[list[float]]]]:
    """(judge's name there, file, people's rows, the judge's rows) of every single judge's log."""
    folder = root / layout()["dialogues"]["folder"]
    for file in sorted(folder.glob(f"output_dialog_{form}_*.txt")):
        text = lines(file)
        # the first line knows better: the file of "chatgpt" holds a later run, "chatgpt2"
        head = re.match(r"model\d+: (\S+)", text[0] if text else "")
        tag = head[1] if head else file.stem.rpartition("_")[2]
        rows: dict[str, list[list[float]]] = {"human": [], "model": []}
        for line in text:
            if match := SCORES.fullmatch(line.strip()):
                rows[match[1]].append(json.loads(match[2]))
        if any(len(row) != width for lists in rows.values() for row in lists):
            raise DataError(f"{str(file)!r}: a row has not {width} numbers; fetch the file again.")
        yield tag, file, rows["human"], rows["model"]
