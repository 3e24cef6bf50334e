"""Random deletion of a run of words (DHP paper, Table 2, translation)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from judgelab.attack.protocol import RuleAttack
from judgelab.core.bounds import Count
from judgelab.core.step import Place

_WORD = re.compile(r"\S+\s*")


@dataclass(frozen=True)
class WordDeletion(RuleAttack):
    """Deletes ``k`` continuous words at random; words are separated by white space."""

    k: Count = 5  # how many; 5 (minor) and 25 (major) for the WMT22 references
    name = "word_deletion"

    def rule(self, text: str, at: Place) -> str:
        """The text less ``k`` words in a row, wherever they start; at least one word is left."""
        words = _WORD.findall(text)
        k = min(self.k, len(words) - 1)
        if k < 1:
            return text
        lead = text[: len(text) - sum(map(len, words))]
        start = int(at.rng.integers(len(words) - k + 1))
        return (lead + "".join(words[:start] + words[start + k :])).rstrip()

    def check(self, before: str, after: str) -> str:
        """Exactly k words in a row are gone."""
        words, rest = before.split(), after.split()
        runs = (words[:i] + words[i + self.k :] for i in range(len(words) - self.k + 1))
        if rest and any(run == rest for run in runs):
            return ""
        return f"{len(words) - len(rest)} words gone of {len(words)}, not a run of {self.k}"
