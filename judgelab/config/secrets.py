"""Secrets of the environment must not stand in a config: it is kept, shown and uploaded."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from judgelab.core.errors import ConfigError

NAMED_SO = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)S?(_|$)", re.IGNORECASE)
SHORTEST = 8  # characters: a shorter value is no secret, and may stand in any word


def check_secrets(value: Any, path: str = "") -> None:
    """Look for the values of environment variables whose names look like secrets.

    Raises:
        ConfigError: the config holds one; the message names its path and not the value.
    """
    secrets = {name: text for name, text in os.environ.items() if NAMED_SO.search(name)}
    _check(value, path, {name: text for name, text in secrets.items() if len(text) >= SHORTEST})


def _check(value: Any, path: str, secrets: Mapping[str, str]) -> None:
    if isinstance(value, Mapping):
        for key, one in value.items():
            _check(one, f"{path}.{key}" if path else str(key), secrets)
    elif isinstance(value, list):
        for number, one in enumerate(value):
            _check(one, f"{path}.{number}", secrets)
    elif isinstance(value, str):
        for name, secret in secrets.items():
            if secret in value:
                raise ConfigError(
                    f"{path} holds the value of the environment variable {name}, and a run keeps "
                    "and shows its config: take it out, and where an endpoint needs it give its "
                    f"name instead (evaluation_lm.api_key_env={name})."
                )
