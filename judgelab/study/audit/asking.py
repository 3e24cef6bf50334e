"""Judges asked now, and metrics that came with the data, in the one table of judgments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from judgelab.study.audit.stopped import credits_in_turn, in_turn, sentences
from judgelab.study.common.stopping import Stop


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
        notes: of a run that stopped by itself: how much was asked, and what is open.
    """

    table: JudgmentTable
    asked: Mapping[str, AskedJudge]
    notes: Sequence[str] = ()


def gather(
    context: Context,
    panel: Panel,
    asked: Mapping[str, Context],
    families: Mapping[str, str],
    stop: Stop,
    level: float,
) -> Gathered:
    """Recorded judgments, recorded metrics where they are the mechanism, and those asked for now.

    A judge that compares two texts makes the units pairs; then all that were graded are compared
    by the sign of the difference of their grades.

    Args:
        panel: texts as written.
        asked: judge -> its context.
        families: judge -> family of its LM.
        stop: when enough is asked; by default everything is.
        level: of the intervals that it looks at.

    Raises:
        DataError: there are no texts to ask about, or they are sorted into categories.
        ConfigError: a run that stops is wanted where it cannot be.
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
    notes: list[str] = []
    table, turns = in_turn(table, held, context.seed) if stop.on else (table, [held])
    judges = [_Asking.of(name, one, table, families.get(name, "")) for name, one in asked.items()]
    if stop.on:
        notes = _until_clear(judges, table, panel, at, turns, stop, level)
    for one in judges:
        if not stop.on:
            one.ask(panel, at, held, table)
        table = one.into(table)
    done = {one.name: AskedJudge(one.context, one.estimator, one.usage, one.why) for one in judges}
    return Gathered(table, done, notes)


@dataclass
class _Asking:
    """A judge that is being asked, and what it said so far.

    Attributes:
        values: [units, orders] NaN where it was not asked, or said nothing.
        spoken: [units] where it was asked.
    """

    name: str
    context: Context
    family: str
    values: Floats
    spoken: NDArray[np.bool_]
    why: Listening
    usage: UsageCount
    estimator: Estimator = field(init=False)

    @classmethod
    def of(cls, name: str, context: Context, table: JudgmentTable, family: str) -> _Asking:
        """Nothing is asked yet."""
        why = Listening(context.evaluation_lm)
        count = len(table.units.item)
        values = np.full((count, table.orders), np.nan)
        return cls(name, context, family, values, np.zeros(count, np.bool_), why, UsageCount(why))

    def ask(
        self, panel: Panel, at: NDArray[np.intp], chosen: NDArray[np.bool_], table: JudgmentTable
    ) -> None:
        """Ask about the chosen units."""
        at_work = replace(self.context, evaluation_lm=self.usage)
        said, scores = _measured(at_work, at_work.read(panel), at[chosen], self.name)
        self.values[chosen] = _values(said, scores, at[chosen], table)
        self.spoken |= chosen
        assert scores.estimator is not None
        self.estimator = scores.estimator

    def into(self, table: JudgmentTable) -> JudgmentTable:
        """The table with what it said."""
        spoken = np.repeat(self.spoken[:, None], table.orders, axis=1)
        reasons = self.why.of(table, spoken & np.isnan(self.values))
        facts = _facts(self.name, self.context, self.family)
        return table.with_judge(facts, self.values, spoken, reasons)


def _until_clear(
    judges: Sequence[_Asking],
    table: JudgmentTable,
    panel: Panel,
    at: NDArray[np.intp],
    turns: Sequence[NDArray[np.bool_]],
    stop: Stop,
    level: float,
) -> list[str]:
    """Ask batch by batch those judges whose place is open; returns what to say of it."""
    names = [one.name for one in judges]
    needed, done = np.ones(len(judges), np.bool_), 0
    count = dict.fromkeys(names, 0)
    while done < len(turns) and needed.any():
        batch = np.any(turns[done : done + stop.batch], axis=0)
        items = set(at[batch, 0].tolist())
        shown = _only(panel, [set(range(len(panel.agents)) if k in items else ())
                              for k in range(len(panel.items))])  # fmt: skip
        for one, wanted in zip(judges, needed, strict=True):
            if wanted:
                one.ask(shown, at, batch, table)
                count[one.name] += len(turns[done : done + stop.batch])
        done += stop.batch
        so_far = table
        for one in judges:
            so_far = one.into(so_far)
        scores = credits_in_turn(so_far, names)
        needed = stop.needed(scores, level, (0.0, 1.0), len(turns))
    left = [name for name, wanted in zip(names, needed, strict=True) if wanted]
    return sentences(stop, count, len(turns), left)


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
