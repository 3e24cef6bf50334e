"""Where a dataset's rows lie: its shipped sample, the Hugging Face Hub, or a file of the user's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.resources import PACKAGE
from judgelab.dataset import LimitedDataset
from judgelab.store.network import HubError, hub_folder

Settings = TypeVar("Settings", bound=BaseModel)
SAMPLES = PACKAGE / "dataset" / "samples"
HUB = ("id", "config", "revision", "split", "data_files")
"""What says where a dataset lies on the Hub."""

SHARD = re.compile(r"-\d{5}-of-(\d{5})\.parquet$")
"""How the Hub numbers the files of a split, so that a missing one is noticed."""


class Provenance(NamedTuple):
    """Files with the rows."""

    files: tuple[Path, ...]  # in order
    facts: Mapping[str, object]  # for the panel: hub id, revision asked, commit found; or the file
    where: str  # for messages


@dataclass(frozen=True, kw_only=True)
class SourcedDataset(LimitedDataset):
    """A dataset with a sample that is shipped, and the real data elsewhere."""

    SOURCES: ClassVar[Sequence[str]] = ("sample", "hub", "path")

    source: str = "sample"  # sample: written for this project
    path: str | None = None  # of the user's copy, with ``source=path``
    # by ``HUB``: revision is a commit, branch or ref; data_files are patterns of parquet files in
    # the repository (null: the usual layout of that config and split)
    hub: Mapping[str, Any] | None = None
    task_description: str

    def __post_init__(self) -> None:
        if self.source not in self.SOURCES:
            choices = ", ".join(self.SOURCES)
            raise ConfigError(f"dataset.source={self.source!r} must be one of {choices}.")
        check_keys(self.hub or {}, HUB, "dataset.hub")
        if (self.source == "path") != bool(self.path):
            raise ConfigError("dataset.path and dataset.source=path go together: give both.")

    def _find(self, name: str) -> Provenance:
        """The files: the sample of this name, downloaded from the Hub, or the user's own."""
        facts = {"dataset": name, "source": self.source, "task_description": self.task_description}
        if self.source == "hub":
            files, more, where = fetch(self.hub or {})
            return Provenance(files, facts | dict(more), where)
        if self.source == "path":
            file, place = Path(str(self.path)).expanduser(), str(self.path)
        else:
            file, place = SAMPLES / f"{name}.jsonl", f"judgelab/dataset/samples/{name}.jsonl"
        return Provenance((file,), {**facts, "file": place}, str(file))


def check_keys(settings: Mapping[str, Any], keys: Iterable[str], where: str) -> None:
    """Refuse a mapping of settings with an unknown key."""
    for key in settings:
        if key not in keys:
            raise ConfigError(f"{where}.{key} is not a known key.{did_you_mean(str(key), keys)}")


def settings_of(model: type[Settings], settings: Mapping[str, Any], where: str) -> Settings:
    """Settings, which the config calls ``where``, as their model; ConfigError if a key is unknown,
    missing, or not of its kind."""
    check_keys(settings, model.model_fields, where)
    try:
        return model.model_validate(dict(settings))
    except ValidationError as cause:
        error = cause.errors()[0]
        key = str(error["loc"][0])
        must = error["msg"].replace("Input should be", "must be").lower()
        raise ConfigError(f"{where}.{key}={settings.get(key)!r} {must}.") from None


def fetch(hub: Mapping[str, Any]) -> Provenance:
    """Download the files of a split, or find them cached; no code of a repository is run.

    ``huggingface_hub`` caches files by commit, so that a later run without a network reads the same
    revision.

    Raises:
        ConfigError: id, revision or split is not set, or a pattern is not for parquet files.
        DataError: the Hub is out of reach and nothing is cached, or it has no such files.
        MissingExtraError: the package ``huggingface_hub`` is absent.
    """
    for key in ("id", "revision", "split"):
        if not hub.get(key):
            raise ConfigError(f"dataset.source=hub needs dataset.hub.{key}, which is not set.")
    patterns = _patterns(hub)
    try:
        folder, obstacle = hub_folder(
            hub["id"], hub["revision"], patterns, kind="dataset", extra="hub"
        )
    except HubError as cause:
        raise _refusal(hub, str(cause)) from cause
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet"))
    matches = [name for pattern in patterns for name in names if fnmatch(name, pattern)]
    files = tuple(folder / name for name in dict.fromkeys(matches))
    if not files:
        raise _refusal(hub, f"no file there matches {' or '.join(patterns)}")
    shards = {str(f)[: -len(n[0])]: int(n[1]) for f in files if (n := SHARD.search(f.name))}
    if obstacle and "*" in "".join(patterns) and len(files) < sum(shards.values()):
        raise _refusal(hub, f"{obstacle}, and the cache holds a part of the split only")
    origin = {key: hub.get(key) for key in HUB if key != "data_files"}
    return Provenance(files, {"hub": origin, "commit": folder.name}, str(hub["id"]))


def _patterns(hub: Mapping[str, Any]) -> list[str]:
    """``data_files`` if given; else the two layouts the Hub itself writes: one folder per config
    with ``<split>-*.parquet`` (``data`` for the config ``default``) as ``push_to_hub`` does, and
    ``<config>/<split>/*.parquet`` as on the branch ``refs/convert/parquet``."""
    if files := hub.get("data_files"):
        patterns = [files] if isinstance(files, str) else [str(one) for one in files]
        if wrong := [one for one in patterns if not one.endswith(".parquet")]:
            raise ConfigError(f"dataset.hub.data_files={wrong[0]!r} must name parquet files.")
        return patterns
    config, split = hub.get("config") or "default", hub["split"]
    if str(hub["revision"]).startswith("refs/convert/"):
        return [f"{config}/{split}/*.parquet"]
    return [f"{'data' if config == 'default' else config}/{split}-*.parquet"]


def _refusal(hub: Mapping[str, Any], reason: str) -> DataError:
    return DataError(
        f"Cannot get split {hub['split']!r} of {hub['id']} (revision {hub['revision']}) from the "
        f"Hugging Face Hub: {reason}; use dataset.source=sample, or a local copy with "
        "dataset.source=path dataset.path=FILE."
    )
