"""The LMs of a run at work: behind the cache, and with the account of what they were paid."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judgelab.calls.budget import Ledger, budget_file
from judgelab.calls.cache import CallCache
from judgelab.calls.cached import Cached
from judgelab.calls.log import CallLog
from judgelab.calls.meter import Meter, together
from judgelab.calls.models import change, warning
from judgelab.calls.remote import Remote
from judgelab.config import Frame
from judgelab.core.lm import EvaluationLM
from judgelab.core.result import Result, Value
from judgelab.report.progress import Progress
from judgelab.scale.local import Scale, Spread
from judgelab.scale.parent import nobody, watch

FIRST = "evaluation_lm"


@dataclass(frozen=True)
class ModelInUse:
    """One LM of a run."""

    cached: Cached  # the LM as the run asks it
    meter: Meter | None  # of its paid calls; None where calls cost nothing

    @property
    def models(self) -> Mapping[str, int]:
        """What answered, as servers call it -> calls; 0 where only attempts are known by name."""
        return self.cached.models or dict.fromkeys(self.meter.models if self.meter else (), 0)

    def account(self) -> dict[str, Any]:
        """Who it was, how scoring went, what was asked and what it cost; for the manifest."""
        cached = self.cached
        account: dict[str, Any] = {FIRST: cached.identity, "facts": dict(cached.facts)}
        account["calls"] = dict(cached.count)
        if cached.cache.damaged:
            account["damaged_rows"] = cached.cache.damaged
        if self.meter is not None:
            account["meter"] = self.meter.summary()
        return account


class Models:
    """All LMs of a run, by role: ``evaluation_lm``, ``writer_lm``, ``agents.models.NAME``,
    ``study.judges.NAME`` and others that a study names.

    What they spend together is held against the run's one budget. Each keeps a file of its paid
    calls in ``folder``; what earlier executions of the run wrote there counts. The jobs of a sweep
    share one budget, and end with the process that started them.

    Args:
        sweep: the folder of the sweep whose job the run is.
    """

    def __init__(self, settings: Frame, folder: Path, sweep: Path | None = None) -> None:
        self._settings, self._folder = settings, folder
        self._in_use: dict[str, ModelInUse] = {}
        self._watch = None if sweep is None else watch(sweep)
        shared = None if sweep is None else budget_file(Path(settings.paths.cache), sweep)
        self._ledger = Ledger(shared)
        if self._watch is not None:
            self._watch.busy = self._under_way
        self.progress = Progress(self._spending)
        self.log = CallLog()

    def use(self, role: str, lm: EvaluationLM) -> EvaluationLM:
        """Take an LM into use; returns it as the run is to ask it."""
        meter = self._meter(role, lm) if isinstance(lm, Remote) else None
        cache = CallCache(Path(self._settings.paths.cache))
        cached = Cached(lm, cache, self.progress, self.log, role)
        self._in_use[role] = ModelInUse(cached, meter)
        return cached

    def spread(self, scale: Scale, role: str, node: Mapping[str, Any]) -> Spread:
        """How workers answer for the LM of a role."""
        return scale.over(node, self._in_use[role].cached)

    def paid(self, role: str) -> bool:
        """Whether calls of a role's LM go to an endpoint."""
        return self._in_use[role].meter is not None

    @property
    def until(self) -> float | None:
        """When servers want to be asked again (seconds since 1970); None: they do not say."""
        lms = [one.cached.unwrapped for one in self._in_use.values()]
        times = [lm.until for lm in lms if isinstance(lm, Remote) and lm.until is not None]
        return max(times, default=None)

    def ask_again(self) -> None:
        """Forget what came of settled calls without a result, so that they are asked once more."""
        keys = [key for key, what in self.log.by_key.items() if what.settled]
        for one in self._in_use.values():
            one.cached.ask_again(keys)
        self.log.forget()

    def accounts(self) -> dict[str, Any]:
        """The evaluation LM's account, and the others' under their roles."""
        rest = {role: one.account() for role, one in self._in_use.items() if role != FIRST}
        return self._in_use[FIRST].account() | rest

    def with_answered(self, result: Result) -> Result:
        """The result with a warning where another model answered than was asked for."""
        warnings, changes = list[str](), list[str]()
        for role, one in self._in_use.items():
            if one.meter is not None:
                other = warning(role, one.meter.model, one.models)
                changed = change(role, one.models)
                warnings += filter(None, [other])
                changes += filter(None, [changed])
        summary: dict[str, Value] = {"model_warning": " ".join(warnings)} if warnings else {}
        notes = [*warnings, *result.notes, *changes]
        return replace(result, notes=notes, summary={**result.summary, **summary})

    def close(self) -> None:
        """Give everything back."""
        self.progress.close()
        for one in self._in_use.values():
            one.cached.close()
        self._ledger.close()

    def _meter(self, role: str, lm: Remote) -> Meter:
        budget = self._settings.budget
        file, price = calls_file(role), lm.priced(budget.prices)
        name = f"{self._folder.name}/{file}"
        gone = nobody if self._watch is None else self._watch.gone
        meter = Meter(self._folder / file, price, budget, self._ledger, name, lm.model, gone)
        lm.attach(meter, self.progress.tell)
        return meter

    def _under_way(self) -> int:
        return sum(one.meter.under_way for one in self._in_use.values() if one.meter is not None)

    def _spending(self) -> str:
        return together([one.meter for one in self._in_use.values() if one.meter is not None])


def calls_file(role: str) -> str:
    """The file of a role's paid calls: another one for each role, whatever a model is called."""
    if role == FIRST:
        return "calls.jsonl"
    name = role.removeprefix("agents.models.").replace("study.judges.", "judge_")
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    mark = "" if plain == name else f"-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return f"calls_{plain}{mark}.jsonl"
