"""Runs with open calls: what they have is kept as partial, and the same command completes it."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass
from typing import Any

from judgelab.calls.caller import stamp
from judgelab.calls.log import CallLog
from judgelab.core.errors import JudgelabError, PartialRunError
from judgelab.engine.unscored import grouped
from judgelab.store.run_dir import RunDir

FAILED = ("HTTP ", "malformed answer")
"""How reasons begin of settled calls whose answers were not a model's."""


@dataclass(frozen=True)
class Partial:
    """What is open of a run.

    Attributes:
        open: calls that the same command asks again.
        calls: different calls of the run, open ones among them.
        reasons: why they are open -> how many.
        until: when a server wants to be asked again, in UTC; None where none said so.
    """

    open: int
    calls: int
    reasons: dict[str, int]
    until: str | None

    @property
    def sentence(self) -> str:
        """For the top of page and console."""
        wait = f" not before {self.until}" if self.until else ""
        return (
            f"PARTIAL: {self.open:,} of {self.calls:,} calls are open ({_said(self.reasons)}), and "
            f"all numbers lack them: the same command asks these alone again{wait}."
        )

    def marked(self, result: dict[str, Any]) -> dict[str, Any]:
        """A result with the mark and the sentence."""
        mark = {"open": self.open, "calls": self.calls, "reasons": self.reasons}
        notes = [self.sentence, *result["notes"]]
        mark |= {"until": self.until, "sentence": self.sentence}
        return result | {"notes": notes, "partial": mark}


def partial(log: CallLog, until: float | None) -> Partial | None:
    """What is open of a run; None where every call is settled.

    Raises:
        JudgelabError: no call was answered, so there is nothing to show.
    """
    failed = [w for w in log.unscored if not w.settled or str(w.reason).startswith(FAILED)]
    counts = dict(Counter(_kind(str(what.reason)) for what in failed).most_common())
    wait = stamp(until) if until else None
    if failed and len(failed) == log.calls:
        again = f" not before {wait}" if wait else ""
        settled = all(what.settled for what in failed)
        mend = " with retry=unscored, once the cause is mended" if settled else again
        raise JudgelabError(
            f"None of {len(failed):,} calls was answered ({_said(counts)}): ask again{mend}."
        )
    still = Counter(_kind(str(what.reason)) for what in log.unsettled)
    if not still:
        return None
    return Partial(still.total(), log.calls, dict(still.most_common()), wait)


def nothing_yet(found: Partial, cause: Exception) -> PartialRunError:
    """Where a study cannot work with what there is."""
    said = " ".join(str(cause).split())
    return PartialRunError(f"{found.sentence} There is no result yet ({said})")


def forget(run_dir: RunDir) -> None:
    """Take away what a report of an earlier execution left and this one may lack."""
    for name in ("tables", "figures"):
        shutil.rmtree(run_dir.path / name, ignore_errors=True)


def _kind(reason: str) -> str:
    """The reason without what differs from call to call; why nothing was sent is one for all."""
    return reason if reason.startswith("not sent: ") else grouped(reason)


def _said(reasons: dict[str, int]) -> str:
    kinds = [f"{reason} ({count:,})" for reason, count in list(reasons.items())[:3]]
    if rest := sum(list(reasons.values())[3:]):
        kinds.append(f"other reasons ({rest:,})")
    return "; ".join(kinds)
