"""How much each metric counts for each perturbation (appendix E)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.resources import conf

FOLDER = conf() / "expert_weights"
Table = Mapping[str, Mapping[str, float]]
"""Perturbation (or attack) -> metric -> weight."""
SHAPE = TypeAdapter(
    dict[str, dict[str, dict[str, Annotated[float, Field(ge=0, strict=True)]]] | None]
)
NEEDS = "A file of weights maps tasks to perturbations to metrics with numbers from 0 up."
T = TypeVar("T")


@dataclass(frozen=True)
class ExpertWeights:
    """Weights of one task."""

    table: Table  # each perturbation's add up to 1; empty where all metrics weigh alike
    identity: str  # file name and hash, for the record

    @property
    def file(self) -> str:
        """Its name."""
        return self.identity.split()[0]

    @property
    def named(self) -> str:
        """In words: uniform, or expert weights with the name of their file."""
        return f"expert weights ({self.file})" if self.table else "uniform weights"

    def of(self, names: Sequence[str], metrics: Sequence[str]) -> list[float] | None:
        """Weights of the rated metrics, scaled to 1, for the first of ``names`` that is listed.

        None, that is equal weights, where no name is listed.

        Raises:
            ConfigError: none of the rated metrics has any weight.
        """
        listed = [self.table[name] for name in names if name in self.table]
        if not listed:
            return None
        rated = [listed[0].get(metric, 0.0) for metric in metrics]
        if not sum(rated) > 0:
            raise ConfigError(
                f"{self.file} gives {names[0]!r} no weight on any of the metrics rated "
                f"({', '.join(metrics)}): use study.weights=uniform or other metrics."
            )
        return [weight / sum(rated) for weight in rated]

    def unlisted(self, perturbations: Mapping[str, str]) -> list[str]:
        """Perturbations (name -> attack) without an entry; none where the table is empty.

        Raises:
            ConfigError: no entry is of any of them, so that the file would say nothing.
        """
        absent = [n for n, attack in perturbations.items() if not {n, attack} & self.table.keys()]
        if self.table and len(absent) == len(perturbations):
            raise ConfigError(
                f"{self.file} has weights for {', '.join(sorted(self.table))}, and none of them is "
                f"tested ({', '.join(perturbations)}): name perturbations or their attacks as they "
                "are called there, or use study.weights=uniform."
            )
        return absent if self.table else []

    def unrated(self, metrics: Sequence[str]) -> list[str]:
        """Metrics that have weight somewhere and were not rated."""
        named = {m for weights in self.table.values() for m, weight in weights.items() if weight}
        return sorted(named - set(metrics))


def load_weights(name_or_path: str, task: str) -> ExpertWeights:
    """Weights by name (``conf/expert_weights/<name>.yaml``), or from a YAML.

    Raises:
        ConfigError: there is no such name, or there are weights, but none of this task.
        DataError: the file is not of its kind, or weights do not add up to 1.
    """
    path = named_file("study.weights", name_or_path, FOLDER)
    tables, identity = validated(path, SHAPE, NEEDS)
    for other, own in tables.items():
        for perturbation, weights in (own or {}).items():
            if abs(total := sum(weights.values()) - 1) > 1e-6:
                raise DataError(
                    f"{path.name}, {other}, {perturbation}: weights add up to {total + 1:g}, not 1."
                )
    others = sorted(name for name, own in tables.items() if own and name != task)
    table = tables.get(task)
    if table is None and others:  # the file is meant for those
        raise ConfigError(
            f"{str(path)!r} has weights for {', '.join(others)}, none for the task {task!r} of the "
            "dataset: add them, or use study.weights=uniform."
        )
    return ExpertWeights(table or {}, identity)


def named_file(key: str, name_or_path: str, folder: Path) -> Path:
    """A YAML of the user, or one of the folder by its name.

    Raises:
        ConfigError: there is no such name.
    """
    if name_or_path.endswith((".yaml", ".yml")):
        return Path(name_or_path)
    known = sorted(file.stem for file in folder.glob("*.yaml"))
    if name_or_path not in known:
        raise ConfigError(f"{key}={name_or_path!r}.{did_you_mean(name_or_path, known)}")
    return folder / f"{name_or_path}.yaml"


def validated(path: Path, shape: TypeAdapter[T], needs: str) -> tuple[T, str]:
    """What a YAML file holds, and its name and hash.

    Raises:
        DataError: it cannot be read, or is not of the shape that the sentence ``needs`` names.
    """
    try:
        raw = path.read_bytes()
        content = shape.validate_python(yaml.safe_load(raw.decode("utf-8-sig")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as cause:
        raise DataError(f"{str(path)!r} is not readable as YAML: {cause}.") from cause
    except ValidationError as cause:
        fault = cause.errors()[0]
        place = ", ".join([path.name, *(str(part) for part in fault["loc"] if part != "[key]")])
        raise DataError(f"{place}: {fault['msg']}. {needs}") from cause
    return content, f"{path.name} sha256:{hashlib.sha256(raw).hexdigest()[:12]}"
