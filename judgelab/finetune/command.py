"""The command line that scores with an adapter, on texts made as those of its training."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from hydra.core.override_parser.types import Quote, QuotedString

from judgelab.finetune.settings import Settings
from judgelab.prompt import Prompt

PROMPT = "prompt.txt"
"""The file beside the adapter that holds the prompt of the training."""

CONF = Path(__file__).resolve().parents[2] / "conf"
SPEED = frozenset({"workers", "limits", "threads", "hint"})  # they change no text
WORDS = frozenset({"true", "false", "null", "inf", "nan"})  # not strings in Hydra's grammar


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
    words = [f"{key}={_plain(value)}" for key, value in given.items()]
    return f"python run.py mechanism=gem evaluation_lm=transformers {shlex.join(words)}"


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
    known = dict(_leaves("", option))
    return {
        f"{'' if key in known else '++'}{where}{key}": value
        for key, value in _leaves("", node)
        if key not in known or known[key] != value
    }


def _leaves(path: str, node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in node.items():
        if isinstance(value, Mapping) and value and key not in SPEED:
            yield from _leaves(f"{path}.{key}", value)
        elif key not in SPEED:
            yield f"{path}.{key}", value


def _shipped(prompt: Prompt) -> bool:
    """Whether it is the prompt that mechanism=gem uses anyway."""
    return prompt.identity == Prompt("second_opinion.txt").identity


def _plain(value: Any) -> str:
    """A value in Hydra's grammar."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if re.fullmatch(r"[A-Za-z_./][\w./-]*", value, re.ASCII) and value.lower() not in WORDS:
        return value
    return str(QuotedString(value, Quote.double).with_quotes()).replace("${", "\\${")
