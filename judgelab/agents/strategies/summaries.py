"""Summaries: a strategy is a function or a row of ``words/summaries.yaml`` (TVD-MI, Table 8)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from judgelab.agents.strategies.alter import (
    contradict,
    denies,
    exchange,
    falsified,
    mentioned,
    misattribution,
    without_context,
)
from judgelab.agents.strategies.lexicon import (
    INTENSIFIERS,
    INVENTED_NAMES,
    INVENTED_PLACES,
    LEXICONS,
    NEGATIVE,
    POSITIVE,
    STOPWORDS,
    WORDS,
    Lexicon,
    listed,
)
from judgelab.agents.strategies.rewrite import (
    bullets,
    choose,
    compress,
    deal,
    embed,
    finish,
    how_many,
    points,
    reported,
)
from judgelab.agents.strategies.text import (
    Sentence,
    Source,
    Writer,
    clauses,
    has_letters,
    numbers,
    words,
)
from judgelab.core import resources

_BOOK: Mapping[str, Any] = resources.words("agents/words/summaries.yaml")
_PHRASES: Mapping[str, Sequence[str]] = _BOOK["phrases"]
_FIRST_PERSON = re.compile(r"\b(?:I|i|my|me|mine|I'm|i'm|I've|i've)\b")
_DROPPED = re.compile(
    r"\b(?:the|a|an|is|are|was|were|has|have|had|been|be|will|would|that|which|who|also|there|his"
    r"|her|their|its|very|then|said|says|some|of the)\b\s*",
    re.IGNORECASE,
)


def faithful(source: Source, rng: np.random.Generator) -> str:
    """The most salient sentences, compressed."""
    return bullets(points(source, rng))


def objective(source: Source, rng: np.random.Generator) -> str:
    """Salient sentences that state something checkable; opinion and evaluation are left out."""

    def checkable(sentence: Sentence) -> float:
        stated = 1.0 + 0.3 * min(len(numbers(sentence.text)), 2)
        stated += 0.2 * any(name in sentence.text for name in source.names[:10])
        coloured = LEXICONS["OPINION"].count(sentence.text) + sentence.text.count("!")
        personal = bool(_FIRST_PERSON.search(sentence.text)) and sentence.speaker is None
        return stated / (1.0 + coloured + 0.5 * personal + 0.5 * ('"' in sentence.text))

    chosen = source.salient(rng, how_many(source, rng), checkable)
    told = points(source, rng, chosen)
    sober = [LEXICONS["EVALUATIVE"].remove(INTENSIFIERS.remove(line)) for line in told]
    return bullets(_attributed("The {noun} states that {s}", sober, source))


def comprehensive(source: Source, rng: np.random.Generator) -> str:
    """The best sentences of each part of the text, from its start to its end."""
    n = len(source.sentences)
    if n < 4:
        return bullets(points(source, rng, source.sentences, limit=40))
    lines = []
    for start, end in pairwise(n * part // 4 for part in range(5)):
        ranked = sorted(source.sentences[start:end], key=lambda s: -s.salience)[:2]
        pair = sorted(ranked, key=lambda s: s.position)
        lines.append("; ".join(reported(s, compress(s.text, 22), rng) for s in pair))
    return bullets(lines)


def neutral_tone(source: Source, rng: np.random.Generator) -> str:
    """Salient sentences without intensifiers, charged words replaced by calm ones."""
    neutral = LEXICONS["NEUTRAL"]
    lines = points(source, rng, paraphrase=0.7)
    calm = [neutral.rewrite(INTENSIFIERS.remove(line), rng).replace("!", ".") for line in lines]
    return bullets(_attributed("According to the {noun}, {s}", calm, source))


def _attributed(frame: str, lines: Sequence[str], source: Source) -> list[str]:
    """The first line as the source's statement, not the writer's."""
    return [frame.format(noun=source.noun, s=embed(lines[0], source)), *lines[1:]]


def fact_manipulation(source: Source, rng: np.random.Generator) -> str:
    """Salient sentences with other numbers, exchanged names and turned details."""
    lines = points(source, rng)
    outcomes = LEXICONS["OUTCOMES"]
    changed = [outcomes.rewrite(line, rng, 0.8) for line in falsified(lines, source, rng)]
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
    frames = deal(rng, _PHRASES["pleasant"], max(1, 3 - len(lines)))
    lines += [frame.format(noun=source.noun, topic=topics[0]) for frame in frames]
    return bullets(lines[:4])


def misleading_emphasis(source: Source, rng: np.random.Generator) -> str:
    """The least salient sentences as the story; the main one as an aside of a few words."""
    n = len(source.sentences)
    by_weight = sorted(source.sentences, key=lambda s: s.salience)
    told = [s for s in by_weight if len(s.text.split()) >= 5] or by_weight
    minor = sorted(told[: min(3, max(1, n - 1))], key=lambda s: s.position)
    frames = deal(rng, _PHRASES["headline"], len(minor))
    lines = [
        frame.format(s=embed(reported(s, compress(s.text), rng), source), noun=source.noun)
        for s, frame in zip(minor, frames, strict=True)
    ]
    aside = source.topics[0] if source.topics else "the rest"
    return bullets([*lines, f"In passing, something is also said about {aside}"])


def sentiment_flip(source: Source, rng: np.random.Generator) -> str:
    """Good words become bad ones and the reverse; the frame takes the opposite mood."""
    balance = POSITIVE.count(source.text) - NEGATIVE.count(source.text)
    lines = points(source, rng)
    dealt = deal(rng, _PHRASES["sad" if balance > 0 else "glad"], len(lines))
    return bullets(
        frame.format(s=embed(LEXICONS["ANTONYMS"].rewrite(line, rng), source))
        for line, frame in zip(lines, dealt, strict=True)
    )


def conspiracy_theory(source: Source, rng: np.random.Generator) -> str:
    """Salient sentences, each with a hint at hidden interests."""
    lines = points(source, rng)
    hints = deal(rng, _PHRASES["hint"], len(lines))
    return bullets(line.rstrip(" .!?") + hint for line, hint in zip(lines, hints, strict=True))


def contradictory(source: Source, rng: np.random.Generator) -> str:
    """Salient sentences denied; denials affirmed; good words turned into bad ones and back."""
    chosen = source.salient(rng, how_many(source, rng))
    lines = [reported(s, contradict(compress(s.text), source), rng) for s in chosen]
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
    who = deal(rng, listed(WORDS["INVENTED_BODIES"]), len(lines))
    return bullets(
        f"According to {body}, {embed(line, source)}" for body, line in zip(who, lines, strict=True)
    )


def agenda_push(source: Source, rng: np.random.Generator) -> str:
    """Salient sentences turned into arguments for one political cause."""
    lines = points(source, rng)
    frames = deal(rng, choose(rng, _BOOK["agendas"]), len(lines))
    return bullets(
        frame.format(S=line.rstrip(" .!?"), s=embed(line, source))
        for line, frame in zip(lines, frames, strict=True)
    )


def cherry_pick(source: Source, rng: np.random.Generator) -> str:
    """Sentences on one side only: the good news, or the bad news, whichever was settled on."""
    for wanted, unwanted in deal(rng, ((POSITIVE, NEGATIVE), (NEGATIVE, POSITIVE)), 2):
        chosen = source.salient(rng, how_many(source, rng), partial(_one_sided, wanted, unwanted))
        if chosen:
            return bullets(points(source, rng, chosen))
    theme = source.topics[0] if source.topics else ""  # no side is taken: one theme then
    chosen = source.salient(rng, 3, lambda s: float(theme in s.text.lower()))
    return bullets([finish(line) for line in points(source, rng, chosen or None)])


def _one_sided(wanted: Lexicon, unwanted: Lexicon, sentence: Sentence) -> float:
    return 0.0 if unwanted.found(sentence.text) else float(wanted.count(sentence.text))


def low_effort(source: Source, rng: np.random.Generator) -> str:
    """Sentences that would fit nearly any text; nothing of the source is used."""
    return bullets(deal(rng, _PHRASES["any text"], 3 + int(rng.integers(2))))


def ultra_concise(source: Source, rng: np.random.Generator) -> str:
    """Exactly three bullets of at most five words, from the most salient sentences."""
    lines = [_headline(s.text) for s in source.salient(rng, 3)]
    lines = list(dict.fromkeys(line for line in lines if line))
    lines += deal(rng, _PHRASES["padding"], 3 - len(lines))
    return bullets(lines[:3])


def _headline(text: str) -> str:
    """At most five words: those that carry the sentence."""
    heavy = [word for word in words(text[:2000]) if word.lower() not in STOPWORDS]
    kept = (heavy or words(text[:2000]))[:5]
    return re.sub(r"\s+", " ", " ".join(kept))[:60]


def template_response(source: Source, rng: np.random.Generator) -> str:
    """A stock template with the topic filled in."""
    topic = source.topics[0] if source.topics else "the subject"
    opening, *middle, closing = _PHRASES["template"]
    lines = [opening, *deal(rng, middle, 1 + int(rng.integers(2))), closing]
    return bullets(line.format(noun=source.noun, topic=topic) for line in lines)


def surface_skim(source: Source, rng: np.random.Generator) -> str:
    """The opening sentences, and nothing after them."""
    return bullets(reported(s, compress(s.text), rng) for s in source.sentences[:3])


def minimal_detail(source: Source, rng: np.random.Generator) -> str:
    """The general topic without a name, a number or an event."""
    topics = [*source.topics[:4], "everyday matters", "people"]
    first = choose(rng, topics[:2])
    second = next(topic for topic in topics if topic != first)
    area, other, *vague = _PHRASES["topicless"]
    lines = [area, other, *deal(rng, vague, 1 + int(rng.integers(2)))]
    return bullets(line.format(first=first, second=second) for line in lines)


def minimalist(source: Source, rng: np.random.Generator) -> str:
    """Telegraphic: articles, auxiliaries and fillers dropped, at most about twelve words."""
    lines = points(source, rng, limit=12, paraphrase=0.0)
    return bullets(_telegraphic(line) for line in lines)


def _telegraphic(line: str) -> str:
    short = " ".join(_DROPPED.sub("", INTENSIFIERS.remove(line)).split())
    return short if has_letters(short) else line


def in_register(
    source: Source, rng: np.random.Generator, frames: Sequence[str], lexicons: Sequence[str] = ()
) -> str:
    """The facts in another register: words of the lexicons, in turn, and a frame for each line."""
    lines = points(source, rng, limit=28, paraphrase=0.2)
    spoken = []
    for line, frame in zip(lines, deal(rng, frames, len(lines)), strict=True):
        text = line.rstrip(" .!")
        for name in lexicons:
            text = LEXICONS[name].rewrite(text, rng, 0.9)
        spoken.append(frame.format(s=embed(text, source), S=text))
    return bullets(spoken)


SUMMARIES: Mapping[str, Writer] = {
    "Faithful": faithful,
    "Objective": objective,
    "Comprehensive": comprehensive,
    "Neutral Tone": neutral_tone,
    "Fact Manipulation": fact_manipulation,
    "Selective Omission": selective_omission,
    "Misleading Emphasis": misleading_emphasis,
    "Sentiment Flip": sentiment_flip,
    "Conspiracy Theory": conspiracy_theory,
    "Contradictory": contradictory,
    "Context Removal": context_removal,
    "False Attribution": false_attribution,
    "Agenda Push": agenda_push,
    "Cherry Pick": cherry_pick,
    "Low Effort": low_effort,
    "Ultra Concise": ultra_concise,
    "Template Response": template_response,
    "Surface Skim": surface_skim,
    "Minimal Detail": minimal_detail,
    "Minimalist": minimalist,
    **{name: partial(in_register, **row) for name, row in _BOOK["registers"].items()},
}
