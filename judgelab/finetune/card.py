"""The adapter's model card: what it was made of, and the command that scores with it."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import judgelab
from judgelab.config.composing import differences, read_option, written
from judgelab.core.prompt import Prompt
from judgelab.core.resources import PROGRAM, conf
from judgelab.finetune.settings import Settings
from judgelab.scoring.source import LONG, TRAINED_ON
from judgelab.store.fingerprint import version_of

PACKAGES = ("torch", "transformers", "peft", "accelerate", "bitsandbytes", "unsloth")
PROMPT = "prompt.txt"  # the file beside the adapter that holds the prompt of the training

SPEED = frozenset({"workers", "limits", "threads", "hint", "device_map"})  # they change no text


def versions() -> dict[str, str]:
    """What took part in the training, by version."""
    known = {"judgelab": judgelab.__version__, "python": platform.python_version()}
    return known | {name: version for name in PACKAGES if (version := version_of(name))}


def card(settings: Settings, command: str, facts: Mapping[str, Mapping[str, Any]]) -> str:
    """The card as Markdown with a YAML head, as the Hugging Face Hub reads it.

    ``command`` scores with the adapter; facts stand under their headings, by name.
    """
    from jinja2 import StrictUndefined, Template

    text = Path(__file__).with_name("card.md.j2").read_text(encoding="utf-8")
    template = Template(text, undefined=StrictUndefined, trim_blocks=True)
    values = {"base": settings.model, "command": command, "facts": facts}
    return str(template.render(values, record=TRAINED_ON, long=LONG))


def usage(settings: Settings, steps: Mapping[str, str], adapter: str = "THIS_FOLDER") -> str:
    """The command, without a dataset; ``steps``: synopsis and preprocessor, by their options."""
    option = read_option(conf() / "evaluation_lm" / "transformers.yaml")
    scoring = {key: value for key, value in settings.scoring.items() if key not in SPEED}
    given: dict[str, Any] = {**steps, **dict(differences("evaluation_lm", option, scoring))}
    given["evaluation_lm.adapter"] = adapter
    if settings.prompt.identity != Prompt("second_opinion.txt").identity:  # mechanism=gem's own
        given["mechanism.prompt.file"] = f"{adapter}/{PROMPT}"
    words = [f"{key}={written(value)}" for key, value in given.items()]
    return f"{PROGRAM} mechanism=gem evaluation_lm=transformers {shlex.join(words)}"
