"""The LMs of a run at work: behind the cache, and with the account of what they were paid."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgelab.config import Frame
from judgelab.core.lm import EvaluationLM
from judgelab.endpoint.meter import Meter
from judgelab.endpoint.prices import price_of
from judgelab.endpoint.remote import Remote
from judgelab.evaluation_lm.cache_replay import CacheReplay
from judgelab.evaluation_lm.replay import Replay
from judgelab.report.progress import Progress
from judgelab.store.cache import CallCache
from judgelab.store.cached_lm import Cached

FIRST = "evaluation_lm"


@dataclass(frozen=True)
class Employed:
    """One LM of a run.

    Attributes:
        asked: the LM as the run asks it: cached, unless its answers are recorded ones.
        meter: of its paid calls; None where calls cost nothing.
    """

    asked: EvaluationLM
    meter: Meter | None

    def account(self) -> dict[str, Any]:
        """Who it was, how scoring went, what was asked and what it cost; for the manifest."""
        account: dict[str, Any] = {FIRST: self.asked.identity, "facts": dict(self.asked.facts)}
        if isinstance(self.asked, Cached):
            count = self.asked.count
            account["calls"] = {"asked": count.asked, "computed": count.computed}
        if self.meter is not None:
            account["meter"] = self.meter.summary()
        return account


class Crew:
    """All LMs of a run, by role: ``evaluation_lm``, ``writer_lm``, ``agents.models.NAME``,
    ``study.judges.NAME``.

    What they spend together is held against the run's one budget. Each keeps a file of its paid
    calls in ``folder``; what earlier executions of the run wrote there counts.
    """

    def __init__(self, settings: Frame, folder: Path) -> None:
        self._settings, self._folder = settings, folder
        self._hands: dict[str, Employed] = {}
        self.progress = Progress(self._spending)

    def employ(self, role: str, lm: EvaluationLM) -> EvaluationLM:
        """Put an LM to work; returns it as the run is to ask it."""
        meter = self._meter(role, lm) if isinstance(lm, Remote) else None
        asked = lm
        if not isinstance(lm, Replay | CacheReplay):
            asked = Cached(lm, CallCache(Path(self._settings.paths.cache)), self.progress)
        self._hands[role] = Employed(asked, meter)
        return asked

    def accounts(self) -> dict[str, Any]:
        """The evaluation LM's account, and the others' under their roles."""
        rest = {role: hand.account() for role, hand in self._hands.items() if role != FIRST}
        return self._hands[FIRST].account() | rest

    def close(self) -> None:
        """Give everything back."""
        self.progress.close()
        for hand in self._hands.values():
            hand.asked.close()

    def _meter(self, role: str, lm: Remote) -> Meter:
        budget = self._settings.budget
        meter = Meter(self._folder / calls_file(role), price_of(lm.model, budget.prices), budget)
        others = [hand.meter for hand in self._hands.values() if hand.meter is not None]
        for other in others:
            other.beside.append(meter)
        meter.beside = others
        lm.attach(meter)
        return meter

    def _spending(self) -> str:
        meters = [hand.meter for hand in self._hands.values() if hand.meter is not None]
        return ", ".join(meter.words() for meter in meters)


def calls_file(role: str) -> str:
    """The file of a role's paid calls: another one for each role, whatever a model is called."""
    if role == FIRST:
        return "calls.jsonl"
    name = role.removeprefix("agents.models.").replace("study.judges.", "judge_")
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    mark = "" if plain == name else f"-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return f"calls_{plain}{mark}.jsonl"
