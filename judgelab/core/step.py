"""Steps that rewrite a panel, by rules or by an LM: what attacks, preprocessors, synopses share.

Each is Panel -> Panel. What is random is seeded per item and agent, so that neither order nor
batching changes a result; an LM is asked in one batch; every gap is counted with its reason.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol

import numpy as np

from judgelab.core.bounds import Count, NotNegative
from judgelab.core.lm import EMPTY, Capability, ChatRequest, EvaluationLM, Exchange, Key
from judgelab.core.panel import Agent, Item, Panel, rng_for
from judgelab.core.prompt import Prompt

By = Literal["lm", "rules"]  # who writes: the LM, as in the paper, or rules that run anywhere

OFFLINE = "rules (offline variant, not the paper's)"

Cell = tuple[int, int]  # (item index, agent index)


class Step(Protocol):
    """A rewriting of a panel."""

    name: ClassVar[str]  # as on the command line

    @property
    def requires(self) -> frozenset[Capability]:
        """What the LM that writes must be able to do."""

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """The rewritten panel; what could not be written is None, and counted."""


class Written(NamedTuple):
    """A text, or the reason why there is none."""

    text: str | None
    reason: str = ""


class Place(NamedTuple):
    """Where a text stands, and the randomness of its own."""

    item: Item
    agent: Agent
    rng: np.random.Generator


@dataclass(frozen=True)
class PanelStep(ABC):
    """A step that notes in the panel's provenance what it was."""

    axis: ClassVar[str]  # attack, preprocessor or synopsis
    name: ClassVar[str]  # as on the command line

    @property
    def requires(self) -> frozenset[Capability]:
        """Nothing, unless an LM writes."""
        return frozenset()

    @abstractmethod
    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """The rewritten panel."""

    def facts(self, texts: Iterable[Written] | None = None) -> dict[str, Any]:
        """Name and settings; with ``texts`` also how many are missing, by reason."""
        settings = {field.name: getattr(self, field.name) for field in fields(self)}
        plain = {k: v.identity if isinstance(v, Prompt) else v for k, v in settings.items()}
        facts: dict[str, Any] = {self.axis: self.name, f"{self.axis}_settings": plain}
        if texts is not None:
            reasons = Counter(one.reason for one in texts if one.text is None)
            facts[f"{self.axis}_unwritten"] = dict(sorted(reasons.items()))
        return facts

    def writer(self, by: By, lm: EvaluationLM) -> dict[str, str]:
        """Who wrote, for the provenance."""
        return {f"{self.axis}_written_by": f"lm ({lm.identity})" if by == "lm" else OFFLINE}

    def place(self, panel: Panel, cell: Cell, seed: int) -> Place:
        """Where a text stands, with a generator of (seed, step, item id, agent name) alone."""
        item, agent = panel.items[cell[0]], panel.agents[cell[1]]
        return Place(item, agent, rng_for(seed, self.name, item.id, agent.name))


class Unchanged(PanelStep):
    """Leaves the panel as it is, its provenance too."""

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """The same panel."""
        return panel


@dataclass(frozen=True)
class AskingStep(PanelStep):
    """A step that asks a chat LM."""

    prompt: Prompt  # what is asked
    temperature: NotNegative = 0.0  # of sampling; the GEM paper uses 0
    max_tokens: Count = 4000  # upper bound on a reply; the GEM paper uses 4000

    @property
    def requires(self) -> frozenset[Capability]:
        """Chat."""
        return frozenset({Capability.CHAT})

    def request(self, *key: str, **values: str) -> ChatRequest:
        """One question; ``key`` says what it is about, ``values`` fill the prompt."""
        messages = self.prompt.messages(**values)
        return ChatRequest(messages, self.temperature, self.max_tokens, key=(self.name, *key))

    def request_on(self, panel: Panel, cell: Cell, *key: str, **values: str) -> ChatRequest:
        """One question on a text of the panel."""
        i, j = cell
        return self.request(panel.items[i].id, panel.agents[j].name, *key, **values)


@dataclass(frozen=True)
class WritingStep(AskingStep, Generic[Key]):
    """An LM writes (``by: lm``), as in the papers, or rules that run anywhere do (``by: rules``).

    The provenance says which LM wrote. Choose an LM that writes but does not judge with
    ``evaluation_lm@writer_lm``.
    """

    by: By = "rules"  # who writes

    @property
    def requires(self) -> frozenset[Capability]:
        """Chat, where the LM writes."""
        return frozenset({Capability.CHAT} if self.by == "lm" else ())

    @abstractmethod
    def by_rules(self, panel: Panel, seed: int) -> dict[Key, Written]:
        """What rules write."""

    @abstractmethod
    def by_lm(self, panel: Panel, lm: EvaluationLM) -> dict[Key, Written]:
        """What the LM writes; one batch."""

    @abstractmethod
    def panel_of(self, panel: Panel, texts: Mapping[Key, Written], **facts: object) -> Panel:
        """The panel with what was written."""

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """Write everything, and put it in its place."""
        texts = self.by_lm(panel, lm) if self.by == "lm" else self.by_rules(panel, seed)
        return self.panel_of(panel, texts, **self.facts(texts.values()), **self.writer(self.by, lm))


def present(panel: Panel) -> dict[Cell, str]:
    """The texts there are, by cell."""
    return {
        (i, j): text
        for i, row in enumerate(panel.texts)
        for j, text in enumerate(row)
        if text is not None
    }


def write_texts(
    lm: EvaluationLM,
    requests: Mapping[Key, ChatRequest],
    read: Callable[[Key, str], Written] = lambda _, text: Written(text),
) -> dict[Key, Written]:
    """One batch: what the LM replied, stripped and read, or why there is nothing."""
    exchange = Exchange.ask(lm, requests)
    texts: dict[Key, Written] = {}
    for key, reply in exchange.replies.items():
        text = (reply.text or "").strip()
        texts[key] = read(key, text) if text else Written(None, reply.reason or EMPTY)
        if reply.text is not None:
            exchange.unread(key, "" if texts[key].text else texts[key].reason)
    return texts


def with_texts(panel: Panel, cells: Mapping[Cell, Written], **provenance: object) -> Panel:
    """The same items and agents with these texts, and None in every other cell."""
    texts = {cell: one.text for cell, one in cells.items()}
    rows = tuple(
        tuple(texts.get((i, j)) for j in range(len(panel.agents))) for i in range(len(panel.items))
    )
    return replace(panel, texts=rows, provenance={**panel.provenance, **provenance})
