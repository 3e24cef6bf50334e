"""Translations, as rewritings of a base translation (TVD-MI paper, Table 9).

There is no offline translator, so ``source.text`` is an English base translation and
``source.original`` the German: each strategy changes the base as its description says. What the
agents share through the base is therefore the meaning and part of the wording. A strategy is a
function, or a row of ``words/translations.yaml`` where it is a matter of words and phrases alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from judgelab.agents.strategies.alter import contradict, falsified
from judgelab.agents.strategies.lexicon import (
    INTENSIFIERS,
    INVENTED_NAMES,
    LEXICONS,
    NUMBER_WORDS,
    Lexicon,
    like,
)
from judgelab.agents.strategies.rewrite import choose, compress, deal, embed, finish, vary
from judgelab.agents.strategies.text import (
    NUMBER,
    Source,
    Writer,
    clauses,
    has_letters,
    numbers,
    words,
)
from judgelab.core import resources

_BOOK: Mapping[str, Any] = resources.words("agents/words/translations.yaml")
_PHRASES: Mapping[str, Sequence[str]] = _BOOK["phrases"]
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTHS})\b")
_CLOCK = re.compile(r"\b([01]?\d|2[0-3]):([0-5]\d)\b(?!\s?[ap]\.?m)")
_VALUE = r"(?<![\w.,])(\d{1,9}(?:,\d{3})*(?:\.\d{1,6})?)"
_METRIC = {
    "km/h": (0.621371, "mph"),
    "kilomet(?:re|er)s?|km": (0.621371, "miles"),
    "centimet(?:re|er)s?|cm": (0.393701, "inches"),
    "met(?:re|er)s?|m": (3.28084, "feet"),
    "kilograms?|kilos?|kg": (2.20462, "pounds"),
    "grams?|g": (0.035274, "ounces"),
    "lit(?:re|er)s?|l": (0.264172, "gallons"),
    "hectares?|ha": (2.47105, "acres"),
    "degrees Celsius|degrees centigrade|°C": (1.8, "degrees Fahrenheit"),
}
"""Unit -> factor and unit of the same measure in the United States."""


def original(source: Source, rng: np.random.Generator) -> str:
    """The base with a translator's own choice among near synonyms."""
    return _join(_lines(source, rng))


def low_effort(source: Source, rng: np.random.Generator) -> str:
    """Articles and endings dropped, German words left in, the end cut off."""
    german = [word for word in words(source.original or "") if len(word) > 3]
    tokens = [t for t in re.findall(r"[\w'-]+", source.text) if t.lower() not in {"the", "a", "an"}]
    kept: list[str] = []
    for token in tokens[: max(3, round(0.7 * len(tokens)))]:
        draw = rng.random()
        if draw < 0.12 and german:
            kept.append(choose(rng, german))
        elif draw > 0.08 or len(tokens) < 6:
            kept.append(token.lower())
    lazy = " ".join(kept)
    return lazy if has_letters(lazy) else " ".join(words(source.text)[:20])


def understate(source: Source, rng: np.random.Generator) -> str:
    """Main clauses only, in mild words."""
    lines = [
        LEXICONS["MILD"].rewrite(INTENSIFIERS.remove(compress(s, 12)), rng)
        for s in _lines(source, rng)
    ]
    dealt = deal(rng, _PHRASES["small"], len(lines))
    return _join(_fill(f, line, source) for f, line in zip(dealt, lines, strict=True))


def misleading(source: Source, rng: np.random.Generator) -> str:
    """Other numbers, names and details; of several statements, every second one is denied."""
    lines = _lines(source, rng)
    turned = [
        LEXICONS["ANTONYMS"].rewrite(LEXICONS["OUTCOMES"].rewrite(line, rng), rng)
        for line in falsified(lines, source, rng)
    ]
    if turned == lines:  # nothing in it could be altered: a false detail is added
        turned[0] = f"{turned[0].rstrip(' .!')}, as {choose(rng, INVENTED_NAMES)} had ordered"
    for i in range(int(rng.integers(2)), len(lines), 2):
        if len(lines) > 1:
            turned[i] = contradict(turned[i].rstrip(" ."), source)
    return _join(turned)


def simplify(source: Source, rng: np.random.Generator) -> str:
    """Short common words, one clause a sentence, asides dropped."""
    short = [part for s in source.sentences for part in clauses(compress(s.text, 16))]
    return _join(LEXICONS["SIMPLE"].rewrite(INTENSIFIERS.remove(part), rng) for part in short)


def objective(source: Source, rng: np.random.Generator) -> str:
    """Charged words calmed, intensifiers and exclamation marks removed."""
    lines = [LEXICONS["EXPAND"].rewrite(line, rng) for line in _lines(source, rng)]
    sober = [
        LEXICONS["NEUTRAL"].rewrite(LEXICONS["EVALUATIVE"].remove(INTENSIFIERS.remove(s)), rng)
        for s in lines
    ]
    sober[0] = f"It is stated that {embed(sober[0], source)}"
    return _join(line.replace("!", ".") for line in sober)


def contradictory(source: Source, rng: np.random.Generator) -> str:
    """Each sentence denied, or affirmed where it was a denial."""
    return _join(contradict(line.rstrip(" .!"), source) for line in _lines(source, rng))


def cultural(source: Source, rng: np.random.Generator) -> str:
    """American units, spellings, dates and words."""
    lines = _lines(source, rng)
    adapted = [americanise(line, rng) for line in lines]
    if adapted == lines:  # no unit, date or British word in it
        adapted[0] = f"As folks in the States would put it, {embed(lines[0], source)}"
    return _join(adapted)


