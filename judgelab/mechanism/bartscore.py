"""BARTScore with the evaluation LM in BART's place (GEM paper, appendix D.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import xarray as xr

from judgelab.core.capability import Capability
from judgelab.core.errors import ConfigError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.scores import Scores, transposed
from judgelab.mechanism.conditional import Setting, measure_conditional
from judgelab.mechanism.peers import judged_pairs, only_judged, score_directed
from judgelab.mechanism.protocol import BaseMechanism, Definition, Reads, Subject


@dataclass(frozen=True)
class BartScore(BaseMechanism):
    """Log-probability of one text after the other, nats; no synopsis, no marginal.

    recall is log P(y | x), precision log P(x | y), f1 their arithmetic mean, x being the text
    that is judged and y its peer's. An agent's score is the mean over its peers.

    A sum grows with the length of what is predicted: precision falls with every word of x, so a
    shortened text gains; recall's spread is that of the references' lengths.

    Args:
        name: bartscore, bartscore_precision or bartscore_recall.
        prompt: fields synopsis and response; the same as GEM's.
        part: precision, recall or f1.
        per: ``sum`` (GEM paper) or nats per ``token`` (BARTScore's own definition).
        truncate: characters of x and y that count; None for all.
        reads: which texts: raw, or preprocessed.

    Raises:
        ConfigError: truncate below 1.
    """

    name: str
    prompt: Prompt
    part: Literal["precision", "recall", "f1"] = "f1"
    per: Literal["sum", "token"] = "sum"
    truncate: int | None = 10_000
    reads: Reads = "raw"
    measurement: ClassVar[str] = "bartscore"
    subject: ClassVar[Subject] = "pair"
    requires: ClassVar[tuple[frozenset[Capability], ...]] = (frozenset({Capability.LOGPROB}),)

    def __post_init__(self) -> None:
        if self.truncate is not None and self.truncate < 1:
            raise ConfigError("mechanism.truncate must be at least 1, or null for whole texts.")

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``conditional`` [item, x, y] = log P(y | x), only for the directions that are used."""
        forth = judged_pairs(panel)
        wanted = {"recall": forth, "precision": forth.T, "f1": forth | forth.T}[self.part]
        setting = Setting(self.prompt, synopsis=False, truncate=self.truncate)
        return measure_conditional(panel, lm, setting, wanted, alone=False)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """The same under every definition."""
        recall = measured["conditional"]  # [item, x, y]
        if self.per == "token":
            tokens = measured["tokens"].where(measured["tokens"] > 0)
            recall = recall / tokens.values[:, None, :]
        precision = transposed(recall)
        parts = {"recall": recall, "precision": precision, "f1": (recall + precision) / 2}
        return score_directed(only_judged(parts[self.part]))
