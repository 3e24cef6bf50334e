"""The quantisation in which a folder holds a model's weights, and what may be asked of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgelab.core.errors import ConfigError


def stored_quantization(folder: Path) -> str:
    """How the weights of a model folder are stored.

    Returns:
        none, nf4, fp4 or int8 (bitsandbytes), or the method by its own name (gptq, awq, ...).

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
    found = _quantization_config(config, file)
    return _name(found) if found else "none"


def _quantization_config(config: Any, file: Path) -> dict[str, Any]:
    """The part that describes the quantisation, at the top or of the text model; empty if none."""
    text = _part(config, "the file", file).get("text_config")
    for place, where in ((config, ""), (_part(text or {}, "text_config", file), "text_config.")):
        found = place.get("quantization_config")
        if found:
            return _part(found, f"{where}quantization_config", file)
    return {}


def _part(value: Any, what: str, file: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(
            f"{file} describes no model: {what} must be an object of settings, and is "
            f"{type(value).__name__}. Download or save the model again."
        )
    return value


def resolve_quantization(asked: str, folder: Path) -> str:
    """The quantisation that a model will have in memory: as stored, else as asked.

    Args:
        asked: none, nf4 or int8; none takes the weights as they are stored.

    Raises:
        ConfigError: the weights are stored in another quantisation than the one asked for.
    """
    stored = stored_quantization(folder)
    if asked not in ("none", stored) and stored != "none":
        raise ConfigError(
            f"quantization={asked}: the weights of {folder} are stored in {stored}, and cannot be "
            "quantised anew: set quantization=none to take them as stored, or give the model in "
            "full precision."
        )
    return asked if stored == "none" else stored


def _name(stored: Mapping[str, Any]) -> str:
    if stored.get("load_in_4bit"):
        return str(stored.get("bnb_4bit_quant_type", "fp4"))  # the library's own default
    if stored.get("load_in_8bit"):
        return "int8"
    return str(stored.get("quant_method") or "unknown")
