"""What texts are rated on: metrics of a task with criterion, steps and scale, read from YAML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, cast, get_args

import yaml

from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.resources import conf

FOLDER = conf() / "criteria"

Likelihood = Literal["text", "text_given_source", "source_given_text", "sentences_in_context"]
"""What an LM that only gives log-probabilities takes for a metric, nats per token: log P(text);
log P(text | source); log P(source | text); or what the sentences of a text gain by being read in
their order, log P(text) - sum of log P(sentence)."""


@dataclass(frozen=True)
class Metric:
    """One quality.

    Attributes:
        name: coherence, fluency, ...
        criterion: what it means, for a prompt.
        steps: how to judge it, in order; empty where the evaluation LM is to write them.
        scale: grade -> what it stands for; whole numbers in a row.
        likelihood: what stands for it where an LM cannot be asked; None: nothing does.
    """

    name: str
    criterion: str
    steps: tuple[str, ...]
    scale: Mapping[int, str]
    likelihood: Likelihood | None

    @property
    def low(self) -> int:
        """The lowest grade."""
        return min(self.scale)

    @property
    def high(self) -> int:
        """The highest grade."""
        return max(self.scale)


@dataclass(frozen=True)
class Criteria:
    """The metrics of a task.

    Attributes:
        text: what a rated text is called: summary, answer, ...
        source: what it was made from: article, story, ...
        metrics: in order.
        identity: file name and hash, for the record.
    """

    text: str
    source: str
    metrics: tuple[Metric, ...]
    identity: str


def criteria_tasks() -> frozenset[str]:
    """The tasks that ``conf/criteria`` has metrics for."""
    return frozenset(file.stem for file in FOLDER.glob("*.yaml"))


def load_criteria(name_or_path: str) -> Criteria:
    """Criteria by the name of a task (``conf/criteria/<name>.yaml``) or from a user's own YAML.

    Raises:
        ConfigError: there are none of that name.
        DataError: the file lacks something; the message says where.
    """
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        known = criteria_tasks()
        if name_or_path not in known:
            raise ConfigError(
                f"There are no criteria for {name_or_path!r}: set mechanism.criteria to one of "
                f"conf/criteria or to a YAML file of your own.{did_you_mean(name_or_path, known)}"
            )
        path = FOLDER / f"{name_or_path}.yaml"
    try:
        raw = path.read_bytes()
        content = yaml.safe_load(raw.decode("utf-8"))
    except OSError as cause:
        raise ConfigError(f"mechanism.criteria: there is no file {str(path)!r}.") from cause
    except (yaml.YAMLError, UnicodeDecodeError) as cause:
        raise DataError(f"The criteria {str(path)!r} are not readable YAML: {cause}.") from cause
    return _criteria(content, path, f"{path.name} sha256:{sha256(raw).hexdigest()[:12]}")


def _criteria(content: Any, path: Path, identity: str) -> Criteria:
    where = f"The criteria {str(path)!r}"
    top = _mapping(content, ("text", "source", "scale", "metrics"), where)
    metrics = _mapping(top["metrics"], (), f"{where}, metrics")
    return Criteria(
        text=str(top["text"]),
        source=str(top["source"]),
        metrics=tuple(
            _metric(str(name), given, top["scale"], f"{where}, {name}")
            for name, given in metrics.items()
        ),
        identity=identity,
    )


def _metric(name: str, given: Any, scale: Any, where: str) -> Metric:
    given = {"criterion": given} if isinstance(given, str) else given
    entry = _mapping(given, ("criterion",), where)
    steps, kind = entry.get("steps") or (), entry.get("likelihood")
    if not isinstance(steps, Sequence) or isinstance(steps, str):
        raise DataError(
            f"{where}: 'steps' must be a list of sentences; left away, the LM writes them."
        )
    if kind is not None and kind not in get_args(Likelihood):
        raise DataError(f"{where}: likelihood {kind!r}.{did_you_mean(str(kind), LIKELIHOODS)}")
    grades = _mapping(entry.get("scale", scale), (), f"{where}, scale")
    if not all(type(grade) is int for grade in grades) or len(grades) < 2:  # true is no grade
        raise DataError(f"{where}: 'scale' must map two or more whole numbers to words.")
    return Metric(
        name=name,
        criterion=str(entry["criterion"]).strip(),
        steps=tuple(str(step).strip() for step in steps),
        scale={int(grade): str(words) for grade, words in sorted(grades.items())},
        likelihood=cast(Likelihood | None, kind),
    )


LIKELIHOODS: tuple[str, ...] = get_args(Likelihood)


def _mapping(given: Any, needed: Sequence[str], where: str) -> Mapping[Any, Any]:
    if not isinstance(given, Mapping) or not given:
        raise DataError(f"{where}: a mapping is needed, not {type(given).__name__}.")
    for key in needed:
        if not given.get(key):
            raise DataError(f"{where}: the key {key!r} is missing.")
    return given
