"""BLEU against the human reference, or against peers' texts (sacrebleu, or NLTK's)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Literal

from judgelab.core.errors import require
from judgelab.core.sentences import sentences
from judgelab.mechanism.texts import Compare, ReferenceMechanism


@dataclass(frozen=True)
class Bleu(ReferenceMechanism):
    """Sentence BLEU / 100 against the item's reference; NaN where there is no reference.

    The TVD-MI paper's baseline for translation, there as corpus BLEU per agent; sentence BLEU
    (exponential smoothing, effective order) is what an item-level study can use.

    Where no item of the panel has a reference, a text is scored against the texts of the
    reference agents. The GEM paper's code is NLTK's sentence BLEU on NLTK's tokens
    without smoothing, which is practically 0 for two texts that share no run of four words.
    """

    # sacrebleu, or nltk as in that code. NLTK's tokens need sentences: its own splitter wants a
    # download, so ours is used
    by: Literal["sacrebleu", "nltk"] = "sacrebleu"
    name = "bleu"

    def comparison(self) -> Compare:
        if self.by == "nltk":
            return _nltk()
        metric = require("sacrebleu.metrics.bleu", extra="metrics").BLEU(effective_order=True)
        return lambda text, reference: float(metric.sentence_score(text, [reference]).score) / 100


def _nltk() -> Compare:
    bleu = require("nltk.translate.bleu_score", extra="metrics")
    tokenizer = require("nltk.tokenize.destructive", extra="metrics").NLTKWordTokenizer()

    @cache
    def words(text: str) -> list[str]:
        return [word for sentence in sentences(text) for word in tokenizer.tokenize(sentence)]

    def compare(text: str, reference: str) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of orders without a common run, which count as 1e-308
            return float(bleu.sentence_bleu([words(reference)], words(text)))

    return compare
