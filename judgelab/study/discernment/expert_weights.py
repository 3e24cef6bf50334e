"""How much each metric counts for each perturbation: from YAML, or from a survey (appendix E)."""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.resources import conf

FOLDER = conf() / "expert_weights"
COLUMNS = ("perturbation", "metric")
MORE = ("task", "expert")  # columns that may be absent


@dataclass(frozen=True)
class ExpertWeights:
    """Weights of one task.

    Attributes:
        table: perturbation (or attack) -> metric -> weight, each adding up to 1; empty where all
            metrics weigh alike.
        identity: file name and hash, for the record.
        others: tasks of survey answers that were left out, as they are spelt there.
    """

    table: Mapping[str, Mapping[str, float]]
    identity: str
    others: tuple[str, ...] = ()

    @property
    def named(self) -> str:
        """In words: uniform, or expert weights with the name of their file."""
        return f"expert weights ({self.identity.split()[0]})" if self.table else "uniform weights"

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
                f"{self.identity.split()[0]} gives {names[0]!r} no weight on any of the metrics "
                f"rated ({', '.join(metrics)}): use study.weights=uniform or other metrics."
            )
        return [weight / sum(rated) for weight in rated]

    def unlisted(self, perturbations: Mapping[str, str]) -> list[str]:
        """Perturbations (name -> attack) without an entry; none where the table is empty.

        Raises:
            ConfigError: no entry is of any of them, so that the file would say nothing.
        """
        absent = [n for n, attack in perturbations.items() if not {n, attack} & self.table.keys()]
        if not self.table:
            return []
        if len(absent) == len(perturbations):
            raise ConfigError(
                f"{self.identity.split()[0]} has weights for {', '.join(sorted(self.table))}, and "
                f"none of them is tested ({', '.join(perturbations)}): name perturbations or "
                "their attacks as they are called there, or use study.weights=uniform."
            )
        return absent

    def unrated(self, metrics: Sequence[str]) -> list[str]:
        """Metrics that have weight somewhere and were not rated."""
        named = {m for weights in self.table.values() for m, weight in weights.items() if weight}
        return sorted(named - set(metrics))


def load_weights(name_or_path: str, task: str) -> ExpertWeights:
    """Weights by name (``conf/expert_weights/<name>.yaml``), from a YAML or from survey answers.

    A CSV holds one answer a row: ``perturbation``, ``metric`` (the one most affected), and
    optionally ``task`` (empty: every task) and ``expert``. A metric's weight is its share of the
    answers.

    Raises:
        ConfigError: there is no such file or name, or it has weights, but none of this task.
        DataError: the file is not of its kind, weights do not add up to 1, or two names differ in
            capitals only.
    """
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml", ".csv"):
        known = sorted(file.stem for file in FOLDER.glob("*.yaml"))
        if name_or_path not in known:
            raise ConfigError(f"study.weights={name_or_path!r}.{did_you_mean(name_or_path, known)}")
        path = FOLDER / f"{name_or_path}.yaml"
    where = repr(str(path))
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8-sig")
    except OSError as cause:
        raise ConfigError(f"study.weights: there is no file {where}.") from cause
    except UnicodeDecodeError as cause:
        raise DataError(f"{where} is not valid UTF-8: save the file as UTF-8.") from cause
    table, others = (_survey if path.suffix == ".csv" else _yaml)(text, task, where)
    _refuse_twins(table, where)
    _refuse_twins({metric: () for own in table.values() for metric in own}, where)
    identity = f"{path.name} sha256:{hashlib.sha256(raw).hexdigest()[:12]}"
    return ExpertWeights(table, identity, others)


Read = tuple[dict[str, dict[str, float]], tuple[str, ...]]
"""Perturbation -> metric -> weight, and the tasks of survey answers that were left out."""


def _yaml(text: str, task: str, where: str) -> Read:
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as cause:
        raise DataError(f"{where} is not readable YAML: {cause}.") from cause
    if not isinstance(content, Mapping):
        raise DataError(f"{where} must map tasks to perturbations to weights of metrics.")
    _refuse_twins(dict.fromkeys((task, *map(str, content))), where)
    for name, weighed in content.items():
        if weighed is not None and not isinstance(weighed, Mapping):
            raise DataError(
                f"{where}, {name}: perturbations must be mapped to weights of metrics, not "
                f"{type(weighed).__name__}."
            )
    if content.get(task) is None and any(content.values()):  # {} is meant: all metrics alike
        raise _of_other_tasks(task, [name for name, own in content.items() if own], where)
    own = content.get(task) or {}
    return {str(name): _checked(one, f"{where}, {task}, {name}") for name, one in own.items()}, ()


def _of_other_tasks(task: str, known: Iterable[object], where: str) -> ConfigError:
    return ConfigError(
        f"{where} has weights for {', '.join(sorted(map(str, known)))}, none for the task "
        f"{task!r} of the dataset: add them, or use study.weights=uniform."
    )


def _checked(weights: Any, where: str) -> dict[str, float]:
    if not isinstance(weights, Mapping) or not all(
        isinstance(w, int | float) and not isinstance(w, bool) and w >= 0 for w in weights.values()
    ):
        raise DataError(f"{where}: weights must be metrics with numbers from 0 up.")
    if abs(sum(weights.values()) - 1) > 1e-6:
        raise DataError(f"{where}: the weights add up to {sum(weights.values()):g}, not to 1.")
    return {str(metric): float(weight) for metric, weight in weights.items()}


def _refuse_twins(names: Iterable[str], where: str) -> None:
    first: dict[str, str] = {}
    for name in names:
        if (other := first.setdefault(name.casefold(), name)) != name:
            raise DataError(
                f"{where}: {other!r} and {name!r} differ in capitals only: spell them alike."
            )


def _rows(text: str, where: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Where each row of a CSV stands, and what is in it."""
    reader = csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    try:
        for column in COLUMNS:
            if column not in (reader.fieldnames or ()):
                raise DataError(f"{where} lacks the column {column!r} in its header line.")
        for row in reader:
            line = f"{where}, line {reader.line_num}"
            answer = {column: str(row.get(column) or "").strip() for column in (*COLUMNS, *MORE)}
            if any("\n" in value or "\r" in value for value in answer.values()):
                raise DataError(f"{line}: an answer goes over several lines: close its quote.")
            yield line, answer
    except csv.Error as cause:
        raise DataError(
            f"{where}, row from line {reader.line_num + 1} on: {cause}: close every quote, "
            "or leave them out."
        ) from cause


def _survey(text: str, task: str, where: str) -> Read:
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    others: set[str] = set()
    seen: set[tuple[str, str]] = set()
    for line, answer in _rows(text, where):
        name, metric, of, expert = answer.values()
        if of not in ("", task):
            _refuse_twins((task, of), line)
            others.add(of)
            continue
        if not name or not metric:
            raise DataError(f"{line}: an answer is incomplete.")
        if expert and (expert, name) in seen:
            raise DataError(f"{line}: expert {expert!r} answers {name!r} twice.")
        seen.add((expert, name))
        answers[name][metric] += 1
    if not answers and others:
        raise _of_other_tasks(task, others, where)
    if not answers:
        raise DataError(f"{where} holds no answers: give one a line, below the header.")
    shares = {
        name: {metric: n / counts.total() for metric, n in counts.items()}
        for name, counts in answers.items()
    }
    return shares, tuple(sorted(others))
