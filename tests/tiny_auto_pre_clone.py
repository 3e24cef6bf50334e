"""A small folder in the layout of the authors' repository of Auto-PRE, with numbers of our own.

Whoever stands earlier in ``BEST`` writes better answers, and people and gpt-4 say so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

BEST = (
    *("claude", "chatgpt", "vicuna-7b", "ChatGLM2-6B", "alpaca-7b", "fastchat-t5-3b"),
    "RWKV-4-Raven-7B-v11",
)
COMPARED = (  # the order of the files of verdicts
    *("alpaca-7b", "ChatGLM2-6B", "chatgpt", "claude", "fastchat-t5-3b", "RWKV-4-Raven-7B-v11"),
    "vicuna-7b",
)
ITEMS = range(100)
VERDICTS = "data-Xsum/pairwise/response0-XSum_v2_total11LLMs_{}.tsv"
NF = "data-NFQA/evaluator_response_processed"
LATER_FIRST = [(later, one) for k, later in enumerate(COMPARED) for one in COMPARED[:k]]
SHOWN = [shown for a, b in LATER_FIRST for shown in ((a, b), (b, a))]


def quality(model: str) -> int:
    """From 5, the best, to 1."""
    return (5, 5, 4, 3, 2, 2, 1)[BEST.index(model)]


def write_clone(folder: Path) -> Path:
    """XSum, NF_CATS and DailyDialog, each with less than the authors have."""
    right = [
        "one" if BEST.index(first) < BEST.index(second) else "two"
        for first, second in SHOWN
        for _ in ITEMS
    ]
    said = list(right)
    said[0] = "Neither is better"  # "neither" holds no label; "one" in the next stands first
    said[1] = "I mentioned the second; two"
    said[2] = "tie"
    _write(folder / VERDICTS.format("gpt4"), [json.dumps(SHOWN), *said])
    _write(folder / VERDICTS.format("chatgpt"), ["firstLine", *["one"] * len(right)])
    _write(folder / VERDICTS.format("glm-old"), ["firstLine", *["two"] * 50])
    _write(folder / f"{NF}/x_pairwise_processed_gpt4.json", right)
    _xsum(folder)
    _nf_cats(folder)
    _dialogues(folder)
    _exams(folder / "output")
    return folder


def _xsum(folder: Path) -> None:
    sources = [f'An article "{t}\\nthat goes on' for t in ITEMS]
    lines = [f"{source}\tIts summary {t}." for t, source in enumerate(sources)]
    _write(folder / "data-Xsum/XSum-100-thre2500_v2.tsv", ["content\tsummary", *lines])
    people = {source.replace("\\n", "\n"): _people() for source in reversed(sources)}
    _write(folder / "data-Xsum/annotation/pointwise.json", [json.dumps(people)])
    votes = [[0, "chatgpt", "claude", [9, 8, 7, -30, 0]], [1, "claude", "chatgpt", [5, 5, 5, 5, 9]]]
    _write(folder / "data-Xsum/annotation/preference.json", [json.dumps(votes)])
    grades = {model: [quality(model)] * 100 for model in BEST}
    _write(folder / "data-Xsum/5-level/Xsum_result_detail_gpt-4.json", [json.dumps(grades)])
    for model in BEST:
        given = [f'{model} on "{t % 100}' for t in range(200)]
        _write(folder / f"data-Xsum/response01-XSum_v2_total_{model}.tsv", given)


def _nf_cats(folder: Path) -> None:
    questions = [f"Why {t}?" for t in ITEMS]
    _write(folder / "data-NFQA/samples_NFCATS.tsv", questions)
    people = {question: _people() for question in questions}
    _write(folder / "data-NFQA/annotation/pointwise.json", [json.dumps(people)])
    votes = {"0%chatgpt%claude": [-9, -8, 0, 0, 0]}
    _write(folder / "data-NFQA/annotation/preference.json", [json.dumps(votes)])
    lines = [f"{quality(model)}" for model in COMPARED for _ in ITEMS]
    lines[:2] = ["nan", "4.5"]
    _write(folder / f"{NF}/x_pointwise_5level_processed_gpt4.json", lines)
    for model in BEST:
        given = [json.dumps({"response": f"{model} {t}"}) for t in ITEMS]
        _write(folder / f"data-NFQA/task_response/response-NFCATS-100_{model}.json", given)


def _dialogues(folder: Path) -> None:
    people, judge = [5, 4, 4, 3, 2, 2, 1], [1, 2, 3, 4, 5, 4, 3]
    pairs = [place for a, b in combinations(range(7), 2) for place in ((b, a), (a, b))]
    gaps = [int(np.sign(people[a] - people[b])) for a, b in pairs]
    first = [1 if k % 3 else -1 for k in range(42)]
    for name, header, human, model in (
        ("5level_gpt4", "gpt4", people, judge),
        ("pairwise_chatgpt", "chatgpt2", gaps, first),
    ):
        item = [f"human_scores is {human}", f"model_scores is {model}", "0: 0.5"]
        lines = [f"model0: {header} ------ test", *item * 100, "mean 0.5"]
        _write(folder / f"quick_reproduce/dialog_output/output_dialog_{name}.txt", lines)


def _exams(output: Path) -> None:
    asked = [{"response": "one" if k % 2 == 0 else "Two.", "result": -1} for k in range(200)]
    _lines(output / "exam_pertinence/Xsum_gpt-4.json", asked)
    folder = output / "exam_pertinence/gpt4_L1-fastchat-t5-3b_L2-2"
    _lines(folder / "NFQA_fastchat-t5.json", asked)
    _lines(folder / "NFQA_gpt-3.5-turbo-old.json", asked)
    _lines(folder / "NFQA_gpt-4.json", asked[:3])
    for which, p in (("easy", 0.9), ("hard", 0.6)):
        sure = [{"response": "one", "res_pro": p} for _ in range(200)]
        sure[0]["res_pro"] = -1
        whole = [line | {"probability_of_one": p, "probability_of_two": 1 - p} for line in sure]
        _lines(output / f"exam_self_confidence/prob/NFQA_gpt-3.5-turbo_{which}_1.json", whole)
        words = [{"response": "one\nhigh", "result": 4}, {"response": "?", "result": None}] * 100
        _lines(output / f"exam_self_confidence/Xsum_gpt-4_{which}.json", words)


def _people() -> dict[str, list[int]]:
    grades = {model: quality(model) for model in BEST}
    return {model: [g, g, g, g, max(g - 1, 1)] for model, g in grades.items()}


def _lines(file: Path, rows: Iterable[dict[str, Any]]) -> None:
    _write(file, [json.dumps(row) for row in rows])


def _write(file: Path, lines: Iterable[str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
