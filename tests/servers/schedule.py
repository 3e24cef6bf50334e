"""Which request meets which fault: by a share of the calls or of the requests, or in an outage."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.servers.answers import number

TRANSIENT = ("429", "500", "hang", "cut", "drop")
"""Of these only a call's first attempt meets one, unless more are named: ``500x3``, ``500xall``."""
FORM = re.compile(
    r"(?P<mode>\w+?)(=(?P<value>[^@]*?))?(@(?P<share>[\d.]+)(?P<each>/requests)?)?"
    r"(x(?P<times>\d+|all))?"
)


@dataclass(frozen=True)
class Fault:
    """One way to misbehave, and whom it strikes.

    Attributes:
        mode: a name in ``tests.servers.modes``.
        value: what the mode takes (seconds, a factor, ...); empty for its own.
        share: of all calls, or of all requests where ``each``; None for an equal part of the
            server's ``share``.
        times: how many first attempts of a call it strikes; None for every one.
    """

    mode: str
    value: str = ""
    share: float | None = None
    each: bool = False
    times: int | None = None

    @classmethod
    def of(cls, text: str) -> Fault:
        """``MODE[=VALUE][@SHARE[/requests]][xTIMES]``, as in ``429@.05/requests``."""
        found = FORM.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is not MODE[=VALUE][@SHARE[/requests]][xTIMES]")
        mode, times = found["mode"], found["times"]
        if times is None:
            times = "1" if mode in TRANSIENT and not found["each"] else "all"
        share = None if found["share"] is None else float(found["share"])
        strikes = None if times == "all" else int(times)
        return cls(mode, found["value"] or "", share, bool(found["each"]), strikes)


class Schedule:
    """The faults of a server's settings.

    ``faults`` (texts of ``Fault.of``; those without a share of their own have ``share``, .2,
    between them) and ``outage``: {"mode": "503", "after": requests, "requests": how many}; without
    an end until the settings change.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        faults = [Fault.of(text) for text in settings.get("faults", [])]
        self.share = settings.get("share", 0.2)
        self.common = [f for f in faults if f.share is None]
        self.own = [f for f in faults if f.share is not None]
        self.outage = settings.get("outage")
        self.seen, self.requests = Counter[str](), 0

    def continued(self, before: Schedule) -> Schedule:
        """Itself, as far as the other was: settings changed in between."""
        self.seen, self.requests = before.seen, before.requests
        return self

    def strike(self, key: str) -> Fault | None:
        """What this request meets; every request must be asked about, once."""
        self.seen[key] += 1
        self.requests += 1
        if self.outage and self._out(self.outage):
            return Fault.of(f"{self.outage.get('mode', '503')}xall")
        return self._drawn(key)

    def _out(self, outage: Mapping[str, Any]) -> bool:
        nth, length = self.requests - 1, outage.get("requests", float("inf"))
        return bool(outage.get("after", 0) <= nth < outage.get("after", 0) + length)

    def _drawn(self, key: str) -> Fault | None:
        at = {False: number("own", key) % 10_000, True: number("own", self.requests) % 10_000}
        for fault in self.own:
            assert fault.share is not None
            if at[fault.each] < 10_000 * fault.share:
                return self._still(fault, key)
            at[fault.each] -= round(10_000 * fault.share)
        if self.common and number("strike", key) % 1000 < 1000 * self.share:
            return self._still(self.common[number("kind", key) % len(self.common)], key)
        return None

    def _still(self, fault: Fault, key: str) -> Fault | None:
        return fault if fault.times is None or self.seen[key] <= fault.times else None
