"""Small panels cut out of measured ones, screened as ``study=screen`` does it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

from experiments.results import Row
from experiments.screen.sets import PLANTED, KnownSet
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.engine.context import estimator_of
from judgelab.mechanism.mi import Mi
from judgelab.stats.intervals.arrays import Floats, row_means
from judgelab.stats.screen.blocks import Places, blocked, centred, deal
from judgelab.stats.screen.verdicts import pooled, screen
from judgelab.study.screen.case import LENGTH, Critic, ScreenCase, decide
from judgelab.study.screen.ranking import Bar, RankingBelief
from judgelab.study.screen.texts import (
    TextFacts,
    block_panel,
    control_scores,
    distinct,
    item_keys,
    linked,
    text_facts,
)

BLOCK = 6
WORDS = ("nothing", "much less", "not known", "something")


@dataclass(frozen=True)
class Measured:
    """All scores of a set, within blocks."""

    of: KnownSet
    panel: Panel  # items as they lie in the blocks
    blocks: Sequence[Places]
    critics: Sequence[Critic]
    facts: TextFacts

    def part(self, agents: Sequence[int], blocks: Sequence[int]) -> ScreenCase:
        """What the screen finds of some agents on some blocks."""
        panel, places = self._cut(agents, blocks)
        critics = [
            replace(one, scores=one.scores[np.ix_(blocks, agents, agents)]) for one in self.critics
        ]
        alike = self.facts.alike[np.ix_(agents, agents)]
        facts = TextFacts(
            alike,
            linked(alike),
            self.facts.template[agents],
            self.facts.own[agents],
            self.facts.foreign[agents],
            self.facts.source_p[agents],
        )
        return decide(panel, places, critics, facts)

    def _cut(self, agents: Sequence[int], blocks: Sequence[int]) -> tuple[Panel, list[Places]]:
        chosen = [self.blocks[k] for k in blocks]
        items = np.concatenate(chosen)
        rows = tuple(tuple(self.panel.texts[i][a] for a in agents) for i in items)
        panel = replace(
            self.panel,
            items=tuple(self.panel.items[i] for i in items),
            agents=tuple(self.panel.agents[a] for a in agents),
            texts=rows,
        )
        ends = np.cumsum([0, *map(len, chosen)])
        return panel, [np.arange(a, b) for a, b in pairwise(ends)]


def measure(one: KnownSet, lm: EvaluationLM, cache: Path) -> Measured:
    """Every text with every other of its block: by the LM (kept in ``cache``), and by rules."""
    panel = distinct(one.panel)
    blocks = deal(item_keys(panel), BLOCK)
    file = cache / f"{one.name}-{panel.digest}-{lm.identity.split()[0]}.npy"
    if not file.is_file():
        cells = Mi("sum").measure_pairs(block_panel(panel, blocks), lm, seed=0)
        file.parent.mkdir(parents=True, exist_ok=True)
        np.save(file, cells.values.astype(np.float32))
    scores = blocked(np.load(file).astype(np.float64), len(panel.agents))
    by_lm = estimator_of(Mi("sum"), lm, "identity", {}, "corrected")
    critics = [Critic(by_lm.model, scores, by_lm.model, by_lm)]
    critics += [Critic(name, rule, name) for name, rule in control_scores(panel, blocks).items()]
    return Measured(one, panel, blocks, critics, text_facts(panel, blocks))


def planted_rows(one: Measured, count: int, seed: int = 0) -> list[Row]:
    """Verdicts on planted and honest agents, in panels of five honest ones, ten blocks and one
    planted; "others" are honest agents beside it."""
    names = [agent.name for agent in one.panel.agents]
    honest = [k for k, name in enumerate(names) if name not in PLANTED]
    generator = np.random.default_rng((seed, 11))
    rows = list[Row]()
    for plant in PLANTED:
        told = {"planted": Counter[str](), "others": Counter[str]()}
        copied = apart = 0
        for _ in range(count):
            agents, blocks = _drawn(one, generator, honest, 5)
            if plant == "copy" and honest[1] not in agents:
                agents[0] = honest[1]
            case = one.part([*agents, names.index(plant)], blocks)
            words = list(case.verdicts) or ["not known"] * (len(agents) + 1)
            told["planted"][words[-1]] += 1
            told["others"].update(words[:-1])
            copied += bool(case.copies)
            apart += len(agents) in case.apart
        for who, counts in told.items():
            shares = {word: counts[word] / counts.total() for word in WORDS}
            row = {"set": one.of.name, "planted": plant, "of": who, **shares}
            beside = {"copies_named": copied / count, "planted_stands_apart": apart / count}
            rows.append({**row, **beside, "panels": count})
    return rows


def null_rows(one: Measured, count: int, seed: int = 0) -> Row:
    """One agent's texts are dealt anew to the items of their block: how often is it said to say
    something, and how often is one of the five others accused?"""
    generator = np.random.default_rng((seed, 12))
    names = [agent.name for agent in one.panel.agents]
    honest = [k for k, name in enumerate(names) if name not in PLANTED]
    alarms, accused, p = 0, 0, list[float]()
    for _ in range(count):
        agents, blocks = _drawn(one, generator, honest, 5)
        dealt = one
        for k in blocks:
            dealt = _dealt_anew(dealt, agents[0], k, generator)
        case = dealt.part(agents, blocks)
        if case.screened is not None:
            p.append(float(case.screened.p[0]))
            alarms += case.verdicts[0] == "something"
            accused += "nothing" in case.verdicts[1:]
    row: Row = {"set": one.of.name, "panels": count, "said_to_say_something": alarms / count}
    below = float(np.mean(np.array(p) <= 0.05))
    return {**row, "p_below_05": below, "honest_one_accused": accused / count}


def _drawn(
    one: Measured, generator: np.random.Generator, among: Sequence[int], least: int
) -> tuple[list[int], list[int]]:
    agents = generator.permutation(among)[: max(least, 3)].tolist()
    blocks = generator.permutation(len(one.blocks))[:10].tolist()
    return agents, blocks


def _dealt_anew(one: Measured, agent: int, block: int, generator: np.random.Generator) -> Measured:
    size = len(one.blocks[block])
    order = np.arange(one.critics[0].scores.shape[-1])
    order[:size] = generator.permutation(size)
    critics = []
    for critic in one.critics:
        scores = critic.scores.copy()
        scores[block, agent] = scores[block, agent][:, order]
        scores[block, :, agent] = scores[block, :, agent][:, :, order]
        critics.append(replace(critic, scores=scores))
    return replace(one, critics=critics)


def alone(one: Measured, critic: str) -> Floats:
    """[agents] mean effect by one critic; of length the mean words of a text."""
    if critic == LENGTH:
        return one.part(range(len(one.panel.agents)), range(len(one.blocks))).words
    (scores,) = (centred(c.scores) for c in one.critics if c.name == critic)
    found = screen(pooled([scores], one.blocks, [critic]), one.blocks, one.facts.group)
    return row_means(found.effect.T)


def belief_rows(one: Measured, count: int, seed: int = 0) -> list[Row]:
    """What is known without people of rankings of six agents and more, and tau with people."""
    people = one.of.people
    assert people is not None
    generator = np.random.default_rng((seed, 13))
    graded = np.flatnonzero(~np.isnan(people))
    rows = list[Row]()
    while len(rows) < count:
        most = int(generator.integers(6, len(graded) + 1))
        agents = generator.permutation(graded)[:most].tolist()
        blocks = generator.permutation(len(one.blocks))[: generator.integers(6, 17)].tolist()
        case = one.part(agents, blocks)
        known = RankingBelief(case, Bar(None, 0.5, 0.8)).features
        if known and case.screened is not None:
            means = row_means(case.screened.effect[:, case.ranked].T)
            tau = float(kendalltau(means, people[np.array(agents)[case.ranked]]).statistic)
            rows.append({"set": one.of.name, "tau": tau, **known})
    return rows
