"""From a resolved config back to the command line that composes it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from judgelab.config import AXES
from judgelab.config.overrides import differences, removals, written
from judgelab.core.resources import PROGRAM, conf
from judgelab.store.fingerprint import VOLATILE

CONF = conf()
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml: a tenth of the time
ALWAYS = ("mechanism", "dataset", "attack")  # said even where they are the default


def command(config: Mapping[str, Any]) -> str:
    """``python run.py ...`` with everything that differs from the defaults and can matter.

    Tracker, paths and other settings that cannot change a number are left out.

    Args:
        config: the resolved config of a run.
    """
    parts = PROGRAM.split()
    base = _read(CONF / "config.yaml")
    usual = {
        k: v for entry in base["defaults"] if isinstance(entry, dict) for k, v in entry.items()
    }
    for axis in (*ALWAYS, *(axis for axis in AXES if axis not in ALWAYS)):
        if axis not in VOLATILE and axis in config:
            parts += _axis(axis, config, str(usual.get(axis)))
    rest = {k: v for k, v in config.items() if k not in VOLATILE and k not in AXES}
    parts += [f"{k}={written(v)}" for k, v in differences("", base, rest)]
    return shlex.join(parts)


def _axis(axis: str, config: Mapping[str, Any], usual: str) -> Iterator[str]:
    """The option that is closest to what the run had, and what still differs from it."""
    found = []
    for path in sorted((CONF / axis).glob("*.yaml")):
        option = {k: v for k, v in _resolved(axis, path, config).items() if k != "defaults"}
        differing = list(_overrides(axis, option, config[axis]))
        wrong_class = option.get("_target_") != config[axis].get("_target_")
        found.append((wrong_class, len(differing), path.stem != usual, path.stem, differing))
    _, _, unusual, name, differing = min(found)
    if unusual or axis in ALWAYS or (axis != "dataset" and _chosen_by_dataset(axis, config)):
        yield f"{axis}={name}"
    yield from differing


def _chosen_by_dataset(axis: str, config: Mapping[str, Any]) -> bool:
    """Whether a dataset of this class brings an option of this axis with it."""
    target = config.get("dataset", {}).get("_target_")
    options = [_read(path) for path in (CONF / "dataset").glob("*.yaml")]
    return any(
        option.get("_target_") == target and f"/{axis}" in json.dumps(option.get("defaults", []))
        for option in options
    )


def _resolved(axis: str, path: Path, config: Mapping[str, Any]) -> dict[str, Any]:
    """An option as it would read in this config, its interpolations filled in."""
    option = _read(path)
    if "${" not in json.dumps(option):
        return option
    whole = OmegaConf.create({**config, axis: option})
    try:
        node = OmegaConf.to_container(whole[axis], resolve=True)
    except OmegaConfBaseException:  # it asks for what this config lacks: not the one then
        return option
    assert isinstance(node, dict)
    return {str(key): value for key, value in node.items()}


def _overrides(path: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{key}={written(value)}" for key, value in differences(path, before, after))
    yield from removals(path, before, after)


def _read(path: Path) -> dict[str, Any]:
    return _parsed(path.read_text(encoding="utf-8"))


@cache  # every option of every axis is looked at, some of them four times
def _parsed(text: str) -> dict[str, Any]:
    loaded = yaml.load(text, Loader=LOADER)
    return loaded if isinstance(loaded, dict) else {}
