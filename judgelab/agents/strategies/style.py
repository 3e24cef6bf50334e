"""Summaries in another register, with the facts kept (TVD-MI paper, Table 8, Style)."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from judgelab.agents.strategies.lexicon.base import Lexicon, options
from judgelab.agents.strategies.lexicon.common import CONTRACT, EXPAND, INTENSIFIERS
from judgelab.agents.strategies.lexicon.registers import (
    ACADEMIC,
    BUREAUCRATIC,
    CASUAL,
    EUPHEMISM,
    POETIC,
    SENSATIONAL,
    TECHNICAL,
)
from judgelab.agents.strategies.rewrite import bullets, deal, embed, points
from judgelab.agents.strategies.source import Source
from judgelab.agents.strategies.text import has_letters


@dataclass(frozen=True)
class Voice:
    """A register: words to replace, and frames for sentences.

    Attributes:
        lexicons: applied one after the other.
        frames: ``{s}`` stands inside a sentence, ``{S}`` opens one; dealt without repetition.
    """

    lexicons: tuple[Lexicon, ...]
    frames: tuple[str, ...]


_ACADEMIC = Voice(
    (EXPAND, ACADEMIC),
    options(
        """
        It is reported that {s}
        The account indicates that {s}
        Of particular significance is the observation that {s}
        It may furthermore be noted that {s}
        The evidence presented suggests that {s}
        """
    ),
)
_SENSATIONAL = Voice(
    (SENSATIONAL,),
    options(
        """
        SHOCK: {S}!
        You will not believe it: {s}!
        {S} - and nobody saw it coming!
        JAW-DROPPING: {S}!
        Outrage and disbelief as {s}!
        """
    ),
)
_BUREAUCRATIC = Voice(
    (EXPAND, BUREAUCRATIC),
    options(
        """
        It has been brought to the attention of the competent body that {s}
        It is hereby placed on record that {s}
        In accordance with the information received, {s}
        With reference to the above matter, it is noted that {s}
        For the purposes of this notice, it is to be understood that {s}
        """
    ),
)
_CASUAL = Voice(
    (CASUAL, CONTRACT),
    options(
        """
        So basically, {s}
        Okay, get this: {s}
        {S}, you know?
        And yeah, {s}
        Oh, and {s}, no kidding
        """
    ),
)
_HISTORICAL = Voice(
    (),
    options(
        """
        Looking back across half a century, one finds that {s}
        Chronicles of the period record that {s}
        In that era, {s}
        It was one of those moments that later generations would recall: {s}
        Historians have since observed that {s}
        """
    ),
)
_POETIC = Voice(
    (POETIC,),
    options(
        """
        Like a leaf upon the stream of days, {s}
        Hear how the wind carries the tale: {s}
        Beneath the turning sky, {s}
        {S}, as shadows lengthen and the hours fly
        Soft as an evening bell it rings: {s}
        """
    ),
)
_JARGON = Voice(
    (TECHNICAL,),
    options(
        """
        {S}
        Observed state: {s}
        Key parameter: {s}
        {S} (per operational log)
        """
    ),
)
_EUPHEMISTIC = Voice(
    (EUPHEMISM,),
    options(
        """
        One might say that {s}
        It would appear, without wishing to dwell on it, that {s}
        Perhaps not everything went as hoped: {s}
        Let us put it kindly: {s}
        {S}, if one may mention it
        """
    ),
)
_OVERLY_TECHNICAL = Voice(
    (EXPAND, TECHNICAL, BUREAUCRATIC),
    options(
        """
        With respect to the parameters under consideration, the operative determination is that {s}
        Pursuant to a systematic appraisal of the documented variables, {s}
        The aforementioned configuration entails the condition whereby {s}
        As a function of the constraints delineated herein, {s}
        """
    ),
)
_DROPPED = re.compile(
    r"\b(?:the|a|an|is|are|was|were|has|have|had|been|be|will|would|that|which|who|also|there|his"
    r"|her|their|its|very|then|said|says|some|of the)\b\s*",
    re.IGNORECASE,
)


def academic_style(source: Source, rng: np.random.Generator) -> str:
    """Scholarly words and hedged frames."""
    return _voiced(source, rng, _ACADEMIC)


def sensationalist(source: Source, rng: np.random.Generator) -> str:
    """Loud words, exclamation marks."""
    return _voiced(source, rng, _SENSATIONAL)


def bureaucratic(source: Source, rng: np.random.Generator) -> str:
    """Official terms and impersonal frames."""
    return _voiced(source, rng, _BUREAUCRATIC)


def casual_conversational(source: Source, rng: np.random.Generator) -> str:
    """Contractions and slang."""
    return _voiced(source, rng, _CASUAL)


def historical_perspective(source: Source, rng: np.random.Generator) -> str:
    """As seen by a later historian."""
    return _voiced(source, rng, _HISTORICAL)


def poetic(source: Source, rng: np.random.Generator) -> str:
    """Images in the words and around them."""
    return _voiced(source, rng, _POETIC)


def technical_jargon(source: Source, rng: np.random.Generator) -> str:
    """Specialist terms for everyday words."""
    return _voiced(source, rng, _JARGON)


def euphemistic(source: Source, rng: np.random.Generator) -> str:
    """Mild words for harsh ones, and hints instead of statements."""
    return _voiced(source, rng, _EUPHEMISTIC)


def overly_technical(source: Source, rng: np.random.Generator) -> str:
    """Technical and official words at once, in heavy frames."""
    return _voiced(source, rng, _OVERLY_TECHNICAL)


def minimalist(source: Source, rng: np.random.Generator) -> str:
    """Telegraphic: articles, auxiliaries and fillers dropped, at most about twelve words."""
    lines = points(source, rng, limit=12, paraphrase=0.0)
    return bullets(_telegraphic(line) for line in lines)


def _voiced(source: Source, rng: np.random.Generator, voice: Voice) -> str:
    lines = points(source, rng, limit=28, paraphrase=0.2)
    frames = deal(rng, voice.frames, len(lines))
    spoken = []
    for line, frame in zip(lines, frames, strict=True):
        text = line.rstrip(" .!")
        for lexicon in voice.lexicons:
            text = lexicon.rewrite(text, rng, 0.9)
        spoken.append(frame.format(s=embed(text, source), S=text))
    return bullets(spoken)


def _telegraphic(line: str) -> str:
    short = " ".join(_DROPPED.sub("", INTENSIFIERS.remove(line)).split())
    return short if has_letters(short) else line
