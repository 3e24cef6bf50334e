"""The quantisation in which a folder holds a model's weights, and what may be asked of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgelab.errors import ConfigError


def stored_quantization(folder: Path) -> str:
    """How the weights of a model folder are stored.

    Returns:
        none, nf4, fp4 or int8 (bitsandbytes), or the method by its own name (gptq, awq, ...).

    Raises:
        ConfigError: the folder's config.json cannot be read.
    """
    file = folder / "config.json"
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return "none"  # no model: loading says so
    except (OSError, ValueError) as cause:
        raise ConfigError(f"{file} cannot be read ({cause}): save the model again.") from cause
    found = config.get("quantization_config") or (config.get("text_config") or {}).get(
        "quantization_config"
    )
    return _name(found) if found else "none"


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
