"""Generative peer prediction (GPPM) as the TVD-MI paper runs it."""

from __future__ import annotations

import xarray as xr

from judgelab.core.errors import DataError
from judgelab.core.scores import Scores, mean_over, symmetric, transposed
from judgelab.mechanism.logprob import LogprobMechanism
from judgelab.mechanism.protocol import Definition


class Gppm(LogprobMechanism):
    """Payment of agent i: how well its text predicts the peers' texts.

    u_i = mean_j log P(y_j | y_i) / |y_j|, nats per token. The pair score is the symmetrised
    per-token log P. The release divides by the token counts of another item (the first that a
    worker handled), so its figure is in the authors' recorded data alone.
    """

    name = "gppm"

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """The per-token mean; a DataError for ``definition=released``."""
        if definition == "released":
            raise DataError(
                "study.definition=released: GPPM's released normalisation depends on the order in "
                "which the authors' workers ran, so it exists only in their recorded data "
                "(experiments/peer_prediction): use study.definition=corrected."
            )
        per_token = measured["conditional"] / measured["tokens"].where(measured["tokens"] > 0)
        pair = symmetric(per_token)
        return Scores(agent=mean_over(transposed(per_token), "peer"), pair=pair)
