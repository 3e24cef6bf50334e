"""What a screen finds: critics that qualify, what they say of each agent, what attacks gain it.

Under an attack one system's texts are changed, and all others stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from judgelab.core.estimator import Estimator
from judgelab.core.panel import Agent, Panel
from judgelab.core.result import Row, Table
from judgelab.report import format
from judgelab.stats.discrimination.auc import row_auc
from judgelab.stats.intervals.arrays import Floats, row_means
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_change, item_mean
from judgelab.stats.ranking.leaderboard import Ranking, rank_intervals
from judgelab.stats.screen.belief import Belief, features
from judgelab.stats.screen.exam import Places, SourceExam, by_item, centre, effects, residual_auc
from judgelab.stats.screen.verdicts import (
    FEWEST_TEXTS,
    RATE,
    RISES,
    AgentVerdict,
    Screening,
    attack_gains,
    merge,
    screen,
    shares_of_median,
)
from judgelab.study.common.tables import named_columns
from judgelab.study.common.templates import table
from judgelab.study.screen.texts import TextFacts, word_counts

RankingStanding = Literal["believed", "not believed", "unknown", "few"]

# share of the median other agent's effect that an agent surely stays below who stands apart
APART = 0.75
WORDS, LENGTH = "shared words", "length"
Reason = Literal["", "other words", "source", "brief", "few", "alone", "weak"]


@dataclass(frozen=True)
class Critic:
    """Who scores pairs of texts, or a rule that does."""

    name: str
    scores: Floats  # [blocks, agents, peers, m, m]
    family: str  # its LM; critics of one family count as one
    estimator: Estimator | None = None  # None of a rule


@dataclass(frozen=True)
class CriticExam:
    """A critic after the exam."""

    critic: Critic
    exam: SourceExam
    ahead: Estimate  # AUC less chance, of its scores or of what length does not tell of them
    over_words: Estimate  # AUC less that of shared words

    @property
    def qualifies(self) -> bool:
        """Whether it surely tells more than a guess does, and more than length."""
        return self.critic.name != LENGTH and self.ahead.low > 0 and self.exam.weight > 0

    @property
    def plain(self) -> bool:
        """Whether it qualifies, and is not surely better than counting shared words."""
        return self.qualifies and self.critic.name != WORDS and not self.over_words.low > 0


@dataclass(frozen=True)
class ScreenCase:
    """Everything that the page is made of."""

    panel: Panel
    blocks: Sequence[Places]
    exams: Sequence[CriticExam]
    facts: TextFacts
    screening: Screening | None  # None where no critic qualifies
    verdicts: Sequence[AgentVerdict] = ()
    reasons: Sequence[Reason] = ()  # why "not known", or exempt from the bars; "" of the others
    # critic that qualified -> [items, agents] its own effects, in its unit
    effects: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Of the agents, each on one line."""
        return [format.text(agent.name) for agent in self.panel.agents]

    @property
    def pool(self) -> list[CriticExam]:
        """The critics that qualified."""
        return [one for one in self.exams if one.qualifies]

    def called(self, places: Sequence[int]) -> list[str]:
        """Names of some agents, sorted."""
        return sorted(self.names[k] for k in places)

    def those(self, verdict: AgentVerdict) -> list[int]:
        """Agents of a verdict."""
        return [k for k, one in enumerate(self.verdicts) if one == verdict]

    @property
    def exempt(self) -> list[int]:
        """Agents that say something, in words too few or too different to say how much."""
        return [k for k in self.those("something") if self.reasons[k]]

    @property
    def copies(self) -> list[list[int]]:
        """Groups of agents that wrote nearly the same."""
        groups = (np.flatnonzero(self.facts.group == g).tolist() for g in set(self.facts.group))
        return sorted(one for one in groups if len(one) > 1)

    @cached_property
    def contestants(self) -> list[int]:
        """Agents that a ranking could be of: they say something that can be compared, each group of
        copies once."""
        groups: dict[int, int] = {}
        for k in sorted({*self.those("something")} - {*self.exempt}):
            groups.setdefault(int(self.facts.group[k]), k)
        return list(groups.values())

    @cached_property
    def ranking(self) -> Ranking | None:
        """Of those, by how much they share with the others; ranks hold together at .95."""
        if self.screening is None or len(self.contestants) < 3:
            return None
        return rank_intervals(self.screening.effect[:, self.contestants], level=0.95)

    @cached_property
    def apart(self) -> list[int]:
        """Agents that say something, and agree with the others surely less than most of them do:
        by rank, and by a share of the median of the others below ``APART``."""
        if self.screening is None or self.ranking is None:
            return []
        effect, better = self.screening.effect[:, self.contestants], self.ranking.rank_low - 1
        far = shares_of_median(effect, np.arange(len(self.contestants)))[0].high < APART
        return [self.contestants[k] for k in np.flatnonzero(far & (better > (len(far) - 1) / 2))]

    def among_informative(self, one: CriticExam) -> float:
        """AUC of a critic's exam on pairs of systems that say something; NaN of fewer than two.

        Texts that say nothing cannot be told by any critic: this tells a weak critic from empty
        systems.
        """
        places = self.those("something")
        if len(places) < 2:
            return np.nan
        exam = SourceExam.of(one.critic.scores[:, places][:, :, places], self.blocks)
        return exam.estimates["auc"].value

    @cached_property
    def words(self) -> Floats:
        """[agents] mean words of a text."""
        return row_means(word_counts(self.panel).T)


