"""What every judge says about a panel and in exams, asked now or recorded, and what that costs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
import yaml
from numpy.typing import NDArray
from pydantic import TypeAdapter

from judgelab.calls.budget import PER, Price
from judgelab.calls.log import LoggedLM
from judgelab.calls.remote import Remote
from judgelab.core.errors import CapabilityError, ConfigError, DataError, did_you_mean
from judgelab.core.estimator import Estimator
from judgelab.core.lm import Capability, EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.resources import conf, own_or_shipped
from judgelab.engine.context import Context, without_reference_texts
from judgelab.exam.protocol import Answers, Exam, ExamPaper, NotHeldError
from judgelab.scale.local import alone
from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.qualification.exams import (
    ConfidenceAnswers,
    ExamAnswers,
    ExamShares,
    gaps_of,
    lead_over,
    same_verdicts,
    shares,
    tie_share,
    votes_of,
)

Counts = NDArray[np.int64]
Absence = tuple[str, str, Sequence[str]]
"""An exam that judges did not take, why, as a clause, and who did not; nobody: it was not held."""


@dataclass(frozen=True)
class ExamResult:
    """What the judges answered in one exam."""

    answers: tuple[Answers, ...]  # of each judge
    facts: Mapping[str, object]  # how it was set
    # [2, judges] of all its answers, and of those that its verdicts had not given already; and of
    # writing its questions; NaN where unknown
    cost: Floats
    writing: float = 0.0

    def of(self, rows: Counts) -> ExamResult:
        """That of these judges."""
        return replace(self, answers=tuple(self.answers[k] for k in rows), cost=self.cost[:, rows])

    @property
    def takers(self) -> Mask:
        """[judges] who took it, those with unreadable answers alone among them."""
        return np.array([not one.absence for one in self.answers])

    @property
    def by_item(self) -> ExamAnswers:
        """The answers, summed over each item."""
        own = shares(self._all("scored"), self._all("asked"))
        if self.answers[0].hard is None:
            return own
        return ConfidenceAnswers(own, shares(self._all("hard"), self._all("hard_asked")))

    @property
    def over_length(self) -> ExamShares | None:
        """The lead over the longer answer, where that decides."""
        if self.answers[0].by_length is None:
            return None
        return lead_over(*map(self._all, ("scored", "by_length", "asked")))

    def _all(self, part: str) -> NDArray[Any]:
        return np.stack([getattr(one, part) for one in self.answers])


@dataclass(frozen=True)
class JudgeResponses:
    """Verdicts or grades and exam answers of all judges; arrays are NaN where unscored."""

    judges: tuple[str, ...]  # names, in the order of all arrays
    pairs: Counts  # [pairs, 2] agents of each pair of answers
    # [judges, items, pairs, orders] does the pair's first answer win; or, of judges that grade
    # answers one by one, [judges, items, agents] grades
    cells: Floats
    cost: Floats  # [judges] of verdicts or grades; NaN where unknown
    exams: Mapping[str, ExamResult]  # an exam that no judge took is absent
    absences: Sequence[Absence] = ()
    estimators: tuple[Estimator, ...] = ()  # of verdicts; recorded ones do not say

    def of(self, names: Sequence[str]) -> JudgeResponses:
        """The same of these judges alone, in this order, without exams that none of them took.
        ConfigError: one is unknown."""
        for name in names:
            if name not in self.judges:
                hint = did_you_mean(name, self.judges)
                raise ConfigError(f"study.recorded, study.methods: no judge is {name!r}.{hint}")
        rows = np.array([self.judges.index(name) for name in names], dtype=np.int64)
        exams = {exam: one.of(rows) for exam, one in self.exams.items() if one.takers[rows].any()}
        cells, cost = self.cells[rows], self.cost[rows]
        return replace(self, judges=tuple(names), cells=cells, cost=cost, exams=exams)

    @property
    def has_grades(self) -> bool:
        """Whether answers were graded one by one, and not compared."""
        return self.cells.ndim == 3

    @property
    def votes(self) -> Floats:
        """[judges, items, pairs] for the pair's first answer; both orders are one vote."""
        return gaps_of(self.cells, self.pairs) if self.has_grades else votes_of(self.cells)

    def names_of(self, mask: Mask) -> str:
        """The judges of a mask, with commas between them."""
        return ", ".join(judge for judge, inside in zip(self.judges, mask, strict=True) if inside)

    def records(self, panel: Panel) -> pd.DataFrame:
        """One row per judge, item and pair (both orders), or per judge, item and answer."""
        names = np.array([agent.name for agent in panel.agents])
        judge, item, column = (grid.ravel() for grid in np.indices(self.cells.shape[:3]))
        items = np.array([item.id for item in panel.items])
        head = {"judge": np.array(self.judges)[judge], "item": items[item]}
        if self.has_grades:
            return pd.DataFrame({**head, "agent": names[column], "grade": self.cells.ravel()})
        first, second = names[self.pairs][column].T
        won, again = self.cells.reshape(-1, 2).T
        wins = {"first_wins": won, "first_wins_shown_second": again}
        return pd.DataFrame({**head, "first": first, "second": second, **wins})


