"""Grammatical errors (DHP paper, Table 2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from judgelab.attack.perturbation import Perturbation
from judgelab.attack.words.grammar import IRREGULAR_S, WRONG

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


def error_at(word: str) -> str | None:
    """A wrong form of a word: agreement, pronoun, tense, preposition, article; None for none."""
    low = word.lower().replace("’", "'")
    if low in WRONG:
        wrong = WRONG[low]
    elif "'" in low or word != low:
        return None
    elif len(low) > 4 and low.endswith("ed"):
        wrong = low[:-2] + "ing"
    elif len(low) > 3 and low.endswith("s") and low not in IRREGULAR_S:
        wrong = low[:-1]
    else:
        return None
    return wrong[0].upper() + wrong[1:] if word[0].isupper() else wrong


@dataclass(frozen=True)
class GrammaticalErrors(Perturbation):
    """Makes grammatical errors: agreement, tense, pronouns, prepositions.

    By rules, English words are put into a form that is wrong in their place; a text without such
    a word repeats one of its words. See ``Perturbation`` for the settings.
    """

    name: ClassVar[str] = "grammatical_errors"

    def rule(self, text: str, rng: np.random.Generator) -> str:
        """Wrong forms at places drawn alike."""
        words = list(_WORD.finditer(text))
        places = [match for match in words if error_at(match[0]) is not None]
        for place in reversed(self.chosen(len(places), rng)):
            match = places[place]
            text = text[: match.start()] + str(error_at(match[0])) + text[match.end() :]
        if words and not places:
            match = words[int(rng.integers(len(words)))]
            text = f"{text[: match.end()]} {match[0]}{text[match.end() :]}"
        return text
