"""Steps that let a chat LM, or rules, write texts of a panel: one batch, every gap counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from judgelab.core.capability import Capability
from judgelab.core.errors import ConfigError
from judgelab.core.lm import ChatRequest, EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

By = Literal["lm", "rules"]
"""Who writes: the LM, as in the paper, or rules that run anywhere."""

OFFLINE = "rules (offline variant, not the paper's)"

Cell = tuple[int, int]
"""(item index, agent index)."""

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Asking:
    """How texts are asked for.

    Attributes:
        prompt: what is asked.
        temperature: of sampling; the GEM paper uses 0.
        max_tokens: upper bound on a reply; the GEM paper uses 4000.

    Raises:
        ConfigError: a negative temperature, or a bound below 1.
    """

    prompt: Prompt
    temperature: float = 0.0
    max_tokens: int = 4000

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise ConfigError(f"temperature={self.temperature} must be 0 or more.")
        if self.max_tokens < 1:
            raise ConfigError(f"max_tokens={self.max_tokens} must be at least 1.")

    def request(self, *key: str, **values: str) -> ChatRequest:
        """One question; ``key`` says what it is about, ``values`` fill the prompt."""
        return ChatRequest(
            messages=self.prompt.messages(**values),
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            key=key,
        )


def needs(by: By) -> frozenset[Capability]:
    """What the LM must be able to do."""
    return frozenset({Capability.CHAT}) if by == "lm" else frozenset()


def present(panel: Panel) -> dict[Cell, str]:
    """The texts there are, by cell."""
    return {
        (i, j): text
        for i, row in enumerate(panel.texts)
        for j, text in enumerate(row)
        if text is not None
    }


def written(
    lm: EvaluationLM, requests: Mapping[Key, ChatRequest]
) -> tuple[dict[Key, str], dict[Key, str]]:
    """One batch: the replies there are, stripped, and the reasons of those there are not."""
    replies: dict[Key, str] = {}
    reasons: dict[Key, str] = {}
    if not requests:
        return replies, reasons
    for key, reply in zip(requests, lm.chat(list(requests.values())), strict=True):
        if reply.text is not None and reply.text.strip():
            replies[key] = reply.text.strip()
        else:
            reasons[key] = reply.reason or "empty reply"
    return replies, reasons


def with_texts(panel: Panel, texts: Mapping[Cell, str], **provenance: object) -> Panel:
    """The same items and agents with these texts, and None in every other cell."""
    rows = tuple(
        tuple(texts.get((i, j)) for j in range(len(panel.agents))) for i in range(len(panel.items))
    )
    return replace(panel, texts=rows, provenance={**panel.provenance, **provenance})


def account(
    axis: str,
    step: DataclassInstance,
    name: str,
    *,
    by: By,
    lm: EvaluationLM,
    unwritten: Iterable[str] = (),
) -> dict[str, Any]:
    """What a result says about a step that writes: what it was, who wrote, what is missing.

    Args:
        unwritten: for every text that became None, why; ``<axis>_unwritten`` counts them.
    """
    settings = {field.name: getattr(step, field.name) for field in fields(step)}
    plain = {k: v.identity if isinstance(v, Prompt) else v for k, v in settings.items()}
    return {
        axis: name,
        f"{axis}_settings": plain,
        f"{axis}_written_by": f"lm ({lm.identity})" if by == "lm" else OFFLINE,
        f"{axis}_unwritten": dict(sorted(Counter(unwritten).items())),
    }
