"""What judges said: verdicts, grades, and their exams of pertinence and of self-confidence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.auto_pre.release import dialogues
from experiments.auto_pre.release.files import (
    ITEMS,
    datasets,
    document,
    judge_of,
    layout,
    lines,
    orders,
    records,
    tagged,
)
from judgelab.core.errors import DataError

LABELS = ("one", "two", "tie", "nan", "others")
"""What a reduced verdict may be; another line is the reply itself."""

OLD = "-old"  # how names of files end of which there is a later run
PAPERS = ("ChatGLM2-6B", "gpt-3.5-turbo", 1)
"""Who wrote the relevant answers, who the others, and the prompt, where no folder says so."""
PERTINENCE = re.compile(r"(.+)_L1-(.+)_L2-(\d)")
BY_PROBABILITY = re.compile(r"(.+)_(easy|hard)_(\d)")
BY_WORDS = re.compile(r"(.+)_(easy|hard)")


def verdicts(root: Path) -> pd.DataFrame:
    """Rows of ``verdict_pairwise``: the label that stands first in the line, as in the scripts."""
    parts = []
    for name, each in datasets(root).items():
        for tag, pairs, replies in _complete(root, each):
            first, second = np.repeat(np.array(pairs), ITEMS, axis=0).T
            labels = [one if one in LABELS else "text" for one in map(str.lower, replies)]
            parts.append(
                pd.DataFrame(
                    {
                        "dataset": name,
                        "evaluator": judge_of(tag),
                        "file_tag": tag,
                        "task_id": np.tile(np.arange(ITEMS), len(pairs)),
                        "first": first,
                        "second": second,
                        "verdict": [preferred(one) for one in replies],
                        "label": labels,
                        "raw_text": [
                            reply if label == "text" else None
                            for reply, label in zip(replies, labels, strict=True)
                        ],
                    }
                )
            )
    return pd.concat([*parts, *dialogues.verdicts(root)], ignore_index=True)


def grades(root: Path) -> pd.DataFrame:
    """Rows of ``score_pointwise``; -1 marks a reply without a number."""
    parts = []
    for name, each in datasets(root).items():
        for form, pattern in each["grades"].items():
            for tag, file in tagged(root / each["folder"], [pattern], each["grade_tag"]):
                for model, scores in _model_grades(file):
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
    match = re.search("one|two", reply.lower())
    return 0 if match is None else (1 if match[0] == "one" else -1)


def _complete(
    root: Path, each: dict[str, Any]
) -> Iterator[tuple[str, list[tuple[str, str]], list[str]]]:
    """(tag, orders, replies) of every file of verdicts that has them all."""
    for tag, file in tagged(root / each["folder"], each["verdicts"], each["verdict_tag"]):
        replies = _verdict_lines(file, each)
        pairs = _orders(len(replies))
        if pairs is not None:
            yield tag, pairs, replies


def _verdict_lines(file: Path, each: dict[str, Any]) -> list[str]:
    return [line.strip() for line in lines(file)[int(each["heading"]) :]]


def _orders(count: int) -> list[tuple[str, str]] | None:
    """The orders of a file of so many verdicts; None: it was broken off."""
    models = layout()["models"]
    for agents in (models, models[: len(layout()["judged"])]):
        pairs = orders((one, later) for k, later in enumerate(agents) for one in agents[:k])
        if len(pairs) * ITEMS == count:
            return pairs
    return None


def _model_grades(file: Path) -> Iterator[tuple[str, list[float]]]:
    """(model, its grades): an object of lists, or a grade a line, model by model."""
    text = lines(file)
    if len(text) == 1:
        for model, scores in document(file).items():
            yield str(model), _checked([float(score) for score in scores], file)
        return
    numbers = [re.search(r"-?\d+", line) for line in text]  # the first whole number, as released
    values = [float(match[0]) if match else -1.0 for match in numbers]
    for k, model in enumerate(layout()["models"][: len(values) // ITEMS]):
        yield model, _checked(values[k * ITEMS : (k + 1) * ITEMS], file)


def _checked(scores: list[float], file: Path) -> list[float]:
    if len(scores) != ITEMS:
        raise DataError(f"{str(file)!r}: {len(scores)} grades of a model, {ITEMS} were expected.")
    return scores


def pertinence(root: Path) -> pd.DataFrame:
    """Rows of ``exam_pertinence``: -1 the answer shown first was preferred, 1 the other.

    ``result_stored`` is as the files have it: mostly by the last label of a reply, in the paper's
    own configuration by the first.
    """
    rows = []
    for folder in sorted((root / "output" / "exam_pertinence").glob("**/")):
        match = PERTINENCE.fullmatch(folder.name)
        first, second, prompt = (match[1], match[2], int(match[3])) if match else PAPERS
        for name, tag, records_of_run in _runs(root, folder):
            for k, line in enumerate(records_of_run):
                rows.append(
                    {
                        "dataset": name,
                        "L1_RA": first,
                        "L2_IA": second,
                        "prompt": prompt,
                        **_run(tag),
                        "task_id": k // 2,
                        "ra_first": k % 2 == 0,
                        "result_stored": int(line["result"]),
                        "response": str(line["response"]),
                    }
                )
    return pd.DataFrame(rows)


def self_confidence(root: Path) -> pd.DataFrame:
    """Rows of ``exam_self_confidence``: probabilities of the emitted label, or a level in words."""
    top = root / "output" / "exam_self_confidence"
    rows = []
    for folder, pattern in (
        (top, BY_WORDS),
        (top / "direct", BY_WORDS),
        (top / "prob", BY_PROBABILITY),
    ):
        method = "prob" if pattern is BY_PROBABILITY else "direct"
        for name, tag, records_of_run in _runs(root, folder):
            match = pattern.fullmatch(tag.removesuffix(OLD))
            if match is None:
                continue
            prompt = f"prompt{match[3]}" if method == "prob" else "null"
            for k, line in enumerate(records_of_run):
                rows.append(
                    {
                        "dataset": name,
                        "method": method,
                        "prompt": prompt,
                        "evaluator": judge_of(match[1]),
                        "old_run": tag.endswith(OLD),
                        "set": match[2],
                        "task_id": k // 2,
                        "swapped": k % 2,
                        **(_probabilities(line) if method == "prob" else _level(line)),
                        "response": str(line["response"]),
                    }
                )
    return pd.DataFrame(rows)


def _runs(root: Path, folder: Path) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """(dataset, rest of the name, lines) of the files that have all their lines."""
    begin = {each["outputs"]: name for name, each in datasets(root).items()}
    for file in sorted(folder.glob("*.json")):
        word, _, tag = file.stem.partition("_")
        if word in begin and len(content := records(file)) == 2 * ITEMS:
            yield begin[word], tag, content


def _run(tag: str) -> dict[str, object]:
    return {"evaluator": judge_of(tag.removesuffix(OLD)), "old_run": tag.endswith(OLD)}


def _probabilities(line: dict[str, Any]) -> dict[str, float | None]:
    """Of the emitted label, of "one" and of "two"; None where there is none (-1 in the files)."""
    keys = {"p_output": "res_pro", "p_one": "probability_of_one", "p_two": "probability_of_two"}
    values = {name: float(line[key]) for name, key in keys.items()}
    return {name: value if value >= 0 else None for name, value in values.items()}


def _level(line: dict[str, Any]) -> dict[str, int | None]:
    """As the release read it; 0, a level that it could not read, is kept as none."""
    level = line["result"]
    return {"level_stored": None if level is None else int(level) or None}
