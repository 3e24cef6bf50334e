"""Sweeps of experiments/sweeps taken apart as Hydra does it: axes, and the jobs that cover them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import takewhile
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf

from experiments.catalogue import Sweep, sweeps
from judgelab.config.composing import composed_call
from judgelab.config.launch import rehearse

Words = tuple[str, ...]
SWEEPS: list[Sweep] = sweeps()
OVERRIDES = {s.name: tuple(s.command.split()[2:]) for s in SWEEPS}
REHEARSALS = {
    s.name: tuple(rehearse(s.rehearsal.split()[2:])) for s in SWEEPS if s.rehearsal is not None
}


@cache
def of_all_jobs(overrides: Words) -> tuple[DictConfig, Any]:
    """The config by what all jobs share, and Hydra's own node."""
    return composed_call([word for word in overrides if "," not in word])


@cache
def axes(overrides: Words) -> list[list[str]]:
    """Key -> overrides to take in turn, by Hydra's own sweeper."""
    params: Any = OmegaConf.to_container(of_all_jobs(overrides)[1].sweeper.params)
    words = [*(f"{key}={value}" for key, value in params.items()), *overrides]
    [grid] = BasicSweeper.split_arguments(OverridesParser.create().parse_overrides(words), None)
    return [list(dict.fromkeys(column)) for column in zip(*grid, strict=True)]


def covering(overrides: Words) -> list[list[str]]:
    """Jobs of the grid in which every value of every axis occurs."""
    found = axes(overrides)
    return [[axis[k % len(axis)] for axis in found] for k in range(max(map(len, found)))]


def telling(grids: Mapping[str, Words], name: str) -> list[list[str]]:
    """A job of this sweep, and those with a value that neither it nor a sweep before it has."""
    before = takewhile(lambda other: other != name, grids)
    known = {word for other in before for job in covering(grids[other]) for word in job}
    kept: list[list[str]] = []
    for job in covering(grids[name]):
        if not kept or not known.issuperset(job):
            kept.append(job)
            known |= {*job}
    return kept
