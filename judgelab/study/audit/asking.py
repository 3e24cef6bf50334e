"""Judges asked now, and metrics that came with the data, in the one table of judgments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.errors import DataError
from judgelab.core.estimator import Estimator
from judgelab.core.judgments import Floats, JudgeFacts, JudgmentTable
from judgelab.core.panel import Panel
from judgelab.core.scores import Scores
from judgelab.engine.context import Context
from judgelab.engine.listening import Listening
from judgelab.engine.usage import UsageCount
from judgelab.mechanism.recorded_scores import RecordedScores
from judgelab.study.audit.graded import as_pairs, better, judgments_of, places, with_words


@dataclass(frozen=True)
class AskedJudge:
    """Who was asked, and what for.

    Attributes:
        context: in which the judge can be asked more.
        estimator: what its judgments are estimates by.
        usage: calls and tokens that its judgments took.
        heard: what it replied.
    """

    context: Context
    estimator: Estimator
    usage: UsageCount
    heard: Listening


@dataclass(frozen=True)
class Gathered:
    """All judgments of a run, and who was asked for them.

    Attributes:
        table: what people and judges said; without controls.
        asked: judge -> how; without the judges that came with the data.
    """

    table: JudgmentTable
    asked: Mapping[str, AskedJudge]


def gather(
    context: Context, panel: Panel, asked: Mapping[str, Context], families: Mapping[str, str]
) -> Gathered:
    """Recorded judgments, recorded metrics where they are the mechanism, and those asked for now.

    A judge that compares two texts makes the units pairs; then all that were graded are compared
    by the sign of the difference of their grades.

    Args:
        panel: texts as written.
        asked: judge -> its context.
        families: judge -> family of its LM.

    Raises:
        DataError: there are no texts to ask about, or they are sorted into categories.
    """
    table = with_words(judgments_of(panel), panel)
    if any(one.mechanism.subject == "choice" for one in asked.values()):
        table = as_pairs(table)
    table = _with_metrics(table, context, panel)
    at, held = places(table, panel)
    if asked and not held.any():
        raise DataError(
            f"There is no text to ask {next(iter(asked))} about: choose data with texts, or audit "
            "what the data hold (mechanism=recorded_scores study.judges=null)."
        )
    if asked and table.kind == "category":
        raise DataError(
            "People sorted these texts into categories, which no mechanism does: leave "
            "mechanism and study.judges out, or give grades or preferences."
        )
    done = {}
    for name, one in asked.items():
        why = Listening(one.evaluation_lm)
        usage = UsageCount(why)
        at_work = replace(one, evaluation_lm=usage)
        said, scores = _measured(at_work, at_work.read(panel), at[held], name)
        values = np.full((len(held), table.orders), np.nan)
        values[held] = _values(said, scores, at[held], table)
        spoken = np.repeat(held[:, None], table.orders, axis=1)
        reasons = why.of(table, spoken & np.isnan(values))
        table = table.with_judge(_facts(name, one, families.get(name, "")), values, spoken, reasons)
        assert scores.estimator is not None
        done[name] = AskedJudge(one, scores.estimator, usage, why)
    return Gathered(table, done)


def _measured(
    context: Context, panel: Panel, at: NDArray[np.intp], name: str
) -> tuple[xr.Dataset, Scores]:
    """What was measured over all rounds, and the scores of it."""
    said: xr.Dataset | None = None
    for part in _shown(context, panel, at):
        context.tell(name, 0)
        found = context.measure(part)
        said = found if said is None else said.assign(verdict=said["verdict"].fillna(found.verdict))
    assert said is not None
    return said, context.score(said)


def _shown(context: Context, panel: Panel, at: NDArray[np.intp]) -> Iterator[Panel]:
    """Panels of the texts that are judged; of a mechanism that compares, one for each round."""
    if context.mechanism.subject == "pair":  # peers and references are evidence
        yield panel
        return
    wanted: list[set[tuple[int, int]]] = [set() for _ in panel.items]
    for i, a, b in at.tolist():
        wanted[i].add((min(a, b), max(a, b)))
    if context.mechanism.subject == "text":
        yield _only(panel, [{a for pair in pairs for a in pair} for pairs in wanted])
        return
    rounds = [_rounds(pairs) for pairs in wanted]
    for k in range(max(map(len, rounds), default=0)):
        yield _only(panel, [set(each[k]) if k < len(each) else set() for each in rounds])


def _rounds(pairs: set[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Texts that are shown together, so that all their pairs are wanted ones, each once."""
    agents = tuple(sorted({a for pair in pairs for a in pair}))
    if not pairs or pairs == set(combinations(agents, 2)):
        return [agents]
    return sorted(pairs)


def _only(panel: Panel, agents: Sequence[set[int]]) -> Panel:
    """The panel with the texts of these agents, item by item."""
    rows = (
        tuple(text if a in kept else None for a, text in enumerate(row))
        for row, kept in zip(panel.texts, agents, strict=True)
    )
    return replace(panel, texts=tuple(rows))


def _values(said: xr.Dataset, scores: Scores, at: NDArray[np.intp], table: JudgmentTable) -> Floats:
    """[units, orders] of the table's kind, from verdicts, or from scores of texts."""
    i, a, b = at.T
    if table.kind == "preference" and "verdict" in said:
        order = ("item", "agent", "peer")
        verdict = np.asarray(said["verdict"].transpose(*order).values, np.float64)
        return np.asarray(np.stack([verdict[i, a, b], 1 - verdict[i, b, a]], axis=1))
    grade = np.asarray(scores.agent.transpose("item", "agent").values, np.float64)
    if table.kind == "preference":
        return np.repeat(better(grade[i, a], grade[i, b])[:, None], 2, axis=1)
    return np.asarray(grade[i, a][:, None])


def _facts(name: str, context: Context, family: str) -> JudgeFacts:
    mechanism = context.mechanism
    asks_nobody = frozenset() in mechanism.requires
    return JudgeFacts(
        name,
        family,
        pointwise=mechanism.subject != "choice",
        mechanism=mechanism.name,
        model="" if asks_nobody else context.evaluation_lm.presentation.model,
    )


def _with_metrics(table: JudgmentTable, context: Context, panel: Panel) -> JudgmentTable:
    """The metrics that came with the data as judges, where they are the run's mechanism."""
    mechanism = context.mechanism
    known = list(dict.fromkeys(name for item in panel.items for name in item.scores))
    if mechanism.name != RecordedScores.name or not known or table.kind == "category":
        return table
    chosen = getattr(mechanism, "metric", None)
    at, _ = places(table, panel)
    for name in known if chosen is None else [chosen]:
        if table.kind == "grade" and name in table.names:
            continue  # the table has these grades, and which are missing
        one = replace(context, mechanism=RecordedScores(name))
        grade = one.measure(panel)["value"].values
        if table.kind == "preference":
            values = np.repeat(better(grade[*at.T[:2]], grade[*at.T[[0, 2]]])[:, None], 2, axis=1)
        else:
            values = grade[*at.T[:2]][:, None]
        who = JudgeFacts(_free(name, table), pointwise=True, mechanism=RecordedScores.name)
        table = table.with_judge(who, values, ~np.isnan(values))
    return table


def _free(name: str, table: JudgmentTable) -> str:
    return f"{name} (score)" if name in table.names else name
