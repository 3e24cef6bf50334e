"""How well a model predicts the reviews of held-out papers, paper by paper."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.finetune.data import metrics
from judgelab.finetune.settings import METRICS
from judgelab.mechanism.conditional import measure_conditional

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """What one model makes of the held-out papers; NaN where a paper has nothing to score.

    Attributes:
        loss: [items] mean of -log P over all tokens of all predictions of the paper's texts
            (with and without a first text, with and without the synopsis), nats per token.
        pmi: metric -> [items] mean over ordered pairs of log P(y | x, z) - log P(y | z), nats.
        raw: metric -> the measurements themselves.
    """

    loss: Floats
    pmi: Mapping[str, Floats]
    raw: Mapping[str, xr.Dataset]


def nothing(wanted: Collection[str]) -> Measured:
    """What is known where no paper was held out: no figure is a number."""
    empty = np.empty(0)
    return Measured(empty, {metric: empty for metric in METRICS if metric in wanted}, {})


def measure(
    panel: Panel, lm: EvaluationLM, prompt: Prompt, wanted: Collection[str] = METRICS
) -> Measured:
    """Score every ordered pair of a paper's texts, and every text alone.

    Args:
        panel: held-out papers as ``data.chosen`` narrows them.
        lm: the base model, or the fine-tuned one.
        prompt: as in training.
        wanted: gem, gem_s, or both: as in training.
    """
    pairs = ~np.eye(len(panel.agents), dtype=np.bool_)
    nats, tokens = np.zeros(len(panel.items)), np.zeros(len(panel.items))
    pmi, raw = {}, {}
    for metric, setting in metrics(prompt, wanted).items():
        found = measure_conditional(panel, lm, setting, pairs)
        gain = found["conditional"].values - found["marginal"].values[:, None, :]
        if np.isnan(gain).all():
            continue  # no paper has a synopsis
        scored = np.count_nonzero(~np.isnan(gain), axis=(1, 2))
        pmi[metric] = _ratio(np.nansum(gain, axis=(1, 2)), scored)
        raw[metric] = found
        length = np.broadcast_to(found["tokens"].values[:, None, :], gain.shape)
        for values, lengths in (
            (found["conditional"].values, length),
            (found["marginal"].values[:, None, :], length[:, :1, :]),
        ):
            nats -= np.nansum(values, axis=(1, 2))
            tokens += np.where(np.isnan(values), 0.0, lengths).sum(axis=(1, 2))
    return Measured(_ratio(nats, tokens), pmi, raw)


def _ratio(total: Floats, count: Floats) -> Floats:
    """[items] NaN where nothing was counted."""
    found: Floats = np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)
    return found
