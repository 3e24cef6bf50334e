"""The strategies that agents follow (TVD-MI paper, Tables 7-9), read from YAML."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.panel import Agent, Panel
from judgelab.core.resources import conf, of_yaml

FOLDER = conf() / "taxonomy"
Category = Literal["Faithful", "Style", "Strategic", "Low Effort", "Other"]
FullText = Annotated[str, Field(pattern=r"\S")]


class Strategy(BaseModel):
    """One way to answer."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    name: FullText  # unique within its taxonomy
    category: Category  # as in the paper's table
    # as in the authors' code; equals ``category`` unless they differ
    category_released: Category = Field(default_factory=lambda fields: fields.get("category"))
    description: FullText  # what the strategy does
    prompt: str = ""  # the instruction to an LM, with {noun} for what a source is called
    # the instruction of the note-taking stage, or None where there is none
    reading: FullText | None = None
    reference: bool = False  # True for the text that a person wrote; it needs no prompt

    @model_validator(mode="after")
    def _prompted(self) -> Self:
        if not self.reference and not self.prompt.strip():
            raise ValueError("'prompt' is missing: an LM needs an instruction")
        return self

    def agent(self, **meta: str) -> Agent:
        """The panel's agent that follows this strategy; ``meta`` is kept with it."""
        facts = {"description": self.description, "category_released": self.category_released}
        return Agent(self.name, self.category, self.reference, meta={**facts, **meta})


class Taxonomy(BaseModel):
    """The strategies of one task, in the order of the authors' arrays."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    task: str  # summarization, translation, peer_review, or a user's own word
    # in order (the file calls them agents); at most one of them is the reference
    strategies: tuple[Strategy, ...] = Field(alias="agents", min_length=1, strict=False)
    sha: str  # hash of everything in the file that can change a text
    noun: str = "text"  # what a source is called unless the dataset says otherwise
    max_tokens: Count = 500  # budget of an LM's reply, tokens
    prompt: str = ""  # the instruction of strategies that have none of their own

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [strategy.name for strategy in self.strategies]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"{', '.join(repeated)} stands there more than once")
        return self


def taxonomy_for(panel: Panel, name_or_path: str | None) -> Taxonomy:
    """The taxonomy that is set, or that of the panel's task; a ConfigError where none is set and
    there is none for the task."""
    if name_or_path is None and not (FOLDER / f"{panel.task}.yaml").is_file():
        raise ConfigError(
            f"There are no strategies for the task {panel.task!r}: read answers that are there "
            "already (dataset=table dataset.path=FILE agents=recorded), or let an LM write by "
            "strategies of your own (agents=prompted agents.taxonomy=FILE.yaml)."
        )
    return load_taxonomy(name_or_path or panel.task)


def load_taxonomy(name_or_path: str) -> Taxonomy:
    """Read a taxonomy by name (``conf/taxonomy/<name>.yaml``) or by the path of a YAML file; a
    ConfigError where there is none, a DataError that names the entry where it is no taxonomy."""
    path = Path(name_or_path)
    if path.suffix not in {".yaml", ".yml"} and path.parent == Path():
        path = FOLDER / f"{name_or_path}.yaml"
    if not path.is_file():
        names = sorted(file.stem for file in FOLDER.glob("*.yaml"))
        raise ConfigError(
            f"There is no taxonomy {name_or_path!r}.{did_you_mean(name_or_path, names)} Set "
            f"agents.taxonomy to one of {', '.join(names)}, or to the path of a YAML file."
        )
    try:
        content = of_yaml(path.read_text(encoding="utf-8"))
        shared = {"prompt": content["prompt"]} if content.get("prompt") else {}
        entries = [{**shared, **one} for one in content["agents"]]
        dump = json.dumps(content, sort_keys=True, ensure_ascii=False)
        sha = hashlib.sha256(dump.encode()).hexdigest()[:16]
        return Taxonomy(**{"task": path.stem, **content, "agents": entries, "sha": sha})
    except ValidationError as cause:  # a misspelled key before the one that is missing for it
        error = min(cause.errors(), key=lambda one: one["type"] != "extra_forbidden")
        where = ".".join(map(str, error["loc"]))
        raise DataError(f"The taxonomy {path}, {where} (the first is 0): {error['msg']}.") from None
    except (yaml.YAMLError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as cause:
        raise DataError(
            f"The taxonomy {path} is not readable YAML with a list of 'agents': {cause}."
        ) from cause
