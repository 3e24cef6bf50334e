"""Small panels cut out of measured ones, screened as ``study=screen`` does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from experiments.results import Row
from experiments.screen.gaming import PEERS, gains, variants
from experiments.screen.sets import PLANTED, KnownSet, known_set
from judgelab.attack.random_replacement import RandomReplacement
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import GOOD_FAITH, PROBLEMATIC, Panel
from judgelab.engine.context import estimator_of
from judgelab.evaluation_lm.compression import Compression
from judgelab.mechanism.mi import Mi
from judgelab.stats.discrimination.auc import row_auc
from judgelab.stats.intervals.arrays import average_ranks, row_means
from judgelab.stats.screen.exam import Places, as_blocks, deal
from judgelab.study.screen.case import Critic, RankingBelief, ScreenCase, decide, discernment, twice
from judgelab.study.screen.texts import (
    TextFacts,
    block_panel,
    control_scores,
    distinct,
    item_keys,
    text_facts,
)

BLOCK = 6
DAMAGE = (0.25, 0.5, 0.75)
WORDS = ("nothing", "much less", "not known", "something")


@dataclass(frozen=True)
class Measured:
    """All scores of a set, within blocks."""

    of: KnownSet
    panel: Panel  # items as they lie in the blocks
    blocks: Sequence[Places]
    critics: Sequence[Critic]

    def part(
        self, agents: Sequence[int], blocks: Sequence[int], facts: TextFacts | None = None
    ) -> ScreenCase:
        """What the screen finds of some agents on some blocks, where known by these facts."""
        parts = [self.blocks[k] for k in blocks]
        items = np.concatenate(parts)
        rows = tuple(tuple(self.panel.texts[i][a] for a in agents) for i in items)
        of, who = tuple(self.panel.items[i] for i in items), self.panel.agents
        panel = replace(self.panel, items=of, agents=tuple(who[a] for a in agents), texts=rows)
        ends = np.cumsum([0, *map(len, parts)])
        places = [np.arange(*pair) for pair in pairwise(ends)]
        critics = [
            replace(one, scores=one.scores[np.ix_(blocks, agents, agents)]) for one in self.critics
        ]
        return decide(panel, places, critics, facts or text_facts(panel, places))


def trials(name: str, data: Path, cache: Path, panels: int) -> dict[str, list[Row]]:
    """Rows by table, of one set."""
    lm = Compression(workers=1)
    one = measure(known_set(name, data), lm, cache)
    released, has_people = bool(one.of.recorded), np.isfinite(one.of.people).any()
    rows = {
        "planted": [] if released else planted_rows(one, panels),
        "null": [null_rows(one, panels)],
        "released": released_rows(one) if released else [],
        "ranking": belief_rows(one, panels) if has_people else [],
        "damage": damage_rows(one, lm, cache),
        "gaming": gaming_rows(one, lm, cache) if has_people else [],
    }
    lm.close()
    return rows


def measure(one: KnownSet, lm: EvaluationLM, cache: Path) -> Measured:
    """Every text with every other of its block: by the LM (kept in ``cache``), and by rules."""
    panel = distinct(one.panel)
    blocks = deal(item_keys(panel), BLOCK)
    file = cache / f"{one.name}-{panel.digest}-{lm.identity.split()[0]}.npy"
    if not file.is_file():
        cells = Mi("sum").measure_pairs(block_panel(panel, blocks), lm, seed=0)
        file.parent.mkdir(parents=True, exist_ok=True)
        np.save(file, cells.values.astype(np.float32))
    scores = as_blocks(np.load(file).astype(np.float64), len(panel.agents))
    by_lm = estimator_of(Mi("sum"), lm, "identity", {}, "corrected")
    critics = [Critic(by_lm.model, scores, by_lm.model, by_lm)]
    critics += [Critic(name, rule, name) for name, rule in control_scores(panel, blocks).items()]
    return Measured(one, panel, blocks, critics)


def planted_rows(one: Measured, count: int) -> list[Row]:
    """Verdicts on planted and honest agents, in panels of five honest ones, ten blocks and one
    planted; and how often a critic alone, or length, puts the planted one below an honest one."""
    generator = np.random.default_rng(11)
    names, rows = [agent.name for agent in one.panel.agents], list[Row]()
    for plant in PLANTED:
        trials_of = list[Row]()
        for _ in range(count):
            agents, blocks = _draw(one, generator)
            if plant == "copy":
                agents[0] = 1  # whom it copies
            case = one.part([*dict.fromkeys(agents), names.index(plant)], blocks)
            *honest, own = list[str](case.verdicts) or ["not known"] * len(case.names)
            row: Row = {word: word == own for word in WORDS}
            row |= {"copy named": bool(case.copies), "stands apart": len(honest) in case.apart}
            means = {name: row_means(effect.T) for name, effect in case.effects.items()}
            for name, values in (means | {"length": case.words}).items():
                row[f"AUC, {name}"] = np.mean(values[-1] < values[:-1])
            row |= {f"honest: {word}": honest.count(word) / len(honest) for word in WORDS[:2]}
            trials_of.append(row)
        shares: Any = pd.DataFrame(trials_of).mean().to_dict()
        rows.append({"set": one.of.name, "planted": plant, **shares, "panels": count})
    return rows


def null_rows(one: Measured, count: int) -> Row:
    """One agent's texts are dealt anew to the items of their block: how often is it said to say
    something, and how often is one of the five others accused?"""
    generator = np.random.default_rng(12)
    trials_of = list[Row]()
    for _ in range(count):
        agents, blocks = _draw(one, generator)
        case = _dealt_anew(one, agents[0], generator).part(agents, blocks)
        row: Row = {"said_to_say_something": [*case.verdicts[:1]] == ["something"]}
        row["p_below_05"] = case.screening.p[0] <= 0.05 if case.screening else np.nan
        trials_of.append(row | {"honest_one_accused": "nothing" in case.verdicts[1:]})
    shares: Any = pd.DataFrame(trials_of).astype(float).mean().to_dict()
    return {"set": one.of.name, "panels": count, **shares}


def _draw(one: Measured, generator: np.random.Generator) -> tuple[list[int], list[int]]:
    """Five agents of good faith and ten blocks, or as many as there are."""
    honest = [
        k
        for k, agent in enumerate(one.panel.agents)
        if (agent.category in GOOD_FAITH if one.of.recorded else agent.name not in PLANTED)
    ]
    blocks = generator.permutation(len(one.blocks))[:10].tolist()
    return generator.permutation(honest)[:5].tolist(), blocks


def _dealt_anew(one: Measured, agent: int, generator: np.random.Generator) -> Measured:
    critics = [replace(critic, scores=critic.scores.copy()) for critic in one.critics]
    for block, places in enumerate(one.blocks):
        order = np.arange(critics[0].scores.shape[-1])
        order[: len(places)] = generator.permutation(len(places))
        for scores in (critic.scores[block] for critic in critics):
            scores[agent] = scores[agent][:, order]
            scores[:, agent] = scores[:, agent][:, :, order]
    return replace(one, critics=critics)


def released_rows(one: Measured) -> list[Row]:
    """AUC over agents of good faith against two kinds, and how many are named."""
    category = np.array([agent.category for agent in one.panel.agents])
    good = np.isin(category, sorted(GOOD_FAITH))
    case = one.part(range(len(category)), range(len(one.blocks)))
    assert case.screening is not None
    scores = {name: row_means(effect.T) for name, effect in case.effects.items()}
    scores |= {"pool": row_means(case.screening.effect.T), "length": case.words}
    scores |= one.of.recorded
    accused = np.isin(np.array(case.verdicts), ["nothing", "much less"])
    rows = list[Row]()
    for critic, values in scores.items():
        row: Row = {"domain": one.of.name, "critic": critic}
        kinds = {kind: category == kind for kind in sorted(PROBLEMATIC)}
        for kind, those in kinds.items():
            row[f"AUC, {kind}"] = float(row_auc(values[None, good], values[None, those])[0])
        for kind, those in (kinds | {"good faith": good}).items() if critic == "pool" else ():
            row[f"named, {kind}"] = f"{accused[those].sum()} of {those.sum()}"
        rows.append(row)
    return rows


def damage_rows(one: Measured, lm: EvaluationLM, cache: Path) -> list[Row]:
    """The exam, and AUC of texts over what is left of them where words are another item's."""
    case = _few(one, 4)
    auc = {each.critic.name: each.exam.estimates["auc"].value for each in case.exams}
    rows: dict[str, Row] = {
        name: {"set": one.of.name, "critic": name, "other item": value}
        for name, value in auc.items()
    }
    for share in DAMAGE:
        changed = RandomReplacement(share=share).rewrite(case.panel, lm, seed=0)
        panel = twice(case.panel, changed, "damaged")
        scores = measure(KnownSet(f"{one.of.name}-damage-{share}", panel), lm, cache)
        for critic in scores.critics:
            auc_of = discernment(critic.scores, scores.blocks).value
            rows[critic.name][f"{share:.0%} replaced"] = auc_of
    return list(rows.values())


