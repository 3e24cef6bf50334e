"""Suites of perturbations: which attacks, at which level and severity, read from YAML."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from judgelab.attack.protocol import Attack
from judgelab.config import build
from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.resources import conf
from judgelab.core.step import By

FOLDER = conf() / "perturbation"
LEVELS = ("character", "word", "sentence")
ORIGINAL = "original"
"""The agent of a panel that holds the texts as they were."""


@dataclass(frozen=True)
class SuiteEntry:
    """One way to degrade a text.

    Attributes:
        name: unique within its suite, and not ``original``.
        level: character, word or sentence (DHP paper, Table 1).
        severity: minor, major, or None where there is one degree only.
        attack: what does it.
    """

    name: str
    level: str
    severity: str | None
    attack: Attack


@dataclass(frozen=True)
class Suite:
    """Perturbations in order, and where they come from."""

    perturbations: tuple[SuiteEntry, ...]
    identity: str

    @property
    def attacks(self) -> dict[str, str]:
        """Name of each perturbation -> name of its attack."""
        return {one.name: one.attack.name for one in self.perturbations}


def load_suite(
    name_or_path: str | None,
    dataset: str,
    task: str,
    only: Sequence[str] | None = None,
    by: By | None = None,
) -> Suite:
    """A suite by name (``conf/perturbation/<name>.yaml``) or from a user's own YAML.

    Args:
        name_or_path: None takes the dataset's suite, or that of its task.
        dataset, task: names, for None.
        only: the perturbations wanted, by name; None for all.
        by: who writes those that an LM can write; None leaves it to the suite.

    Raises:
        ConfigError: there is no such suite or perturbation, or an attack is misconfigured.
        DataError: the file is no suite; the message names the entry.
    """
    path = _locate(name_or_path, dataset, task)
    raw, content = _read(path)
    for name in only or ():
        if name not in content:
            raise ConfigError(f"study.only: {name!r}.{did_you_mean(name, content)}")
    wanted = [name for name in content if only is None or name in only]
    if not wanted:
        raise ConfigError("study.only is empty: name perturbations, or give null for all.")
    made = tuple(_perturbation(name, content[name], path, by) for name in wanted)
    return Suite(made, f"{path.name} sha256:{hashlib.sha256(raw).hexdigest()[:12]}")


def _read(path: Path) -> tuple[bytes, dict[str, Any]]:
    """The file, and its entries by name."""
    try:
        raw = path.read_bytes()
        content = yaml.safe_load(raw.decode("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as cause:
        raise DataError(f"The perturbations {str(path)!r} are not readable: {cause}.") from cause
    if not isinstance(content, Mapping) or not content:
        raise DataError(f"The perturbations {str(path)!r} must map names to their settings.")
    for name in content:
        if not isinstance(name, str) or not name.strip():
            raise DataError(f"{path.name}: {name!r} is no name: put names in quotation marks.")
        if name == ORIGINAL:
            raise DataError(
                f"{path.name}: {ORIGINAL!r} is what the unperturbed texts are called: choose "
                "another name."
            )
    return raw, dict(content)


def _locate(given: str | None, dataset: str, task: str) -> Path:
    known = sorted(file.stem for file in FOLDER.glob("*.yaml"))
    if given is not None and given.endswith((".yaml", ".yml")):
        if Path(given).is_file():
            return Path(given)
        raise ConfigError(f"study.perturbations: there is no file {given!r}.")
    for name in (given,) if given is not None else (dataset, task):
        if name in known:
            return FOLDER / f"{name}.yaml"
    if given is not None:
        raise ConfigError(f"study.perturbations={given!r}.{did_you_mean(given, known)}")
    raise ConfigError(
        f"There are no perturbations for dataset {dataset!r} or task {task!r}: set "
        f"study.perturbations to one of {', '.join(known)}, or to a YAML file of your own."
    )


def _perturbation(name: str, given: Any, path: Path, by: By | None) -> SuiteEntry:
    where = f"{path.name}, {name}"
    if not isinstance(given, Mapping) or given.keys() != {"level", "severity", "attack"}:
        raise DataError(f"{where}: the keys must be level, severity (or null) and attack.")
    if given["level"] not in LEVELS:
        raise DataError(f"{where}: level {given['level']!r} must be one of {', '.join(LEVELS)}.")
    severity = given["severity"]
    if severity is not None and not isinstance(severity, str):
        raise DataError(f"{where}: severity {severity!r} must be a word, such as minor, or null.")
    return SuiteEntry(name, given["level"], severity, _attack(given["attack"], where, by))


def _attack(node: Any, where: str, by: By | None) -> Attack:
    if not isinstance(node, Mapping) or not isinstance(node.get("_target_"), str):
        raise DataError(f"{where}: attack must be a mapping with a _target_, not {node!r}.")
    attack = build(node, f"{where}: attack")
    if not isinstance(attack, Attack):
        raise DataError(
            f"{where}: {node['_target_']} is no attack: name a class with name, expects, requires "
            "and apply (judgelab/attack/protocol.py)."
        )
    if by is not None and "by" in inspect.signature(type(attack)).parameters:
        again: Attack = build({**node, "by": by}, f"{where}: attack")
        return again
    return attack
