"""What judges said according to the data (mechanism=recorded_scores), taken instead of asked."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.core.judgments import JudgmentTable
from judgelab.core.panel import Panel
from judgelab.engine.context import Context
from judgelab.exam.protocol import Answers
from judgelab.mechanism.recorded_scores import RecordedScores
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.qualification.exams import tied, unchanged
from judgelab.study.qualification.costs import JudgePrices
from judgelab.study.qualification.judge_responses import (
    JudgeResponses,
    both_orders,
    stacked,
    ties_of,
)


def is_recorded(context: Context) -> bool:
    """Whether the judges are those of the data."""
    return context.mechanism.name == RecordedScores.name


def recall(
    panel: Panel,
    pairs: NDArray[np.int64],
    named: Sequence[str] | None,
    exams: Collection[str],
    prices: JudgePrices,
) -> JudgeResponses:
    """Verdicts on pairs in both orders, or grades; of exams, consistency follows from verdicts.

    Args:
        named: judges; None: all of the data.
        exams: those wanted.

    Raises:
        ConfigError: the data hold no verdicts, or none of a named judge.
    """
    table = panel.judgments
    if table is None or not table.judges:
        raise ConfigError(
            "mechanism=recorded_scores: the data hold no verdicts of judges. Name their columns "
            "(dataset=table dataset.judges=[...]), or ask judges with another mechanism."
        )
    known = [judge.name for judge in table.judges]
    judges = _named(known, named)
    rows = np.array([known.index(judge) for judge in judges], dtype=np.int64)
    cells, asked = _placed(table, panel, rows)
    calls = asked.reshape(len(rows), -1).sum(axis=1).tolist()
    cost = prices.recorded(dict(zip(judges, calls, strict=True)))
    pairwise = table.kind == "preference"
    answers: dict[str, list[Answers]] = {}
    if pairwise and "consistency" in exams:
        before, after = np.moveaxis(both_orders(cells, pairs), -1, 0)
        answers["consistency"] = [
            Answers(unchanged(one, two), tied=tied(one, two))
            for one, two in zip(before, after, strict=True)
        ]
    marked = {name: stacked(each) for name, each in answers.items()}
    return JudgeResponses(
        judges,
        pairs,
        both_orders(cells, pairs) if pairwise else None,
        None if pairwise else cells,
        marked,
        cost,
        taken={name: each.n > 0 for name, each in marked.items()},
        facts={name: {"change": "position"} for name in marked},
        tied=ties_of(answers.get("consistency", ()), len(judges)),
        missing=tuple(
            f"Exam {name}: the data hold no answers of judges in it, so that no judge took it and "
            "no pool requires it."
            for name in exams
            if name not in marked
        ),
        exam_costs={name: (cost, np.zeros(len(judges)), 0.0) for name in marked},
    )


def _placed(table: JudgmentTable, panel: Panel, rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """[judges, items, agents(, agents)] verdicts or grades, and whether they were asked for.

    Of a pair 1 where the row's text, shown first, was preferred.
    """
    items = {item.id: k for k, item in enumerate(panel.items)}
    agents = {agent.name: k for k, agent in enumerate(panel.agents)}
    units, kept = table.units, np.array([one in items for one in table.units.item])
    item = np.array([items[one] for one in units.item[kept]], dtype=np.int64)
    first = np.array([agents[one] for one in units.first[kept]], dtype=np.int64)
    said, asked = table.verdicts[rows][:, kept], table.asked[rows][:, kept]
    if table.kind != "preference":
        each = (len(rows), len(items), len(agents))
        cells, put = np.full(each, np.nan), np.zeros(each)
        cells[:, item, first], put[:, item, first] = said[..., 0], asked[..., 0]
        return cells, put
    second = np.array([agents[one] for one in units.second[kept]], dtype=np.int64)
    shape = (len(rows), len(items), len(agents), len(agents))
    cells, put = np.full(shape, np.nan), np.zeros(shape)
    for order, (one, two) in enumerate(((first, second), (second, first))):
        won = said[..., order] if order == 0 else 1 - said[..., order]
        cells[:, item, one, two], put[:, item, one, two] = won, asked[..., order]
    return cells, put


def _named(known: Sequence[str], named: Sequence[str] | None) -> tuple[str, ...]:
    if named is None:
        return tuple(known)
    if not named or len(set(named)) < len(named):
        raise ConfigError(f"study.recorded={list(named)}: name each judge once, and one at least.")
    for name in named:
        if name not in known:
            raise ConfigError(
                f"study.recorded, study.methods: the data hold no verdict of {name!r}."
                f"{did_you_mean(name, known)}"
            )
    return tuple(named)
