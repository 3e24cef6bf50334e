"""BLEU against the human reference, or against peers' texts (sacrebleu, or NLTK's)."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from judgelab.core.errors import require
from judgelab.core.sentences import sentences
from judgelab.mechanism.texts import Compare, ReferenceMechanism, count_runs, count_shared

ORDERS = (1, 2, 3, 4)
KEPT = 512
"""Texts whose runs are kept: those of an item, which are held against each other."""


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
        return sacrebleu_of("exp", effective_order=True)


def sacrebleu_of(smoothing: Literal["exp", "none"], *, effective_order: bool) -> Compare:
    """sacrebleu's BLEU-4 / 100 of one text, but that the runs of a text are counted once."""
    bleu = require("sacrebleu.metrics.bleu", extra="metrics").BLEU()

    @lru_cache(KEPT)
    def runs(text: str) -> tuple[int, list[Counter[tuple[str, ...]]]]:
        tokens = bleu.tokenizer(text.rstrip()).split()
        return len(tokens), [count_runs(tokens, n) for n in ORDERS]

    def compare(text: str, reference: str) -> float:
        (length, own), (due, theirs) = runs(text), runs(reference)
        shared = [count_shared(*both) for both in zip(own, theirs, strict=True)]
        there = [max(length - n + 1, 0) for n in ORDERS]
        how = {"smooth_method": smoothing, "effective_order": effective_order}
        return float(bleu.compute_bleu(shared, there, length, due, **how).score) / 100

    return compare


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
