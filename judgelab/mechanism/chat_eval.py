"""ChatEval: roles of one LM debate before they vote (Auto-PRE paper, baselines and Table 12)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError
from judgelab.core.exchange import CHOICES, Cell, Exchange, no_grade, no_label, pair_questions
from judgelab.core.lm import Capability, ChatRequest, EvaluationLM, Reply
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.reply.grade import stated_grade
from judgelab.core.reply.label import stated_label
from judgelab.core.scores import Scores, filled, measured
from judgelab.core.step import present
from judgelab.mechanism.judge import win_rates
from judgelab.mechanism.protocol import Definition, Mechanism
from judgelab.mechanism.texts import TextMechanism

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

    Raises:
        ConfigError: no role.
    """

    prompt: Prompt  # fields of the questions, role (what the speaker is) and said (the debate)
    roles: dict[str, str] = field(default_factory=dict)  # name -> who that is
    rounds: Count = 2  # of the debate
    temperature: float = 0.0  # of the LM
    max_tokens: int = 256  # upper bound on each reply
    reads = "raw"
    requires = (frozenset({Capability.CHAT}),)

    def __post_init__(self) -> None:
        if not self.roles:
            raise ConfigError(f"mechanism={self.name} needs mechanism.roles.")

    @abstractmethod
    def _questions(self, panel: Panel) -> Iterable[Question]:
        """What is debated."""

    @abstractmethod
    def _read(self, text: str | None) -> float:
        """What a role's last words say; NaN where they decide nothing."""

    @abstractmethod
    def _unread(self, text: str) -> str:
        """Why a role's last words decide nothing."""

    @abstractmethod
    def _together(self, said: Sequence[float]) -> float:
        """What the roles' decisions make together."""

    @abstractmethod
    def _data(self, panel: Panel, outcome: NDArray[np.float64]) -> xr.Dataset:
        """The outcomes [item, agent, peer] by their name."""

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """What every debate came to."""
        said: dict[Cell, list[str]] = {}
        given: dict[Cell, list[float]] = {}

        def heard(_: Cell, reply: Reply) -> float:
            return 0.0 if (reply.text or "").strip() else np.nan

        def decided(_: Cell, reply: Reply) -> float:
            return self._read(reply.text)

        for number in range(self.rounds):
            last = number == self.rounds - 1
            for role in self.roles:
                turn = self._turn(panel, lm, role, number, said)
                found = turn.read(decided if last else heard, lambda _, text: self._unread(text))
                for cell, reply in turn.replies.items():
                    if reply.text is not None:
                        said.setdefault(cell, []).append(f"{role}: {reply.text.strip()}")
                    if last and not np.isnan(found[cell]):
                        given.setdefault(cell, []).append(found[cell])
        outcome = {cell: self._together(each) for cell, each in given.items()}
        agents = len(panel.agents)
        data = self._data(panel, filled((len(panel.items), agents, agents), outcome))
        return data.assign_attrs(prompt=self.prompt.identity)

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
        for cell, key, values in self._questions(panel):
            silence = SILENCE[number > 0].format(number + 1)
            before = "\n\n".join(said.get(cell, ())) or silence
            fields = {"role": f"{role}, {self.roles[role]}", "said": before}
            messages = self.prompt.messages(**values, **fields)
            turn = (*key, role, str(number + 1))
            requests[cell] = ChatRequest(messages, self.temperature, self.max_tokens, key=turn)
        return Exchange.put(lm, requests)


class ChatEval(Debate):
    """Every ordered pair is debated; the verdict is the majority of the roles' last words.

    The prompt's fields are task, source, one, two, role and said.
    """

    name = "chat_eval"
    subject = "choice"

    def _questions(self, panel: Panel) -> Iterable[Question]:
        return pair_questions(panel, self.name)

    def _read(self, text: str | None) -> float:
        return stated_label(text, CHOICES)

    def _unread(self, text: str) -> str:
        return no_label(text, CHOICES)

    def _together(self, said: Sequence[float]) -> float:
        """The majority; .5 where there is none."""
        return float(np.sign(np.mean(said) - 0.5) + 1) / 2

    def _data(self, panel: Panel, outcome: NDArray[np.float64]) -> xr.Dataset:
        """``verdict`` [item, agent, peer]: 1 if agent, shown first, beat peer; NaN if unread."""
        return measured(panel, verdict=(("item", "agent", "peer"), outcome))

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """Win rates, the same under every definition; diagnostics hold position bias."""
        return win_rates(measured["verdict"])


@dataclass(frozen=True)
class ChatEvalPointwise(Debate, TextMechanism):
    """Every answer is debated; its grade is the mean of the roles' last numbers.

    The prompt's fields are task, source, text, low, high, role and said. A number outside the
    scale, or none, leaves that role out; an answer that no role graded is unscored.

    Raises:
        ConfigError: the scale has no length.
    """

    low: float = 1.0  # lowest grade
    high: float = 5.0  # highest grade
    name = "chat_eval_pointwise"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low >= self.high:
            raise ConfigError(f"mechanism.low={self.low} must lie below high={self.high}.")

    def _questions(self, panel: Panel) -> Iterable[Question]:
        scale = {"low": f"{self.low:g}", "high": f"{self.high:g}"}
        for (k, j), text in present(panel).items():
            item, task = panel.items[k], panel.task_description
            key = (self.name, item.id, panel.agents[j].name)
            yield (k, j, j), key, {"task": task, "source": item.source, "text": text} | scale

    def _read(self, text: str | None) -> float:
        return stated_grade(text, self.low, self.high)

    def _unread(self, text: str) -> str:
        return no_grade(text, self.low, self.high)

    def _together(self, said: Sequence[float]) -> float:
        return float(np.mean(said))

    def _data(self, panel: Panel, outcome: NDArray[np.float64]) -> xr.Dataset:
        """``value`` [item, agent]; NaN for absent texts and unread replies."""
        grades = np.diagonal(outcome, axis1=1, axis2=2)
        return measured(panel, value=(("item", "agent"), grades))
