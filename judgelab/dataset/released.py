"""Sources and responses that the authors of the TVD-MI paper released."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from judgelab.errors import ConfigError
from judgelab.panel import Panel
from judgelab.store.released import read_domain


class Released:
    """One domain of the release: items with the responses of all its agents.

    Args:
        path: a clone of github.com/zrobertson466920/llm-peer-prediction, or its parquet export.
        domain: e.g. xsum, reddit_tifu, opus, peer_review; whatever the folder holds.
        attack: an attacked run of the release, e.g. case_flip. A clone holds its attacked texts;
            the export holds clean texts only, and these are loaded: the provenance says which
            under ``texts``. To attack texts in the run itself leave this null and set the attack
            axis.
        limit: the first so many items; ``load`` may override it.

    Raises:
        ConfigError: a limit below 1.
    """

    def __init__(
        self,
        path: str,
        domain: str = "xsum",
        attack: str | None = None,
        limit: int | None = None,
    ) -> None:
        if limit is not None and limit < 1:
            raise ConfigError(f"dataset.limit={limit} must be at least 1, or null for all.")
        self.path, self.domain, self.attack, self.limit = path, domain, attack, limit

    def load(self, limit: int | None = None) -> Panel:
        """The panel with agents, their categories, references and provenance.

        Raises:
            DataError: the folder holds no release or not this domain, or a file is damaged.
        """
        data = read_domain(self.path, self.domain, self.attack)
        panel = data.panel(self.limit if limit is None else limit)
        found = str(Path(self.path).expanduser())
        return replace(panel, provenance={**panel.provenance, "path": found})
