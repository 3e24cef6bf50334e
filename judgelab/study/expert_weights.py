"""How much each metric counts for each perturbation: from YAML, or from a survey (appendix E)."""

from __future__ import annotations

import csv
import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from judgelab.errors import ConfigError, DataError, did_you_mean

FOLDER = Path(__file__).resolve().parents[2] / "conf" / "expert_weights"
COLUMNS = ("perturbation", "metric")


@dataclass(frozen=True)
class ExpertWeights:
    """Weights of one task.

    Attributes:
        table: perturbation (or attack) -> metric -> weight, each adding up to 1.
        identity: file name and hash, for the record.
    """

    table: Mapping[str, Mapping[str, float]]
    identity: str

    def of(self, names: Sequence[str], metrics: Sequence[str]) -> list[float] | None:
        """Weights of the metrics, in order, for the first of ``names`` that is listed.

        Metrics that were not rated drop out and the others are scaled up. None, that is equal
        weights, where no name is listed.

        Raises:
            ConfigError: none of the rated metrics has any weight.
        """
        listed = [self.table[name] for name in names if name in self.table]
        if not listed:
            return None
        rated = [listed[0].get(metric, 0.0) for metric in metrics]
        if not sum(rated) > 0:
            raise ConfigError(
                f"{self.identity.split()[0]} gives {names[0]!r} no weight on any of the metrics "
                f"rated ({', '.join(metrics)}): use study.weights=uniform or other metrics."
            )
        return [weight / sum(rated) for weight in rated]

    def unrated(self, metrics: Sequence[str]) -> list[str]:
        """Metrics that have weight somewhere and were not rated."""
        named = {m for weights in self.table.values() for m, weight in weights.items() if weight}
        return sorted(named - set(metrics))


def load_weights(name_or_path: str, task: str) -> ExpertWeights:
    """Weights by name (``conf/expert_weights/<name>.yaml``), from a YAML or from survey answers.

    A CSV holds one answer a row: ``perturbation``, ``metric`` (the one most affected), and
    optionally ``task`` and ``expert``. A metric's weight is its share of the answers.

    Raises:
        ConfigError: there is no such file or name.
        DataError: the file is not of its kind, or weights do not add up to 1.
    """
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml", ".csv"):
        known = sorted(file.stem for file in FOLDER.glob("*.yaml"))
        if name_or_path not in known:
            raise ConfigError(f"study.weights={name_or_path!r}.{did_you_mean(name_or_path, known)}")
        path = FOLDER / f"{name_or_path}.yaml"
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8-sig")
    except OSError as cause:
        raise ConfigError(f"study.weights: there is no file {str(path)!r}.") from cause
    except UnicodeDecodeError as cause:
        raise DataError(f"{str(path)!r} is not valid UTF-8: save the file as UTF-8.") from cause
    table = _survey(text, task, path) if path.suffix == ".csv" else _yaml(text, task, path)
    return ExpertWeights(table, f"{path.name} sha256:{hashlib.sha256(raw).hexdigest()[:12]}")


def _yaml(text: str, task: str, path: Path) -> dict[str, dict[str, float]]:
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as cause:
        raise DataError(f"{str(path)!r} is not readable YAML: {cause}.") from cause
    if not isinstance(content, Mapping):
        raise DataError(f"{str(path)!r} must map tasks to perturbations to weights of metrics.")
    table: dict[str, dict[str, float]] = {}
    for name, weights in (content.get(task) or {}).items():
        table[str(name)] = _checked(weights, f"{str(path)!r}, {task}, {name}")
    return table


def _checked(weights: Any, where: str) -> dict[str, float]:
    if not isinstance(weights, Mapping) or not all(
        isinstance(w, int | float) and w >= 0 for w in weights.values()
    ):
        raise DataError(f"{where}: weights must be metrics with numbers from 0 up.")
    if abs(sum(weights.values()) - 1) > 1e-6:
        raise DataError(f"{where}: the weights add up to {sum(weights.values()):g}, not to 1.")
    return {str(metric): float(weight) for metric, weight in weights.items()}


def _survey(text: str, task: str, path: Path) -> dict[str, dict[str, float]]:
    reader = csv.DictReader(text.splitlines())
    missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
    if missing:
        raise DataError(f"{str(path)!r} lacks the column {missing[0]!r} in its header line.")
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    seen: set[tuple[str, str]] = set()
    for row in reader:
        if row.get("task") not in (None, "", task):
            continue
        name, metric = (str(row[column] or "").strip() for column in COLUMNS)
        expert = str(row.get("expert") or "").strip()
        if not name or not metric:
            raise DataError(f"{str(path)!r}, line {reader.line_num}: an answer is incomplete.")
        if expert and (expert, name) in seen:
            raise DataError(
                f"{str(path)!r}, line {reader.line_num}: expert {expert!r} answers {name!r} twice."
            )
        seen.add((expert, name))
        answers[name][metric] += 1
    return {
        name: {metric: n / sum(counts.values()) for metric, n in counts.items()}
        for name, counts in answers.items()
    }
