"""Which of two answers is better: the questions on a panel, and what replies may say."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from judgelab.core.closed_questions import cased
from judgelab.core.panel import Panel

CHOICES = {"one": 1.0, "two": 0.0, "tie": 0.5}
"""What a reply may say -> did the answer shown first win."""

LABELS = cased(list(CHOICES))
"""Allowed reply -> what it says."""

Cell = tuple[int, int, int]


def questions(panel: Panel, name: str) -> Iterator[tuple[Cell, tuple[str, ...], dict[str, str]]]:
    """(item, first, second), key and fields of the question on every ordered pair of texts."""
    task = str(panel.provenance.get("task_description") or panel.task)
    names = [agent.name for agent in panel.agents]
    for k, (item, row) in enumerate(zip(panel.items, panel.texts, strict=True)):
        for i, j in permutations(range(len(names)), 2):
            one, two = row[i], row[j]
            if one is None or two is None:
                continue
            values = {"task": task, "source": item.source, "one": one, "two": two}
            yield (k, i, j), (name, item.id, names[i], names[j]), values
