"""Reference-based baselines: ROUGE-1 and BLEU of every response.

The release defines ROUGE-1 as F1 between the *sets* of lower-cased white-space tokens. Standard
ROUGE-1 counts how often a word occurs, on rouge-score's tokens (here without stemming).
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from experiments.peer_prediction.domain import BoolArray, FloatArray
from judgelab.core.panel import Panel
from judgelab.stats.discrimination.effect_size import group_difference, paired_effect_size
from judgelab.stats.intervals.arrays import ROUNDING, Floats, checked, row_means
from judgelab.stats.intervals.estimate import Estimate


def set_rouge1(panel: Panel) -> FloatArray:
    """The release's ROUGE-1 [items, agents]; NaN without a reference or a response."""
    values = np.full((len(panel.items), len(panel.agents)), np.nan)
    for row, (item, texts) in enumerate(zip(panel.items, panel.texts, strict=True)):
        if item.reference is None:
            continue
        wanted = set(item.reference.lower().split())
        for column, text in enumerate(texts):
            if text is not None:
                written = set(text.lower().split())
                size = len(wanted) + len(written)
                values[row, column] = 2 * len(wanted & written) / size if size else 0.0
    return values


def rouge1(panel: Panel) -> FloatArray:
    """Standard ROUGE-1 F1 [items, agents]; NaN without a reference or a response."""
    from rouge_score import tokenize

    values = np.full((len(panel.items), len(panel.agents)), np.nan)
    for row, (item, texts) in enumerate(zip(panel.items, panel.texts, strict=True)):
        if item.reference is None:
            continue
        wanted = Counter(tokenize.tokenize(item.reference, None))
        for column, text in enumerate(texts):
            if text is not None:
                written = Counter(tokenize.tokenize(text, None))
                size = wanted.total() + written.total()
                values[row, column] = 2 * (wanted & written).total() / size if size else 0.0
    return values


def corpus_bleu(panel: Panel) -> FloatArray:
    """Corpus BLEU / 100 of each agent [agents], as the release has it for translation."""
    import sacrebleu

    values = np.full(len(panel.agents), np.nan)
    for column in range(len(panel.agents)):
        pairs = [
            (texts[column], item.reference)
            for item, texts in zip(panel.items, panel.texts, strict=True)
        ]
        answered = [(text, wanted) for text, wanted in pairs if text and wanted]
        if answered:
            hypotheses, references = zip(*answered, strict=True)
            values[column] = sacrebleu.corpus_bleu(list(hypotheses), [list(references)]).score / 100
    return values


def sentence_bleu(panel: Panel) -> FloatArray:
    """Sentence BLEU / 100 [items, agents] (effective order); NaN without reference or response."""
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(effective_order=True)
    values = np.full((len(panel.items), len(panel.agents)), np.nan)
    for row, (item, texts) in enumerate(zip(panel.items, panel.texts, strict=True)):
        for column, text in enumerate(texts):
            if text is not None and item.reference is not None:
                values[row, column] = metric.sentence_score(text, [item.reference]).score / 100
    return values


def released_baseline(panel: Panel, good: BoolArray, bad: BoolArray) -> Estimate:
    """The release's baseline d: one mean score per agent, pooled d over agents, Welch p.

    Corpus BLEU for translation, set-based ROUGE-1 otherwise. Not the paired d of the other
    columns, and without an interval. n counts items.
    """
    translated = panel.task == "translation"
    agents = corpus_bleu(panel) if translated else row_means(set_rouge1(panel).T)
    d = pooled_cohens_d(agents[good], agents[bad])
    p = welch_p(agents[good], agents[bad])
    return Estimate(d, float("nan"), float("nan"), len(panel.items), 0, p)


def corrected_baseline(panel: Panel, good: BoolArray, bad: BoolArray, draws: int) -> Estimate:
    """The paired d over items of the other columns, of sentence BLEU or standard ROUGE-1."""
    scores = sentence_bleu(panel) if panel.task == "translation" else rouge1(panel)
    return paired_effect_size(group_difference(scores, good, bad), draws=draws)


def pooled_cohens_d(x: ArrayLike, y: ArrayLike) -> float:
    """Cohen's d of two independent samples: (mean x - mean y) / pooled standard deviation.

    NaN entries are left out; NaN with fewer than two values on a side or without any spread.
    """
    first, second = _samples(x, y)
    if _without_spread(first, second):
        return float("nan")
    squares = (len(first) - 1) * first.var(ddof=1) + (len(second) - 1) * second.var(ddof=1)
    pooled = np.sqrt(squares / (len(first) + len(second) - 2))
    return float((first.mean() - second.mean()) / pooled)


def welch_p(x: ArrayLike, y: ArrayLike) -> float:
    """Two-sided p of Welch's t test (unequal variances) for two independent samples.

    NaN entries are left out; NaN with fewer than two values on a side or without any spread.
    """
    first, second = _samples(x, y)
    if _without_spread(first, second):
        return float("nan")
    ours, theirs = (x.std(ddof=1) ** 2 / len(x) for x in (first, second))
    squares = ours**2 / (len(first) - 1) + theirs**2 / (len(second) - 1)
    freedom = (ours + theirs) ** 2 / squares
    distance = abs(first.mean() - second.mean()) / np.sqrt(ours + theirs)
    return float(2 * stdtr(freedom, -distance))


def _samples(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """The scored values of both samples."""
    first, second = checked(x, 1, "A sample"), checked(y, 1, "A sample")
    first, second = first[~np.isnan(first)], second[~np.isnan(second)]
    return first, second


def _without_spread(x: Floats, y: Floats) -> bool:
    if min(len(x), len(y)) < 2:
        return True
    return bool(max(np.ptp(x), np.ptp(y)) <= ROUNDING * np.abs(np.concatenate([x, y])).max())
