"""An LM at work in a run: behind the cache, and with the account of what it was paid."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgelab.config import Frame
from judgelab.endpoint.meter import Meter
from judgelab.endpoint.prices import price_of
from judgelab.evaluation_lm.cache_replay import CacheReplay
from judgelab.evaluation_lm.cached import Cached, Watch
from judgelab.evaluation_lm.protocol import EvaluationLM
from judgelab.evaluation_lm.remote import Remote
from judgelab.evaluation_lm.replay import Replay
from judgelab.store.cache import CallCache


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
        account: dict[str, Any] = {
            "evaluation_lm": self.asked.identity,
            "facts": dict(self.asked.facts),
        }
        if isinstance(self.asked, Cached):
            count = self.asked.count
            account["calls"] = {"asked": count.asked, "computed": count.computed}
        if self.meter is not None:
            account["meter"] = self.meter.summary()
        return account


def employ(lm: EvaluationLM, settings: Frame, ledger: Path, watch: Watch) -> Employed:
    """Put an LM to work.

    Args:
        ledger: where its paid calls are noted; earlier executions of the run count.
        watch: follows its calls.
    """
    meter = None
    if isinstance(lm, Remote):
        price = price_of(lm.model, settings.budget.prices)
        meter = Meter(ledger, price, settings.budget)
        lm.attach(meter)
    if isinstance(lm, Replay | CacheReplay):
        return Employed(lm, meter)
    return Employed(Cached(lm, CallCache(Path(settings.paths.cache)), watch), meter)


def share_budget(first: Employed, second: Employed) -> None:
    """What the two spend together is held against the run's budget."""
    if first.meter is not None and second.meter is not None:
        first.meter.beside, second.meter.beside = second.meter, first.meter


def spending(*employed: Employed) -> str:
    """What has been spent, for people."""
    meters = [one.meter for one in employed if one.meter is not None]
    return ", ".join(meter.words() for meter in meters)
