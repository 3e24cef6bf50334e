"""Judges by names of options: a list in a file, or in the config, becomes what the options hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from judgelab.config.composing import composed
from judgelab.config.launch import sentence
from judgelab.config.overrides import written
from judgelab.core.errors import ConfigError, did_you_mean

AXES = ("evaluation_lm", "mechanism", "preprocessor")
"""What a judge may have of its own."""

KEYS = ("name", "family", "price", "overrides", *AXES)
"""Of an entry, beside settings of the axes: ``evaluation_lm.model: NAME``."""

RECORDED, COMPARES = "RecordedScores", "pairwise"
"""A run whose mechanism asks nobody has none to lend: its judges compare texts by default."""

FORM = "- {name: mini, evaluation_lm: gpt4o_mini, mechanism: pairwise}"


def with_judges(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config with ``study.judges`` as name -> nodes, where it is a file or a list of entries.

    An entry chooses options as the command line does and sets what lies in them::

        - name: mini
          evaluation_lm: gpt4o_mini
          mechanism: pairwise
          mechanism.max_tokens: 5
          family: openai
          price: {input: 0.15, output: 0.6}
          overrides: [evaluation_lm.limits.timeout=20]

    A price is in currency units per million tokens; one number is for both.

    What it does not choose is the run's. The file is composed now, so that a run is known by what
    its judges are, not by a path.

    Raises:
        ConfigError: the file, an option, a setting or a name is not right; says where.
    """
    study = config.get("study")
    given = study.get("judges") if isinstance(study, Mapping) else None
    if isinstance(given, str):
        entries, places = _read(given)
    elif isinstance(given, list):
        entries = given
        places = [f"study.judges, entry {k}" for k in range(1, len(given) + 1)]
    else:
        return dict(config)
    judges: dict[str, Any] = {}
    for entry, place in zip(entries, places, strict=True):
        name, where = _name(entry, place)
        if name in judges:
            raise ConfigError(f"{where}: another judge has this name: give each its own.")
        judges[name] = _judge(entry, where, config)
    if not judges:
        raise ConfigError(f"study.judges={given!r} names no judge: write {FORM}.")
    assert isinstance(study, Mapping)
    return {**config, "study": {**study, "judges": judges}}


def _read(path: str) -> tuple[list[Any], list[str]]:
    """The entries of a file, and where each stands."""
    file = Path(path).expanduser()
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        why = getattr(cause, "strerror", None) or "not UTF-8 text"
        raise ConfigError(
            f"study.judges={path!r} cannot be read ({why}): give a YAML file with a list of judges."
        ) from cause
    try:
        node = yaml.compose(text, yaml.SafeLoader)
        entries = OmegaConf.to_container(OmegaConf.create(text)) if text.strip() else []
    except (yaml.YAMLError, OmegaConfBaseException, ValueError) as cause:
        mark = getattr(cause, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(cause, "problem", None) or str(cause).partition("\n")[0]
        raise ConfigError(f"{path}{line}: {problem}: this is no YAML that can be read.") from cause
    if not isinstance(entries, list) or not isinstance(node, yaml.SequenceNode | None):
        raise ConfigError(f"{path} is no list of judges: begin each with a dash, as in {FORM}.")
    lines = [one.start_mark.line + 1 for one in node.value] if node else []
    return entries, [f"{path}, line {line}" for line in lines]


def _name(entry: Any, place: str) -> tuple[str, str]:
    if not isinstance(entry, Mapping):
        raise ConfigError(f"{place}: {entry!r} is no judge: write {FORM}.")
    name = entry.get("name")
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"{place}: a judge needs a name: write {FORM}.")
    return name, f"{place} ({name})"


