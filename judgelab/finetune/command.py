"""The command line that scores with an adapter, on texts made as those of its training."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from judgelab.config.overrides import differences, written
from judgelab.core.prompt import Prompt
from judgelab.core.resources import PROGRAM, conf
from judgelab.finetune.settings import Settings

PROMPT = "prompt.txt"
"""The file beside the adapter that holds the prompt of the training."""

CONF = conf()
SPEED = frozenset({"workers", "limits", "threads", "hint"})  # they change no text


def usage(settings: Settings, texts: Mapping[str, Any], adapter: str = "THIS_FOLDER") -> str:
    """The command, without a dataset.

    Args:
        settings: of the training.
        texts: overrides that make texts as in training: ``same_step``, ``same_writer``.
        adapter: its folder.
    """
    usual = {"dtype": "auto", "quantization": "none", "chat": False, "template_date": "2024-07-26"}
    given = dict(texts) | {
        f"evaluation_lm.{key}": value
        for key, value in settings.scoring.items()
        if key not in ("hint", "threads", "device_map") and value not in (None, usual.get(key))
    }
    given["evaluation_lm.adapter"] = adapter
    if not _shipped(settings.prompt):
        given["mechanism.prompt.file"] = f"{adapter}/{PROMPT}"
    words = [f"{key}={written(value)}" for key, value in given.items()]
    return f"{PROGRAM} mechanism=gem evaluation_lm=transformers {shlex.join(words)}"


def same_step(axis: str, name: str, node: Mapping[str, Any]) -> dict[str, Any]:
    """Overrides that choose an option, and what its config has other than conf/ does.

    Args:
        axis: preprocessor or synopsis.
        name: of the option.
        node: its part of the run's config.
    """
    return {axis: name} | _changes(axis, _option(CONF / axis / f"{name}.yaml"), node)


def same_writer(node: Mapping[str, Any]) -> dict[str, Any]:
    """Overrides that have the LM of ``node`` write the texts: the option most like it."""
    found = {
        file.stem: _changes("writer_lm", option, node)
        for file in sorted((CONF / "evaluation_lm").glob("*.yaml"))
        if (option := _option(file)).get("_target_") == node.get("_target_")
    }
    name = min(found, key=lambda name: len(found[name]), default="THE_LM_THAT_WROTE")
    return {"evaluation_lm@writer_lm": name} | found.get(name, {})


def _option(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    found: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return found


def _changes(where: str, option: Mapping[str, Any], node: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a config that an option does not have; ++ before a key that it does not know."""
    return dict(differences(where, option, {k: v for k, v in node.items() if k not in SPEED}))


def _shipped(prompt: Prompt) -> bool:
    """Whether it is the prompt that mechanism=gem uses anyway."""
    return prompt.identity == Prompt("second_opinion.txt").identity
