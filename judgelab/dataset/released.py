"""Sources and responses that the authors of the TVD-MI paper released."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from judgelab.core.panel import Panel
from judgelab.dataset import LimitedDataset
from judgelab.releases.peer_prediction.release import read_domain


@dataclass(frozen=True)
class Released(LimitedDataset):
    """One domain of the release: items with the clean responses of all its agents.

    The attack axis attacks them anew; the authors' scores of their attacked texts are found by
    ``evaluation_lm=replay`` from the attack's name.

    Args:
        path: a clone of github.com/zrobertson466920/llm-peer-prediction, or its parquet export.
        domain: e.g. xsum, reddit_tifu, opus, peer_review.
    """

    path: str
    domain: str = "xsum"

    def _panel(self, limit: int | None) -> Panel:
        panel = read_domain(self.path, self.domain).panel(limit)
        found = str(Path(self.path).expanduser())
        return replace(panel, provenance={**panel.provenance, "path": found})
