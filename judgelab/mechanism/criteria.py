"""What texts are rated on: metrics of a task with criterion, steps and scale, read from YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

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
from judgelab.core.resources import conf, of_yaml

FOLDER = conf() / "criteria"
STEPS = ("Read both texts.", "Choose the level whose meaning fits best.")

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
    scale: Scale  # grade, a whole number -> what it stands for; the lowest first
    # how to judge it, in order
    steps: Annotated[tuple[Words, ...], Field(min_length=1)] = STEPS
    # what stands for it where an LM cannot be asked; None: nothing does
    likelihood: Likelihood | None = None

    @property
    def bounds(self) -> tuple[int, int]:
        """The lowest and the highest grade."""
        return min(self.scale), max(self.scale)


@dataclass(frozen=True)
class Criteria:
    """The metrics of a task."""

    text: Words  # what a rated text is called: summary, answer,
    source: Words  # what it was made from: article, story,
    metrics: Annotated[tuple[Metric, ...], Field(min_length=1)]  # in order
    identity: str  # file name and hash, for the record
    levels: tuple[str, ...] = ()  # of a rubric whose levels are words: grade -> word


def criteria_tasks() -> frozenset[str]:
    """The tasks that ``conf/criteria`` has metrics for."""
    return frozenset(file.stem for file in FOLDER.glob("*.yaml"))


def load_criteria(name_or_path: str) -> Criteria:
    """Criteria by the name of a task (``conf/criteria/<name>.yaml``) or from a user's own YAML.

    A user's own may be a rubric: ``question``, and ``levels``, name -> meaning, the worst first.
    Levels that are words are graded by their places from 0. A ConfigError where there are none of
    that name, a DataError where the file lacks something.
    """
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        if name_or_path not in (tasks := criteria_tasks()):
            raise ConfigError(
                f"There are no criteria for {name_or_path!r}: set mechanism.criteria to one of "
                f"conf/criteria or to a YAML file of your own.{did_you_mean(name_or_path, tasks)}"
            )
        path = FOLDER / f"{name_or_path}.yaml"
    try:
        raw = path.read_bytes()
        content = of_yaml(raw.decode("utf-8"))
        if isinstance(content, dict) and content.keys() & {"question", "levels"}:
            content = _of_rubric(content, path)
        metrics = [
            {"scale": content["scale"], **({"criterion": one} if isinstance(one, str) else one)}
            | {"name": name}
            for name, one in content["metrics"].items()
        ]
        identity = f"{path.name} sha256:{sha256(raw).hexdigest()[:12]}"
        whole = {**content, "metrics": metrics, "identity": identity}
        return TypeAdapter(Criteria).validate_python(whole)
    except OSError as cause:
        raise ConfigError(f"mechanism.criteria: there is no file {str(path)!r}.") from cause
    except ValidationError as cause:
        [first, *_] = cause.errors()
        at = [str(part) for part in first["loc"]]
        where = ", ".join([metrics[int(at[1])]["name"], *at[2:]] if len(at) > 1 else at)
        raise DataError(f"The criteria {str(path)!r}, {where}: {first['msg']}.") from cause
    except (yaml.YAMLError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as cause:
        raise DataError(
            f"The criteria {str(path)!r} are no YAML of text, source, scale and metrics, or of "
            f"question and levels: {cause}."
        ) from cause


def _of_rubric(content: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """A question and its levels as one metric, the names of levels in its scale."""
    levels = content.get("levels")
    meanings = list(levels.values()) if isinstance(levels, dict) else []
    texts = [one for one in (content.get("question"), *meanings) if isinstance(one, str)]
    sound = len(meanings) > 1 and len([one for one in texts if one.strip()]) == 1 + len(meanings)
    if content.keys() != {"question", "levels"} or not isinstance(levels, dict) or not sound:
        raise DataError(
            f"The rubric {str(path)!r} must be a question and its levels, two names or more with "
            "what each means, the worst first: 'question: TEXT' and 'levels: {NAME: MEANING, ...}'."
        )
    scale, names = levels, list[str]()
    if not all(type(name) is int for name in levels):
        # YAML reads yes and no as true and false
        names = [("no", "yes")[one] if isinstance(one, bool) else str(one) for one in levels]
        scale = dict(enumerate(map(": ".join, zip(names, meanings, strict=True))))
    facts = {"text": "answer", "source": "source", "scale": scale, "levels": names}
    return facts | {"metrics": {"rubric": content["question"]}}