def americanise(text: str, rng: np.random.Generator) -> str:
    """Convert metric units, put the month first, use a twelve-hour clock and American words."""
    for unit, (factor, name) in _METRIC.items():
        text = re.sub(rf"{_VALUE}[ -]?(?:{unit})\b", partial(_converted, factor, name), text)
    text = re.sub(r"€\s?(?=\d)", "$", _DATE.sub(r"\2 \1", text))
    return LEXICONS["AMERICAN"].rewrite(_CLOCK.sub(_twelve_hours, text), rng)


def _converted(factor: float, unit: str, match: re.Match[str]) -> str:
    value = float(match.group(1).replace(",", "")) * factor
    value += 32 if unit == "degrees Fahrenheit" else 0
    return f"{value:,.0f} {unit}" if abs(value) >= 10 else f"{value:.1f} {unit}"


def _twelve_hours(match: re.Match[str]) -> str:
    hour, minute = int(match.group(1)), match.group(2)
    return f"{hour % 12 or 12}:{minute} {'a.m.' if hour < 12 else 'p.m.'}"


def quantitative(source: Source, rng: np.random.Generator) -> str:
    """Number words as figures, and counts of what can be counted."""
    figures = {word: str(value) for value, word in enumerate(NUMBER_WORDS[:12], start=2)}
    lexicon = Lexicon.of({word: (figure,) for word, figure in figures.items()})
    lines = [lexicon.rewrite(line, rng) for line in _lines(source, rng)]
    counted = [
        f"({i} of {len(lines)}; {len(words(line))} words) {line}" for i, line in enumerate(lines, 1)
    ]
    given = len(numbers(source.text))
    return _join([*counted, f"In total: {given} figures, {len(source.names)} names"])


def creative(source: Source, rng: np.random.Generator) -> str:
    """Told from its end, clause by clause."""
    parts = [part for line in _lines(source, rng) for part in clauses(line)]
    frames = deal(rng, _PHRASES["scene"], 3)
    told = [LEXICONS["POETIC"].rewrite(part, rng, 0.4) for part in reversed(parts)]
    opened = [_fill(frames[0], told[0], source), *told[1:-1]]
    return _join([*opened, _fill(frames[1], told[-1], source)] if len(told) > 1 else opened)


def in_voice(
    source: Source,
    rng: np.random.Generator,
    frames: Sequence[str],
    lexicons: Sequence[str] = (),
    tail: Sequence[str] = (),
    adjectives: Sequence[str] = (),
    *,
    everywhere: bool = False,
    after_numbers: str = "",
    topic: str = "",
) -> str:
    """Sentences in other words; a frame around the first (or all), a remark after the last.

    Args:
        frames: ``{s}`` stands inside a sentence, ``{S}`` opens one.
        lexicons: names of the word tables, applied one after the other.
        tail: remarks, with ``{topic}`` for what the text is about.
        adjectives: put after about every second article; each begins with a consonant.
        everywhere: a frame around every sentence.
        after_numbers: follows each numeral.
        topic: of a text that has none.
    """
    lines = _lines(source, rng)
    for name in lexicons:
        lines = [LEXICONS[name].rewrite(line, rng, 0.9) for line in lines]
    told = [
        _fill(frame, line, source) if everywhere or i == 0 else line
        for i, (frame, line) in enumerate(zip(deal(rng, frames, len(lines)), lines, strict=True))
    ]
    if tail:
        told.append(choose(rng, tail).format(topic=[*source.topics, topic][0]))
    text = NUMBER.sub(rf"\g<0>{after_numbers}", _join(told))
    return _coloured(text, adjectives, rng) if adjectives else text


def poetic(source: Source, rng: np.random.Generator) -> str:
    """Images for plain words, one clause a line."""
    verse = in_voice(source, rng, **_BOOK["poem"])
    return "\n".join(part.strip() for part in re.split(r"(?<=[,;:.!?])\s+", verse) if part.strip())


def _lines(source: Source, rng: np.random.Generator) -> list[str]:
    """The sentences of the base translation in a translator's own wording, speakers kept."""
    said = [vary(s.text, source, rng, 0.5) for s in source.sentences]
    return [
        f"{s.speaker}: {text}" if s.speaker else text
        for s, text in zip(source.sentences, said, strict=True)
    ]


def _coloured(text: str, adjectives: Sequence[str], rng: np.random.Generator) -> str:
    """An adjective after about every second article; each begins with a consonant."""

    def add(match: re.Match[str]) -> str:
        if rng.random() < 0.5:
            return match.group()
        article = "a" if match.group(1).lower() == "an" else match.group(1).lower()
        return like(match.group(1), f"{article} {choose(rng, adjectives)}")

    return re.sub(r"\b(the|a|an)\b(?=\s+[a-z])", add, text, flags=re.IGNORECASE)


def _fill(frame: str, line: str, source: Source) -> str:
    bare = line.rstrip(" .!")
    return frame.format(s=embed(bare, source), S=bare)


def _join(lines: Iterable[str]) -> str:
    return " ".join(finish(line) for line in lines if line.strip())


TRANSLATIONS: Mapping[str, Writer] = {
    **{name: partial(in_voice, **row) for name, row in _BOOK["voices"].items()},
    "Original": original,
    "Low Effort": low_effort,
    "Understate": understate,
    "Misleading": misleading,
    "Simplify": simplify,
    "Poetic": poetic,
    "Objective": objective,
    "Contradictory": contradictory,
    "Cultural": cultural,
    "Quantitative": quantitative,
    "Creative": creative,
}
