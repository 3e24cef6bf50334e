"""Where a dataset's rows lie: its shipped sample, the Hugging Face Hub, or a file of the user's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgelab.core.errors import ConfigError
from judgelab.core.resources import samples
from judgelab.dataset.download import fetch

SAMPLES = samples()
SOURCES = ("sample", "hub", "path")


@dataclass(frozen=True)
class Origin:
    """Files with the rows.

    Attributes:
        files: in order.
        facts: for the provenance: hub id, revision asked and commit found, or the file.
        where: for messages.
    """

    files: tuple[Path, ...]
    facts: Mapping[str, object]
    where: str


def check_source(source: str, path: str | None) -> None:
    """Refuse what cannot be.

    Raises:
        ConfigError: an unknown source, or a path without ``source=path`` or the other way round.
    """
    if source not in SOURCES:
        raise ConfigError(f"dataset.source={source!r} must be one of {', '.join(SOURCES)}.")
    if (source == "path") != bool(path):
        raise ConfigError("dataset.path and dataset.source=path go together: give both.")


def origin(name: str, source: str, path: str | None, hub: Mapping[str, Any]) -> Origin:
    """The files of a dataset, downloaded where they have to be.

    Raises:
        DataError: the Hub is out of reach, or has not what was asked for.
    """
    if source == "sample":
        file = SAMPLES / f"{name}.jsonl"
        return Origin((file,), {"file": f"judgelab/dataset/samples/{file.name}"}, str(file))
    if source == "hub":
        found = fetch(hub)
        asked = {key: hub.get(key) for key in ("id", "config", "revision", "split")}
        facts = {"hub": asked, "commit": found.commit}
        return Origin(tuple(found.files), facts, str(hub.get("id")))
    file = Path(str(path)).expanduser()
    return Origin((file,), {"file": str(path)}, str(file))
