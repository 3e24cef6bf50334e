"""What texts are rated on: metrics of a task with criterion, steps and scale, read from YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import (
    AfterValidator,
    Field,
    StrictInt,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.resources import conf

FOLDER = conf() / "criteria"

Likelihood = Literal["text", "text_given_source", "source_given_text", "sentences_in_context"]
"""What an LM that only gives log-probabilities takes for a metric, nats per token: log P(text);
log P(text | source); log P(source | text); or what the sentences of a text gain by being read in
their order, log P(text) - sum of log P(sentence)."""


Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Scale = Annotated[
    Mapping[StrictInt, str],
    Field(min_length=2),
    AfterValidator(lambda scale: dict(sorted(scale.items()))),
]


@dataclass(frozen=True)
class Metric:
    """One quality."""

    name: str  # coherence, fluency,
    criterion: Words  # what it means, for a prompt
    scale: Scale  # grade -> what it stands for; two or more whole numbers
    # how to judge it, in order; empty where the evaluation LM is to write them
    steps: tuple[Words, ...] = ()
    # what stands for it where an LM cannot be asked; None: nothing does
    likelihood: Likelihood | None = None

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
    """The metrics of a task."""

    text: Words  # what a rated text is called: summary, answer,
    source: Words  # what it was made from: article, story,
    metrics: Annotated[tuple[Metric, ...], Field(min_length=1)]  # in order
    identity: str  # file name and hash, for the record


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
        metrics = [
            {"scale": content["scale"], **({"criterion": one} if isinstance(one, str) else one)}
            | {"name": name}
            for name, one in content["metrics"].items()
        ]
        identity = f"{path.name} sha256:{sha256(raw).hexdigest()[:12]}"
        found = {**content, "metrics": metrics, "identity": identity}
        return TypeAdapter(Criteria).validate_python(found)
    except OSError as cause:
        raise ConfigError(f"mechanism.criteria: there is no file {str(path)!r}.") from cause
    except ValidationError as cause:
        [first, *_] = cause.errors()
        at = [str(part) for part in first["loc"]]
        where = ", ".join([metrics[int(at[1])]["name"], *at[2:]] if len(at) > 1 else at)
        raise DataError(f"The criteria {str(path)!r}, {where}: {first['msg']}.") from cause
    except (yaml.YAMLError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as cause:
        raise DataError(
            f"The criteria {str(path)!r} are no YAML of text, source, scale and metrics: {cause}."
        ) from cause
