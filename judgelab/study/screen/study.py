"""Who says nothing about the item, who stands apart, and may a ranking be believed?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Annotated, Any, ClassVar

import numpy as np
import xarray as xr
from pydantic import Field

from judgelab.calls.log import LoggedLM
from judgelab.core.bounds import Share
from judgelab.core.errors import ConfigError
from judgelab.core.panel import Panel
from judgelab.core.result import Headline, Result, Row, Table, Value
from judgelab.core.scores import Scores
from judgelab.engine.context import Context
from judgelab.engine.provenance import origin_of, sources
from judgelab.scale.local import alone
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_mean
from judgelab.stats.screen.belief import Belief
from judgelab.stats.screen.exam import FEWEST_ITEMS, Places, as_blocks, deal
from judgelab.stats.screen.verdicts import FEWEST_TEXTS, AgentVerdict
from judgelab.study.common.judges import JudgesStudy, asks_nobody
from judgelab.study.common.panels import score_records, text_records, write_replies, write_sources
from judgelab.study.common.tables import about, named_columns
from judgelab.study.common.templates import by_heading, sentences, table
from judgelab.study.screen.case import (
    LENGTH,
    WORDS,
    AttackEffects,
    Critic,
    RankingBelief,
    ScreenCase,
    decide,
    try_attacks,
    twice,
)
from judgelab.study.screen.texts import (
    block_panel,
    by_content,
    control_scores,
    distinct,
    item_keys,
    text_facts,
)

AGENTS, ITEMS = 3, FEWEST_TEXTS
HEADLINES = (Headline("says_nothing", "Systems that say nothing about their item", lower=True),)
PHRASES: Mapping[AgentVerdict, str] = {  # in the order of the table, which is no ranking
    "nothing": "says nothing that could be seen",
    "much less": "shares much less than the others",
    "not known": "not known",
    "something": "says something",
}
EXEMPT = "says something, in words of its own"
FEATURE_NAMES = (  # of ``stats.screen.belief.FEATURES``
    "how far it would be the same on other items of the kind (0 to 1)",
    "how far it is the length of texts (0 to 1)",
    "how far critics agree on it (-1 to 1)",
)
MOST_ODD = 12  # rows of the table of items
GAPS = 0.05  # share of the items without its text from which an agent is named


@dataclass(frozen=True)
class Screen(JudgesStudy):
    """Three answers without a label: who says nothing, who stands apart, and whether to rank.

    Within blocks of items every text is scored with every other. Critics qualify by telling pairs
    about one item from pairs about two; with those that do each agent is tested (``stats.screen``).
    Shared words are a critic of their own; without judges the run's mechanism is one. Blocks of n
    items of A agents take about n x block x A^2 scores, and each attack four times as many.
    """

    judges: Any = None
    attacks: Mapping[str, Any] = field(default_factory=dict)
    attacked: bool = False
    block: Annotated[int, Field(ge=FEWEST_ITEMS)] = 6
    tau: Share = 0.5
    probability: Share = 0.8
    belief: Belief | None = None
    named_by: ClassVar[Sequence[str]] = ("mechanism", "dataset")

    def ask(self, context: Context) -> None:
        """See Study."""
        panel, blocks, _ = self._dealt(context)
        panels = [panel, *self._panels(context, panel).values()]
        for own, one in product(self._contexts(context).values(), panels):
            _pair_scores(own, one, blocks)

    def run(self, context: Context) -> Result:
        """Ask the critics, let them sit the exam, test the agents, and say it. A ConfigError for an
        attack, a mechanism that scores texts one by one, or too few agents or items."""
        panel, blocks, total = self._dealt(context)
        contexts = {
            name: replace(own, evaluation_lm=LoggedLM(own.evaluation_lm, texts=True))
            for name, own in self._contexts(context).items()
        }
        measure = partial(_critics, contexts)
        case = decide(panel, blocks, measure(panel, blocks), text_facts(panel, blocks))
        attacks = try_attacks(case, self._panels(context, panel), self.attacks, measure)
        self._write(context, case, {name: own.evaluation_lm for name, own in contexts.items()})
        ranking = RankingBelief(case, self.belief, self.tau, self.probability)
        facts = {"case": case, "ranking": ranking, "total": total, "attacks": attacks}
        facts["fewest"] = FEWEST_TEXTS
        title, *lines = sentences(__package__, "answer.md.j2", **facts, **_facts(case))
        tables = [_agents_table(case), _critics_table(case, attacks), attacks.table]
        tables += [_belief_table(ranking), _odd_items_table(case)]
        if ranking.standing == "believed":
            tables.insert(1, _ranking_table(case))
        return Result(
            summary=_summary(context, case, ranking),
            primary="says_nothing",
            headlines=HEADLINES,
            tables=[one for one in tables if one.rows],
            notes=list(sources(context, panel)),
            provenance={"clean": origin_of(panel, {})},
            estimators=[one.critic.estimator for one in case.exams if one.critic.estimator],
            answer=by_heading(lines),
            title=title,
        )

    def _panels(self, context: Context, panel: Panel) -> dict[str, Panel]:
        """Attack that is tried -> the panel with every agent twice."""
        writer = context.writer("attack")
        return {
            name: twice(panel, attack.apply(panel, writer, seed=context.seed), name)
            for name, attack in self.attacks.items()
            if self.attacked and attack is not None
        }

    def _contexts(self, context: Context) -> dict[str, Context]:
        """Critic -> the context in which it is asked."""
        name, model = context.mechanism.name, context.evaluation_lm.presentation.model
        return self.contexts(context) or {
            name if asks_nobody(context.mechanism) else f"{model} ({name})": context
        }

    def _dealt(self, context: Context) -> tuple[Panel, list[Places], int]:
        """The texts as written, each item once, blocks of items, and how many items there were."""
        context.no_attack("screen")
        whole = context.panels(raw=True)["clean"]
        panel = distinct(by_content(whole))
        if len(panel.agents) < AGENTS or len(panel.items) < ITEMS:
            raise ConfigError(
                f"study=screen compares texts of at least {AGENTS} systems on at least {ITEMS} "
                f"items that two systems or more answered, and there are {len(panel.agents)} "
                f"systems and {len(panel.items)} such items: add some (items with equal "
                "texts count once), or raise limit."
            )
        return panel, deal(item_keys(panel), self.block), len(whole.items)

    @staticmethod
    def _write(context: Context, case: ScreenCase, lms: Mapping[str, Any]) -> None:
        panel = case.panel
        context.run_dir.write_table("records/clean_texts.parquet", text_records(panel))
        write_sources(context, panel)
        write_replies(context, panel, {name: lm.log for name, lm in lms.items()})
        if case.screening is not None:
            names, ids = [a.name for a in panel.agents], [item.id for item in panel.items]
            places = {"item": ids, "agent": names}
            agent = xr.DataArray(case.screening.effect, places, list(places))
            table = score_records(panel, Scores(agent=agent))
            context.run_dir.write_table("records/clean_scores.parquet", table)


def _critics(
    contexts: Mapping[str, Context], panel: Panel, blocks: Sequence[Places]
) -> list[Critic]:
    """Everybody who scores pairs: LMs, and rules."""
    critics = []
    for name, own in contexts.items():
        scores, attrs = _pair_scores(own, panel, blocks)
        estimator = own.estimator(attrs)
        critics.append(Critic(name, scores, estimator.model, estimator))
    rules = control_scores(panel, blocks).items()
    return [*critics, *(Critic(name, scores, name) for name, scores in rules)]


def _pair_scores(
    own: Context, panel: Panel, blocks: Sequence[Places]
) -> tuple[Floats, Mapping[str, object]]:
    """[blocks, agents, peers, m, m] scores by one critic, and how they were measured."""
    own.mechanism.fits(panel)
    together = block_panel(own.read(panel), blocks)
    if own.spread is not alone:
        own.spread(lambda lm: own.mechanism.measure_pairs(together, lm, seed=own.seed))
    own.tell(f"{own.mechanism.name}, within blocks", len(together.items))
    pairs = own.mechanism.measure_pairs(together, own.evaluation_lm, seed=own.seed)
    return as_blocks(np.asarray(pairs.values, np.float64), len(panel.agents)), pairs.attrs


def _facts(case: ScreenCase) -> dict[str, Any]:
    """What the answer says beside verdicts."""
    names, unknown, alike = case.names, case.those("not known"), case.facts.alike
    gaps = [sum(text is None for text in texts) for texts in zip(*case.panel.texts, strict=True)]
    return {
        "short": _words(case, case.those("much less")),
        "long": _words(case, case.those("something")),
        "gaps": sorted(
            (names[k], n) for k, n in enumerate(gaps) if n > max(2, GAPS * len(case.panel.items))
        ),
        "not_known": [
            (reason, case.called([k for k in unknown if case.reasons[k] == reason]))
            for reason in dict.fromkeys(case.reasons[k] for k in unknown)
        ],
        "copies": [
            (case.called(those), float(np.nanmean(alike[np.ix_(those, those)])))
            for those in case.copies
        ],
        "templates": sorted(
            (names[k], float(case.facts.own[k]), float(case.facts.repeated[k]))
            for k in np.flatnonzero(case.facts.template)
        ),
        "sources": not np.isnan(case.facts.source_p).any(),
        "critics": [one for one in case.exams if one.critic.name != LENGTH],
    }


def _words(case: ScreenCase, those: Sequence[int]) -> str:
    return f"{np.median(case.words[those]):.0f}" if those else ""


def _agents_table(case: ScreenCase) -> Table:
    """One row each, by verdict and name."""
    rows, screening, order = list[Row](), case.screening, list(PHRASES)
    critic = next((one.critic.name for one in case.pool if one.critic.estimator), "")
    places = range(len(case.names) if screening else 0)
    for k in sorted(places, key=lambda k: (order.index(case.verdicts[k]), case.names[k])):
        assert screening is not None
        phrase = EXEMPT if k in case.exempt else PHRASES[case.verdicts[k]]
        row: dict[str, Value] = {"system": case.names[k], "verdict": phrase}
        share = screening.share.at(k)
        value, low, high = (round(100 * x, 1) for x in (share.value, share.low, share.high))
        row |= named_columns("percent_of_median_other", Estimate(value, low, high))
        row["p"] = float(screening.p[k])
        if critic:
            row |= named_columns("shared", item_mean(case.effects[critic][:, k]))
        texts = int((~np.isnan(screening.effect[:, k])).sum())
        rows.append({**row, "words": float(case.words[k]), "texts": texts})
    return table(__package__, "agents", rows, critic=critic)


def _critics_table(case: ScreenCase, attacks: AttackEffects) -> Table:
    rows: list[Row] = []
    for one in case.exams:
        estimates = one.exam.estimates
        part = "yes" if one.qualifies else "no, a control" if one.critic.name == LENGTH else "no"
        row: dict[str, Value] = {"critic": one.critic.name, "takes_part": part}
        row |= named_columns("auc", estimates["auc"])
        row["auc_of_those_that_say_something"] = case.among_informative(one)
        row |= {"tpr": estimates["tpr"].value, "tnr": estimates["tnr"].value}
        row |= named_columns("beyond_length", one.ahead)
        if one.critic.name not in (WORDS, LENGTH):
            row |= named_columns("over_shared_words", one.over_words)
        for name, own in attacks.discernments.items():
            row |= named_columns(f"over_{name}", own[one.critic.name])
        rows.append(row | {"both_orders": one.exam.orders})
    return table(__package__, "critics", rows, damage=attacks.discernments)


def _belief_table(ranking: RankingBelief) -> Table:
    """What the prediction of Kendall's tau goes by."""
    belief = ranking.belief
    rows: list[Row] = [
        {"what": what, "here": here, "usual": None if belief is None else belief.means[name]}
        for (name, here), what in zip(ranking.features.items(), FEATURE_NAMES, strict=False)
    ]
    return table(__package__, "belief", rows)


