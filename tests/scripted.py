"""Evaluation LMs that answer by a rule, behind the same interface as real ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from judgelab.core.lm import (
    Capability,
    ChatRequest,
    EvaluationLM,
    LogProb,
    LogProbTable,
    Message,
    Pairs,
    Reply,
    Strings,
)
from judgelab.core.panel import Agent, Item, Panel


@dataclass
class ScriptedChat(EvaluationLM):
    """Replies by ``rule(request)``; a string is a reply, None a refusal."""

    rule: Callable[[ChatRequest], str | None]
    seen: list[ChatRequest] = field(default_factory=list)
    identity: str = "scripted chat"
    capabilities: frozenset[Capability] = frozenset({Capability.CHAT})
    at_hand = True

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        self.seen += requests
        texts = [self.rule(request) for request in requests]
        return [Reply(t) if t is not None else Reply(None, "refused") for t in texts]


def ask(text: str, *more: Any, **options: Any) -> ChatRequest:
    """A user's message."""
    return ChatRequest((Message("user", text),), *more, **options)


def _refuse(request: ChatRequest) -> str:
    raise AssertionError("a step that follows rules asked an LM")


NOBODY = ScriptedChat(_refuse)
"""For steps that must not ask."""


@dataclass
class ScriptedLogProb(EvaluationLM):
    """log P(target | context) by ``rule(context, target)``; tokens are words."""

    rule: Callable[[str, str], float]
    seen: list[tuple[str, str]] = field(default_factory=list)
    identity: str = "scripted logprob"
    capabilities: frozenset[Capability] = frozenset({Capability.LOGPROB})

    def logprob(self, contexts: Strings, targets: Strings, pairs: Pairs) -> LogProbTable:
        asked = [(contexts[c], targets[t]) for c, t in pairs]
        self.seen += asked
        return LogProbTable([LogProb(float(self.rule(c, t)), len(t.split())) for c, t in asked])


def panel_of(texts: Sequence[Sequence[str | None]], categories: Sequence[str | None] = ()) -> Panel:
    """A panel with agents a0, a1, ... and items i0, i1, ..."""
    width = len(texts[0])
    labels = list(categories) or [None] * width
    return Panel(
        tuple(Item(f"i{k}", f"source {k}") for k in range(len(texts))),
        tuple(Agent(f"a{j}", labels[j], reference=labels[j] == "Other") for j in range(width)),
        tuple(tuple(row) for row in texts),
    )
