"""Sources and responses that the authors of the TVD-MI paper released."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from judgelab.core.panel import Panel
from judgelab.dataset.rows import at_least_one
from judgelab.releases.peer_prediction.release import read_domain


@dataclass(frozen=True)
class Released:
    """One domain of the release: items with the clean responses of all its agents.

    The attack axis attacks them anew; the authors' scores of their attacked texts are found by
    ``evaluation_lm=replay`` from the attack's name.

    Args:
        path: a clone of github.com/zrobertson466920/llm-peer-prediction, or its parquet export.
        domain: e.g. xsum, reddit_tifu, opus, peer_review.
        limit: the first so many items; ``load`` may override it.

    Raises:
        ConfigError: a limit below 1.
    """

    path: str
    domain: str = "xsum"
    limit: int | None = None

    def __post_init__(self) -> None:
        at_least_one(self.limit)

    def load(self, limit: int | None = None) -> Panel:
        """The panel with agents, their categories, references and provenance.

        Raises:
            DataError: the folder holds no release or not this domain, or a file is damaged.
        """
        limit = self.limit if limit is None else at_least_one(limit)
        panel = read_domain(self.path, self.domain).panel(limit)
        found = str(Path(self.path).expanduser())
        return replace(panel, provenance={**panel.provenance, "path": found})
