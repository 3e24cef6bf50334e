"""Settings of a fine-tuning run, whether they fit this machine, and the base model they name."""

from __future__ import annotations

import hashlib
import json
import math
import platform
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from typing import Annotated, Any, Literal

from pydantic import Field

import judgelab
from judgelab.core.bounds import Count, Positive
from judgelab.core.errors import ConfigError, require
from judgelab.core.prompt import Prompt
from judgelab.scoring.load import Dtype, Quantization, quiet
from judgelab.scoring.source import ModelSource, fetch_weights, find
from judgelab.store.fingerprint import version_of

WHERE = "study.settings"  # where the settings stand in a config, for messages

PACKAGES = ("torch", "transformers", "peft", "accelerate", "bitsandbytes", "unsloth")

METRICS: tuple[Literal["gem", "gem_s"], ...] = ("gem", "gem_s")
"""The ways in which a text is predicted: without the synopsis, and with it."""


@dataclass(frozen=True)
class Settings:
    """Settings of one fine-tuning (GEM paper, appendix E.1); conf/finetune/gem_lora.yaml has each.

    Raises:
        ConfigError: a value out of its range.
    """

    name: str
    model: str  # the base model, as for ``evaluation_lm=transformers``
    prompt: Prompt
    revision: str | None = None
    hint: str | None = None
    backend: Literal["auto", "peft", "unsloth"] = "auto"
    dtype: Dtype = "auto"
    quantization: Quantization = "none"
    device_map: str | None = None
    threads: Count | None = None
    chat: bool = True
    system: str | None = None
    end_token: bool | None = None
    texts: Annotated[int, Field(ge=2)] = 3
    metrics: Annotated[list[Literal["gem", "gem_s"]], Field(min_length=1)] = field(
        default_factory=lambda: list(METRICS)
    )
    max_seq_length: Annotated[int, Field(ge=8)] = 4096
    loss_on: Literal["response", "sequence"] = "sequence"
    r: Count = 16
    alpha: Count = 16
    dropout: float = 0.0
    bias: Literal["none", "all", "lora_only"] = "none"
    targets: list[str] | str = "all-linear"
    batch: Count = 2
    accumulate: Count = 4
    warmup_steps: int = 5
    epochs: Positive = 3.0
    max_steps: Count | None = None
    learning_rate: Positive = 2e-4
    schedule: str = "linear"
    optimizer: Literal["adamw_8bit", "adamw_torch"] = "adamw_8bit"
    weight_decay: float = 0.01
    gradient_checkpointing: bool = True
    seed: int = 42
    log_every: Count = 10
    evaluate_every: Count | None = 100
    save_every: Count = 100

    def __post_init__(self) -> None:
        if self.save_every % self.log_every:
            raise ConfigError(
                f"{WHERE}.save_every={self.save_every} must be a multiple of {WHERE}.log_every="
                f"{self.log_every}, so that a resumed run draws the same curve."
            )

    @property
    def scoring(self) -> dict[str, Any]:
        """What ``evaluation_lm=transformers`` must be given to score the way it was trained."""
        keys = "model revision hint dtype quantization device_map threads system end_token"
        template = "chat" if self.chat else "none"
        return {key: getattr(self, key) for key in keys.split()} | {"template": template}

    def steps(self, prompts: int) -> int:
        """Optimizer steps on so many training prompts."""
        if self.max_steps is not None:
            return self.max_steps
        of_epoch = math.ceil(math.ceil(prompts / self.batch) / self.accumulate)
        return math.ceil(self.epochs * of_epoch)

    @property
    def plain(self) -> dict[str, Any]:
        """Every setting as a plain value, the prompt by its identity."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {**values, "prompt": self.prompt.identity}

    @property
    def digest(self) -> str:
        """A hash of what can change the adapter."""
        relevant = {k: v for k, v in self.plain.items() if k not in ("name", "hint")}
        return hashlib.sha256(json.dumps(relevant, sort_keys=True).encode()).hexdigest()[:16]


def versions() -> dict[str, str]:
    """What takes part in a training, by version."""
    own = {"judgelab": judgelab.__version__, "python": platform.python_version()}
    return own | {name: version for name in PACKAGES if (version := version_of(name))}


def source(settings: Settings) -> ModelSource:
    """The base model's folder and exact content, its weights on this machine."""
    base = find(settings.model, settings.revision, settings.hint, owner=WHERE)
    return fetch_weights(settings.model, base, owner=WHERE)


def check(settings: Settings) -> str:
    """The back end that will train; ConfigError where it or the optimizer cannot run here."""
    torch = require("torch", extra="local")
    quiet()
    for package in ("transformers", "peft", "accelerate"):
        require(package, extra="local")
    if settings.optimizer == "adamw_8bit" and find_spec("bitsandbytes") is None:
        raise ConfigError(
            f"{WHERE}.optimizer=adamw_8bit needs bitsandbytes, which is not installed here: "
            f"pip install -e '.[local]', or set {WHERE}.optimizer=adamw_torch."
        )
    able = torch.cuda.is_available() and find_spec("unsloth") is not None
    if settings.backend == "unsloth" and not able:
        raise ConfigError(
            f"{WHERE}.backend=unsloth needs a CUDA GPU and the package unsloth, and one of them is "
            f"not here: set {WHERE}.backend=peft."
        )
    return "unsloth" if able and settings.backend != "peft" else "peft"