def _odd_items_table(case: ScreenCase) -> Table:
    """Items on which agents that say nothing, say much less or stand apart share least."""
    rows = list[Row]()
    odd = [*case.those("nothing"), *case.those("much less"), *case.apart]
    effect = np.empty((0, 0)) if case.screening is None else case.screening.effect
    for k in odd:
        others = np.nanmean(np.delete(effect, k, axis=1), axis=1)
        gap = np.where(np.isnan(effect[:, k]), np.inf, effect[:, k] - others)
        for at in np.argsort(gap, kind="stable")[: max(MOST_ODD // len(odd), 1)]:
            row: dict[str, Value] = {"system": case.names[k], "item": case.panel.items[at].id}
            row |= {"its_score": float(effect[at, k]), "mean_of_others": float(others[at])}
            rows.append(row)
    return table(__package__, "odd_items", rows)


def _ranking_table(case: ScreenCase) -> Table:
    ranking = case.ranking
    assert ranking is not None
    ends = {"rank": ranking.rank, "rank_low": ranking.rank_low, "rank_high": ranking.rank_high}
    rows: list[Row] = [
        {"system": case.names[case.contestants[k]]} | {key: float(x[k]) for key, x in ends.items()}
        for k in np.argsort(ranking.rank)
    ]
    return table(__package__, "ranking", rows)


def _summary(context: Context, case: ScreenCase, ranking: RankingBelief) -> Mapping[str, Value]:
    counts = Counter(case.verdicts)
    summary = about(context, case.panel, "screen") | {
        "items": len(case.panel.items),
        "systems": len(case.panel.agents),
        "says_nothing": counts["nothing"],
        "says_much_less": counts["much less"],
        "says_something": counts["something"],
        "not_known": counts["not known"],
        "copies": sum(len(one) - 1 for one in case.copies),
        "apart": len(case.apart),
        "critics": len(case.pool),
        "ranking": ranking.standing,
        "ranking/tau": ranking.tau,
        "ranking/probability": ranking.probability(),
    }
    verdicts = zip(case.names, case.verdicts, strict=False)  # none where no critic qualifies
    return summary | {f"verdict/{name}": word for name, word in verdicts}
