"""What a sweep is called, so that one that was interrupted continues under its name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf

from judgelab.store.fingerprint import VOLATILE
from judgelab.store.run_dir import RunDir

FILE = "sweep.json"
LONGEST = 100  # characters of a name; W&B refuses groups of more than 128


@dataclass(frozen=True)
class SweepName:
    """What a multirun is called and what its jobs differ in: written at its start, read by its
    jobs.
    """

    # the folder's, where the user named it. Else the paper's sweep, or what is varied and on which
    # data, with six digits that are the same whenever the same sweep runs again: so one that was
    # interrupted continues in its group.
    name: str
    varies: tuple[str, ...]  # keys of the settings that its jobs differ in

    @classmethod
    def of(cls, config: DictConfig, *, named: bool) -> SweepName:
        """Of the config that Hydra composed for a multirun.

        Args:
            config: with the node ``hydra``.
            named: whether the user chose the folder.
        """
        given = list(_settings(config))
        varies = [key for key, _, many in given if many]
        if named:
            return cls(Path(config.hydra.sweep.dir).name, tuple(varies))
        chosen = OmegaConf.select(config, "hydra.runtime.choices") or {}
        said = chosen.get("sweep") or " × ".join(key.rpartition(".")[2] for key in varies)
        if not chosen.get("sweep") and "dataset" not in varies:
            said = f"{said} on {chosen.get('dataset')}" if said else str(chosen.get("dataset"))
        kept = json.dumps([said, *sorted(words for _, words, _ in given)])
        digits = hashlib.sha256(kept.encode()).hexdigest()[:6]
        return cls(f"{said[:LONGEST]} {digits}", tuple(varies))

    @classmethod
    def read(cls, folder: Path) -> SweepName:
        """As ``write`` left it; by its folder's name, where it did not."""
        try:
            found = json.loads((folder / FILE).read_text(encoding="utf-8"))
            return cls(found["name"], tuple(found["varies"]))
        except (OSError, ValueError):
            return cls(folder.name, ())

    def write(self, folder: Path) -> None:
        """For the jobs, which may run in other processes."""
        RunDir(folder).write_json(FILE, asdict(self))


def _settings(config: DictConfig) -> Iterator[tuple[str, str, bool]]:
    """(key, its words, whether there are several values), of all that can change a number."""
    words: list[str] = list(OmegaConf.select(config, "hydra.overrides.task") or ())
    params: Any = OmegaConf.select(config, "hydra.sweeper.params") or {}
    words += [f"{key}={value}" for key, value in params.items()]
    for one in OverridesParser.create().parse_overrides(words):
        key = one.get_key_element().lstrip("+~")
        if key.partition(".")[0] not in VOLATILE:
            yield key, str(one.input_line), one.is_sweep_override()
