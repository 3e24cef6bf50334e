"""ROUGE-L and BLEU of many pairs of long texts, as the GEM paper's code has them.

Equal to rouge-score and sacrebleu, pair by pair, on their tokens. Neither keeps what it knows of
a text from one pair to the next, and rouge-score's table of the longest common subsequence takes
a fraction of a second for two reviews: together 10 minutes for what is 5 seconds here.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from typing import Any

from judgelab.mechanism.rouge import lcs_length

ORDERS = (1, 2, 3, 4)


class Overlap:
    """Scores of texts against references; what is known of a text is kept."""

    def __init__(self) -> None:
        from nltk.stem.porter import (  # type: ignore[import-untyped, unused-ignore]
            PorterStemmer,
        )
        from rouge_score import tokenize
        from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

        class Stemmer:
            """The stemmer of rouge-score, which sees every word once."""

            stem = staticmethod(cache(PorterStemmer().stem))

        split: Any = Tokenizer13a()  # type: ignore[no-untyped-call, unused-ignore]
        self._words: Any = cache(lambda text: tokenize.tokenize(text, Stemmer))
        self._runs: Any = cache(lambda text: _runs(split(text).split()))

    def rouge_l(self, text: str, reference: str) -> float:
        """F-measure of the longest common subsequence of stemmed words, in [0, 1]."""
        ours, theirs = self._words(text), self._words(reference)
        common = lcs_length(ours, theirs)
        return 2 * common / (len(ours) + len(theirs)) if common else 0.0

    def bleu(self, text: str, reference: str) -> float:
        """BLEU-4 in [0, 1] without smoothing: 0 without a common run of four tokens.

        The paper's code takes NLTK's word tokens; these are sacrebleu's (13a).
        """
        ours, theirs = self._runs(text), self._runs(reference)
        logs = 0.0
        for own, other in zip(ours, theirs, strict=True):
            common = sum(min(own[run], other[run]) for run in own.keys() & other.keys())
            if not common:
                return 0.0
            logs += math.log(common / own.total()) / len(ORDERS)
        shortness = min(0.0, 1 - theirs[0].total() / ours[0].total())
        return math.exp(logs + shortness)


def _runs(tokens: list[str]) -> tuple[Counter[tuple[str, ...]], ...]:
    """How often each run of 1, 2, 3 and 4 tokens occurs."""
    return tuple(Counter(zip(*(tokens[k:] for k in range(n)), strict=False)) for n in ORDERS)
