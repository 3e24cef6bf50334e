"""How a run was called for: by a command line, as a job of a multirun, or from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig

from judgelab.config import AXES


@dataclass(frozen=True)
class Invocation:
    """What is true of a call, and changes no number.

    Attributes:
        words: overrides, as on a command line; None where the config did not come from words.
        choices: config group -> option; empty where that is not known.
        folders: of configs, that the command line named.
        local: whether settings of conf/local took part, which no command line has.
        job, sweep: the job's folder within a multirun, and that of the multirun; or None.
        quiet: leave it to the caller to show what was found.
    """

    words: Sequence[str] | None = None
    choices: Mapping[str, str] = field(default_factory=dict)
    folders: Sequence[str] = ()
    local: bool = False
    job: Path | None = None
    sweep: Path | None = None
    quiet: bool = False

    @classmethod
    def of(cls, hydra: Any, **rest: Any) -> Invocation:
        """Of the ``hydra`` node of a composed config."""
        sources = [source for source in hydra.runtime.config_sources if source.schema == "file"]
        return cls(
            words=list(hydra.overrides.task),
            choices={str(key): str(value) for key, value in hydra.runtime.choices.items()},
            folders=[source.path for source in sources if source.provider == "command-line"],
            local=any(Path(source.path, "local", "default.yaml").exists() for source in sources),
            **rest,
        )

    @classmethod
    def under_hydra(cls, job: Path | None = None) -> Invocation:
        """Of the Hydra job under way, if there is one."""
        if not HydraConfig.initialized():
            return cls(job=job)
        hydra = HydraConfig.get()
        return cls.of(hydra, job=job, sweep=None if job is None else Path(hydra.sweep.dir))

    @property
    def overrides(self) -> list[str] | None:
        """What composes the config again on the command line; None where nothing does."""
        if self.words is None or self.local:
            return None
        return [*(f"--config-dir={folder}" for folder in self.folders), *self.words]

    def option(self, axis: str, config: Mapping[str, Any]) -> str:
        """The option chosen on an axis; where that is not known, the module of its class."""
        found = self.choices.get(axis) if self.choices else None
        return str(config[axis]["_target_"]).split(".")[-2] if found is None else found

    def options(self, config: Mapping[str, Any]) -> dict[str, str]:
        """Axis -> option."""
        return {axis: self.option(axis, config) for axis in AXES}
