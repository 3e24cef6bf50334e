"""The adapter's model card: what it was made of, so that somebody else can judge it."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import re
import shlex
from collections.abc import Mapping
from typing import Any

import judgelab
from judgelab.finetune.settings import Settings
from judgelab.finetune.split import LONG
from judgelab.finetune.trained import TRAINED_ON
from judgelab.prompt import Prompt

PROMPT = "prompt.txt"
"""The file beside the card that holds the prompt of the training."""

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


def card(settings: Settings, facts: Mapping[str, Mapping[str, Any]]) -> str:
    """The card as Markdown with a YAML head, as the Hugging Face Hub reads it.

    Args:
        settings: of the training.
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
        f"    {usage(settings)}",
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


def usage(settings: Settings, adapter: str = "THIS_FOLDER") -> str:
    """The command line that scores with the adapter, the way it was trained."""
    usual = {"dtype": "auto", "quantization": "none", "chat": False, "template_date": "2024-07-26"}
    given = {
        f"evaluation_lm.{key}": value
        for key, value in settings.scoring.items()
        if key not in ("hint", "threads", "device_map") and value not in (None, usual.get(key))
    }
    given["evaluation_lm.adapter"] = adapter
    if not _shipped(settings.prompt):
        given["mechanism.prompt.file"] = f"{adapter}/{PROMPT}"
    words = [f"{key}={_plain(value)}" for key, value in given.items()]
    return f"python run.py mechanism=gem evaluation_lm=transformers {shlex.join(words)}"


def _shipped(prompt: Prompt) -> bool:
    """Whether it is the prompt that mechanism=gem uses anyway."""
    return prompt.identity == Prompt("second_opinion.txt").identity


def _plain(value: Any) -> str:
    """A value in Hydra's grammar."""
    plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z_./][\w./-]*", value)
    return str(value) if plain else json.dumps(value)


def _shown(value: Any) -> str:
    return " ".join(str(value).split())
