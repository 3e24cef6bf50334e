"""Summaries that distort (TVD-MI paper, Table 8, Strategic)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from judgelab.agents.strategies.deny import contradict, denies
from judgelab.agents.strategies.lexicon.base import options
from judgelab.agents.strategies.lexicon.common import (
    INVENTED_BODIES,
    INVENTED_NAMES,
    INVENTED_PLACES,
)
from judgelab.agents.strategies.lexicon.polarity import (
    ANTONYMS,
    NEGATIVE,
    OUTCOMES,
    POSITIVE,
)
from judgelab.agents.strategies.numerals import falsify_numbers
from judgelab.agents.strategies.rewrite import (
    bullets,
    choose,
    compress,
    deal,
    embed,
    exchange,
    finish,
    how_many,
    mentioned,
    misattribution,
    points,
    reported,
)
from judgelab.agents.strategies.source import Sentence, Source
from judgelab.agents.strategies.strip import without_context
from judgelab.agents.strategies.text import clauses, numbers

_PLEASANT = options(
    """
    The {noun} gives an encouraging picture of {topic}
    There is good progress to report on {topic}
    Everybody involved with {topic} can look ahead with confidence
    """
)
_HEADLINE = options(
    """
    The main story is this: {s}
    What matters most: {s}
    Above all: {s}
    At the centre of the {noun} stands one point: {s}
    """
)
_HINTS = options(
    """
    , which suits certain people behind the scenes rather well
    , and nobody has explained who really benefits
    , though the timing seems too neat to be chance
    , or so the public is meant to believe
    , while those who pull the strings stay out of sight
    , and one wonders what is being kept quiet
    , just as some powerful circles had wanted all along
    """
)
_GLAD = options(
    "Happily, {s} | It was a joy to hear that {s} | Much to everyone's delight, {s}"
    "| In a welcome turn of events, {s}"
)
_SAD = options(
    "Sadly, {s} | It is a bitter blow that {s} | To everyone's dismay, {s}"
    "| In a grim turn of events, {s}"
)
_AGENDAS = (
    options(
        """
        {S}, which shows once more why taxes must be cut
        {S}: proof that the state has grown too large
        {S}, as happens wherever government meddles
        Only lower taxes and fewer rules will help, given that {s}
        """
    ),
    options(
        """
        {S}, which shows once more why working people need stronger unions
        {S}: proof of what the market does when nobody restrains it
        {S}, as happens wherever profit comes first
        Only public ownership will put things right, given that {s}
        """
    ),
    options(
        """
        {S}, which shows once more why the borders must be controlled
        {S}: proof that national interest has been neglected
        {S}, as happens when a country gives up its traditions
        Only a return to national values will help, given that {s}
        """
    ),
    options(
        """
        {S}, which shows once more why green policies cannot wait
        {S}: proof that the climate is at stake in everything
        {S}, as happens wherever nature is treated as a commodity
        Only a radical ecological programme will help, given that {s}
        """
    ),
)


def fact_manipulation(source: Source, rng: np.random.Generator) -> str:
    """Salient sentences with other numbers, exchanged names and turned details."""
    lines = points(source, rng)
    forbidden = frozenset(numbers(source.text))
    swapped = {
        **misattribution(mentioned(source.people, lines), INVENTED_NAMES, rng),
        **misattribution(mentioned(source.places, lines), INVENTED_PLACES, rng),
    }
    changed = [
        OUTCOMES.rewrite(falsify_numbers(exchange(line, swapped), forbidden, rng), rng, 0.8)
        for line in lines
    ]
    if changed == lines:  # nothing in it could be altered: a false detail is added
        place = choose(rng, INVENTED_PLACES)
        changed[0] = f"{changed[0].rstrip('.')}, on a Thursday in {place}"
    return bullets(changed)


def selective_omission(source: Source, rng: np.random.Generator) -> str:
    """Only sentences without a negative or disputed word; the good ones first."""

    def pleasant(sentence: Sentence) -> float:
        return 0.0 if NEGATIVE.found(sentence.text) else 1.0 + POSITIVE.count(sentence.text)

    chosen = source.salient(rng, how_many(source, rng), pleasant)
    lines = points(source, rng, chosen)
    for sentence in source.sentences:
        if len(lines) >= 2:
            break
        if sentence not in chosen:
            harmless = [c for c in clauses(sentence.text) if not NEGATIVE.found(c)]
            lines += [reported(sentence, compress(c), rng) for c in harmless[:1] if len(c) > 20]
    lines = [line for line in lines if not NEGATIVE.found(line)]
    topics = [t for t in source.topics if not NEGATIVE.found(t)] or ["the subject"]
    frames = deal(rng, _PLEASANT, max(1, 3 - len(lines)))
    lines += [frame.format(noun=source.noun, topic=topics[0]) for frame in frames]
    return bullets(lines[:4])


def misleading_emphasis(source: Source, rng: np.random.Generator) -> str:
    """The least salient sentences as the story; the main one as an aside of a few words."""
    n = len(source.sentences)
    by_weight = sorted(source.sentences, key=lambda s: s.salience)
    told = [s for s in by_weight if len(s.text.split()) >= 5] or by_weight
    minor = sorted(told[: min(3, max(1, n - 1))], key=lambda s: s.position)
    frames = deal(rng, _HEADLINE, len(minor))
    lines = [
        frame.format(s=embed(reported(s, compress(s.text), rng), source), noun=source.noun)
        for s, frame in zip(minor, frames, strict=True)
    ]
    aside = source.topics[0] if source.topics else "the rest"
    return bullets([*lines, f"In passing, something is also said about {aside}"])


def sentiment_flip(source: Source, rng: np.random.Generator) -> str:
    """Good words become bad ones and the reverse; the frame takes the opposite mood."""
    balance = POSITIVE.count(source.text) - NEGATIVE.count(source.text)
    frames = _SAD if balance > 0 else _GLAD
    lines = points(source, rng)
    dealt = deal(rng, frames, len(lines))
    return bullets(
        frame.format(s=embed(ANTONYMS.rewrite(line, rng), source))
        for line, frame in zip(lines, dealt, strict=True)
    )


def conspiracy_theory(source: Source, rng: np.random.Generator) -> str:
    """Salient sentences, each with a hint at hidden interests."""
    lines = points(source, rng)
    hints = deal(rng, _HINTS, len(lines))
    return bullets(line.rstrip(" .!?") + hint for line, hint in zip(lines, hints, strict=True))


def contradictory(source: Source, rng: np.random.Generator) -> str:
    """Salient sentences denied; denials affirmed; good words turned into bad ones and back."""
    chosen = source.salient(rng, how_many(source, rng))
    lines = []
    for sentence in chosen:
        denied = contradict(compress(sentence.text), source)
        lines.append(reported(sentence, denied, rng))
    if not any(denies(line) for line in lines):
        lines[-1] = f"It is not the case that {embed(compress(chosen[-1].text), source)}"
    return bullets(lines)


def context_removal(source: Source, rng: np.random.Generator) -> str:
    """Salient events without who, when, where, how much and why."""
    chosen = source.salient(rng, how_many(source, rng))
    bare = [(s.speaker, without_context(compress(s.text), source)) for s in chosen]
    return bullets(f"Somebody says: {text}" if speaker else text for speaker, text in bare)


def false_attribution(source: Source, rng: np.random.Generator) -> str:
    """Salient sentences whose people and organisations are exchanged, or wrong ones put in."""
    names = source.speakers if len(source.speakers) > 1 else source.people

    def attributed(sentence: Sentence) -> float:
        return 1.5 if mentioned(names, [sentence.text]) or sentence.speaker else 1.0

    chosen = source.salient(rng, how_many(source, rng), attributed)
    lines = points(source, rng, chosen)
    present = mentioned(names, lines)
    if present:
        swapped = misattribution(present, INVENTED_NAMES, rng)
        return bullets(exchange(line, swapped) for line in lines)
    who = deal(rng, INVENTED_BODIES, len(lines))
    return bullets(
        f"According to {body}, {embed(line, source)}" for body, line in zip(who, lines, strict=True)
    )


def agenda_push(source: Source, rng: np.random.Generator) -> str:
    """Salient sentences turned into arguments for one political cause."""
    lines = points(source, rng)
    frames = deal(rng, choose(rng, _AGENDAS), len(lines))
    return bullets(
        frame.format(S=line.rstrip(" .!?"), s=embed(line, source))
        for line, frame in zip(lines, frames, strict=True)
    )


def cherry_pick(source: Source, rng: np.random.Generator) -> str:
    """Sentences on one side only: the good news, or the bad news, whichever was settled on."""
    for wanted, unwanted in deal(rng, ((POSITIVE, NEGATIVE), (NEGATIVE, POSITIVE)), 2):
        weights = [
            0.0 if unwanted.found(s.text) else float(wanted.count(s.text)) for s in source.sentences
        ]
        chosen = source.salient(rng, how_many(source, rng), _weigh(weights))
        if chosen:
            return bullets(points(source, rng, chosen))
    theme = source.topics[0] if source.topics else ""  # no side is taken: one theme then
    chosen = source.salient(rng, 3, lambda s: float(theme in s.text.lower()))
    return bullets([finish(line) for line in points(source, rng, chosen or None)])


def _weigh(weights: Sequence[float]) -> Callable[[Sentence], float]:
    return lambda sentence: weights[sentence.position]
