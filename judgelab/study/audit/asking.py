"""Judges asked now, and metrics that came with the data, in the one table of judgments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial, reduce
from itertools import combinations
from typing import Any

import numpy as np
import xarray as xr

from judgelab.calls.log import Again, CallLog, LoggedLM
from judgelab.config.composing import literal
from judgelab.core.errors import ChoiceError, ConfigError, DataError
from judgelab.core.estimator import Estimator
from judgelab.core.judgments import Floats, JudgeFacts, JudgmentTable, Kind, Mask
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel, rng_for
from judgelab.engine.context import Context
from judgelab.engine.provenance import missing_verdicts
from judgelab.mechanism.recorded_scores import RecordedScores
from judgelab.scale.local import Spread
from judgelab.stats.intervals.ends import LEVEL
from judgelab.stats.trust.agreement import Places
from judgelab.study.audit.design import Bars, Design, single_grades
from judgelab.study.audit.graded import (
    as_classes,
    as_grades,
    as_pairs,
    better,
    judgments_of,
    places,
)
from judgelab.study.common.judges import NamedJudge, asks_nobody
from judgelab.study.common.stopping import Elimination, Stop, until_clear

NOBODY = (
    "There is no judge to audit: the data hold no verdicts or scores, and nobody is asked. Name "
    "judges (study.judges=judges.yaml), or a mechanism (mechanism=pairwise "
    "evaluation_lm=gpt4o_mini)."
)
NO_SOURCE = (
    "No item has a source (column source), so {name} would read texts without what they are "
    "about: add the column, name it with dataset.columns.source=COLUMN, or say that there is none "
    "with dataset.columns.source=false."
)


def gather(
    context: Context,
    panel: Panel,
    judges: Mapping[str, NamedJudge],
    stop: Stop,
    rules: Bars,
    repeats: int = 1,
) -> tuple[JudgmentTable, list[Inquiry], Elimination | None]:
    """Recorded judgments, recorded metrics where they are the mechanism, and those asked for now.

    A judge that compares two texts makes the units pairs; one that grades texts makes two
    categories the grades 0 and 1, which stay categories where its scale has no other grade.

    Args:
        panel: texts as written.
        judges: the study's own; by default the run's mechanism and evaluation LM are the judge.
        stop: when enough is asked; by default everything is.
        repeats: how often each question is put.

    Returns:
        What people and judges said; who was asked; what came of stopping early, if it was wanted.

    Raises:
        ConfigError: there is no judge, or one has no mechanism to be asked by.
        DataError: there are no texts to ask about, or they are sorted into classes without order.
    """
    contexts = _contexts(context, judges)
    table = before = judgments_of(panel)
    if any(one.mechanism.subject == "choice" for one in contexts.values()):
        table = as_pairs(table)
    elif contexts and table.kind == "category":
        table = as_grades(table)
    table = _with_metrics(table, context, panel)
    at, whole = places(table, panel)
    _check_texts(panel, contexts, whole)
    inquiries = [Inquiry(name, one, table, repeats) for name, one in contexts.items()]
    elimination = None
    if stop.on and inquiries:
        elimination, table = _until_clear(inquiries, table, panel, at, whole, stop, rules)
    for one in inquiries:
        if elimination is None:
            one.ask(panel, at, whole)
        table = one.into(table)
    if not table.judges:
        unread: Any = panel.provenance.get("columns_not_read") or ()
        words = {str(x): [f"dataset.judges={literal([str(x)])}"] for x in unread[:4]}
        note = panel.provenance.get("log") or panel.provenance.get("columns_taken")
        raise ChoiceError(
            f"{NOBODY} Here: {note}" if note else NOBODY,
            {f"if a judge's are in {x!r}": choice for x, choice in words.items()},
        )
    if all(one.mechanism.bounds == (0.0, 1.0) for one in contexts.values()):
        table = as_classes(table, before, {k: x.mechanism.levels for k, x in contexts.items()})
    return table, inquiries, elimination


def _contexts(context: Context, judges: Mapping[str, NamedJudge]) -> dict[str, Context]:
    """Judge -> the context in which it is asked.

    Without judges of the study's own, the run's mechanism and evaluation LM are the one judge;
    nobody is asked where the mechanism takes what was recorded.
    """
    recorded = context.mechanism.name == RecordedScores.name
    if not judges:
        model = context.evaluation_lm.presentation.model
        of_model = "" if asks_nobody(context.mechanism) else f" with {model}"
        return {} if recorded else {context.mechanism.name + of_model: context}
    for name, judge in judges.items():
        if recorded and judge.mechanism is None:
            raise ConfigError(
                f"study.judges.{name} says not by which mechanism it is asked: add "
                f"'+mechanism@study.judges.{name}.mechanism=pairwise', or mechanism=pairwise for "
                "all."
            )
    return {name: judge.within(context) for name, judge in judges.items()}


def _check_texts(panel: Panel, judges: Mapping[str, Context], whole: Mask) -> None:
    columns = panel.provenance.get("columns")
    unsaid = isinstance(columns, Mapping) and "source" not in columns
    for name, one in judges.items():
        if not whole.any():
            raise DataError(
                f"There is no text to ask {name} about: choose data with texts, or audit what the "
                "data hold (mechanism=recorded_scores study.judges=null)."
            )
        if unsaid and not asks_nobody(one.mechanism) and not any(x.source for x in panel.items):
            raise DataError(NO_SOURCE.format(name=name))


class Inquiry:
    """A judge that is being asked, and what it has said so far.

    Attributes:
        values: [units, orders] NaN where it was not asked, or said nothing.
        again: [units, orders, repeats - 1] the same when it was asked again; none of a judge that
            cannot but repeat itself, as nothing is drawn for its verdicts.
        asked: [units].
        open: verdicts of calls that were not sent or not answered: the same command asks again.
    """

    def __init__(self, name: str, context: Context, table: JudgmentTable, repeats: int) -> None:
        self.name, self.context, self.kind = name, context, table.kind
        self.lm = LoggedLM(context.evaluation_lm, texts=True)
        self._more = LoggedLM(context.evaluation_lm)
        shape = (len(table.units), table.orders)
        self.values, self.again = np.full(shape, np.nan), np.full((*shape, repeats - 1), np.nan)
        self.asked = np.zeros(len(table.units), np.bool_)
        self.open = 0
        self.estimator: Estimator | None = None

    def ask(self, panel: Panel, at: Places, units: Mask) -> None:
        """Ask about the chosen units, in rounds where not all pairs of an item are wanted."""
        context = replace(self.context, evaluation_lm=self.lm)
        texts = context.read(panel)
        verdicts = partial(verdicts_of, panel=texts, at=at[units], kind=self.kind, name=self.name)
        self.values[units], self.estimator = verdicts(context)
        self.asked |= units
        for k in range(self.again.shape[-1]):
            lm = Again(self._more, k + 1)
            spread = partial(_spread_again, self.context.spread, k + 1)
            context = replace(self.context, evaluation_lm=lm, spread=spread)
            again, _ = verdicts(context)
            if lm.asked:
                self.again[units, :, k] = again

    @property
    def log(self) -> CallLog:
        """All its calls."""
        log = CallLog()
        log.rows = self.lm.log.rows | self._more.log.rows
        return log

    @property
    def origin(self) -> dict[str, object]:
        """How its verdicts came about: its estimator, and which models its servers named."""
        own = {} if self.estimator is None else asdict(self.estimator)
        return {**own, "answered": sorted(self.lm.models)}

    def into(self, table: JudgmentTable) -> JudgmentTable:
        """The table with what it said; a call that was not sent is no question."""
        asked = np.repeat(self.asked[:, None], table.orders, axis=1)
        missing = asked & np.isnan(self.values)
        way = self.context.mechanism
        of_pairs = way.subject == "choice"
        unsent, why = missing_verdicts(self.lm.log, table, missing, of_pairs=of_pairs)
        self.open = int(unsent.sum())
        facts = JudgeFacts(self.name, not of_pairs, way.bounds is not None)
        return with_judge(table, facts, self.values, asked & ~unsent, why, self.again)


def _spread_again(spread: Spread, run: int, part: Callable[[EvaluationLM], object]) -> None:
    """Workers, too, ask once more."""
    spread(lambda lm: part(Again(lm, run)))


def _until_clear(
    judges: Sequence[Inquiry],
    table: JudgmentTable,
    panel: Panel,
    at: Places,
    whole: Mask,
    stop: Stop,
    rules: Bars,
) -> tuple[Elimination, JudgmentTable]:
    """Ask about labelled items (ConfigError: there are none) in random turns until it is clear; the
    table with its turns."""
    names = sorted({str(name) for name in table.units.cluster[table.labelled & whole]})
    if not names:
        raise ConfigError("study.stop needs labels of people: leave study.stop out.")
    seed = judges[0].context.seed
    names.sort(key=lambda name: rng_for(seed, "stop", name).random())
    pairs = single_grades(table)  # which are compared, so that two items are a turn
    place = {name: k // 2 if pairs else k for k, name in enumerate(names)}
    turn = np.array([place.get(str(name), np.nan) for name in table.units.cluster], np.float64)
    table = replace(table, units=replace(table.units, turn=turn))

    def ask(turns: range, who: Mask) -> None:
        batch = whole & np.isin(turn, list(turns))
        texts = only(panel, dict.fromkeys(at[batch, 0].tolist(), range(len(panel.agents))))
        for one, to_ask in zip(judges, who, strict=True):
            if to_ask:
                one.ask(texts, at, batch)

    def scores() -> Floats:
        so_far = table
        for one in judges:
            so_far = one.into(so_far)
        return Design.of(so_far, rules, looks=True).own.adds[-len(judges) :].T

    sizes, who = np.bincount(list(place.values())).tolist(), [one.name for one in judges]
    return until_clear(stop, sizes, who, ask, scores, LEVEL, (0.0, 1.0), rules.labels), table


def verdicts_of(
    context: Context, panel: Panel, at: Places, kind: Kind, name: str
) -> tuple[Floats, Estimator | None]:
    """[units, orders] what a judge says of texts of a panel, and what these are estimates by; of
    units at [units, 3] item and two agents. Progress is shown under the judge's name."""
    rounds = list[xr.Dataset]()
    for part in _panels(context, panel, at):
        context.tell(name, 0)
        rounds.append(context.measure(part))
    whole = reduce(lambda one, two: one.assign(verdict=one["verdict"].fillna(two.verdict)), rounds)
    scores, (item, one, two) = context.score(whole), at.T
    if kind == "preference" and "verdict" in whole:
        verdict = whole["verdict"].transpose("item", "agent", "peer").values
        both = verdict[item, one, two], 1 - verdict[item, two, one]
        return np.stack(both, axis=1), scores.estimator
    return _of_grades(scores.agent.transpose("item", "agent").values, at, kind), scores.estimator


