"""BERTScore on sentences: greedy matching of their embeddings (GEM paper, appendix D.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.bounds import Count
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.scores import Scores, measured
from judgelab.mechanism.protocol import Definition, Mechanism, Reads, Subject
from judgelab.mechanism.texts import judged_pairs, score_directed

STOP = re.compile(r"(?<=[.!?])\s+")
"""Where a sentence ends (as released): a list without full stops is one sentence."""


@dataclass(frozen=True)
class BertScore(Mechanism):
    """How well the sentences of x and y match, by cosine of their embeddings.

    precision = mean over sentences i of x of max_j cos(x_i, y_j), recall = mean over sentences j
    of y of max_i cos(x_i, y_j), f1 = their harmonic mean. An agent's score is the mean over its
    peers. BERTScore proper matches tokens; the GEM paper's code matches sentences.

    Args:
        model: an encoder whose mean-pooled states are embeddings: a folder, or a Hub id. The
            paper's stella_en_400M_v5 needs code of its own repository, which is never run.
        revision: on the Hub, a commit, tag or branch.
        part: precision, recall or f1.
        query: put before each sentence of x, and of x only, for encoders that are asked so.
        batch: sentences in one pass; changes the speed only.
        reads: which texts: raw, or preprocessed.
    """

    model: str = "sentence-transformers/all-mpnet-base-v2"
    revision: str | None = None
    part: Literal["precision", "recall", "f1"] = "f1"
    query: str = ""
    batch: Count = 64
    reads: Reads = "raw"
    name: ClassVar[str] = "bertscore"
    measurement: ClassVar[str] = "text"
    subject: ClassVar[Subject] = "pair"

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``precision`` and ``recall`` [item, agent, peer]; NaN where a text has no sentence.

        Raises:
            ConfigError: the encoder is not to be had or cannot be loaded; without any sentence
                to embed it is not asked for.
        """
        judged = judged_pairs(panel)
        split = [[sentences(text) for text in row] for row in panel.texts]
        asked = {
            prefix + sentence
            for row in split
            for prefix, side in ((self.query, judged.any(axis=1)), ("", judged.any(axis=0)))
            for j in np.flatnonzero(side)
            for sentence in row[j]
        }
        place = {sentence: k for k, sentence in enumerate(sorted(asked))}
        vectors, attrs = self._embedded(list(place))
        shape = (len(panel.items), *judged.shape)
        precision, recall = np.full(shape, np.nan), np.full(shape, np.nan)
        for k, row in enumerate(split):
            for i, j in np.argwhere(judged):
                if row[i] and row[j]:
                    x = vectors[[place[self.query + sentence] for sentence in row[i]]]
                    y = vectors[[place[sentence] for sentence in row[j]]]
                    precision[k, i, j], recall[k, i, j] = greedy(x, y)
        pair = ("item", "agent", "peer")
        data = measured(panel, precision=(pair, precision), recall=(pair, recall))
        return data.assign_attrs(attrs)

    def _embedded(self, texts: list[str]) -> tuple[NDArray[np.float64], dict[str, str]]:
        """Vectors, and the encoder's name; without a text no encoder is loaded."""
        if not texts:
            return np.zeros((0, 1)), {}
        from judgelab.scoring.embed import Embedder

        embedder = Embedder(self.model, self.revision, self.batch, owner="mechanism")
        return embedder.embed(texts), {"encoder": embedder.name}

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """The same under every definition; f1 is NaN where precision + recall is not positive."""
        precision, recall = measured["precision"], measured["recall"]
        total = precision + recall
        f1 = 2 * precision * recall / total.where(total > 0)
        return score_directed({"precision": precision, "recall": recall, "f1": f1}[self.part])


def sentences(text: str | None) -> list[str]:
    """The sentences of a text; none for an absent or blank one."""
    return [part for part in STOP.split((text or "").strip()) if part]


def greedy(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Precision and recall of unit vectors [sentences, dimensions]."""
    cosine = x @ y.T
    return float(cosine.max(axis=1).mean()), float(cosine.max(axis=0).mean())