@dataclass(frozen=True)
class RankingBelief:
    """What is known of the ranking of a case, and what it has to reach to be believed: tau with a
    probability, by a belief; none reaches it without."""

    case: ScreenCase
    belief: Belief | None
    least_tau: float
    least_probability: float

    @cached_property
    def features(self) -> Mapping[str, float]:
        """See ``stats.screen.belief.features``."""
        case, places = self.case, self.case.contestants
        if case.screening is None or len(places) < 3:
            return {}
        critics = [row_means(one[:, places].T) for one in case.effects.values()]
        return features(case.screening.effect[:, places], case.words[places], critics)

    @property
    def tau(self) -> float:
        """Predicted Kendall's tau with people's means."""
        return self.belief.tau(self.features) if self.belief and self.features else np.nan

    def probability(self, **features: float) -> float:
        """That tau is at least the least, by what is known of the ranking or of another one."""
        own = features or self.features
        return self.belief.probability(own, self.least_tau) if self.belief and own else np.nan

    @property
    def standing(self) -> RankingStanding:
        """Whether a ranking is shown."""
        if len(self.case.contestants) < 3:
            return "few"
        if np.isnan(self.probability()):
            return "unknown"
        return "believed" if self.probability() >= self.least_probability else "not believed"


def decide(
    panel: Panel, blocks: Sequence[Places], critics: Sequence[Critic], facts: TextFacts
) -> ScreenCase:
    """Hold the exam, and screen with those who pass it."""
    by_name = {one.name: SourceExam.of(one.scores, blocks) for one in critics}
    length = next(one.scores for one in critics if one.name == LENGTH)
    exams = []
    for one in critics:
        own, rest = by_name[one.name], residual_auc(one.scores, length, blocks)
        ahead = min(own.lead(None), item_change(rest - 0.5, 0.5), key=lambda bar: bar.low)
        exams.append(CriticExam(one, own, ahead, own.lead(by_name[WORDS])))
    pool = [one for one in exams if one.qualifies]
    case = ScreenCase(panel, blocks, exams, facts, None)
    if not pool:
        return case
    even = [centre(one.critic.scores) for one in pool]
    families = [one.critic.family for one in pool]
    screening = screen(merge(even, blocks, families), blocks, facts.group)
    verdicts, reasons = list[AgentVerdict](), list[Reason]()
    texts = (~np.isnan(screening.effect)).sum(axis=0)
    for k, word in enumerate(screening.verdict):
        few: Reason = "few" if facts.group.any() else "alone"
        why: Reason = "" if word != "not known" else few if texts[k] < FEWEST_TEXTS else "weak"
        if word == "nothing" and facts.source_p[k] <= RATE:
            word, why = "not known", "source"
        elif word in ("nothing", "much less") and facts.foreign[k]:
            word, why = "something" if screening.sure[k] else "not known", "other words"
        elif word == "much less" and facts.brief:
            word, why = "not known", "brief"
        verdicts.append(word)
        reasons.append(why)
    by_critic = {
        one.critic.name: effects(list(cells.swapaxes(0, 1)), blocks, facts.group)
        for cells, one in zip(even, pool, strict=True)
    }
    return ScreenCase(panel, blocks, exams, facts, screening, verdicts, reasons, by_critic)


