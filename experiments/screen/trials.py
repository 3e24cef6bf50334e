"""Small panels cut out of measured ones, screened as ``study=screen`` does it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

from experiments.results import Row
from experiments.screen.sets import PLANTED, KnownSet, known_set
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import GOOD_FAITH, PROBLEMATIC, Panel
from judgelab.engine.context import estimator_of
from judgelab.evaluation_lm.compression import Compression
from judgelab.mechanism.mi import Mi
from judgelab.stats.discrimination.auc import row_auc
from judgelab.stats.intervals.arrays import Floats, row_means
from judgelab.stats.screen.blocks import Places, blocked, deal
from judgelab.study.screen.case import Critic, ScreenCase, decide
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
        each = ("template", "own", "repeated", "foreign", "source_p")
        own = {name: getattr(self.facts, name)[agents] for name in each}
        facts = replace(self.facts, alike=alike, group=linked(alike), **own)
        return decide(panel, places, critics, facts)

    @property
    def names(self) -> list[str]:
        """Of the agents."""
        return [agent.name for agent in self.panel.agents]

    def _cut(self, agents: Sequence[int], blocks: Sequence[int]) -> tuple[Panel, list[Places]]:
        chosen = [self.blocks[k] for k in blocks]
        items = np.concatenate(chosen)
        rows = tuple(tuple(self.panel.texts[i][a] for a in agents) for i in items)
        of, named = tuple(self.panel.items[i] for i in items), self.panel.agents
        who = tuple(named[a] for a in agents)
        panel = replace(self.panel, items=of, agents=who, texts=rows)
        ends = np.cumsum([0, *map(len, chosen)])
        return panel, [np.arange(a, b) for a, b in pairwise(ends)]


def trials(name: str, data: Path, cache: Path, panels: int) -> dict[str, list[Row]]:
    """Rows by table, of one set."""
    lm = Compression(workers=1)
    one = measure(known_set(name, data), lm, cache)
    lm.close()
    released = bool(one.of.categories)
    return {
        "planted": [] if released else planted_rows(one, panels),
        "null": [null_rows(one, panels)],
        "released": released_rows(one, data) if released else [],
        "ranking": [] if one.of.people is None else belief_rows(one, 2 * panels),
    }


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


def planted_rows(one: Measured, count: int) -> list[Row]:
    """Verdicts on planted and honest agents, in panels of five honest ones, ten blocks and one
    planted; and how often a critic alone, or length, puts the planted one below an honest one."""
    generator = np.random.default_rng(11)
    rows = list[Row]()
    for plant in PLANTED:
        planted, others, below = Counter[str](), Counter[str](), list[Floats]()
        copied = apart = 0
        for _ in range(count):
            agents, blocks = _drawn(one, generator)
            if plant == "copy":
                agents[0] = 1  # whom it copies
            case = one.part([*dict.fromkeys(agents), one.names.index(plant)], blocks)
            words = list(case.verdicts) or ["not known"] * len(case.names)
            planted[words[-1]] += 1
            others.update(words[:-1])
            copied += bool(case.copies)
            apart += len(words) - 1 in case.apart
            means = [*(row_means(effect.T) for effect in case.effects.values()), case.words]
            if len(means) == 3:
                below.append(np.array([np.mean(x[-1] < x[:-1]) for x in means]))
        row: Row = {"set": one.of.name, "planted": plant}
        row |= {word: planted[word] / count for word in WORDS}
        row |= {"copy named": copied / count, "stands apart": apart / count}
        names = (f"AUC, {name}" for name in ("compression", "shared words", "length"))
        row |= dict(zip(names, np.mean(below, axis=0).tolist(), strict=True))
        honest = {f"honest: {word}": others[word] / others.total() for word in WORDS[:2]}
        rows.append({**row, **honest, "panels": count})
    return rows


def null_rows(one: Measured, count: int) -> Row:
    """One agent's texts are dealt anew to the items of their block: how often is it said to say
    something, and how often is one of the five others accused?"""
    generator = np.random.default_rng(12)
    alarms, accused, p = 0, 0, list[float]()
    for _ in range(count):
        agents, blocks = _drawn(one, generator)
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


def _drawn(one: Measured, generator: np.random.Generator) -> tuple[list[int], list[int]]:
    """Five agents of good faith and ten blocks, or as many as there are."""
    honest = [k for k, name in enumerate(one.names) if name not in PLANTED]
    if one.of.categories:
        honest = [k for k in honest if one.of.categories[k] in GOOD_FAITH]
    blocks = generator.permutation(len(one.blocks))[:10].tolist()
    return generator.permutation(honest)[:5].tolist(), blocks


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


def released_rows(one: Measured, data: Path) -> list[Row]:
    """AUC over agents of good faith against two kinds, and how many are named."""
    category = np.array(one.of.categories)
    good = np.isin(category, sorted(GOOD_FAITH))
    case = one.part(range(len(category)), range(len(one.blocks)))
    assert case.screened is not None
    scores = {name: row_means(effect.T) for name, effect in case.effects.items()}
    scores |= {"pool": row_means(case.screened.effect.T), "length": case.words}
    file = np.load(data / f"peer_prediction/matrices/{one.of.name}.npz")
    for key, name in (("tvd_mi", "GPT-4o-mini, TVD-MI"), ("mi", "Llama-3.3-70B, MI")):
        scores[name] = _recorded(file[key], one.of.name, data)
    named = np.isin(np.array(case.verdicts), ["nothing", "much less"])
    rows = list[Row]()
    for critic, values in scores.items():
        row: Row = {"domain": one.of.name, "critic": critic}
        kinds = {kind: category == kind for kind in sorted(PROBLEMATIC)}
        for kind, those in kinds.items():
            row[f"AUC, {kind}"] = float(row_auc(values[None, good], values[None, those])[0])
        for kind, those in (kinds | {"good faith": good}).items() if critic == "pool" else ():
            row[f"named, {kind}"] = f"{named[those].sum()} of {those.sum()}"
        rows.append(row)
    return rows


def _recorded(cells: Floats, domain: str, data: Path) -> Floats:
    """[agents] mean of the recorded scores of both directions, in the order of their names."""
    meta = json.loads((data / "peer_prediction/meta.json").read_text(encoding="utf-8"))
    names = [agent["name"] for agent in meta["agents"][domain]]
    even = (cells + cells.transpose(0, 2, 1)) / 2
    means = even[:, ~np.eye(len(names), dtype=np.bool_)].reshape(len(even), len(names), -1)
    return np.asarray(means.mean(axis=(0, 2))[np.argsort(names)], np.float64)


def belief_rows(one: Measured, count: int) -> list[Row]:
    """What is known without people of rankings of six agents and more, and tau with people."""
    people = one.of.people
    assert people is not None
    generator = np.random.default_rng(13)
    graded = np.flatnonzero(~np.isnan(people))
    rows = list[Row]()
    while len(rows) < count:
        agents = generator.permutation(graded)[: generator.integers(6, len(graded) + 1)].tolist()
        blocks = generator.permutation(len(one.blocks))[: generator.integers(6, 17)].tolist()
        case = one.part(agents, blocks)
        known = RankingBelief(case, Bar(None, 0.5, 0.8)).features
        if known and case.screened is not None:
            means = row_means(case.screened.effect[:, case.ranked].T)
            tau = float(kendalltau(means, people[np.array(agents)[case.ranked]]).statistic)
            rows.append({"set": one.of.name, "tau": tau, **known})
    return rows
