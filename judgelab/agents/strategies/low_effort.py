"""Summaries that cost nothing (TVD-MI paper, Table 8, Low Effort)."""

from __future__ import annotations

import re

import numpy as np

from judgelab.agents.strategies.lexicon.base import options
from judgelab.agents.strategies.lexicon.common import STOPWORDS
from judgelab.agents.strategies.rewrite import bullets, choose, compress, deal, reported
from judgelab.agents.strategies.source import Source
from judgelab.agents.strategies.text import words

_ANY_TEXT = options(
    """
    Somebody raises a point of wide interest and offers background
    Various parties are affected in one way or another
    Opinions differ, and each side has its reasons
    A number of developments are described
    What follows remains to be seen
    It touches on an issue that will be familiar to plenty of readers
    Certain steps were taken, with mixed effect
    Further information may become available in due course
    Those involved hope for a satisfactory outcome
    Overall, it offers an overview of a subject that matters
    Context is provided, along with a handful of examples
    The matter is likely to stay relevant
    Challenges exist, but so do possibilities
    Key aspects are discussed from more than one angle
    """
)
_TEMPLATE = options(
    """
    This {noun} is about {topic} and gives the main developments
    Important background on {topic} is provided for the reader
    Several people comment on {topic} and on what it means for them
    The {noun} closes with an outlook on {topic}
    """
)
_TOPICLESS = options(
    """
    The general area is {first}
    It also has something to do with {second}
    Some things happened, and some people were involved
    There was a result of some kind
    Reasons are given, though not in a few words
    Things may change later on
    """
)
_PADDING = options(
    "Little else is said | No more to add | Details are few | The rest is minor | That is all"
)


def low_effort(source: Source, rng: np.random.Generator) -> str:
    """Sentences that would fit nearly any text; nothing of the source is used."""
    return bullets(deal(rng, _ANY_TEXT, 3 + int(rng.integers(2))))


def ultra_concise(source: Source, rng: np.random.Generator) -> str:
    """Exactly three bullets of at most five words, from the most salient sentences."""
    lines = [_headline(s.text) for s in source.salient(rng, 3)]
    lines = list(dict.fromkeys(line for line in lines if line))
    lines += deal(rng, _PADDING, 3 - len(lines))
    return bullets(lines[:3])


def template_response(source: Source, rng: np.random.Generator) -> str:
    """A stock template with the topic filled in."""
    topic = source.topics[0] if source.topics else "the subject"
    chosen = deal(rng, _TEMPLATE[1:-1], 1 + int(rng.integers(2)))
    lines = [_TEMPLATE[0], *chosen, _TEMPLATE[-1]]
    return bullets(line.format(noun=source.noun, topic=topic) for line in lines)


def surface_skim(source: Source, rng: np.random.Generator) -> str:
    """The opening sentences, and nothing after them."""
    return bullets(reported(s, compress(s.text), rng) for s in source.sentences[:3])


def minimal_detail(source: Source, rng: np.random.Generator) -> str:
    """The general topic without a name, a number or an event."""
    topics = [*source.topics[:4], "everyday matters", "people"]
    first = choose(rng, topics[:2])
    second = next(topic for topic in topics if topic != first)
    lines = [*_TOPICLESS[:2], *deal(rng, _TOPICLESS[2:], 1 + int(rng.integers(2)))]
    return bullets(line.format(first=first, second=second) for line in lines)


def _headline(text: str) -> str:
    """At most five words: those that carry the sentence."""
    heavy = [word for word in words(text[:2000]) if word.lower() not in STOPWORDS]
    kept = (heavy or words(text[:2000]))[:5]
    return re.sub(r"\s+", " ", " ".join(kept))[:60]
