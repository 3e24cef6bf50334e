"""A model's folder or Hub id resolved to exact content, and how its weights are stored there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgelab.core.errors import ConfigError
from judgelab.store.network import HubError, hub_folder

DESCRIPTION = ("*.json", "*.jinja", "*.model", "merges.txt", "vocab.txt")
WEIGHTS = "*.safetensors"
MODULES = "[0-9]*_*"
"""Folders of what sentence-transformers puts after an encoder: 1_Pooling, 2_Dense, ..."""


@dataclass(frozen=True)
class ModelSource:
    """A folder with a model, and this content's name: Hub id and commit, or the files' hash."""

    folder: Path
    name: str


def find(
    model: str, revision: str | None, hint: str | None = None, owner: str = "evaluation_lm"
) -> ModelSource:
    """The folder of a model and what it is called; downloads descriptions, but no weights.

    Args:
        hint: how to get the model if it is absent.
        owner: the part of the config that names the model, for messages.

    Raises:
        ConfigError: there is no such folder or id, or the Hub is out of reach.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        if revision is not None:
            raise ConfigError(
                f"{owner}.revision={revision!r} is for models on the Hub, and {model!r} is "
                f"a folder: set {owner}.revision=null."
            )
        return ModelSource(folder, f"sha256:{digest(folder)}")
    if model.count("/") > 1 or model.startswith((".", "~", "/")):
        raise ConfigError(
            f"{owner}.model={model!r} is no folder here"
            + (f": {hint}." if hint else ": give a folder with a model, or an id on the Hub.")
        )
    found = _snapshot(model, revision, DESCRIPTION, owner)
    return ModelSource(found, f"{model}@{found.name}")


def fetch_weights(model: str, source: ModelSource, owner: str = "evaluation_lm") -> ModelSource:
    """The same source with its weights on this machine; ConfigError without safetensors."""
    if not Path(model).expanduser().is_dir():
        _snapshot(model, source.folder.name, (*DESCRIPTION, WEIGHTS), owner)
    if not any(source.folder.glob(WEIGHTS)):
        raise ConfigError(
            f"{owner}.model={model!r} has no safetensors weights, and pickled ones can run "
            "code: convert it (model.save_pretrained), or choose a revision that has them."
        )
    return source


def find_adapter(path: str) -> ModelSource:
    """A LoRA adapter in a folder; ConfigError where that holds none in safetensors."""
    folder = Path(path).expanduser()
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        if not (folder / name).is_file():
            raise ConfigError(
                f"evaluation_lm.adapter={path!r} has no {name}: give a folder that peft's "
                "save_pretrained wrote."
            )
    return ModelSource(folder, f"sha256:{digest(folder)}")


def find_tokenizer(model: str) -> ModelSource:
    """A tokenizer in a folder or on the Hub; weights beside it are no part of its name."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        return ModelSource(folder, f"sha256:{digest(folder, DESCRIPTION)}")
    try:
        return find(model, None)
    except ConfigError as cause:
        raise ConfigError(
            f"A chat template or an end token needs the model's own tokenizer, and {model!r} is "
            "neither a folder nor to be had from the Hugging Face Hub: set evaluation_lm.tokenizer "
            "to a folder or a name there, or evaluation_lm.template=none and "
            "evaluation_lm.end_token=null."
        ) from cause


def digest(folder: Path, patterns: Sequence[str] = (*DESCRIPTION, WEIGHTS)) -> str:
    """Hash of all files in a model folder that can change an answer, an encoder's modules too."""
    total = hashlib.sha256()
    places = [place for pattern in patterns for place in (pattern, f"{MODULES}/{pattern}")]
    files = {file for place in places for file in folder.glob(place)}
    for file in sorted(files):
        with file.open("rb") as stream:
            total.update(f"{file.relative_to(folder).as_posix()} ".encode())
            total.update(hashlib.file_digest(stream, "sha256").digest())
    return total.hexdigest()[:16]


def _snapshot(model: str, revision: str | None, patterns: Sequence[str], owner: str) -> Path:
    branch = revision or "main"
    try:
        folder, obstacle = hub_folder(model, branch, patterns, kind="model", extra="local")
    except HubError as cause:
        raise ConfigError(
            f"{owner}.model={model!r} (revision {branch}) is neither a folder nor to be had from "
            f"the Hugging Face Hub: {cause}."
        ) from cause
    index = folder / "model.safetensors.index.json"
    if WEIGHTS in patterns and obstacle and index.is_file():  # the download may have broken off
        parts = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        missing = sorted(part for part in parts if not (folder / part).is_file())
        if missing:
            raise ConfigError(
                f"{owner}.model={model!r}: the cache lacks {missing[0]} and {obstacle}."
            )
    return folder


def stored_quantization(folder: Path) -> str:
    """How a folder's weights are stored: none, nf4, fp4, int8, or the method's name (gptq, ...).

    Raises:
        ConfigError: the folder's config.json cannot be read, or is no description of a model.
    """
    file = folder / "config.json"
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return "none"  # no model: loading says so
    except (OSError, ValueError) as cause:
        raise ConfigError(f"{file} cannot be read ({cause}): save the model again.") from cause
    text = _part(config, "the file", file).get("text_config")
    for place, where in ((config, ""), (_part(text or {}, "text_config", file), "text_config.")):
        found = _part(place.get("quantization_config") or {}, f"{where}quantization_config", file)
        if found.get("load_in_4bit"):
            return str(found.get("bnb_4bit_quant_type", "fp4"))  # the library's own default
        if found:
            return (
                "int8" if found.get("load_in_8bit") else str(found.get("quant_method") or "unknown")
            )
    return "none"


def _part(value: Any, what: str, file: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(
            f"{file} describes no model: {what} must be an object of settings, and is "
            f"{type(value).__name__}. Download or save the model again."
        )
    return value


def resolve_quantization(asked: str, folder: Path) -> str:
    """The quantisation of a model in memory: stored, else as asked; ConfigError if they clash."""
    stored = stored_quantization(folder)
    if asked not in ("none", stored) and stored != "none":
        raise ConfigError(
            f"quantization={asked}: the weights of {folder} are stored in {stored}, and cannot be "
            "quantised anew: set quantization=none to take them as stored, or give the model in "
            "full precision."
        )
    return asked if stored == "none" else stored
