"""A paper's own numbers beside those of a run: ``printed=FILE`` of conf/papers/numbers."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from typing import Any

from omegaconf import OmegaConf

from judgelab.core.errors import ConfigError
from judgelab.core.resources import conf, own_or_shipped
from judgelab.core.result import Value

STATISTIC, VALUE = "statistic", "value"


def printed(file: str, config: Mapping[str, Any], choices: Mapping[str, str]) -> dict[str, Value]:
    """``printed/STATISTIC`` -> the paper's number, for a run of this config.

    Args:
        file: CSV with a row a cell: the settings that a run has (columns are keys of the config,
            or axes; an empty cell is any), ``statistic`` (a key of the run's summary, or
            TABLE/ROW/COLUMN where the study compares its tables), ``value``.
        choices: axis -> option.

    Raises:
        ConfigError: the file is absent, or is no such table.
    """
    path = own_or_shipped(file, conf() / "papers" / "numbers")
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        settings = OmegaConf.create(dict(config))
        keys = [key for key in rows[0] if key not in (STATISTIC, VALUE)]
        return {
            f"printed/{row[STATISTIC]}": float(row[VALUE])
            for row in rows
            if all(
                row[key] in ("", str(choices.get(key) or OmegaConf.select(settings, key)))
                for key in keys
            )
        }
    except (OSError, UnicodeDecodeError, KeyError, IndexError, ValueError) as cause:
        raise ConfigError(
            f"printed={file!r} is no table of printed numbers: settings, statistic and value."
        ) from cause
