"""Reference-based baselines: ROUGE-1 and BLEU of every response.

The release defines ROUGE-1 as F1 between the *sets* of lower-cased white-space tokens. Standard
ROUGE-1 counts how often a word occurs, on rouge-score's tokens (runs of a to z and digits).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache

import numpy as np

from experiments.peer_prediction.domain import BoolArray, FloatArray
from judgelab.core.panel import Panel
from judgelab.mechanism.bleu import Bleu
from judgelab.mechanism.texts import Compare, count_shared
from judgelab.stats.discrimination.effect_size import group_difference, paired_effect_size
from judgelab.stats.intervals.arrays import row_means
from judgelab.stats.intervals.estimate import Estimate


def _by_reference(panel: Panel, compare: Compare) -> FloatArray:
    """[items, agents] each response against the reference; NaN without either."""
    values = np.full((len(panel.items), len(panel.agents)), np.nan)
    for row, (item, texts) in enumerate(zip(panel.items, panel.texts, strict=True)):
        for column, text in enumerate(texts):
            if text is not None and item.reference is not None:
                values[row, column] = compare(text, item.reference)
    return values


def _overlap(panel: Panel, words: Callable[[str], Iterable[str]]) -> FloatArray:
    """[items, agents] F1 of the words that a response shares with the reference."""
    bag = cache(lambda text: Counter(words(text)))

    def f1(text: str, reference: str) -> float:
        own, gold = bag(text), bag(reference)
        size = gold.total() + own.total()
        return 2 * count_shared(gold, own) / size if size else 0.0

    return _by_reference(panel, f1)


def set_rouge1(panel: Panel) -> FloatArray:
    """The release's ROUGE-1 [items, agents]; NaN without a reference or a response."""
    return _overlap(panel, lambda text: set(text.lower().split()))


def rouge1(panel: Panel) -> FloatArray:
    """Standard ROUGE-1 F1 [items, agents]; NaN without a reference or a response."""
    return _overlap(panel, lambda text: re.findall("[a-z0-9]+", text.lower()))


def corpus_bleu(panel: Panel) -> FloatArray:
    """Corpus BLEU / 100 of each agent [agents], as the release has it for translation."""
    import sacrebleu

    values = np.full(len(panel.agents), np.nan)
    for column in range(len(panel.agents)):
        pairs = [
            (texts[column], item.reference)
            for item, texts in zip(panel.items, panel.texts, strict=True)
        ]
        complete = [(text, reference) for text, reference in pairs if text and reference]
        if complete:
            hypotheses, references = zip(*complete, strict=True)
            values[column] = sacrebleu.corpus_bleu(list(hypotheses), [list(references)]).score / 100
    return values


def released_baseline(panel: Panel, good: BoolArray, bad: BoolArray) -> Estimate:
    """The release's baseline d: one mean score per agent, pooled d over agents, Welch p.

    Corpus BLEU for translation, set-based ROUGE-1 otherwise. Not the paired d of the other
    columns, and without an interval. n counts items.
    """
    from scipy.stats import ttest_ind

    translated = panel.task == "translation"
    agents = corpus_bleu(panel) if translated else row_means(set_rouge1(panel).T)
    x, y = (agents[side & ~np.isnan(agents)] for side in (good, bad))
    squares = (len(x) - 1) * x.var(ddof=1) + (len(y) - 1) * y.var(ddof=1)
    d = float((x.mean() - y.mean()) / np.sqrt(squares / (len(x) + len(y) - 2)))
    p = float(ttest_ind(x, y, equal_var=False).pvalue)
    return Estimate(d, float("nan"), float("nan"), len(panel.items), 0, p)


def corrected_baseline(panel: Panel, good: BoolArray, bad: BoolArray, draws: int) -> Estimate:
    """The paired d over items of the other columns, of sentence BLEU or standard ROUGE-1."""
    translated = panel.task == "translation"
    scores = _by_reference(panel, Bleu().comparison()) if translated else rouge1(panel)
    return paired_effect_size(group_difference(scores, good, bad), draws=draws)
