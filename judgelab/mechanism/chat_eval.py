"""ChatEval: roles of one LM debate before they vote (Auto-PRE paper, baselines and Table 12)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TypeVar

import numpy as np
import xarray as xr

from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError
from judgelab.core.lm import Capability, ChatRequest, EvaluationLM, Exchange, Reply
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.reply.grade import no_grade, stated_grade
from judgelab.core.reply.label import no_label, stated_label
from judgelab.core.scores import PAIR, TEXT, Scores, measured
from judgelab.core.step import present
from judgelab.mechanism.judge import CHOICES, pair_questions, win_rates
from judgelab.mechanism.protocol import Definition, Mechanism
from judgelab.mechanism.texts import TextMechanism

Key = TypeVar("Key", bound=Hashable)

SILENCE = ("Nobody has spoken yet.", "Nobody has spoken so far; this is round {}.")
"""In the first round, and in later ones: a debate without a reply goes on."""


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

    def debated(
        self,
        lm: EvaluationLM,
        questions: Iterable[tuple[Key, tuple[str, ...], Mapping[str, str]]],
        read: Callable[[str | None], float],
        why: Callable[[str], str],
    ) -> dict[Key, list[float]]:
        """What the roles' last words say on each question that any of them decides. ``questions``
        are cells, and key and fields of their requests; ``read`` is what last words say, NaN where
        they decide nothing, and ``why`` the reason then."""

        def spoken(_: Key, reply: Reply) -> float:
            return 0.0 if (reply.text or "").strip() else np.nan

        def decided(_: Key, reply: Reply) -> float:
            return read(reply.text)

        cells = list(questions)
        debate: dict[Key, list[str]] = {cell: [] for cell, *_ in cells}
        votes: dict[Key, list[float]] = {}
        for number, (role, about) in product(range(self.rounds), self.roles.items()):
            requests = {}
            for cell, key, values in cells:
                before = "\n\n".join(debate[cell]) or SILENCE[number > 0].format(number + 1)
                messages = self.prompt.messages(**values, role=f"{role}, {about}", said=before)
                turn = (*key, role, str(number + 1))
                requests[cell] = ChatRequest(messages, self.temperature, self.max_tokens, key=turn)
            exchange, last = Exchange.ask(lm, requests), number == self.rounds - 1
            vote = exchange.read(decided if last else spoken, lambda _, text: why(text))
            for cell, reply in exchange.replies.items():
                if reply.text is not None:
                    debate[cell].append(f"{role}: {reply.text.strip()}")
                if last and not np.isnan(vote[cell]):
                    votes.setdefault(cell, []).append(vote[cell])
        return votes


class ChatEval(Debate):
    """Every ordered pair is debated; the verdict is the majority of the roles' last words, .5
    where there is none.

    The prompt's fields are task, source, one, two, role and said.
    """

    name = "chat_eval"
    subject = "choice"

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``verdict`` [item, agent, peer]: 1 if agent, shown first, beat peer; NaN if unread."""
        votes = self.debated(
            lm,
            pair_questions(panel, self.name),
            lambda text: stated_label(text, CHOICES),
            lambda text: no_label(text, CHOICES),
        )
        majority = {k: float(np.sign(np.mean(each) - 0.5) + 1) / 2 for k, each in votes.items()}
        data = measured(panel, verdict=(PAIR, majority))
        return data.assign_attrs(prompt=self.prompt.identity)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
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

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``value`` [item, agent]; NaN for absent texts and unread replies."""
        task, scale = panel.task_description, {"low": f"{self.low:g}", "high": f"{self.high:g}"}
        questions = []
        for (k, j), text in present(panel).items():
            item, agent = panel.items[k], panel.agents[j]
            fields = {"task": task, "source": item.source, "text": text, **scale}
            questions.append(((k, j), (self.name, item.id, agent.name), fields))
        grades = self.debated(
            lm,
            questions,
            lambda text: stated_grade(text, self.low, self.high),
            lambda text: no_grade(text, self.low, self.high),
        )
        means = {cell: float(np.mean(each)) for cell, each in grades.items()}
        return measured(panel, value=(TEXT, means)).assign_attrs(prompt=self.prompt.identity)
