"""The figures of a discrimination study: of each panel, of the change, and what stands beside."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgelab.attack.protocol import ATTACKED
from judgelab.core.panel import GOOD_FAITH, PROBLEMATIC, Agent, Panel
from judgelab.engine.context import Context
from judgelab.mechanism.protocol import Definition
from judgelab.stats.discrimination.auc import item_auc, macro_auc, pair_auc, same_order
from judgelab.stats.discrimination.effect_size import (
    FEWEST,
    auc_delta,
    group_difference,
    paired_effect_size,
    score_delta,
)
from judgelab.stats.discrimination.structure import compression, effective_rank
from judgelab.stats.intervals.arrays import Floats, Mask, row_means
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import Kind, item_mean
from judgelab.study.common.judges import asks_nobody
from judgelab.study.common.panels import Panels, ScoredPanel, human_scores
from judgelab.study.common.templates import paragraphs

How = tuple[int, int, Kind]  # draws, seed, and whose intervals
NamedEstimates = dict[str, Estimate]
CHANCE = 0.5
NONE = Estimate(math.nan)
Cheating = Literal["pays", "costs", "neither gain nor loss shown", "undecided"]


@dataclass(frozen=True)
class Groups:
    """Masks [agents]."""

    # good, bad: what an agent-level score should tell apart; the human reference is in neither
    good: Mask
    bad: Mask
    # agents whose pairs among each other are the positives of the pair AUC; pairs of one of them
    # with one of ``bad`` are the negatives
    pair_good: Mask

    @property
    def exist(self) -> bool:
        """Whether there is anything to tell apart."""
        return bool(self.good.any() and self.bad.any())


def category(agent: Agent, definition: Definition) -> str | None:
    """The paper's category of an agent, or the one its authors' code uses."""
    key = "category_released" if definition == "released" else "category_paper"
    return agent.meta.get(key, agent.category)


def groups(panel: Panel, definition: Definition) -> Groups:
    """Group the agents of a panel.

    ``corrected`` and ``released`` take Faithful and Style pairs as positives (``released`` adds
    the human reference where its category is Faithful, as for ICLR); ``paper`` takes Faithful
    alone, as section 5.2 words it.
    """
    categories = [category(agent, definition) for agent in panel.agents]
    reference = np.array([agent.reference for agent in panel.agents], dtype=np.bool_)

    def among(names: frozenset[str]) -> Mask:
        return np.array([c in names for c in categories], dtype=np.bool_)

    good = among(GOOD_FAITH)
    pair_good = {
        "corrected": good & ~reference,
        "released": good,
        "paper": among(frozenset({"Faithful"})) & ~reference,
    }[definition]
    return Groups(good & ~reference, among(PROBLEMATIC) & ~reference, pair_good)


def in_pairing_order(panel: Panel, mask: Mask) -> NDArray[np.intp]:
    """Indices of the masked agents, by the rank the release gives them, else as they stand. The
    order matters only to the release's random down-sampling of pairs."""
    ranks = [int(agent.meta.get("pairing_rank", k)) for k, agent in enumerate(panel.agents)]
    places = np.flatnonzero(mask)
    return places[np.argsort([ranks[k] for k in places], kind="stable")]


def per_item(state: ScoredPanel, definition: Definition, name: str) -> dict[str, Floats]:
    """Statistic -> [items], NaN where it is not known; of pairs where the mechanism scores them."""
    panel, pair, values = state.panel, state.scores.pair, state.scores.agent.values
    group = groups(panel, definition)
    by_statistic = {
        "effect_size": group_difference(values, group.good, group.bad),
        "auc": item_auc(values, group.good, group.bad),
    }
    if pair is not None:
        good, bad = (in_pairing_order(panel, mask) for mask in (group.pair_good, group.bad))
        seeds = None
        if definition == "released" and name == "clean":
            # the release seeds its down-sampling by the item's number in the domain file
            seeds = [int(i.id) if i.id.isdigit() else k for k, i in enumerate(panel.items)]
        by_statistic["pair_auc"] = pair_auc(pair.values, good, bad, seeds)
    return by_statistic