def all_pairs(panel: Panel) -> Counts:
    """[pairs, 2] agents of every unordered pair of agents that are no references."""
    plain = [k for k, agent in enumerate(panel.agents) if not agent.reference]
    return np.array(list(combinations(plain, 2)), dtype=np.int64).reshape(-1, 2)


def recorded_responses(panel: Panel, exams: Collection[str], prices: JudgePrices) -> JudgeResponses:
    """What judges said according to the data (mechanism=recorded_scores), and no one is asked.

    Verdicts on pairs in both orders, or grades; of exams, consistency follows from verdicts.

    Raises:
        ConfigError: the data hold no verdicts.
    """
    table = panel.judgments
    if table is None or not table.judges:
        raise ConfigError(
            "mechanism=recorded_scores: the data hold no verdicts of judges. Name their columns "
            "(dataset.judges=[...]), or ask judges with another mechanism."
        )
    agents, pairs = pd.Index([agent.name for agent in panel.agents]), all_pairs(panel)
    items = pd.Index([item.id for item in panel.items]).get_indexer(pd.Index(table.units.item))
    in_panel = np.flatnonzero(items >= 0)
    row, units = items[in_panel], table.units.at(in_panel)
    verdicts, asked = table.verdicts[:, in_panel], table.asked[:, in_panel]
    names, counts = tuple(table.names), asked.reshape(len(asked), -1).sum(axis=1)
    each = np.array([prices.judges.get(name, np.nan) for name in names])
    cost = np.where(counts > 0, each * counts * prices.tokens_per_call / PER, 0.0)
    first, of_pairs = agents.get_indexer(pd.Index(units.first)), table.kind == "preference"
    if not of_pairs:
        cells = np.full((len(names), len(panel.items), len(agents)), np.nan)
        cells[:, row, first] = verdicts[:, :, 0]
    else:
        second = agents.get_indexer(pd.Index(units.second))
        place = np.full((len(agents), len(agents)), -1)
        place[tuple(pairs.T)] = np.arange(len(pairs))
        cells = np.full((len(names), len(panel.items), len(pairs), 2), np.nan)
        # where the other text is the pair's first, it was shown so second
        turned = 1 - verdicts[:, :, ::-1]
        for side, own in ((place[first, second], verdicts), (place[second, first], turned)):
            there = side >= 0
            cells[:, row[there], side[there]] = own[:, there]
    results: dict[str, ExamResult] = {}
    if of_pairs and "consistency" in exams:
        answers = []
        for before, after in zip(cells[..., 0], cells[..., 1], strict=True):
            same = same_verdicts(before, after)
            absence = "no verdicts in both orders" if np.isnan(same).all() else ""
            everywhere, ties = np.ones(same.shape, np.bool_), tie_share(before, after)
            answers.append(Answers(same, everywhere, tied=ties, absence=absence))
        # its answers are the verdicts: it costs nothing more
        costs = np.stack([cost, np.zeros(len(names))])
        results["consistency"] = ExamResult(tuple(answers), {"change": "position"}, costs)
    reason = "the data hold no answers of judges in it"
    absences = [(name, reason, ()) for name in exams if name not in results]
    return JudgeResponses(names, pairs, cells, cost, results, absences)


def ask(
    context: Context,
    panel: Panel,
    judges: Mapping[str, Context],
    exams: Mapping[str, Exam],
    prices: JudgePrices,
) -> JudgeResponses:
    """Put the mechanism's questions and the exams to every judge, each in its context.

    Verdicts on reference answers, which no pool uses, are asked for only where they are evidence.

    Raises:
        CapabilityError: a judge, or the writer, cannot do what an exam needs.
        ConfigError: an exam does not fit the panel.
    """
    lms = {judge: own.evaluation_lm for judge, own in judges.items()}
    _check_exams(context, lms, exams)
    papers: dict[str, tuple[ExamPaper, LoggedLM]] = {}  # with who wrote it
    absences: list[Absence] = []
    for name, exam in exams.items():
        writer = LoggedLM(context.writer())
        try:
            papers[name] = exam.prepare(panel, writer, seed=context.seed), writer
        except NotHeldError as cause:
            absences.append((name, f"{cause}, or study.{name}=null", ()))
    voting = {judge: LoggedLM(lm) for judge, lm in lms.items()}
    measurements: dict[str, xr.Dataset] = {}
    for judge, own in judges.items():
        context.tell(judge, 0)
        texts = panel if own.mechanism.subject == "pair" else without_reference_texts(panel)
        measurements[judge] = replace(own, evaluation_lm=voting[judge], spread=alone).measure(texts)
    results: dict[str, ExamResult] = {}
    for name, (paper, writer) in papers.items():
        logs = {judge: LoggedLM(lm) for judge, lm in lms.items()}
        answers: dict[str, Answers] = {}
        for judge, lm in logs.items():
            context.tell(f"{judge}, {name}", 0)
            answers[judge] = exams[name].take(paper, lm, seed=context.seed)
        reasons = _judges_by({judge: one.absence for judge, one in answers.items()})
        absences += [(name, reason, who) for reason, who in reasons.items()]
        if not all(one.absence for one in answers.values()):
            cost = np.stack([prices.costs_of(logs), prices.costs_of(logs, voting)])
            writing = float(prices.costs_of({"the writer": writer})[0])
            ways = _judges_by({judge: one.way for judge, one in answers.items()})
            by = "; ".join(f"{way} ({', '.join(who)})" for way, who in ways.items())
            facts = paper.facts | ({"by": by} if by else {})
            results[name] = ExamResult(tuple(answers.values()), facts, cost, writing)
    pairs, cost = all_pairs(panel), prices.costs_of(voting)
    cells = _cells(judges, measurements, pairs)
    by_whom = tuple(own.estimator(measurements[name].attrs) for name, own in judges.items())
    return JudgeResponses(tuple(judges), pairs, cells, cost, results, absences, by_whom)


