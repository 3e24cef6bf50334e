"""Runs as the jobs of a sweep that nobody started: what differs is read from their configs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from judgelab.config import AXES
from judgelab.config.overrides import written
from judgelab.report.jobs import SweepJob
from judgelab.store.fingerprint import VOLATILE
from judgelab.store.run_dir import RunDir

Config = Mapping[str, Any]


def beside(runs: Sequence[Path]) -> list[SweepJob]:
    """The jobs, whose overrides are the settings in which the runs differ.

    Settings of different options (the mechanism's of two mechanisms) do not count: options say it.

    Raises:
        JudgelabError: a result cannot be read.
    """
    configs = [_config(run) for run in runs]
    chosen = [_options(run, config) for run, config in zip(runs, configs, strict=True)]
    flat = [dict(_flat("", config)) for config in configs]
    made = []
    for number, (run, options, own) in enumerate(zip(runs, chosen, flat, strict=True)):
        said = [axis for axis in options if any(other[axis] != options[axis] for other in chosen)]
        alike = [
            {key: value for key, value in other.items() if _comparable(key, options, others)}
            for other, others in zip(flat, chosen, strict=True)
        ]
        keys = [key for key in own if any(key in o and o[key] != own[key] for o in alike)]
        words = [f"{axis}={options[axis]}" for axis in said]
        words += [f"{key}={written(own[key])}" for key in keys]
        result = RunDir(run).read_json("result.json")
        still = result.get("partial", {}).get("sentence")
        made.append(SweepJob(number, tuple(words), options, run, result, None, still))
    return made


def _comparable(key: str, options: Mapping[str, str], others: Mapping[str, str]) -> bool:
    axis = key.partition(".")[0]
    return options.get(axis) == others.get(axis)


def _config(run: Path) -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    return {key: value for key, value in config.items() if key not in VOLATILE}


def _options(run: Path, config: Config) -> dict[str, str]:
    """Axis -> option; of runs from before manifests said so, the module of its class."""
    said = RunDir(run).read_json("manifest.json").get("choices") or {}
    return {
        axis: str(said.get(axis) or config[axis]["_target_"].split(".")[-2])
        for axis in AXES
        if axis in config
    }


def _flat(path: str, node: Config) -> Iterator[tuple[str, Any]]:
    for key, value in node.items():
        name = f"{path}.{key}" if path else str(key)
        if isinstance(value, Mapping):
            yield from _flat(name, value)
        elif key != "_target_":
            yield name, value