def changes(
    context: Context, states: Panels, items: Mapping[str, Mapping[str, Floats]], how: How
) -> NamedEstimates:
    """What the attack does: to the mean score, by who attacked, and to the figures. Where no LM is
    asked and no score differs, the attack cannot change it: 0, from 0 to 0."""
    clean, attacked = states["clean"].values, states["attacked"].values
    change = {"score": score_delta(clean, attacked, *how)}
    panel = states["attacked"].panel
    names = panel.provenance.get(ATTACKED)
    if isinstance(names, list):  # else everybody attacked, or nobody
        attackers = np.array([agent.name in names for agent in panel.agents], dtype=np.bool_)
        others = np.array([not agent.reference for agent in panel.agents], np.bool_) & ~attackers
        sides = {"attackers": attackers} | ({"others": others} if others.any() else {})
        for name, mask in sides.items():
            change[f"{name}_score"] = score_delta(clean[:, mask], attacked[:, mask], *how)
        if others.any():
            before, after = (
                group_difference(v, attackers, others)[:, None] for v in (clean, attacked)
            )
            change["advantage"] = score_delta(before, after, *how)
    for name in items["clean"] if items else ():
        before, after = items["clean"][name], items["attacked"][name]
        if name == "effect_size":
            change[name] = paired_effect_size(after, *how, less=before)
        else:
            change[name] = auc_delta(before, after, *how)
    if asks_nobody(context.mechanism) and np.array_equal(clean, attacked, equal_nan=True):
        for name, one in change.items():
            if one.n:
                change[name] = Estimate(0.0, 0.0, 0.0, one.n, one.unscored, 1.0)
    return change


def beside(clean: ScoredPanel, group: Groups, how: How) -> NamedEstimates:
    """What people say of the texts, and what length alone tells; without what is not known."""
    values, texts, human = clean.values, clean.panel.texts, human_scores(clean.panel)
    words = np.array([[np.nan if t is None else float(len(t.split())) for t in r] for r in texts])
    estimates: NamedEstimates = {}
    if not np.isnan(human).all():
        own, control = same_order(values, human), same_order(words, human)
        estimates["human_within"] = macro_auc(own, *how)
        estimates |= _length("length_human_within", "human_within_gain", own, control, how)
    if group.exist:
        own, control = (item_auc(v, group.good, group.bad) for v in (values, words))
        estimates |= _length("length_auc", "auc_gain", own, control, how)
    return estimates


def _length(alone: str, gain: str, own: Floats, control: Floats, how: How) -> NamedEstimates:
    """Length in the direction that does better, and the gain over it; none of length itself."""
    alike = np.array_equal(own, control, equal_nan=True)  # length, or what orders as it does
    if not alike and np.nanmean([*control, 0.5]) < 0.5:  # here the shorter one is the better guess
        control = 1 - control
    estimates = {alone: macro_auc(control, *how)}
    return estimates if alike else estimates | {gain: auc_delta(control, own, *how)}


def shape(part: ScoredPanel) -> NamedEstimates:
    """What a panel is like; of the responses a source counts once for each of them."""
    panel = part.panel
    human = [k for k, agent in enumerate(panel.agents) if agent.reference]
    references = [
        float(len(item.reference or next((row[k] for k in human if row[k]), None) or ""))
        for item, row in zip(panel.items, panel.texts, strict=True)
    ]
    texts = [[row[k] or "" for k in part.candidates] for row in panel.texts]
    lengths = np.array([sum(map(len, row)) for row in texts], dtype=np.float64)
    times = np.array([sum(map(bool, row)) for row in texts], dtype=np.float64)
    source = np.array([float(len(item.source)) for item in panel.items])
    shapes = {
        "effective_rank": effective_rank(part.values[:, part.candidates]),
        "compression_reference": compression(source, references),
        "compression_response": compression(times * source, lengths),
    }
    return {key: one for key, one in shapes.items() if one.n}


