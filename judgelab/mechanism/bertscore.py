"""BERTScore: greedy matching of sentences (GEM paper, appendix D.1) or of tokens by embeddings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.scores import PAIR, Scores, measured
from judgelab.mechanism.protocol import Definition, Mechanism
from judgelab.mechanism.texts import judged_texts, score_directed

STOP = re.compile(r"(?<=[.!?])\s+")
"""Where a sentence ends (as released): a list without full stops is one sentence."""

BATCH = 64  # sentences (texts) in one pass

Units = tuple[NDArray[np.float64], NDArray[np.bool_]]
"""Unit vectors of a text's parts [parts, dimensions], and which parts count in its mean."""


@dataclass(frozen=True)
class BertScore(Mechanism):
    """How well the parts of x and y match, by cosine of their embeddings.

    precision = mean over parts i of x of max_j cos(x_i, y_j), recall = mean over parts j of y of
    max_i cos(x_i, y_j), f1 = their harmonic mean. An agent's score is the mean over its peers.
    The GEM paper's code matches sentences; BERTScore proper (Zhang et al. 2020) tokens in context:
    there special tokens may be matched, but do not count in the means, and no idf weights and no
    rescaling are used.
    """

    # the paper's stella_en_400M_v5 needs code of its own repository, which is never run
    model: str = "sentence-transformers/all-mpnet-base-v2"
    revision: str | None = None  # on the Hub, a commit, tag or branch
    level: Literal["sentence", "token"] = "sentence"  # match sentences or tokens
    part: Literal["precision", "recall", "f1"] = "f1"  # precision, recall or f1
    reads = "raw"
    name = "bertscore"
    measurement = "text"
    subject = "pair"

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``precision`` and ``recall`` [item, agent, peer]; NaN where a text has no part. A
        ConfigError where the encoder, which is asked for if there is a text to embed, is not to be
        had or cannot be loaded."""
        texts = sorted({(text or "").strip() for row in panel.texts for text in row} - {""})
        units, attrs = self._units(texts) if texts else ({}, {})
        both = {
            cell: greedy(units[x.strip()], units[y.strip()])
            for cell, x, y in judged_texts(panel)
            if x.strip() and y.strip()
        }
        precision, recall = ({cell: two[k] for cell, two in both.items()} for k in (0, 1))
        data = measured(panel, precision=(PAIR, precision), recall=(PAIR, recall))
        return data.assign_attrs(attrs)

    def _units(self, texts: Sequence[str]) -> tuple[Mapping[str, Units], dict[str, str]]:
        from judgelab.scoring.embed import Embedder

        embedder = Embedder(self.model, self.revision, BATCH)
        attrs = {"encoder": embedder.name}
        if self.level == "token":
            return dict(zip(texts, embedder.tokens(texts), strict=True)), attrs
        # each sentence is embedded once
        unique = sorted({part for text in texts for part in sentences(text)})
        vectors = dict(zip(unique, embedder.embed(unique), strict=True))
        stacked = {text: np.stack([vectors[s] for s in sentences(text)]) for text in texts}
        return {t: (parts, np.ones(len(parts), np.bool_)) for t, parts in stacked.items()}, attrs

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """The same under every definition; f1 is NaN where precision + recall is not positive."""
        precision, recall = measured["precision"], measured["recall"]
        total = precision + recall
        f1 = 2 * precision * recall / total.where(total > 0)
        return score_directed({"precision": precision, "recall": recall, "f1": f1}[self.part])


def sentences(text: str) -> list[str]:
    """The sentences of a text; none for a blank one."""
    return [part for part in STOP.split(text.strip()) if part]


def greedy(x: Units, y: Units) -> tuple[float, float]:
    """Precision and recall; NaN where nothing of a text counts."""
    cosine, (mine, theirs) = x[0] @ y[0].T, (x[1], y[1])
    if not mine.any() or not theirs.any():
        return float("nan"), float("nan")
    return float(cosine.max(axis=1)[mine].mean()), float(cosine.max(axis=0)[theirs].mean())