def gaming_rows(one: Measured, lm: EvaluationLM, cache: Path) -> list[Row]:
    """What the best of many edits gains one of five agents."""
    panel = variants(_few(one, PEERS + 1).panel)
    scores = measure(KnownSet(f"{one.of.name}-gaming", panel), lm, cache)
    return gains(one.of.name, scores.critics, scores.blocks)


def _few(one: Measured, count: int) -> ScreenCase:
    """The same agents of good faith and blocks, whoever asks."""
    agents, blocks = _draw(one, np.random.default_rng(14))
    return one.part(agents[:count], blocks)


def belief_rows(one: Measured, count: int) -> list[Row]:
    """What is known without people of rankings of six agents and more, and tau with people."""
    generator = np.random.default_rng(13)
    with_people = np.flatnonzero(np.isfinite(one.of.people))
    rows = list[Row]()
    while len(rows) < count:
        size = generator.integers(min(6, len(with_people)), len(with_people) + 1)
        agents = generator.permutation(with_people)[:size].tolist()
        blocks = generator.permutation(len(one.blocks))[: generator.integers(6, 17)].tolist()
        case = one.part(agents, blocks)
        whole = one.part(agents, range(len(one.blocks)), case.facts)
        features = RankingBelief(case, None, 0.5, 0.8).features
        ranks = case.ranking
        if features and ranks is not None and whole.screening is not None:
            by_people = one.of.people[np.array(agents)[case.contestants]]
            row: Row = {"set": one.of.name, **features}
            row["tau"] = float(kendalltau(ranks.value, by_people).statistic)
            by_all = row_means(whole.screening.effect[:, case.contestants].T)
            for name, values in (("ranks_hold", by_all), ("people_within", by_people)):
                true = average_ranks(-values)
                row[name] = float(np.all((ranks.rank_low <= true) & (true <= ranks.rank_high)))
            rows.append(row)
    return rows
