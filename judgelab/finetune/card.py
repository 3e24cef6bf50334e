"""The adapter's model card: what it was made of, and the command that scores with it."""

from __future__ import annotations

import importlib.metadata
import platform
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import judgelab
from judgelab.config.composing import read_option
from judgelab.config.overrides import differences, written
from judgelab.core.prompt import Prompt
from judgelab.core.resources import PROGRAM, conf
from judgelab.finetune.settings import Settings
from judgelab.scoring.trained_on import LONG, TRAINED_ON

PACKAGES = ("torch", "transformers", "peft", "accelerate", "bitsandbytes", "unsloth")
PROMPT = "prompt.txt"
"""The file beside the adapter that holds the prompt of the training."""

SPEED = frozenset({"workers", "limits", "threads", "hint"})  # they change no text


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
        command: scores with the adapter.
        facts: heading -> name -> value, in the order to be read.
    """
    from jinja2 import StrictUndefined, Template

    text = Path(__file__).with_name("card.md.j2").read_text(encoding="utf-8")
    template = Template(text, undefined=StrictUndefined, trim_blocks=True)
    values = {"base": settings.model, "command": command, "facts": facts}
    return str(template.render(values, record=TRAINED_ON, long=LONG))


def usage(settings: Settings, texts: Mapping[str, Any], adapter: str = "THIS_FOLDER") -> str:
    """The command, without a dataset.

    Args:
        texts: overrides that make texts as in training: ``same_step``, ``same_writer``.
    """
    usual = {
        "dtype": "auto",
        "quantization": "none",
        "template": "none",
        "template_date": "2024-07-26",
    }
    given = dict(texts) | {
        f"evaluation_lm.{key}": value
        for key, value in settings.scoring.items()
        if key not in ("hint", "threads", "device_map") and value not in (None, usual.get(key))
    }
    given["evaluation_lm.adapter"] = adapter
    if settings.prompt.identity != Prompt("second_opinion.txt").identity:  # mechanism=gem's own
        given["mechanism.prompt.file"] = f"{adapter}/{PROMPT}"
    words = [f"{key}={written(value)}" for key, value in given.items()]
    return f"{PROGRAM} mechanism=gem evaluation_lm=transformers {shlex.join(words)}"


def same_step(axis: str, name: str, node: Mapping[str, Any]) -> dict[str, Any]:
    """Overrides that choose an option of an axis, and what its ``node`` has other than conf/."""
    return {axis: name} | _changes(axis, _option(conf() / axis / f"{name}.yaml"), node)


def same_writer(node: Mapping[str, Any]) -> dict[str, Any]:
    """Overrides that have the LM of ``node`` write the texts: the option most like it."""
    found = {
        file.stem: _changes("writer_lm", option, node)
        for file in sorted((conf() / "evaluation_lm").glob("*.yaml"))
        if (option := _option(file)).get("_target_") == node.get("_target_")
    }
    name = min(found, key=lambda name: len(found[name]), default="THE_LM_THAT_WROTE")
    return {"evaluation_lm@writer_lm": name} | found.get(name, {})


def _option(file: Path) -> dict[str, Any]:
    return read_option(file) if file.is_file() else {}


def _changes(where: str, option: Mapping[str, Any], node: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a config that an option does not have; ++ before a key that it does not know."""
    return dict(differences(where, option, {k: v for k, v in node.items() if k not in SPEED}))
