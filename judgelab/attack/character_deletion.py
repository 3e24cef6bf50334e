"""Random deletions of characters (DHP paper, Table 2)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

from judgelab.attack.protocol import RuleAttack
from judgelab.core.bounds import Count
from judgelab.core.step import Place


@dataclass(frozen=True)
class CharacterDeletion(RuleAttack):
    """Deletes ``k`` alphanumeric characters at random."""

    k: Count = 10  # how many; 10 (minor) and 50 (major) for SummEval's references
    name = "character_deletion"

    def rule(self, text: str, at: Place) -> str:
        """The text less ``k`` of its letters and digits, drawn alike; all where there are fewer."""
        places = [i for i, c in enumerate(text) if c.isalnum()]
        gone = set(at.rng.choice(places, size=min(self.k, len(places)), replace=False).tolist())
        return "".join(c for i, c in enumerate(text) if i not in gone)

    def check(self, before: str, after: str) -> str:
        """Exactly k letters and digits are gone, nothing else is, and some are left."""
        if not any(map(str.isalnum, after)):
            return f"no letter left of {sum(map(str.isalnum, before))}"
        rest = iter(before)
        gone = [c for letter in after for c in takewhile(letter.__ne__, rest)] + list(rest)
        if len(before) - len(after) != self.k or len(gone) != self.k:
            return f"{len(before) - len(after)} characters gone, not {self.k}"
        return "" if all(map(str.isalnum, gone)) else "more than letters and digits are gone"
