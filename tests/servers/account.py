"""What a server saw, out of its log: the yardstick for what the client says of itself."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PER = 1_000_000


@dataclass(frozen=True)
class Account:
    """Counts over a log.

    Attributes:
        requests: arrived.
        calls: different ones among them.
        charged: requests whose work was done, whatever arrived of the answer.
        charged_again: of these, those of calls that had been charged before.
        answered: whole answers with status 200.
        input_tokens, output_tokens: true ones of all that was charged.
        faults: mode -> requests that met it.
        leaked: requests at the address that redirects lead to.
        times: of arrival, in seconds.
    """

    requests: int
    calls: int
    charged: int
    charged_again: int
    answered: int
    input_tokens: int
    output_tokens: int
    faults: Counter[str]
    leaked: int
    times: list[float]

    @classmethod
    def read(cls, log: Path) -> Account:
        """The account of a log that may still be written."""
        by: dict[str, list[dict[str, Any]]] = {}
        for event in entries(log):
            by.setdefault(event["event"], []).append(event)
        seen, charged = by.get("seen", []), by.get("charged", [])
        return cls(
            requests=len(seen),
            calls=len({e["key"] for e in seen}),
            charged=len(charged),
            charged_again=len(charged) - len({e["key"] for e in charged}),
            answered=sum(e["status"] == 200 for e in by.get("answered", [])),
            input_tokens=sum(e["tokens"][0] for e in charged),
            output_tokens=sum(e["tokens"][1] for e in charged),
            faults=Counter(e["mode"] for e in by.get("fault", [])),
            leaked=len(by.get("leaked", [])),
            times=sorted(e["at"] for e in seen),
        )

    def cost(self, input_price: float, output_price: float) -> float:
        """The true one, at prices per million tokens."""
        return (self.input_tokens * input_price + self.output_tokens * output_price) / PER


def entries(log: Path) -> list[dict[str, Any]]:
    """A log's entries; a line that is being written is left out."""
    if not log.exists():
        return []
    whole = log.read_bytes().rpartition(b"\n")[0]
    return [json.loads(line) for line in whole.splitlines()]
