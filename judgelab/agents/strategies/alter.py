"""What makes a statement untrue or bare: denial, wrong numbers, other names, no context."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from judgelab.agents.strategies.lexicon import (
    CALENDAR,
    INVENTED_NAMES,
    INVENTED_PLACES,
    LEXICONS,
    NUMBER_WORDS,
    WORDS,
    like,
    table,
)
from judgelab.agents.strategies.rewrite import choose, deal, embed
from judgelab.agents.strategies.text import NUMBER, Source, has_letters, numbers

NEGATION = re.compile(
    r"\b(?:not|never|cannot|nobody|nothing|none|no|without)\b|\b\w+n't\b", re.IGNORECASE
)
_AFFIRM = table(WORDS["AFFIRM"])
_BASE_FORMS = table(WORDS["BASE_FORMS"])
"""Past or third-person form -> base form, for denial with did or does not."""

_AUXILIARY = re.compile(
    r"\b(is|are|was|were|am|has|have|had|will|would|can|could|should|may|might|must|does|do|did)\b"
    r"(?!\s+(?:not|n't))",
    re.IGNORECASE,
)
_CONTRACTED = re.compile(r"\b(\w+'(?:s|m|re|ll|ve))(?=\s+\w)")
_VERB = re.compile(rf"(?<=\w )\b({'|'.join(sorted(_BASE_FORMS))})\b")

_TIME_OR_NUMBER = re.compile(rf"\b(?:[01]?\d|2[0-3]):[0-5]\d\b|{NUMBER.pattern}")
_FACTORS = (0.4, 0.6, 0.7, 1.3, 1.6, 2.0, 2.4)

_REASON = re.compile(
    r",?\s\b(?:because|since|so that|in order to|due to|owing to|as a result of|thanks to|following"
    r"|after|before|until|while|when|although|despite|unless|which|whose|where|given that)\b"
    r"[^,.;]*",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r",\s+(?:which|whose|who|where)\b[^,.;]*,")
_BEFORE = r"(?:\b(?:in|on|at|by|from|since|until|about|around|roughly|almost|nearly)\s+)*"
_CLOCK = re.compile(rf"{_BEFORE}\b\d{{1,2}}[:.]\d\d\b(?:\s?[ap]\.?m\b\.?)?")
_YEAR = re.compile(rf"{_BEFORE}\b(?:1[5-9]|20)\d\d(?:-\d\d)?\b")
_MONEY = re.compile(r"[£$€]\s?\d[\d.,]*(?:\s?(?:million|billion|m|bn|k)\b)?")
_COMPOUND = re.compile(r"\b\d[\d.,]*(?:-[^\W\d_]+)+")
_NUMERAL = re.compile(r"\w*\d(?:[\w.,/:]*\w)?(?:\s?%)?")
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(NUMBER_WORDS)})\b", re.IGNORECASE)
_SOME = re.compile(r"\b(?:a |an |the )?some(?:,? some)+\b")
_DATE = re.compile(
    r"(?:\b(?:in|on|at|by|from|since|until|last|next|every|late|early|this)\s+)*"
    rf"\b(?:{'|'.join(sorted(CALENDAR - {'may', 'march', 'sun', 'sat', 'spring', 'fall'}))}"
    r"|(?-i:May|March))\b(?:\s+(?:night|morning|evening|afternoon))?",
    re.IGNORECASE,
)
_REMOVALS = (
    *((_CLOCK, ""), (_DATE, ""), (_YEAR, ""), (_MONEY, "some money"), (_COMPOUND, "")),
    *((_NUMERAL, "some"), (_NUMBER_WORD, "some"), (_SOME, "some")),
    (re.compile(r"\b[Ss]omebody(?:(?:,| and) somebody)+"), "some people"),
)
_PLACED = r"(?:in|at|on|of|from|to|near|through|around|outside|across)\s+(?:the\s+)?"


def contradict(text: str, source: Source) -> str:
    """The statement denied; a statement that was a denial is affirmed."""
    if NEGATION.search(text):
        affirmed = " ".join(NEGATION.sub(_affirmed, text).split())
        return affirmed if has_letters(affirmed) else f"It is not true that {text}"
    if text.rstrip().endswith("?"):
        return f"Nobody asked the following: {text}"
    for pattern, negated in ((_AUXILIARY, _auxiliary), (_VERB, _verb), (_CONTRACTED, _auxiliary)):
        if pattern.search(text):
            return pattern.sub(negated, text, count=1)
    return f"It is not true that {embed(text, source)}"


def denies(text: str) -> bool:
    """Whether the text holds a negation."""
    return NEGATION.search(text) is not None


def _affirmed(match: re.Match[str]) -> str:
    word = match.group().lower()
    return like(match.group(), _AFFIRM.get(word, (word.removesuffix("n't"),))[0])


def _auxiliary(match: re.Match[str]) -> str:
    word = match.group(1)
    return word + "not" if word.lower() == "can" else f"{word} not"


def _verb(match: re.Match[str]) -> str:
    base = _BASE_FORMS[match.group(1)][0]
    helper = "does" if match.group(1) in {base + "s", base + "es"} else "did"
    return f"{helper} not {base}"


def falsify_numbers(text: str, forbidden: Collection[str], rng: np.random.Generator) -> str:
    """Change every numeral and number word; no new numeral is one of ``forbidden``."""

    def numeral(match: re.Match[str]) -> str:
        if ":" in match.group():
            return _other_time(forbidden, rng)
        return _other(match.group(), forbidden, rng)

    def word(match: re.Match[str]) -> str:
        others = [w for w in NUMBER_WORDS if w != match.group().lower()]
        return like(match.group(), choose(rng, others))

    changed = _TIME_OR_NUMBER.sub(numeral, text)
    return LEXICONS["MAGNITUDES"].rewrite(LEXICONS["NUMBER_WORDS"].pattern.sub(word, changed), rng)


def falsified(lines: Sequence[str], source: Source, rng: np.random.Generator) -> Iterator[str]:
    """The lines with exchanged names and wrong numbers; one at a time, as ``rng`` is shared."""
    swapped = {
        **misattribution(mentioned(source.people, lines), INVENTED_NAMES, rng),
        **misattribution(mentioned(source.places, lines), INVENTED_PLACES, rng),
    }
    forbidden = frozenset(numbers(source.text))
    for line in lines:
        yield falsify_numbers(exchange(line, swapped), forbidden, rng)


def _other(numeral: str, forbidden: Collection[str], rng: np.random.Generator) -> str:
    """A number of the same form and about the same size."""
    plain = numeral.replace(",", "")
    if len(plain) > 15:  # an identifier rather than a quantity: another first digit will do
        return str((int(plain[0]) + 1 + int(rng.integers(7))) % 9 + 1) + numeral[1:]
    decimals = len(plain.partition(".")[2])
    step = 10.0**-decimals
    value = float(plain)
    if not decimals and len(plain) == 4 and 1700 <= value <= 2100:
        value += choose(rng, (-9, -6, -4, -3, -2, 2, 3, 5, 7))
    elif value <= 20 * step:
        value += step * choose(rng, (1, 2, 3, 4))
    else:
        value *= choose(rng, _FACTORS)
    grouped = "," in numeral
    written = _write(value, decimals, grouped)
    while written == numeral or written in forbidden:
        value += step
        written = _write(value, decimals, grouped)
    return written


def _other_time(forbidden: Collection[str], rng: np.random.Generator) -> str:
    hours = [f"{h:02d}" for h in range(6, 24) if f"{h:02d}" not in forbidden] or ["05"]
    minutes = [f"{m:02d}" for m in range(5, 60, 5) if f"{m:02d}" not in forbidden] or ["01"]
    return f"{choose(rng, hours)}:{choose(rng, minutes)}"


def _write(value: float, decimals: int, grouped: bool) -> str:
    return f"{value:,.{decimals}f}" if grouped else f"{value:.{decimals}f}"


def exchange(text: str, names: Mapping[str, str]) -> str:
    """Replace all names at once, the longest first."""
    if not names:
        return text
    ordered = sorted(names, key=lambda name: (-len(name), name))
    body = "|".join(re.escape(name) for name in ordered)
    return re.sub(rf"(?<!\w)(?:{body})(?!\w)", lambda m: names[m.group()], text)


def mentioned(names: Iterable[str], texts: Iterable[str]) -> list[str]:
    """Those of the names that occur in the texts."""
    whole = "\n".join(texts)
    return [name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", whole)]


def misattribution(
    names: Sequence[str], spare: Sequence[str], rng: np.random.Generator
) -> dict[str, str]:
    """Every name to a different one: round a ring of themselves, or to a spare if alone.

    A short form ("Pascoe") follows its long form ("Delia Pascoe").
    """
    if not names:
        return {}
    full = {
        name: max((other for other in names if set(name.split()) <= set(other.split())), key=len)
        for name in names
    }
    heads = list(dict.fromkeys(full.values()))
    ring = deal(rng, heads, len(heads)) if len(heads) > 1 else heads
    others = [name for name in spare if name not in heads]
    target = (
        {name: ring[(i + 1) % len(ring)] for i, name in enumerate(ring)}
        if len(ring) > 1
        else {name: choose(rng, others) for name in ring}
    )
    return {
        name: target[head] if name == head else target[head].split()[-1]
        for name, head in full.items()
    }


def without_context(text: str, source: Source) -> str:
    """The bare event: no reasons, dates, amounts or places, and nobody by name."""
    bare = _RELATIVE.sub("", text)
    shorter = _REASON.sub("", bare)
    bare = shorter if len(shorter.split()) >= 5 else bare
    for name in sorted(source.names, key=lambda name: (-len(name), name)):
        if name in bare:
            bare = _unname(bare, name, "somebody" if name in source.people else "something")
    for pattern, replacement in _REMOVALS:
        bare = pattern.sub(replacement, bare)
    bare = " ".join(bare.split())
    return bare if has_letters(bare) else "Something happens"


def _unname(text: str, name: str, instead: str) -> str:
    """Places and modifiers go; other names lose what they name."""
    escaped = rf"(?<!\w){re.escape(name)}(?!\w)"
    text = re.sub(rf"\b{_PLACED}{escaped}(?:'s)?", "", text)
    text = re.sub(rf"\b([Tt]he|[Aa]n?)\s+{escaped}(?:'s)?(?=\s+[a-z])", r"\1", text)
    return re.sub(escaped, instead, text)