def _judge(entry: Mapping[str, Any], where: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """The nodes of one entry."""
    options, settings = _said(entry, where)
    family = entry.get("family") or ""
    if not isinstance(family, str):
        raise ConfigError(f"{where}: family={family!r} must be a word.")
    target = str(config.get("mechanism", {}).get("_target_", ""))
    if "mechanism" not in options and target.endswith(f".{RECORDED}"):
        options["mechanism"] = COMPARES
    try:
        cfg = _composed(options)
        OmegaConf.set_struct(cfg, False)
        cfg["paths"] = config.get("paths")
        own = {*options, *(key.lstrip("+").partition(".")[0] for key in settings)}
        for axis in own - options.keys():
            cfg[axis] = config[axis]
        for key, value in settings.items():
            _set(cfg, key, value, where)
        # an option may choose another axis too, as gem does its preprocessor
        if "mechanism" in options and cfg.preprocessor != _composed({}).preprocessor:
            own.add("preprocessor")
        chosen = [axis for axis in AXES if axis in own]
        found: dict[str, Any] = {axis: _plain(cfg, axis, where) for axis in chosen}
    except (HydraException, OmegaConfBaseException) as cause:
        raise ConfigError(f"{where}: {_first(cause)}") from cause
    price = _price(entry["price"], where) if entry.get("price") is not None else None
    return found | {"family": family} | ({} if price is None else {"price": price})


def _price(given: Any, where: str) -> dict[str, Any]:
    """Of input and reply, and its currency where that is said."""
    held = given if isinstance(given, Mapping) else {"input": given, "output": given}
    numbers: list[Any] = [held.get("input"), held.get("output")]
    right = all(type(one) in (int, float) and 0 <= one < math.inf for one in numbers)
    if not right or held.keys() - {"input", "output", "currency"}:
        raise ConfigError(
            f"{where}: price={given!r} must be a number per million tokens, or "
            "{input: NUMBER, output: NUMBER}."
        )
    found = {"input": float(held["input"]), "output": float(held["output"])}
    return found | ({"currency": str(held["currency"])} if "currency" in held else {})


def _said(entry: Mapping[str, Any], where: str) -> tuple[dict[str, str], dict[str, Any]]:
    """Axis -> option, and setting -> value."""
    words: dict[str, Any] = {}
    for key, value in entry.items():
        axis = str(key).lstrip("+").partition(".")[0]
        if "." not in str(key) and key not in KEYS:
            raise ConfigError(f"{where}: {key} is not a known key.{did_you_mean(str(key), KEYS)}")
        if "." in str(key) and axis not in AXES:
            raise ConfigError(f"{where}: {key}: {_no_axis(axis)}")
        if key not in ("name", "family", "price", "overrides"):
            words[str(key)] = value
    words |= _parsed(entry.get("overrides") or [], where)
    options = {key: value for key, value in words.items() if key in AXES}
    for axis, option in options.items():
        if not isinstance(option, str):
            raise ConfigError(
                f"{where}: {axis}={option!r} is no name of an option: write {axis}: OPTION, and "
                f"settings as {axis}.KEY: VALUE."
            )
    return options, {key: value for key, value in words.items() if key not in AXES}


def _no_axis(axis: str) -> str:
    return f"a judge has settings of {', '.join(AXES)} alone.{did_you_mean(axis, AXES)}"


def _parsed(words: Any, where: str) -> dict[str, Any]:
    """Words of a command line."""
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ConfigError(f"{where}: overrides={words!r} must be a list of KEY=VALUE.")
    try:
        parsed = OverridesParser.create().parse_overrides(words)
    except HydraException as cause:
        raise ConfigError(f"{where}: overrides: {_first(cause)}") from cause
    found: dict[str, Any] = {}
    for one in parsed:
        key = one.key_or_group
        if one.is_sweep_override() or one.is_delete() or one.package is not None:
            raise ConfigError(f"{where}: the override {one.input_line!r} must be KEY=VALUE.")
        if key.partition(".")[0] not in AXES:
            raise ConfigError(f"{where}: {one.input_line}: {_no_axis(key.partition('.')[0])}")
        found[f"+{key}" if one.is_add() or one.is_force_add() else key] = one.value()
    return found


def _set(cfg: DictConfig, key: str, value: Any, where: str) -> None:
    """Set what is there; with a plus also what is new, as on the command line."""
    path: list[str] = key.lstrip("+").split(".")
    node: Any = cfg
    for k, part in enumerate(path):
        last, holds = k == len(path) - 1, OmegaConf.is_dict(node)
        known = [str(one) for one in node if one != "_target_"] if holds else []
        new = holds and last and key.startswith("+")
        if not new and part not in (*known, "_target_"):
            hint = did_you_mean(part, known) if known else ""
            raise ConfigError(f"{where}: {'.'.join(path[: k + 1])} is not a known key.{hint}")
        node = None if last else node[part]
    OmegaConf.update(cfg, ".".join(path), value, merge=True, force_add=True)


def _plain(cfg: DictConfig, axis: str, where: str) -> Any:
    """The node as plain values."""
    if missing := sorted(OmegaConf.missing_keys(cfg[axis])):
        key = missing[0]
        raise ConfigError(f"{where}: {key} is missing: add '{key}: VALUE' to the judge.")
    return OmegaConf.to_container(cfg[axis], resolve=True)


def _composed(options: Mapping[str, str]) -> DictConfig:
    return composed([f"{axis}={written(option)}" for axis, option in options.items()])


def _first(cause: BaseException) -> str:
    if getattr(cause, "missing_cfg_file", None):
        return sentence(cause)
    return f"{str(cause).strip().partition(chr(10))[0].rstrip('.')}."
