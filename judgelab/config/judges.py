"""Judges by names of options: a list in a file, or in the config, becomes what the options hold."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from judgelab.config.composing import composed, literal
from judgelab.config.launch import sentence
from judgelab.core.errors import ConfigError, did_you_mean

AXES = ("evaluation_lm", "mechanism", "preprocessor")
"""What a judge may have of its own."""
KEYS = ("name", *AXES)  # of an entry, beside settings of the axes: ``evaluation_lm.model: NAME``
RECORDED, COMPARES = "RecordedScores", "pairwise"
"""A run whose mechanism asks nobody has none to lend: its judges compare texts by default."""
FORM = "- {name: mini, evaluation_lm: gpt4o_mini, mechanism: pairwise}"


def with_judges(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config with ``study.judges`` as name -> nodes, where it is a file or a list of entries.

    An entry chooses options as the command line does and sets what lies in them::

        - name: mini
          evaluation_lm: gpt4o_mini
          evaluation_lm.limits.timeout: 20
          mechanism: pairwise

    What it does not choose is the run's. The file is composed now, so that a run is known by what
    its judges are, not by a path (ConfigError: the file, an option, a setting or a name is not
    right; says where).
    """
    study = config.get("study")
    setting = study.get("judges") if isinstance(study, Mapping) else None
    if not isinstance(setting, str | list):
        return dict(config)
    assert isinstance(study, Mapping)
    source = setting if isinstance(setting, str) else "study.judges"

    @cache
    def options(axis: str, option: str | None) -> dict[str, Any]:
        """The axes where one option is chosen, or none; composing takes a tenth of a second."""
        cfg = composed([] if option is None else [f"{axis}={literal(option)}"])
        cfg["paths"] = config.get("paths")
        return {name: OmegaConf.to_container(cfg[name], resolve=True) for name in AXES}

    judges = dict[str, Any]()
    for k, entry in enumerate(_read(setting) if isinstance(setting, str) else setting, start=1):
        name = entry.get("name") if isinstance(entry, Mapping) else None
        if not isinstance(name, str) or not name.strip():
            raise ConfigError(f"{source}, entry {k}: {entry!r} is no judge: write {FORM}.")
        where = f"{source}, entry {k} ({name})"
        if name in judges:
            raise ConfigError(f"{where}: another judge has this name: give each its own.")
        try:
            judges[name] = _judge(entry, where, config, options)
        except (HydraException, OmegaConfBaseException) as cause:
            raise ConfigError(f"{where}: {sentence(cause, ())}") from cause
    if not judges:
        raise ConfigError(f"study.judges={setting!r} names no judge: write {FORM}.")
    return {**config, "study": {**study, "judges": judges}}


def _read(path: str) -> list[Any]:
    try:
        entries = OmegaConf.to_container(OmegaConf.load(Path(path).expanduser()), resolve=True)
    except (OSError, ValueError, yaml.YAMLError, OmegaConfBaseException) as cause:
        why = getattr(cause, "strerror", None) or " ".join(str(cause).split())
        raise ConfigError(f"study.judges={path!r} cannot be read as YAML ({why}).") from cause
    if not isinstance(entries, list):
        raise ConfigError(f"{path} is no list of judges: begin each with a dash, as in {FORM}.")
    return entries


def _judge(
    entry: Mapping[str, Any], where: str, config: Mapping[str, Any], options: Any
) -> dict[str, Any]:
    entry, nodes = dict(entry), dict[str, Any]()
    target = str(config.get("mechanism", {}).get("_target_", ""))
    if target.endswith(f".{RECORDED}"):
        entry.setdefault("mechanism", COMPARES)
    for axis, option in ((axis, entry[axis]) for axis in AXES if axis in entry):
        if not isinstance(option, str):
            raise ConfigError(
                f"{where}: {axis}={option!r} is no name of an option: write {axis}: OPTION, and "
                f"settings as {axis}.KEY: VALUE."
            )
        own = options(axis, option)
        nodes[axis] = own[axis]
        # an option may choose another axis too, as gem does its preprocessor
        if axis == "mechanism" and own["preprocessor"] != options("", None)["preprocessor"]:
            nodes["preprocessor"] = own["preprocessor"]
    for key, value in entry.items():
        axis, _, rest = str(key).partition(".")
        keys = AXES if rest else KEYS
        if axis not in keys:
            why = (
                f": a judge has settings of {', '.join(AXES)} alone"
                if rest
                else " is not a known key"
            )
            raise ConfigError(f"{where}: {key}{why}.{did_you_mean(axis, keys)}")
        if rest:
            node = OmegaConf.create(nodes.get(axis, config[axis]))
            OmegaConf.update(node, rest, value, force_add=True)  # ``build`` knows the keys
            nodes[axis] = OmegaConf.to_container(node)
    for axis in (axis for axis in AXES if axis in nodes):
        if missing := sorted(OmegaConf.missing_keys(OmegaConf.create(nodes[axis]))):
            key = f"{axis}.{missing[0]}"
            raise ConfigError(f"{where}: {key} is missing: add '{key}: VALUE' to the judge.")
    return nodes
