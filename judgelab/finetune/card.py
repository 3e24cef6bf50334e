"""The adapter's model card: what it was made of, so that somebody else can judge it."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Mapping
from typing import Any

import judgelab
from judgelab.finetune.settings import Settings
from judgelab.scoring.trained_on import LONG, TRAINED_ON

PACKAGES = ("torch", "transformers", "peft", "accelerate", "bitsandbytes", "unsloth")


def versions() -> dict[str, str]:
    """What took part in the training, by version."""
    found = {"judgelab": judgelab.__version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def card(settings: Settings, command: str, facts: Mapping[str, Mapping[str, Any]]) -> str:
    """The card as Markdown with a YAML head, as the Hugging Face Hub reads it.

    Args:
        settings: of the training.
        command: scores with the adapter.
        facts: heading -> name -> value, in the order to be read.
    """
    head = [
        "---",
        f"base_model: {settings.model}",
        "library_name: peft",
        "tags: [judgelab, lora, evaluation-lm]",
        "---",
        "",
        "# A LoRA adapter for an evaluation LM",
        "",
        "It was trained to predict one reviewer's judgments from another's, and without them, so "
        "that differences of its log-probabilities estimate mutual information (GEM, appendix E). "
        "It is meant for scoring, not for writing. Score with it by",
        "",
        f"    {command}",
        "",
        f"{TRAINED_ON} holds the ids of the papers that trained it, and the SHA-256 of their "
        f"sources, synopses and texts of {LONG} characters or more (in lower case, with single "
        "spaces): do not evaluate it on these.",
        "",
    ]
    parts = [
        line
        for title, entries in facts.items()
        for line in (f"## {title}", "", *(f"- {k}: {_shown(v)}" for k, v in entries.items()), "")
    ]
    return "\n".join([*head, *parts])


def _shown(value: Any) -> str:
    return " ".join(str(value).split())
