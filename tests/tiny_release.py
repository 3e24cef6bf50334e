"""A small folder in the layout of the Auto-PRE release, with a dataset that the paper lacks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import pandas as pd

AGENTS = ("good", "fair", "poor")
JUDGES = ("first", "second", "third")
"""The last one graded answers and sat the exams, and never compared any two answers."""
TASKS = range(8)
Rows = Iterator[dict[str, Any]]


def write_release(folder: Path, name: str = "Stories", *, exams: bool = True) -> Path:
    """People and judges prefer whom ``AGENTS`` names earlier, the second judge in most cases."""
    each = list(product(TASKS, enumerate(AGENTS)))
    pairs = list(product(TASKS, combinations(AGENTS, 2)))
    frames: dict[str, Any] = {
        "items": [{"task_id": t, "source": "Tell a story."} for t in TASKS],
        "answers": [
            {"task_id": t, "model": m, "task_prompt": 1, "answer": f"{m} {t}"} for t, (_, m) in each
        ],
        "gold_pairs": [{"task_id": t, "a": a, "b": b, "gold": 1} for t, (a, b) in pairs],
        "human_pointwise": [
            {"task_id": t, "model": m, "median": float(5 - k)} for t, (k, m) in each
        ],
        "score_pointwise": [
            {"evaluator": judge, "task_id": t, "model": m, "score": float(5 - k)}
            | {"format": "5-level"}
            for judge in JUDGES
            for t, (k, m) in each
        ],
        "verdict_pairwise": _verdicts(),
        "exam_pertinence": _pertinence(),
        "exam_self_confidence": _confidence(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for key, rows in frames.items():
        frame = pd.DataFrame(rows).assign(dataset=name)
        kept = frame if exams or not key.startswith("exam_") else frame.iloc[:0]
        kept.to_parquet(folder / f"{key}.parquet")
    return folder


def _verdicts() -> Rows:
    for judge, t, (a, b) in product(JUDGES[:2], TASKS, permutations(AGENTS, 2)):
        better = AGENTS.index(a) < AGENTS.index(b)
        better |= judge == "second" and t == 0  # whoever is shown first
        row = {"evaluator": judge, "task_id": t, "first": a, "second": b}
        yield row | {"verdict": 1 if better else -1, "label": "one" if better else "two"}


def _pertinence() -> Rows:
    for judge, t, first in product(JUDGES, TASKS, (True, False)):
        row = {"L1_RA": "weak", "L2_IA": "strong", "prompt": 1, "evaluator": judge}
        yield row | {"task_id": t, "ra_first": first, "result_stored": -1 if first else 1}


def _confidence() -> Rows:
    asked = [
        ("first", "prob", "prompt1"),
        ("first", "prob", "prompt2"),
        ("second", "direct", "null"),
    ]
    for (judge, method, prompt), which, t in product(asked, ("easy", "hard"), TASKS):
        easy = (which == "easy") != (prompt == "prompt2")
        row = {"method": method, "prompt": prompt, "evaluator": judge, "set": which, "task_id": t}
        sure = (
            {"p_output": 0.9, "level_stored": 4} if easy else {"p_output": 0.6, "level_stored": 3}
        )
        yield row | {"swapped": 0} | sure