def _check_exams(
    context: Context, lms: Mapping[str, EvaluationLM], exams: Mapping[str, Exam]
) -> None:
    """CapabilityError: a judge, or the writer, cannot do what an exam needs."""
    for name, exam in exams.items():
        for judge, lm in lms.items():
            if not exam.requires <= lm.capabilities:
                raise CapabilityError(
                    f"study.judges.{judge} cannot take study.{name}: it needs "
                    f"{', '.join(sorted(exam.requires))}. Choose another LM or study.{name}=null."
                )
        if exam.needs_writer and Capability.CHAT not in context.writer().capabilities:
            raise CapabilityError(
                f"study.{name} has texts written by an LM that can chat: choose "
                "evaluation_lm@writer_lm=OPTION."
            )


def _judges_by(words: Mapping[str, str]) -> dict[str, list[str]]:
    """Each word -> the judges with it; those without any are left out."""
    each = dict.fromkeys(filter(None, words.values()))
    return {word: [judge for judge, own in words.items() if own == word] for word in each}


def _cells(
    judges: Mapping[str, Context], measurements: Mapping[str, xr.Dataset], pairs: Counts
) -> Floats:
    """See ``JudgeResponses.cells``."""
    if any(own.mechanism.subject != "choice" for own in judges.values()):
        scores = (judges[name].mechanism.score(own) for name, own in measurements.items())
        return np.stack([one.agent.values for one in scores])
    verdicts, (first, second) = (own["verdict"].values for own in measurements.values()), pairs.T
    both = [np.stack([v[:, first, second], 1 - v[:, second, first]], -1) for v in verdicts]
    return np.stack(both)


@dataclass(frozen=True)
class JudgePrices:
    """Prices of judges by their names, and of models by a list of theirs."""

    currency: str  # of all prices
    tokens_per_call: float  # of a verdict, where nothing better is known (recorded ones)
    judges: Mapping[str, float]  # judge -> price
    models: str | None = None  # the run's list of models behind an endpoint; None: conf/prices.yaml

    def listed(self, name: str, lm: EvaluationLM) -> Price | None:
        """The price of a model behind an endpoint; None: there is none. ConfigError: the price is
        in another currency; DataError: the run's price list cannot be read."""
        listed = lm.price(self.models) if isinstance(lm, Remote) else None
        if listed is not None and listed.currency != self.currency:
            raise ConfigError(
                f"study.prices is in {self.currency}, but the price of {name} (of "
                f"budget.prices) in {listed.currency}: give both in one currency."
            )
        return listed

    def costs_of(
        self, lms: Mapping[str, LoggedLM], without: Mapping[str, LoggedLM] | None = None
    ) -> Floats:
        """[LMs] what their logged answers cost; NaN where unknown, 0 where there are none.

        One behind an endpoint costs what the run's price list says of its model, input and reply
        each at its price; one that the list lacks, or that runs here, what this list says. One on
        neither list costs nothing if it runs here, and is else unknown.

        Args:
            without: of the same names; what these were asked, too, is left out.
        """
        costs = np.zeros(len(lms))
        for k, (name, logged) in enumerate(lms.items()):
            log = logged.log if without is None else logged.log.beyond(without[name].log)
            lm, (calls, tokens_in, tokens_out) = logged.unwrapped, log.bill
            if not calls:
                continue
            if listed := self.listed(name, lm):
                costs[k] = listed.cost(tokens_in, tokens_out)
            elif name in self.judges or isinstance(lm, Remote):
                costs[k] = self.judges.get(name, np.nan) * (tokens_in + tokens_out) / PER
        return costs


def read_prices(file: str) -> JudgePrices:
    """A name under conf, or a path. DataError: the list cannot be read."""
    path = own_or_shipped(file, conf())
    try:
        listed = yaml.safe_load(path.read_text(encoding="utf-8"))
        return TypeAdapter(JudgePrices).validate_python(listed)
    except (OSError, yaml.YAMLError, ValueError) as cause:
        raise DataError(
            f"The price list {path} cannot be read ({type(cause).__name__}): it needs currency, "
            "tokens_per_call, and judges with a price per million tokens each."
        ) from cause
