"""Roles of one LM debate before they decide: what ChatEval's two forms share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np
import xarray as xr

from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError
from judgelab.core.exchange import Cell, Exchange, Why
from judgelab.core.lm import Capability, ChatRequest, EvaluationLM, Reply
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.reply.choice import Reading
from judgelab.core.scores import measured, with_calls
from judgelab.mechanism.protocol import Mechanism, Reads

SILENCE = ("Nobody has spoken yet.", "Nobody has spoken so far; this is round {}.")
"""In the first round, and in later ones: a debate without a reply goes on."""

Question = tuple[Cell, tuple[str, ...], Mapping[str, str]]
"""(item, agent, peer), where an agent by itself is its own peer; key and fields of a request."""


@dataclass(frozen=True)
class Debate(Mechanism):
    """Every question is debated for some rounds, one speaker after the other.

    One LM plays all roles. Each speaker sees what was said before it; one whose reply fails is
    silent, and the others go on. The roles' last words in the last round count; a role that
    decides nothing there has no part.

    Args:
        prompt: fields of the questions, role (what the speaker is) and said (the debate).
        roles: name -> who that is.
        rounds: of the debate.
        which: the decision that a reply states, or the first or the last that it holds.
        temperature: of the LM.
        max_tokens: upper bound on each reply.
        reads: which texts: raw, or preprocessed.

    Raises:
        ConfigError: no role.
    """

    prompt: Prompt
    roles: dict[str, str] = field(default_factory=dict)
    rounds: Count = 2
    which: Reading = "stated"
    temperature: float = 0.0
    max_tokens: int = 256
    reads: Reads = "raw"
    requires: ClassVar[tuple[frozenset[Capability], ...]] = (frozenset({Capability.CHAT}),)

    def __post_init__(self) -> None:
        if not self.roles:
            raise ConfigError(f"mechanism={self.name} needs mechanism.roles.")

    @abstractmethod
    def questions(self, panel: Panel) -> Iterable[Question]:
        """What is debated."""

    @abstractmethod
    def read(self, text: str) -> float:
        """What a role's last words say; NaN where they decide nothing."""

    @property
    @abstractmethod
    def unread(self) -> Why:
        """Why a role's last words decide nothing."""

    @abstractmethod
    def outcome(self, panel: Panel, given: Mapping[Cell, list[float]]) -> xr.DataArray:
        """What the roles' decisions on each question make together."""

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``outcome``, and what became of every call."""
        said: dict[Cell, list[str]] = {}
        given: dict[Cell, list[float]] = {}
        calls: list[tuple[Cell, float, bool]] = []
        for number in range(self.rounds):
            last = number == self.rounds - 1
            for role in self.roles:
                turn = self._turn(panel, lm, role, number, said)
                read = turn.read(partial(self._said, last), lambda _: self.unread)
                for (cell, value), reply in zip(read.items(), turn.replies.values(), strict=True):
                    if reply.text is not None:
                        said.setdefault(cell, []).append(f"{role}: {reply.text.strip()}")
                    calls.append((cell, value, reply.text is not None))
                    if last and not np.isnan(value):
                        given.setdefault(cell, []).append(value)
        found = self.outcome(panel, given)
        dims = tuple(map(str, found.dims))
        data = measured(panel, **{str(found.name): (dims, found.values)})
        data = data.assign_attrs(prompt=self.prompt.identity)
        if not calls:
            return data
        cells, values, answered = zip(*calls, strict=True)
        return with_calls(data, np.array(cells), values, answered)

    def _turn(
        self,
        panel: Panel,
        lm: EvaluationLM,
        role: str,
        number: int,
        said: Mapping[Cell, list[str]],
    ) -> Exchange[Cell]:
        """What the role says on every question; one batch."""
        requests = {}
        for cell, key, values in self.questions(panel):
            silence = SILENCE[number > 0].format(number + 1)
            before = "\n\n".join(said.get(cell, ())) or silence
            fields = {"role": f"{role}, {self.roles[role]}", "said": before}
            messages = self.prompt.messages(**values, **fields)
            turn = (*key, role, str(number + 1))
            requests[cell] = ChatRequest(messages, self.temperature, self.max_tokens, key=turn)
        return Exchange.put(lm, requests)

    def _said(self, last: bool, _: Cell, reply: Reply) -> float:
        """What words say: the last ones a decision, others anything at all."""
        text = reply.text or ""
        return self.read(text) if last else 0.0 if text.strip() else np.nan
