"""ROUGE against the human reference, or against peers' texts (rouge-score)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from judgelab.core.errors import require
from judgelab.mechanism.texts import Compare, ReferenceMechanism, count_runs, count_shared


@dataclass(frozen=True)
class Rouge(ReferenceMechanism):
    """F1 of ``kind`` against the item's reference; NaN where there is no reference.

    The TVD-MI paper's baseline for summarisation. Its code compares sets of words; this is
    standard ROUGE (docs/definitions.md).

    Where no item of the panel has a reference, a text is scored against the texts of the
    reference agents. With ``kind=rougeL`` that is the GEM paper's baseline.
    """

    kind: Literal["rouge1", "rouge2", "rougeL"] = "rouge1"  # rouge1, rouge2 or rougeL

    @property
    def name(self) -> str:
        return {"rouge1": "rouge", "rouge2": "rouge_2", "rougeL": "rouge_l"}[self.kind]

    def comparison(self) -> Compare:
        words, longest = _words(), self.kind == "rougeL"
        n = 1 if longest else int(self.kind.removeprefix("rouge"))

        @cache
        def runs(text: str) -> Counter[tuple[str, ...]]:
            return count_runs(words(text), n)

        def f1(text: str, reference: str) -> float:
            own, theirs = runs(text), runs(reference)
            if longest:
                common = lcs_length(words(text), words(reference))
            else:
                common = count_shared(own, theirs)
            precision, recall = (common / max(one.total(), 1) for one in (own, theirs))
            return 2 * precision * recall / (precision + recall) if common else 0.0

        return f1


def _words() -> Callable[[str], list[str]]:
    """rouge-score's tokens, with Porter's stems as ROUGE's authors had them for English.

    A text is split once and a word stemmed once, however many pairs.
    """
    porter: Any = require("nltk.stem.porter", extra="metrics")
    tokenize: Any = require("rouge_score.tokenize", extra="metrics")

    class Stemmer:
        stem = staticmethod(cache(porter.PorterStemmer().stem))

    return cache(lambda text: tokenize.tokenize(text, Stemmer))


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
