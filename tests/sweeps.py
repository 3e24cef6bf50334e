"""Sweeps of experiments/sweeps taken apart as Hydra does it: axes, and the jobs that cover them."""

from __future__ import annotations

from typing import Any

from hydra import compose
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf

from experiments.catalogue import Sweep, sweeps
from judgelab.config.launch import rehearsed

SWEEPS: list[Sweep] = sweeps()
OVERRIDES = {s.name: s.command.split()[2:] for s in SWEEPS}
REHEARSALS = {s.name: rehearsed(s.rehearsal.split()[2:]) for s in SWEEPS if s.rehearsal is not None}


def hydra_config(overrides: list[str]) -> DictConfig:
    """The config of the sweep itself; needs an initialised Hydra."""
    hydra: DictConfig = compose("config", overrides=overrides, return_hydra_config=True).hydra
    return hydra


def axes(overrides: list[str]) -> list[list[str]]:
    """Key -> overrides to take in turn, by Hydra's own sweeper."""
    single = [word for word in overrides if "," not in word]
    params: Any = OmegaConf.to_container(hydra_config(single).sweeper.params)
    words = [*(f"{key}={value}" for key, value in params.items()), *overrides]
    [grid] = BasicSweeper.split_arguments(OverridesParser.create().parse_overrides(words), None)
    return [list(dict.fromkeys(column)) for column in zip(*grid, strict=True)]


def covering(overrides: list[str]) -> list[list[str]]:
    """Jobs of the grid in which every value of every axis occurs."""
    found = axes(overrides)
    return [[axis[k % len(axis)] for axis in found] for k in range(max(map(len, found)))]
