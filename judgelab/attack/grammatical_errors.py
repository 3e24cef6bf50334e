"""Grammatical errors (DHP paper, Table 2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from judgelab.attack.protocol import Perturbation
from judgelab.core.resources import words
from judgelab.core.step import Place

_TABLES = words("attack/words/grammar.yaml")
IRREGULAR_S = frozenset(_TABLES["irregular_s"])
"""Words in -s that would not lose it."""

KINDS = ("agreement", "pronouns", "tense", "prepositions", "articles")
WRONG: dict[str, str] = {word: other for kind in KINDS for word, other in _TABLES[kind].items()}
"""Words that are wrong in each other's place."""

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

    def rule(self, text: str, at: Place) -> str:
        """Wrong forms at places drawn alike."""
        found = list(_WORD.finditer(text))
        places = [match for match in found if error_at(match[0]) is not None]
        for place in reversed(self.chosen(len(places), at.rng)):
            match = places[place]
            text = text[: match.start()] + str(error_at(match[0])) + text[match.end() :]
        if found and not places:
            match = found[int(at.rng.integers(len(found)))]
            text = f"{text[: match.end()]} {match[0]}{text[match.end() :]}"
        return text
