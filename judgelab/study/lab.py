"""The parts of one run, built and checked, and the way data flows through them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xarray as xr
import yaml

from judgelab.agents.protocol import Agents
from judgelab.attack.protocol import Attack
from judgelab.capability import Capability
from judgelab.config import build
from judgelab.dataset.protocol import Dataset
from judgelab.errors import CapabilityError, JudgelabError
from judgelab.evaluation_lm.counted import Counted
from judgelab.evaluation_lm.protocol import EvaluationLM
from judgelab.evaluation_lm.replay import Replay
from judgelab.mechanism.protocol import Mechanism
from judgelab.panel import Panel
from judgelab.preprocessor.protocol import Preprocessor
from judgelab.scale.protocol import Spread, alone
from judgelab.store.run_dir import RunDir

LMS = Path(__file__).resolve().parents[2] / "conf" / "evaluation_lm"


def _untold(stage: str, calls: int) -> None:
    """Nobody follows the run."""


@dataclass(frozen=True)
class Lab:
    """One run's dataset, agents, evaluation LM, preprocessor, attack and mechanism.

    ``tell`` is told when a stage begins and how many calls it will make (0: not known);
    ``spread`` has workers answer what a stage would ask, before it asks.
    """

    dataset: Dataset
    agents: Agents
    evaluation_lm: EvaluationLM
    preprocessor: Preprocessor
    attack: Attack
    mechanism: Mechanism
    run_dir: RunDir
    seed: int
    limit: int | None
    tell: Callable[[str, int], None] = _untold
    spread: Spread = alone

    def panels(self) -> dict[str, Panel]:
        """``clean`` and, under an attack, ``attacked``: the same items and agents."""
        self.tell("texts", 0)
        loaded = self.dataset.load(limit=self.limit)
        if self.agents.requires:
            self.spread(lambda lm: self.agents.answer(loaded, lm))
        clean = self.agents.answer(loaded, self.evaluation_lm)
        panels = {"clean": clean}
        if self.attack.name != "none":
            panels["attacked"] = self.attack.apply(clean, seed=self.seed)
        return {state: self._preprocessed(panel) for state, panel in panels.items()}

    def measure(self, panel: Panel) -> xr.Dataset:
        """The mechanism's measurements on a panel: asked of the LM, or read where recorded."""
        if isinstance(self.evaluation_lm, Replay) and self.mechanism.measurement != "text":
            return self.evaluation_lm.recorded(self.mechanism.measurement, panel)
        if self.tell is not _untold and self.mechanism.measurement != "text":
            counted = Counted(self.evaluation_lm)
            self.mechanism.measure(panel, counted, seed=self.seed)
            attack = panel.provenance.get("attack")
            self.tell(f"{self.mechanism.name}{f', {attack}' if attack else ''}", counted.total)
        if self.mechanism.measurement != "text":
            self.spread(lambda lm: self.mechanism.measure(panel, lm, seed=self.seed))
        return self.mechanism.measure(panel, self.evaluation_lm, seed=self.seed)

    def _preprocessed(self, panel: Panel) -> Panel:
        self.spread(lambda lm: self.preprocessor.apply(panel, lm, seed=self.seed))
        return self.preprocessor.apply(panel, self.evaluation_lm, seed=self.seed)


def build_parts(config: Mapping[str, Any]) -> dict[str, Any]:
    """Every axis but the tracker, instantiated (which loads nothing heavy) and matched.

    Raises:
        ConfigError: a key is unknown, missing or of the wrong type.
        CapabilityError: the LM cannot do what the agents or the mechanism need.
    """
    axes = ("dataset", "agents", "evaluation_lm", "preprocessor", "attack", "mechanism", "study")
    parts = {axis: build(config[axis], axis) for axis in axes}
    lm, mechanism, agents = parts["evaluation_lm"], parts["mechanism"], parts["agents"]
    if Capability.RECORDED not in lm.capabilities:
        _check(f"mechanism={mechanism.name}", mechanism.requires, lm)
    _check("agents", (agents.requires,), lm)
    return parts


def _check(who: str, requires: Iterable[frozenset[Capability]], lm: EvaluationLM) -> None:
    options = list(requires)
    if any(needed <= lm.capabilities for needed in options):
        return
    wanted = " or ".join(sorted("+".join(sorted(needed)) for needed in options))
    able = [
        name for name, caps in _available().items() if any(needed <= caps for needed in options)
    ]
    recorded = "no configured LM can; for recorded scores: dataset=released evaluation_lm=replay"
    advice = f"choose evaluation_lm={'|'.join(able)}" if able else recorded
    raise CapabilityError(
        f"{who} needs an evaluation LM that can do {wanted}, but {lm.identity.split()[0]} "
        f"only does {', '.join(sorted(lm.capabilities))}: {advice}."
    )


def _available() -> dict[str, frozenset[Capability]]:
    """Name -> capabilities of every LM in conf/evaluation_lm that can be built as it stands."""
    found = {}
    for path in sorted(LMS.glob("*.yaml")):
        node = yaml.safe_load(path.read_text(encoding="utf-8"))
        try:
            found[path.stem] = build(node, path.stem).capabilities
        except JudgelabError:
            continue  # needs something of the user's (a path, a key): cannot be recommended
    return found
