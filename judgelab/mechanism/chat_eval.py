"""ChatEval: roles debate before they vote (Auto-PRE paper, baselines and Table 12)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import xarray as xr

from judgelab.core.capability import Capability
from judgelab.core.closed_questions import CHOICES, Cell, pair_questions
from judgelab.core.errors import ConfigError
from judgelab.core.lm import ChatRequest, EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.parse_reply import Which, read_choice
from judgelab.core.prompt import Prompt
from judgelab.core.scores import Scores, measured
from judgelab.mechanism.judge import win_rates
from judgelab.mechanism.protocol import Definition, Mechanism, Reads, Subject

SILENCE = ("Nobody has spoken yet.", "Nobody has spoken so far; this is round {}.")
"""In the first round, and in later ones: a debate without a reply goes on."""


@dataclass(frozen=True)
class ChatEval(Mechanism):
    """Every ordered pair is debated for some rounds, one speaker after the other.

    One LM plays all roles. Each speaker sees what was said before it; one whose reply fails is
    silent, and the others go on. The verdict is the majority of the roles' last words in the last
    round; a role that names no answer there has no vote.

    Args:
        prompt: fields task, source, one, two, role (what the speaker is), said (the debate).
        roles: name -> who that is.
        rounds: of the debate.
        which: of several labels in a reply, the first or the last counts.
        temperature: of the LM.
        max_tokens: upper bound on each reply.
        reads: which texts: raw, or preprocessed.

    Raises:
        ConfigError: no role, or no round.
    """

    prompt: Prompt
    roles: dict[str, str] = field(default_factory=dict)
    rounds: int = 2
    which: Which = "last"
    temperature: float = 0.0
    max_tokens: int = 256
    reads: Reads = "raw"
    name: ClassVar[str] = "chat_eval"
    subject: ClassVar[Subject] = "choice"
    requires: ClassVar[tuple[frozenset[Capability], ...]] = (frozenset({Capability.CHAT}),)

    def __post_init__(self) -> None:
        if not self.roles or self.rounds < 1:
            raise ConfigError("mechanism=chat_eval needs mechanism.roles and a round at least.")

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``verdict`` [item, agent, peer]: 1 if agent, shown first, beat peer; NaN if unread."""
        said: dict[Cell, list[str]] = {}
        votes: dict[Cell, list[float]] = {}
        for number in range(self.rounds):
            for role in self.roles:
                for cell, text in self._turn(panel, lm, role, number, said).items():
                    said.setdefault(cell, []).append(f"{role}: {text.strip()}")
                    label = read_choice(text, CHOICES, self.which)
                    if number == self.rounds - 1 and label is not None:
                        votes.setdefault(cell, []).append(CHOICES[label])
        verdict = np.full((len(panel.items), len(panel.agents), len(panel.agents)), np.nan)
        for cell, given in votes.items():
            verdict[cell] = (np.sign(np.mean(given) - 0.5) + 1) / 2
        data = measured(panel, verdict=(("item", "agent", "peer"), verdict))
        return data.assign_attrs(prompt=self.prompt.identity)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """Win rates, the same under every definition; diagnostics hold position bias."""
        return win_rates(measured["verdict"])

    def _turn(
        self,
        panel: Panel,
        lm: EvaluationLM,
        role: str,
        number: int,
        said: dict[Cell, list[str]],
    ) -> dict[Cell, str]:
        """What the role says about every pair; one batch."""
        cells, requests = [], []
        debate = {cell: "\n\n".join(lines) for cell, lines in said.items()}
        for cell, key, values in pair_questions(panel, self.name):
            silence = SILENCE[number > 0].format(number + 1)
            fields = {"role": f"{role}, {self.roles[role]}", "said": debate.get(cell, silence)}
            messages = self.prompt.messages(**values, **fields)
            turn = (*key, role, str(number + 1))
            requests.append(ChatRequest(messages, self.temperature, self.max_tokens, key=turn))
            cells.append(cell)
        replies = lm.chat(requests) if requests else []
        return {
            cell: reply.text
            for cell, reply in zip(cells, replies, strict=True)
            if reply.text is not None
        }