Measure = Callable[[Panel, Sequence[Places]], Sequence[Critic]]


def twice(panel: Panel, changed: Panel, name: str) -> Panel:
    """Every agent as it is and (in the same order) attacked."""
    agents = tuple(Agent(f"{one.name}, {name}") for one in panel.agents)
    rows = zip(panel.texts, changed.texts, strict=True)
    texts = tuple((*before, *after) for before, after in rows)
    return replace(panel, agents=(*panel.agents, *agents), texts=texts)


def discernment(scores: Floats, blocks: Sequence[Places]) -> Estimate:
    """AUC of a text's scores with its peers' of the same item over those of what an attack left of
    it; mean over agents. Of scores [blocks, 2 agents, 2 agents, m, m] of a panel of ``twice``."""
    n = scores.shape[1] // 2
    same = by_item(blocks, np.einsum("kabii->kiab", centre(scores)[:, :, :n]))
    own = np.eye(n, dtype=np.bool_)
    before, after = (np.where(own, np.nan, one).reshape(-1, n) for one in np.split(same, 2, axis=1))
    return item_mean(row_means(row_auc(before, after).reshape(-1, n)), (0.0, 1.0))


@dataclass(frozen=True)
class AttackEffects:
    """What attacks did. None adds information, so what is gained is what critics are cheated of."""

    table: Table  # what each gains the agents that say something
    works: Sequence[str]  # attacks that surely gain an agent something
    # degradation -> critic -> its ``discernment``
    discernments: Mapping[str, Mapping[str, Estimate]]


def try_attacks(
    case: ScreenCase, panels: Mapping[str, Panel], attacks: Mapping[str, Any], measure: Measure
) -> AttackEffects:
    """Every attack on every agent, the others as they are."""
    cells, changes = list[tuple[str, str, int]](), list[Floats]()
    discernments: dict[str, dict[str, Estimate]] = {}
    n, those = len(case.names), case.those("something")
    columns = [*those, *(k + n for k in those)]
    in_pool = [one.critic.name for one in case.pool]
    for name, panel in panels.items():
        if not in_pool or not any(text for row in panel.texts for text in row[n:]):
            continue  # nobody to notice it, or texts too short for it
        critics = measure(panel, case.blocks)
        if attacks[name].expects == "fall" and len(columns) > 2:
            parts = {one.name: one.scores[:, columns][:, :, columns] for one in critics}
            discernments[name] = {key: discernment(own, case.blocks) for key, own in parts.items()}
        pool = [one for one in critics if one.name in in_pool]
        even = [centre(one.scores) for one in pool]
        scores = merge(even, case.blocks, [one.family for one in pool])
        before, after = (  # with peers as they are
            effects([one[:, :n] for one in own], case.blocks, case.facts.group)
            for own in (scores[:n], scores[n:])
        )
        means = row_means(before.T)
        for k in those:
            changes.append((after[:, k] - before[:, k]) / means[k])
            others = np.delete(means, k)
            places = int((others > means[k]).sum() - (others > np.nanmean(after[:, k])).sum())
            cells.append((name, case.names[k], places))
    gains = attack_gains(np.reshape(changes, (len(cells), len(case.panel.items))))
    rows = list[Row]()
    for at in np.argsort(-np.nan_to_num(gains.value), kind="stable"):
        (name, system, places), gain = cells[at], gains.at(at)
        row: Row = {"attack": name, "system": system, **named_columns("gain", gain)}
        rows.append({**row, "places_gained": places, "items": gain.n})
    works = dict.fromkeys(cells[at][0] for at in np.flatnonzero(gains.low > RISES))
    return AttackEffects(table(__package__, "attacks", rows), list(works), discernments)
