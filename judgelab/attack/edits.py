"""How far two texts are apart: what the checks of perturbations count."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np

_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


def edits(before: str, after: str) -> int:
    """Fewest characters inserted, left out, exchanged, or swapped with their neighbour.

    The optimal string alignment distance (Damerau-Levenshtein without edits of edited places).
    """
    b = np.array([ord(c) for c in after], dtype=np.int64)
    places = np.arange(len(b) + 1)
    earlier, last = places, places
    for i, c in enumerate(before, start=1):
        row = np.minimum(last + 1, np.concatenate(([i], last[:-1] + (b != ord(c)))))
        if i > 1 and len(b) > 1:
            swapped = (b[1:] == ord(before[i - 2])) & (b[:-1] == ord(c))
            row[2:] = np.where(swapped, np.minimum(row[2:], earlier[:-2] + 1), row[2:])
        row = np.minimum.accumulate(row - places) + places  # insertions
        earlier, last = last, row
    return int(last[-1])


def words_of(text: str) -> list[str]:
    """Words and punctuation marks, in order."""
    return _WORD.findall(text)


def word_edits(before: str, after: str) -> int:
    """Places at which words differ: runs of words exchanged, inserted or left out."""
    matcher = SequenceMatcher(None, words_of(before), words_of(after), autojunk=False)
    return sum(tag != "equal" for tag, *_ in matcher.get_opcodes())


def share_changed(before: Sequence[str], after: Sequence[str]) -> float:
    """1 less the share of words that two sequences have in common, in order; 0 for equal ones."""
    return 1 - SequenceMatcher(None, before, after, autojunk=False).ratio()
