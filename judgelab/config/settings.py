"""What conf/config.yaml holds beside the axes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from judgelab.core.bounds import Count

IF_KNOWN = "if_known"
"""Key of a value that counts only where the class takes it: ``attack.by=lm?``."""


@dataclass(frozen=True)
class Budget:
    """What one run, or all jobs of a sweep, may spend over all executions; None is no bound."""

    max_cost: float | None = None  # in the currency of the price list
    max_calls: int | None = None  # attempts sent, retries included
    prices: str | None = None  # a price list (YAML); None for conf/prices.yaml


@dataclass(frozen=True)
class Paths:
    """Where a run keeps things."""

    root: str  # run directories, sweeps and W&B files lie below it
    cache: str  # the SQLite file of model calls, shared by all runs


@dataclass(frozen=True)
class Frame:
    """What conf/config.yaml holds beside the axes."""

    seed: Annotated[int, Field(ge=0)]  # every random choice derives from it
    limit: Count | None  # use the first so many items; None for all
    force: bool  # run again although a finished run of this config exists
    paths: Paths  # where things are kept
    debug: bool = False  # show where a fault arose, instead of one sentence
    dry_run: bool = False  # only say what would be asked and spent
    budget: Budget = field(default_factory=Budget)  # what a run may spend on paid calls
    # ``unscored`` asks settled calls without a result again; None keeps what came of them
    retry: Literal["unscored"] | None = None
    # whose classes a config may name beside judgelab's
    trusted_packages: list[str] = field(default_factory=list)
    # whose words the prompts are (``config.prompts``)
    prompts: dict[str, Any] = field(default_factory=dict)
    rehearsal: bool = False  # whether stand-ins take part in place of a paper's models and data
    printed: str | None = None  # a file of a paper's own numbers, for the comparison of a sweep
