"""What became of the calls of a run that gave nothing usable: each with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

Verb = Literal["chat", "logprob"]
About = tuple[str, ...]
"""Mechanism or step, item, agent, peer or others, as far as there are any."""


@dataclass(frozen=True)
class Unscored:
    """One call without a usable result.

    Attributes:
        judge: the LM's role in the run: evaluation_lm, writer_lm, study.judges.NAME, ...
        verb: what was asked.
        about: what the question is about (mechanism, item, agents), as ``ChatRequest.key``; of a
            log-probability what the mechanism said of it, else the text that was to be scored.
        reason: why there is nothing.
        reply: what the LM wrote, where it wrote something.
        settled: to ask again would be to pay again (refused, unreadable, a final HTTP 4xx); an
            unsettled call (outage, retries exhausted, interrupted) is asked again by the same
            command.
    """

    judge: str
    verb: Verb
    about: About
    reason: str
    reply: str | None = None
    settled: bool = True


class CallOutcomes:
    """The account of all such calls of a run, by the key of the question: each counts once."""

    def __init__(self) -> None:
        self._asked: dict[bytes, About] = {}
        self._unscored: dict[bytes, Unscored] = {}

    def asked(self, calls: Mapping[bytes, About]) -> None:
        """These questions were put, now or earlier."""
        for key, about in calls.items():
            self._asked.setdefault(key, about)

    def about(self, calls: Mapping[bytes, About]) -> None:
        """What these calls are about, where the questions themselves did not say."""
        self._asked.update(calls)

    def note(self, key: bytes, what: Unscored) -> None:
        """This one gave nothing usable."""
        self._asked.setdefault(key, what.about)
        self._unscored[key] = what

    def forget(self) -> None:
        """Begin anew."""
        self._asked.clear()
        self._unscored.clear()

    @property
    def calls(self) -> int:
        """Different questions put."""
        return len(self._asked)

    @property
    def abouts(self) -> Iterable[About]:
        """What each of them is about."""
        return self._asked.values()

    @property
    def by_key(self) -> dict[bytes, Unscored]:
        """All without a usable result, in an order that does not depend on when they ended."""
        return {
            key: replace(what, about=self._asked[key] or what.about)
            for key, what in sorted(self._unscored.items())
        }

    @property
    def unscored(self) -> list[Unscored]:
        """The same without their keys."""
        return list(self.by_key.values())

    @property
    def unsettled(self) -> list[Unscored]:
        """Those of them that the same command asks again."""
        return [what for what in self.unscored if not what.settled]

    @property
    def reasons(self) -> Counter[str]:
        """Reason -> how many calls."""
        return Counter(what.reason for what in self._unscored.values())
