"""Summaries in good faith (TVD-MI paper, Table 8, Faithful)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from judgelab.agents.strategies.lexicon.common import EVALUATIVE, INTENSIFIERS, OPINION
from judgelab.agents.strategies.lexicon.registers import NEUTRAL
from judgelab.agents.strategies.rewrite import bullets, compress, embed, how_many, points, reported
from judgelab.agents.strategies.source import Sentence, Source
from judgelab.agents.strategies.text import numbers

_FIRST_PERSON = re.compile(r"\b(?:I|i|my|me|mine|I'm|i'm|I've|i've)\b")


def faithful(source: Source, rng: np.random.Generator) -> str:
    """The most salient sentences, compressed."""
    return bullets(points(source, rng))


def objective(source: Source, rng: np.random.Generator) -> str:
    """Salient sentences that state something checkable; opinion and evaluation are left out."""

    def checkable(sentence: Sentence) -> float:
        stated = 1.0 + 0.3 * min(len(numbers(sentence.text)), 2)
        stated += 0.2 * any(name in sentence.text for name in source.names[:10])
        coloured = OPINION.count(sentence.text) + sentence.text.count("!")
        personal = bool(_FIRST_PERSON.search(sentence.text)) and sentence.speaker is None
        return stated / (1.0 + coloured + 0.5 * personal + 0.5 * ('"' in sentence.text))

    chosen = source.salient(rng, how_many(source, rng), checkable)
    told = points(source, rng, chosen)
    sober = [EVALUATIVE.remove(INTENSIFIERS.remove(line)) for line in told]
    return bullets(_attributed("The {noun} states that {s}", sober, source))


def comprehensive(source: Source, rng: np.random.Generator) -> str:
    """The best sentences of each part of the text, from its start to its end."""
    n = len(source.sentences)
    if n < 4:
        return bullets(points(source, rng, source.sentences, limit=40))
    edges = [n * part // 4 for part in range(5)]
    lines = []
    for start, end in pairwise(edges):
        ranked = sorted(source.sentences[start:end], key=lambda s: -s.salience)[:2]
        pair = sorted(ranked, key=lambda s: s.position)
        lines.append("; ".join(reported(s, compress(s.text, 22), rng) for s in pair))
    return bullets(lines)


def neutral_tone(source: Source, rng: np.random.Generator) -> str:
    """Salient sentences without intensifiers, charged words replaced by calm ones."""
    lines = points(source, rng, paraphrase=0.7)
    calm = [NEUTRAL.rewrite(INTENSIFIERS.remove(line), rng).replace("!", ".") for line in lines]
    return bullets(_attributed("According to the {noun}, {s}", calm, source))


def _attributed(frame: str, lines: Sequence[str], source: Source) -> list[str]:
    """The first line as the source's statement, not the writer's."""
    first = frame.format(noun=source.noun, s=embed(lines[0], source))
    return [first, *lines[1:]]
