"""What a screen knows of texts by itself: blocks of them, shared words, copies and templates."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from judgelab.core.panel import Agent, Item, Panel
from judgelab.stats.intervals.arrays import Floats, Mask, divide, row_means
from judgelab.stats.screen.exam import Places
from judgelab.stats.screen.verdicts import permutation_p

_WORD = re.compile(r"[぀-ヿ㐀-鿿]|[^\W぀-ヿ㐀-鿿]+")
MOST = 0.5  # share of items on which two agents are copies
ALIKE = 0.8  # share of their words from which two texts are nearly the same
LONG = 8  # words below which two texts may well be the same by themselves
TEMPLATE, ALWAYS = 0.5, 0.7  # share of its words that an agent's texts of two items have in common
MORE = 1.5  # times the least of all agents: below ``ALWAYS`` the task itself may ask for a form
REPEATED = 0.1  # share of an agent's texts that stand word for word on another item
FOREIGN = 1 / 3  # of the words that others share across items

Words = list[list[frozenset[str]]]
"""[items][agents] the different words of each text; empty where there is none."""


@dataclass(frozen=True)
class TextFacts:
    """What texts alone tell of agents, without a critic."""

    alike: Floats  # [agents, agents] share of items on which two agents' texts are nearly the same
    group: NDArray[np.intp]  # [agents] one number for those that are alike on most items
    template: Mask  # [agents] whether its texts of different items are largely the same
    own: Floats  # [agents] share of words that its texts of two items have in common, mean
    repeated: Floats  # [agents] share of its texts that stand word for word on another item, too
    foreign: Mask  # [agents] words too few, or too few of them others', for critics to see anything
    source_p: Floats  # [agents] p that its words are no more its item's source's; NaN without any
    brief: bool  # whether two agents may be copies, and their texts are too short to tell


def distinct(panel: Panel) -> Panel:
    """The panel without items that hold nothing to compare, and each only once: items that are
    there twice would make intervals too narrow."""
    keys, places = set[str](), list[int]()
    for k, key in enumerate(item_keys(panel)):
        if key not in keys and sum(_has_words(text) for text in panel.texts[k]) > 1:
            keys.add(key)
            places.append(k)
    items = tuple(panel.items[k] for k in places)
    rows = (tuple(t if _has_words(t) else None for t in panel.texts[k]) for k in places)
    return replace(panel, items=items, texts=tuple(rows))


def by_content(panel: Panel) -> Panel:
    """Items and agents in an order of what is written, so that neither their order nor their names
    decide a sum's last digit, a draw, or which of two equal items stays. Names decide where all
    else is equal; beyond that they seed the draws of attacks alone."""
    keys, texts = item_keys(panel), [[text or "" for text in row] for row in panel.texts]
    written = [sorted(zip(keys, column, strict=True)) for column in zip(*texts, strict=True)]
    agents = sorted(range(len(written)), key=lambda a: (written[a], panel.agents[a].name))

    def content(at: int) -> tuple[str, list[str], str, str]:
        item = panel.items[at]
        return keys[at], [texts[at][a] for a in agents], item.source, item.id

    items = sorted(range(len(texts)), key=content)
    return replace(
        panel,
        items=tuple(panel.items[k] for k in items),
        agents=tuple(panel.agents[a] for a in agents),
        texts=tuple(tuple(panel.texts[k][a] for a in agents) for k in items),
    )


def item_keys(panel: Panel) -> list[str]:
    """A hash of each item's texts, whoever wrote them and whatever the item is called."""
    return [
        hashlib.sha256("\x1f".join(sorted(t for t in row if t is not None)).encode()).hexdigest()
        for row in panel.texts
    ]


def block_panel(panel: Panel, blocks: Sequence[Places]) -> Panel:
    """One item for each block, so that mechanisms of pairs score pairs across items. Its agents are
    places of items in the block, and within a place the agents."""
    most = max(map(len, blocks))
    agents = tuple(
        Agent(f"{agent.name} · {place + 1}") for place in range(most) for agent in panel.agents
    )
    rows = []
    for places in blocks:
        texts = [text for k in places for text in panel.texts[k]]
        rows.append((*texts, *[None] * (len(agents) - len(texts))))
    items = tuple(Item(f"block {k + 1}", "") for k in range(len(blocks)))
    return replace(panel, items=items, agents=agents, texts=tuple(rows), judgments=None)


def words_of(panel: Panel) -> Words:
    """The different words of every text; a character each of scripts without spaces."""
    return [[frozenset(_WORD.findall((t or "").casefold())) for t in row] for row in panel.texts]


def word_counts(panel: Panel) -> Floats:
    """[items, agents] words of each text; NaN where there is none."""
    counts = [[len(_WORD.findall(t)) if t else np.nan for t in row] for row in panel.texts]
    return np.array(counts, dtype=np.float64)


