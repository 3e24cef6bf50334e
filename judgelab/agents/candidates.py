"""Models that answer every item: the candidates of a leaderboard (GEM paper, section 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from judgelab.agents import Agents
from judgelab.core.bounds import Count, NotNegative
from judgelab.core.errors import ConfigError
from judgelab.core.lm import Capability, ChatRequest, EvaluationLM, is_lm
from judgelab.core.panel import Agent, Panel
from judgelab.core.prompt import Prompt
from judgelab.core.step import write_texts

CHAT = Capability.CHAT


@dataclass(frozen=True)
class Candidates(Agents):
    """Each model writes one response to every item's source, by the prompt of the panel's task.

    The texts that the dataset came with stay in the panel: people are the references and the
    human baseline. A refused or failed reply is None.

    Raises:
        ConfigError: no model, or one that cannot chat.
    """

    models: dict[str, Any]  # candidate -> LM; each is asked through the run's cache and budget
    prompts: dict[str, Any] = field(default_factory=dict)  # task, or other -> Prompt: source, task
    prompt: Prompt | None = None  # instead of these, whatever the task
    temperature: NotNegative = 0.0  # of sampling; 0 in the paper
    max_tokens: Count = 4000  # of a response; 4,000 in the paper

    def __post_init__(self) -> None:
        unfit = [k for k, lm in self.models.items() if not is_lm(lm) or CHAT not in lm.capabilities]
        if unfit or not self.models:
            raise ConfigError(
                f"agents.models.{unfit[0] if unfit else 'NAME'} must be an LM that can chat: add "
                "one with '+evaluation_lm@agents.models.NAME=OPTION'."
            )

    def with_lms(self, use: Callable[[str, EvaluationLM], EvaluationLM]) -> Candidates:
        return replace(self, models={name: use(name, lm) for name, lm in self.models.items()})

    def answer(self, panel: Panel, lm: EvaluationLM) -> Panel:
        """The panel with one more agent per model; a ConfigError where one has the name of an agent
        of the dataset, or no prompt is there."""
        prompt = self.prompt or self.prompts.get(panel.task) or self.prompts.get("other")
        if prompt is None:
            raise ConfigError(
                f"agents.prompts has none for the task {panel.task!r}, and no 'other': give "
                "agents.prompt.file=FILE."
            )
        clashes = {agent.name for agent in panel.agents} & self.models.keys()
        if clashes:
            raise ConfigError(
                f"agents.models.{sorted(clashes)[0]}: the dataset has an agent of that name; call "
                "the candidate something else."
            )
        columns, unanswered = list[list[str | None]](), Counter[str]()
        for name, model in self.models.items():
            requests = {
                k: ChatRequest(
                    prompt.messages(source=item.source, task=panel.task_description),
                    self.temperature,
                    self.max_tokens,
                    key=("agents", item.id, name),
                )
                for k, item in enumerate(panel.items)
            }
            replies = write_texts(model, requests).values()
            unanswered.update(f"{name}: {one.reason}" for one in replies if not one.text)
            columns.append([one.text for one in replies])
        agents = [
            Agent(name, meta={"kind": "model", "identity": model.identity})
            for name, model in self.models.items()
        ]
        rows = zip(panel.texts, zip(*columns, strict=True), strict=True)
        return panel.with_agents(
            (*panel.agents, *agents),
            tuple((*texts, *answers) for texts, answers in rows),
            agents=f"candidates ({', '.join(self.models)})",
            agents_prompt=prompt.identity,
            agents_unanswered=dict(sorted(unanswered.items())),
        )