def _panels(context: Context, panel: Panel, at: Places) -> Iterator[Panel]:
    """Panels of the texts that are judged; of a mechanism that compares, one for each round."""
    subject = context.mechanism.subject
    if subject == "pair":  # peers and references are evidence
        yield panel
        return
    pairs_of_item: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for item, *pair in at.tolist():
        pairs_of_item[item].add((min(pair), max(pair)))
    rounds = {item: _rounds(pairs) for item, pairs in pairs_of_item.items()}
    if subject == "text":
        rounds = {item: [tuple(set().union(*pairs))] for item, pairs in pairs_of_item.items()}
    for k in range(max(map(len, rounds.values()))):
        yield only(panel, {item: own[k] for item, own in rounds.items() if k < len(own)})


def _rounds(pairs: set[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Texts that are shown together, so that all their pairs are wanted ones, each once."""
    agents = tuple(sorted({a for pair in pairs for a in pair}))
    return [agents] if pairs == set(combinations(agents, 2)) else sorted(pairs)


def only(panel: Panel, agents: Mapping[int, Collection[int]]) -> Panel:
    """The panel with the texts of these agents of these items."""
    texts = tuple(
        tuple(text if a in agents.get(k, ()) else None for a, text in enumerate(row))
        for k, row in enumerate(panel.texts)
    )
    return replace(panel, texts=texts)


def _of_grades(grade: Floats, at: Places, kind: Kind) -> Floats:
    """[units, orders] of a table's kind, from grades [items, agents]."""
    item, one, two = at.T
    if kind == "preference":
        return np.repeat(better(grade[item, one], grade[item, two])[:, None], 2, axis=1)
    return np.asarray(grade[item, one][:, None])


def _with_metrics(table: JudgmentTable, context: Context, panel: Panel) -> JudgmentTable:
    """The metrics that came with the data as judges, where they are the run's mechanism."""
    metrics = list(dict.fromkeys(name for item in panel.items for name in item.scores))
    if context.mechanism.name != RecordedScores.name or not metrics or table.kind == "category":
        return table
    metric, (at, _) = getattr(context.mechanism, "metric", None), places(table, panel)
    for name in metrics if metric is None else [metric]:
        if table.kind == "grade" and name in table.names:
            continue  # the table has these grades, and which are missing
        grade = replace(context, mechanism=RecordedScores(name)).measure(panel)["value"].values
        absent = (at.min(axis=1, initial=0) < 0)[:, None]
        values = np.where(absent, np.nan, _of_grades(grade, at, table.kind))
        free = f"{name} (score)" if name in table.names else name
        table = with_judge(table, JudgeFacts(free, pointwise=True), values, ~np.isnan(values))
    return table


def with_judge(
    table: JudgmentTable,
    who: JudgeFacts,
    verdicts: Floats,
    asked: Mask | None = None,
    reasons: Mapping[str, int] | None = None,
    again: Floats | None = None,
) -> JudgmentTable:
    """One judge more, [units, orders], asked everywhere unless said otherwise; ``again`` is what it
    said when it was asked again [units, orders, runs]."""
    there = np.ones(verdicts.shape, np.bool_) if asked is None else asked
    own = np.empty((*verdicts.shape, 0)) if again is None else again
    most = max(own.shape[-1], table.again.shape[-1])
    runs = [
        np.pad(x, [(0, 0)] * 3 + [(0, most - x.shape[-1])], constant_values=np.nan)
        for x in (table.again, own[None])
    ]
    return replace(
        table,
        judges=(*table.judges, who),
        verdicts=np.concatenate([table.verdicts, verdicts[None]]),
        asked=np.concatenate([table.asked, there[None]]),
        reasons={**table.reasons, **({who.name: reasons} if reasons else {})},
        again=np.concatenate(runs),
    )