@dataclass(frozen=True)
class Figures:
    """What a run knows of its mechanism; what is not known is absent."""

    clean: NamedEstimates  # statistic -> estimate; of the attacked panel, too, where there is one
    attacked: NamedEstimates
    change: NamedEstimates  # attacked less clean; empty without an attack
    beside: NamedEstimates  # what people say, and what length alone tells
    leads: NamedEstimates  # problematic agent -> mean score of the good ones less its own
    has_gold: bool  # whether somebody said which texts are good: by categories of agents, or grades
    attackers: Sequence[str] = ()  # agents that attacked where others did not, of so many agents
    agents: int = 0

    @classmethod
    def of(cls, context: Context, states: Panels, definition: Definition, how: How) -> Figures:
        """Of the clean panel, and the attacked one if there is one."""
        clean = states["clean"]
        group = groups(clean.panel, definition)
        items = {n: per_item(one, definition, n) for n, one in states.items() if group.exist}
        by_panel = {
            state: {
                name: (paired_effect_size if name == "effect_size" else macro_auc)(one, *how)
                for name, one in arrays.items()
            }
            for state, arrays in items.items()
        }
        change = changes(context, states, items, how) if len(states) > 1 else {}
        good = row_means(clean.values[:, group.good])
        leads = {
            clean.panel.agents[k].name: item_mean(good - clean.values[:, k])
            for k in np.flatnonzero(group.bad)
        }
        attackers = states["attacked"].panel.provenance.get(ATTACKED) if change else None
        return cls(
            by_panel.get("clean", {}),
            by_panel.get("attacked", {}),
            change,
            beside(clean, group, how),
            leads,
            group.exist or not np.isnan(human_scores(clean.panel)).all(),
            attackers if isinstance(attackers, list) else (),
            len(clean.panel.agents),
        )

    @property
    def first(self) -> Estimate:
        """What the answer is about: the AUC, or without one the agreement with people."""
        auc = self.clean.get("auc", NONE)
        return self.beside.get("human_within", NONE) if np.isnan(auc.value) else auc

    @property
    def side(self) -> str:
        """Where that surely lies: above chance, below, or open; of few items nothing is said."""
        one = self.first
        if one.n < FEWEST:
            return "few"
        return "above" if one.low > CHANCE else "below" if one.high < CHANCE else "open"

    @property
    def enough_items(self) -> int:
        """Items that would show it, if it is what it seems: intervals shrink with n^.5; 0:
        unknown."""
        one = self.first
        off = abs(one.value - CHANCE)
        half = one.value - one.low if one.value > CHANCE else one.high - one.value
        if not off > 0 or not math.isfinite(half):
            return 0
        return max(math.ceil(one.n * (half / off) ** 2), one.n + 1)

    @property
    def more_than_length(self) -> bool | None:
        """Whether it is shown to do more than length; None where nothing is known of length."""
        gain = self.beside.get("auc_gain", self.beside.get("human_within_gain", NONE))
        length = self.beside.get("length_auc", self.beside.get("length_human_within", NONE))
        if math.isnan(gain.low):
            return None if math.isnan(length.value) else False
        return gain.low > 0

    @property
    def cheating(self) -> Cheating | None:
        """Whether cheating alone pays: the interval of the attackers' gain over the others. None
        where all attacked, or nobody."""
        gain = self.change.get("advantage", self.change.get("attackers_score"))
        if gain is None:
            return None
        without_ends = np.isnan(gain.low) or np.isnan(gain.high)
        # All items moved alike: no spread, hence no interval. The signs are a test still.
        if gain.value != 0 and (gain.p < 0.05 if without_ends else gain.low > 0 or gain.high < 0):
            return "pays" if gain.value > 0 else "costs"
        return "undecided" if without_ends and gain.value != 0 else "neither gain nor loss shown"


def answer(mechanism: str, attack: str, figures: Figures) -> list[tuple[str, str]]:
    """(heading, sentences): what it tells apart, under attack, who is not, what to do. Empty where
    texts are known to be good or bad, or were graded, and there is no figure of it."""
    if figures.has_gold and math.isnan(figures.first.value):
        return []
    facts = {"mechanism": mechanism, "attack": attack, "figures": figures}
    return paragraphs(__package__, "answer.md.j2", **facts, unknown=NONE, fewest=FEWEST)
