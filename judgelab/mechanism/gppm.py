"""Generative peer prediction (GPPM) as the TVD-MI paper runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import xarray as xr

from judgelab.core.capability import Capability
from judgelab.core.errors import DataError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.scores import Scores, mean_over, symmetric, transposed
from judgelab.mechanism.logprob import delimiter_for, measure_logprob
from judgelab.mechanism.protocol import BaseMechanism, Definition, Reads, Subject


@dataclass(frozen=True)
class Gppm(BaseMechanism):
    """Payment of agent i: how well its text predicts the peers' texts.

    u_i = mean_j log P(y_j | y_i) / |y_j|, nats per token. The pair score is the symmetrised
    per-token log P. The release divides by the token counts of another item (the first that a
    worker handled); ``definition=released`` takes that figure where it was recorded.
    """

    delimiter: str | None = None
    name: ClassVar[str] = "gppm"
    measurement: ClassVar[str] = "logprob"
    subject: ClassVar[Subject] = "pair"
    reads: ClassVar[Reads] = "preprocessed"
    requires: ClassVar[tuple[frozenset[Capability], ...]] = (frozenset({Capability.LOGPROB}),)

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """The same measurements as ``mi``, and from the same cache entries."""
        return measure_logprob(panel, lm, delimiter_for(panel.task, self.delimiter))

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """Correct per-token mean, or the recorded released figure.

        Raises:
            DataError: ``definition=released`` on measurements that do not hold that figure.
        """
        per_token = measured["conditional"] / measured["tokens"].where(measured["tokens"] > 0)
        pair = symmetric(per_token)
        if definition != "released":
            return Scores(agent=mean_over(transposed(per_token), "peer"), pair=pair)
        if "gppm_released" not in measured:
            raise DataError(
                "study.definition=released: GPPM's released normalisation depends on the order "
                "in which the authors' workers ran, so it exists only in the authors' recorded "
                "data: use evaluation_lm=replay, or study.definition=corrected."
            )
        return Scores(agent=measured["gppm_released"], pair=pair)
