"""A small folder in the layout of the Auto-PRE release, with a dataset that the paper lacks."""

from __future__ import annotations

from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import pandas as pd

AGENTS = ("good", "fair", "poor")
JUDGES = ("first", "second", "third")
"""The last one graded answers and sat the exams, and never compared any two answers."""
TASKS = range(8)


def write_release(folder: Path, name: str = "Stories", *, exams: bool = True) -> Path:
    """People and judges prefer whom ``AGENTS`` names earlier, the second judge in most cases."""
    frames = {**_people(name), **_judged(name), **_exams(name)}
    if not exams:
        frames |= {key: frames[key].iloc[:0] for key in frames if key.startswith("exam_")}
    frames["items"] = pd.DataFrame({"dataset": name, "task_id": TASKS, "source": "Tell a story."})
    frames["answers"] = pd.DataFrame(
        [
            {"dataset": name, "task_id": t, "model": m, "task_prompt": 1, "answer": f"{m} {t}"}
            for t in TASKS
            for m in AGENTS
        ]
    )
    folder.mkdir(parents=True, exist_ok=True)
    for key, frame in frames.items():
        frame.to_parquet(folder / f"{key}.parquet")
    return folder


def _people(name: str) -> dict[str, pd.DataFrame]:
    gold = [
        {"dataset": name, "task_id": t, "a": a, "b": b, "gold": 1}
        for t in TASKS
        for a, b in combinations(AGENTS, 2)
    ]
    grades = [
        {"dataset": name, "task_id": t, "model": m, "median": float(5 - k)}
        for t in TASKS
        for k, m in enumerate(AGENTS)
    ]
    return {"gold_pairs": pd.DataFrame(gold), "human_pointwise": pd.DataFrame(grades)}


def _judged(name: str) -> dict[str, pd.DataFrame]:
    verdicts: list[dict[str, Any]] = []
    scores: list[dict[str, Any]] = []
    for judge in JUDGES:
        for t in TASKS:
            for k, model in enumerate(AGENTS):
                row = {"dataset": name, "format": "5-level", "evaluator": judge, "task_id": t}
                scores.append(row | {"model": model, "score": float(5 - k)})
            for a, b in permutations(AGENTS, 2) if judge != "third" else ():
                better = AGENTS.index(a) < AGENTS.index(b)
                if judge == "second" and t == 0:
                    better = True  # whoever is shown first
                row = {"dataset": name, "evaluator": judge, "task_id": t, "first": a, "second": b}
                label = "one" if better else "two"
                verdicts.append(row | {"verdict": 1 if better else -1, "label": label})
    return {
        "verdict_pairwise": pd.DataFrame(verdicts),
        "score_pointwise": pd.DataFrame(scores),
    }


def _exams(name: str) -> dict[str, pd.DataFrame]:
    pertinence: list[dict[str, Any]] = []
    confidence: list[dict[str, Any]] = []
    for judge in JUDGES:
        for t in TASKS:
            for first in (True, False):
                row = {"dataset": name, "L1_RA": "weak", "L2_IA": "strong", "prompt": 1}
                found = {"task_id": t, "ra_first": first, "result_stored": -1 if first else 1}
                pertinence.append(row | {"evaluator": judge} | found)
    ways = {"first": [("prob", "prompt1"), ("prob", "prompt2")], "second": [("direct", "null")]}
    for judge, asked in ways.items():
        for method, prompt in asked:
            for which, t in ((which, t) for which in ("easy", "hard") for t in TASKS):
                row = {"dataset": name, "method": method, "prompt": prompt, "evaluator": judge}
                easy = (which == "easy") != (prompt == "prompt2")
                said: dict[str, Any] = {
                    "p_output": 0.9 if easy else 0.6,
                    "level_stored": 4 if easy else 3,
                }
                confidence.append(row | {"set": which, "task_id": t, "swapped": 0} | said)
    return {
        "exam_pertinence": pd.DataFrame(pertinence),
        "exam_self_confidence": pd.DataFrame(confidence),
    }
