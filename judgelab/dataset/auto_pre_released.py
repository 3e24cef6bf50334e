"""Sources, answers and human annotation that the authors of Auto-PRE released."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from judgelab.core.panel import Agent, Item, Panel
from judgelab.dataset import LimitedDataset
from judgelab.releases.auto_pre import AutoPreRecords, read_dataset, read_texts

if TYPE_CHECKING:
    import pandas as pd

TASKS = {
    "XSum": ("summarization", "Summarise a news article in a few sentences"),
    "NF_CATS": ("question_answering", "Answer a question that has no single right answer"),
    "DailyDialog": ("dialogue", "Say what comes next in a conversation"),
}
"""Dataset -> task and one line about it; others are taken for what they call themselves."""

FIRST_PROMPT = 1
"""The models answered twice; people judged, and judges compared, answers to the first prompt."""


@dataclass(frozen=True)
class AutoPreReleased(LimitedDataset):
    """Items with the answers that people judged, their grades and their preferences.

    Grades are medians of people's grades; where two answers have the same median and people were
    asked which is better, the item's ``meta["preferences"]`` lists [better, worse]. Texts of some
    datasets were not released: sources are empty there and texts None, which a replay does not
    need. Verdicts and exams are found by ``evaluation_lm=replay``.

    Args:
        path: a clone of github.com/cjj826/Auto-PRE, or the parquet files that
            ``python -m judgelab.releases.auto_pre`` makes of it.
        domain: XSum, NF_CATS, DailyDialog.
        relevant: who wrote the relevant answers (L1) of the pertinence exam to be used.
        irrelevant: who wrote its irrelevant ones (L2).
        prompt: number of its prompt.
        confidence: how the self-confidence exam was asked: "prob, prompt1", "prob, prompt2",
            "direct, null" or "direct, doubtful"; None: each judge's first one of prob, prompt1;
            direct, null; prob, prompt2; direct, doubtful.
    """

    path: str
    domain: str = "XSum"
    relevant: str = "ChatGLM2-6B"
    irrelevant: str = "gpt-3.5-turbo"
    prompt: int = 1
    confidence: str | None = None

    def _panel(self, limit: int | None) -> Panel:
        data = read_dataset(self.path, self.domain)
        sources, answers = read_texts(self.path, self.domain)
        task, description = TASKS.get(self.domain, (self.domain, ""))
        facts: dict[str, object] = {
            "dataset": "auto_pre_released",
            "domain": self.domain,
            "path": str(Path(self.path).expanduser()),
            "task_description": description,
            "exam": {"relevant": self.relevant, "irrelevant": self.irrelevant},
            "exam_prompt": self.prompt,
            "exam_confidence": self.confidence,
            "texts": "released" if len(answers) else "not released",
        }
        shown = answers[answers["task_prompt"] == FIRST_PROMPT]
        if "pipeline_mismatch" in shown and (other := int(shown["pipeline_mismatch"].sum())):
            facts["answers_shown_otherwise"] = other
        return Panel(
            tuple(_items(data, sources)),
            tuple(Agent(name, meta={"kind": "model"}) for name in data.agents),
            _texts(data, answers),
            task,
            facts,
        ).head(limit)


def _items(data: AutoPreRecords, sources: pd.DataFrame) -> Iterator[Item]:
    texts = sources.set_index("task_id").to_dict("index")
    for row, task in enumerate(data.tasks):
        grades = dict(zip(data.agents, data.human[row].tolist(), strict=True))
        preferred = _preferences(data, row)
        text = texts.get(task, {})
        reference = text.get("reference")
        yield Item(
            str(task),
            str(text.get("source", "")),
            reference if isinstance(reference, str) and reference else None,
            human={name: grade for name, grade in grades.items() if np.isfinite(grade)},
            meta={"preferences": json.dumps(preferred)} if preferred else {},
        )


def _preferences(data: AutoPreRecords, row: int) -> list[list[str]]:
    """[better, worse] of the pairs that the grades do not decide as people did."""
    found = []
    for i, j in data.pairs:
        gold, gap = data.gold[row, i, j], data.human[row, i] - data.human[row, j]
        if np.isfinite(gold) and gold != 0 and np.sign(gap) != gold:
            better, worse = (i, j) if gold > 0 else (j, i)
            found.append([data.agents[better], data.agents[worse]])
    return found


def _texts(data: AutoPreRecords, answers: pd.DataFrame) -> tuple[tuple[str | None, ...], ...]:
    first = answers[answers["task_prompt"] == FIRST_PROMPT]
    places = zip(first["task_id"].astype(int), first["model"].astype(str), strict=True)
    given = dict(zip(places, first["answer"], strict=True))
    rows = [[given.get((task, name)) for name in data.agents] for task in data.tasks]
    return tuple(tuple(t if isinstance(t, str) else None for t in row) for row in rows)
