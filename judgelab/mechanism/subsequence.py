"""The longest common subsequence, of which ROUGE-L counts the words."""

from __future__ import annotations

from collections.abc import Sequence


def lcs_length(x: Sequence[str], y: Sequence[str]) -> int:
    """Length of the longest common subsequence, a row of the table at a time in one integer.

    Hyyroe (2004): bit i of ``row`` is 0 where the table grows by one at x[i].
    """
    places: dict[str, int] = {}
    for position, word in enumerate(x):
        places[word] = places.get(word, 0) | 1 << position
    full = (1 << len(x)) - 1
    row = full
    for word in y:
        matches = row & places.get(word, 0)
        row = (row + matches | row - matches) & full
    return len(x) - row.bit_count()