def control_scores(panel: Panel, blocks: Sequence[Places]) -> dict[str, Floats]:
    """Control -> [blocks, agents, peers, m, m] scores of rules that understand nothing.

    ``shared words``: the share of all words of two texts that are in both, rare words counting
    more (idf over the items). ``length``: how nearly two texts are equally long.
    """
    words, counts = words_of(panel), word_counts(panel)
    items = Counter(word for row in words for word in frozenset().union(*row))
    rarity = {word: math.log(1 + len(words) / n) for word, n in items.items()}
    mass = [[math.fsum(rarity[w] for w in one) for one in row] for row in words]
    agents, most = len(panel.agents), max(map(len, blocks))
    # exact sums: words of a set come in another order in each process, and ties would differ
    shape = (len(blocks), agents, agents, most, most)
    shared, length = np.full(shape, np.nan), np.full(shape, np.nan)
    for k, places in enumerate(blocks):
        cells = [(a, i, at) for i, at in enumerate(places) for a in range(agents) if words[at][a]]
        for a, i, at in cells:
            for b, j, other in cells:
                both = math.fsum(rarity[w] for w in words[at][a] & words[other][b])
                shared[k, a, b, i, j] = both / (mass[at][a] + mass[other][b] - both)
                length[k, a, b, i, j] = -abs(math.log(counts[at, a] / counts[other, b]))
    return {"shared words": shared, "length": length}


def source_scores(panel: Panel, blocks: Sequence[Places]) -> Floats | None:
    """[agents, blocks, m, m] share of the words of an agent's text of the i-th item that are in the
    source of the j-th, rare ones counting more; None where the data have no sources."""
    sources = [frozenset(_WORD.findall(item.source.casefold())) for item in panel.items]
    if len({one for one in sources if one}) < len(sources) / 2:
        return None
    words = words_of(panel)
    counts = Counter(word for one in sources for word in one)
    rarity = {word: math.log(1 + len(sources) / n) for word, n in counts.items()}
    most = max(map(len, blocks))
    shares = np.full((len(panel.agents), len(blocks), most, most), np.nan)
    for k, places in enumerate(blocks):
        for i, at in enumerate(places):
            for a, text in enumerate(words[at]):
                for j, other in enumerate(places) if text else ():
                    shared = math.fsum(rarity[word] for word in text & sources[other])
                    shares[a, k, i, j] = shared / len(text)
    return shares


def text_facts(panel: Panel, blocks: Sequence[Places]) -> TextFacts:
    """Copies, templates and agents that critics cannot compare with the others."""
    words, counts, agents = words_of(panel), word_counts(panel), len(panel.agents)
    alike, brief = np.full((agents, agents), np.nan), False
    for a, b in combinations(range(agents), 2):
        both = np.minimum(counts[:, a], counts[:, b])
        long = [row for row, n in zip(words, both, strict=True) if n >= LONG]
        # two texts of one item are a copy where most of those that both wrote are
        if 2 * len(long) > len(words):
            alike[a, b] = np.mean([_overlap(row[a], row[b]) >= ALIKE for row in long])
        short = np.maximum(counts[:, a], counts[:, b]) < LONG / ALIKE  # nearly as long
        brief |= 2 * len(long) <= len(words) and 2 * short.sum() >= (both > 0).sum()
    alike = np.fmax(alike, alike.T)
    own, across = _across(words, blocks)
    repeated = np.array([_repeated(texts) for texts in zip(*panel.texts, strict=True)])
    least = np.fmin.reduce(own)  # not the median, which other templates would raise
    template = (own > ALWAYS) | (own > TEMPLATE) & (own >= MORE * least) | (repeated > REPEATED)
    means = row_means(np.where(np.eye(agents, dtype=np.bool_), np.nan, across))
    constant = np.array([len({row[a] for row in panel.texts} - {None}) == 1 for a in range(agents)])
    others = np.array([np.nanmedian(np.delete(means, a)) for a in range(agents)])
    foreign = means < FOREIGN * others
    size = row_means(counts.T)
    foreign |= (size < LONG) & (size < np.nanmedian(size) / 2)
    by_source = source_scores(panel, blocks)
    p = [np.nan] * agents if by_source is None else [permutation_p(one) for one in by_source]
    foreign &= ~constant
    # those that are alike on most items have one number, directly or by others
    group = np.asarray(connected_components(alike > MOST, directed=False)[1], dtype=np.intp)
    return TextFacts(alike, group, template, own, repeated, foreign, np.array(p), brief)


def _across(words: Words, blocks: Sequence[Places]) -> tuple[Floats, Floats]:
    """[agents] and [agents, peers]: shares of words that texts of two items have in common, of all
    their words and of the shorter one's."""
    agents = len(words[0])
    own, shared, pairs = np.zeros(agents), np.zeros((agents, agents)), np.zeros((agents, agents))
    for places in blocks:
        for at in places:
            for other in places:
                for a in range(agents) if at != other else ():
                    for b in range(agents):
                        x, y = words[at][a], words[other][b]
                        if x and y:
                            pairs[a, b] += 1
                            shared[a, b] += len(x & y) / min(len(x), len(y))
                            own[a] += _overlap(x, y) if a == b else 0
    return divide(own, np.diagonal(pairs)), divide(shared, pairs)


def _overlap(one: frozenset[str], two: frozenset[str]) -> float:
    return len(one & two) / max(len(one | two), 1)


def _repeated(texts: Sequence[str | None]) -> float:
    """Share of an agent's texts, short ones apart, that it wrote of two items or more."""
    counts = Counter(text for text in texts if text and len(_WORD.findall(text)) >= LONG)
    return sum(n for n in counts.values() if n > 1) / max(sum(map(bool, texts)), 1)


def _has_words(text: str | None) -> bool:
    return bool(text and _WORD.search(text))
