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
    """What one run, or all jobs of a sweep, may spend over all executions; None is no bound.

    Attributes:
        max_cost: in the currency of the price list.
        max_calls: attempts sent, retries included.
        prices: a price list (YAML); None for conf/prices.yaml.
    """

    max_cost: float | None = None
    max_calls: int | None = None
    prices: str | None = None


@dataclass(frozen=True)
class Debug:
    """What helps to find a fault; it changes no number.

    Attributes:
        traceback: show where a fault arose, instead of one sentence.
    """

    traceback: bool = False


@dataclass(frozen=True)
class Paths:
    """Where a run keeps things.

    Attributes:
        root: run directories, sweeps and W&B files lie below it.
        cache: the SQLite file of model calls, shared by all runs.
    """

    root: str
    cache: str


@dataclass(frozen=True)
class Frame:
    """What conf/config.yaml holds beside the axes.

    Attributes:
        seed: every random choice derives from it.
        limit: use the first so many items; None for all.
        force: run again although a finished run of this config exists.
        retry: ``unscored`` asks settled calls without a result again; None keeps what came of them.
        debug: what helps to find a fault.
        on_error: in a sweep, whether later jobs run after one failed.
        dry_run: only say what would be asked and spent.
        budget: what a run may spend on paid calls.
        paths: where things are kept.
        trusted_packages: whose classes a config may name beside judgelab's.
        prompts: whose words the prompts are (``config.prompts``).
        rehearsal: whether stand-ins take part in place of a paper's models and data.
        printed: a file of a paper's own numbers, for the comparison of a sweep.
    """

    seed: Annotated[int, Field(ge=0)]
    limit: Count | None
    force: bool
    debug: Debug
    on_error: Literal["continue", "stop"]
    paths: Paths
    dry_run: bool = False
    budget: Budget = field(default_factory=Budget)
    retry: Literal["unscored"] | None = None
    trusted_packages: list[str] = field(default_factory=list)
    prompts: dict[str, Any] = field(default_factory=dict)
    rehearsal: bool = False
    printed: str | None = None
