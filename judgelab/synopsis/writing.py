"""What synopses that are written have in common: one question an item, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from judgelab.evaluation_lm.protocol import ChatRequest, EvaluationLM
from judgelab.panel import Item, Panel
from judgelab.prompt import Prompt


@dataclass(frozen=True)
class Written:
    """A synopsis, or the reason why there is none."""

    text: str | None
    reason: str | None = None


NO_SOURCE = Written(None, "the item has no source text")


@dataclass(frozen=True)
class Question:
    """How an LM is asked about an item.

    Attributes:
        name: of the synopsis, for the keys of the calls.
        prompt: field source.
        temperature: of the LM.
        max_tokens: upper bound on the reply.
    """

    name: str
    prompt: Prompt
    temperature: float
    max_tokens: int


def ask(
    panel: Panel, lm: EvaluationLM, question: Question, read: Callable[[Item, str], Written]
) -> list[Written]:
    """Put the question about every item that has a source, all in one batch.

    Args:
        read: makes the synopsis of an item from a reply's text.
    """
    told = [item for item in panel.items if item.source.strip()]
    requests = [
        ChatRequest(
            question.prompt.messages(source=item.source),
            question.temperature,
            question.max_tokens,
            key=(question.name, item.id),
        )
        for item in told
    ]
    found: dict[str, Written] = {}
    for item, reply in zip(told, lm.chat(requests) if requests else [], strict=True):
        if reply.text is None:
            found[item.id] = Written(None, reply.reason or "no reply")
        else:
            found[item.id] = read(item, reply.text)
    return [found.get(item.id, NO_SOURCE) for item in panel.items]


def with_synopses(
    panel: Panel, written: Sequence[Written], name: str, settings: Mapping[str, object]
) -> Panel:
    """The panel with these synopses; its provenance counts, by reason, those not written."""
    missing = Counter(str(one.reason) for one in written if one.text is None)
    items = tuple(
        replace(item, synopsis=one.text) for item, one in zip(panel.items, written, strict=True)
    )
    facts: dict[str, object] = {"synopsis": name, "synopsis_settings": dict(settings)}
    facts["synopsis_written_by"] = settings["written_by"]
    facts["synopsis_unwritten"] = dict(sorted(missing.items()))
    return replace(panel, items=items, provenance={**panel.provenance, **facts})
