"""Which jobs share one budget: those of one sweep, however often it is started."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import yaml

ASIDE = re.compile(
    r"[+~]*(budget|hydra|tracker|force|retry|on_error|scale|debug|dry_run|paths|trusted_packages)\b[./@=]?"
)
"""Overrides that say how a sweep is run and not what it is."""


def budget_file(cache: Path, sweep: Path) -> Path:
    """The account of a sweep, beside the call cache.

    The same command continues the same account: sweeps are told apart by the overrides that Hydra
    notes in their folder, but for those that change nothing that is asked. Where it noted none,
    by the folder.
    """
    asked: Any = str(sweep.absolute())
    try:
        noted = yaml.safe_load((sweep / "multirun.yaml").read_text(encoding="utf-8"))["hydra"]
        words = [word for word in noted["overrides"]["task"] if not ASIDE.match(word)]
        asked = [sorted(words), (noted.get("sweeper") or {}).get("params")]
    except (OSError, yaml.YAMLError, LookupError, TypeError, AttributeError):
        pass
    name = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]
    return cache.with_name(f"{cache.name}.budgets") / f"{name}.sqlite"
