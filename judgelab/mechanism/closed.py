"""Closed questions: the allowed replies are known, so a local LM need not write one.

An LM that can tell how likely each allowed reply is answers in one pass over the question, and all
questions about an item share what they begin with. The verdict is that of greedy decoding, and the
probabilities of all labels go into the record of replies.
"""

from __future__ import annotations

import json
import math
import re
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, TypeVar

from judgelab.core.bounds import Count
from judgelab.core.errors import CapabilityError, ConfigError
from judgelab.core.lm import Capability, ChatRequest, EvaluationLM, Exchange, Reply
from judgelab.core.prompt import Prompt
from judgelab.core.reply import without_thoughts
from judgelab.core.reply.label import no_label, stated_label
from judgelab.mechanism.protocol import Mechanism

Key = TypeVar("Key", bound=Hashable)

ReplyMode = Literal["generated", "labels", "auto", "json"]
JSON = "json.txt"  # what is added to a prompt that is to be answered in JSON
JSON_TOKENS = 500  # upper bound on such a reply, where max_tokens is less


@dataclass(frozen=True)
class ClosedMechanism(Mechanism):
    """A mechanism that puts closed questions to a chat LM.

    Raises:
        ConfigError: labels with a temperature, or of a scale without two whole numbers.
    """

    prompt: Prompt  # of generated replies; for replies by labels too, unless there is one for those
    temperature: float = 0.0  # temperature, max_tokens: of generated replies
    max_tokens: Count = 16
    # auto: by labels where the LM can tell them, at temperature 0, and with a prompt for them: ours
    # beside our own prompt, or one that the user gave for it. A user's own may ask for reasons
    reply: ReplyMode = "auto"

    def __post_init__(self) -> None:
        if self.reply == "labels" and self.temperature > 0:
            raise ConfigError(
                f"mechanism.reply=labels draws no replies, but mechanism.temperature is "
                f"{self.temperature:g}: set it to 0, or mechanism.reply=generated."
            )
        if self.reply in ("labels", "json") and not self._several:
            raise ConfigError(
                f"mechanism.reply={self.reply} needs two grades to choose from, whole numbers: "
                "change the scale, or set mechanism.reply=generated."
            )

    @property
    @abstractmethod
    def labels(self) -> Mapping[str, str]:
        """Allowed reply -> what it says; several replies may say the same (one, One)."""

    @property
    def label_prompt(self) -> Prompt | None:
        """Asks for the label alone; None: ``labels`` puts ``prompt``, and ``auto`` generates."""
        return self.prompt

    @property
    def requires(self) -> tuple[frozenset[Capability], ...]:
        """Chat, or the probabilities of labels where they are asked for."""
        return (frozenset({Capability.LABELS if self.reply == "labels" else Capability.CHAT}),)

    @property
    def _several(self) -> bool:
        return len(set(self.labels.values())) > 1

    def by_labels(self, lm: EvaluationLM) -> bool:
        """Whether this LM is asked for the probabilities of the labels; a CapabilityError where
        ``labels`` are asked of an LM that cannot tell them."""
        able, alone = Capability.LABELS in lm.capabilities, self.label_prompt
        if self.reply == "labels" and not able:
            raise CapabilityError(
                f"mechanism.reply=labels needs an LM that can tell how likely a reply is, and "
                f"{lm.identity.split()[0]} cannot: set mechanism.reply=auto or generated."
            )
        if self.reply != "auto" or alone is None:  # never for JSON
            return self.reply == "labels"
        meant = self.prompt.shipped or (alone is not self.prompt and not alone.shipped)
        return able and meant and self._several and self.temperature == 0

    def prompt_for(self, lm: EvaluationLM) -> Prompt:
        """The prompt that this LM gets."""
        return (self.by_labels(lm) and self.label_prompt) or self.prompt

    def request(
        self,
        lm: EvaluationLM,
        key: tuple[str, ...],
        values: Mapping[str, str],
        top_logprobs: int = 0,
        labels: Mapping[str, str] | None = None,
    ) -> ChatRequest:
        """The question as this LM gets it: with labels (its own, or the mechanism's), or with what
        sampling needs. ``key`` says what it is about, ``values`` fill the prompt; ``top_logprobs``
        are alternatives to report for each token of a generated reply."""
        messages, allowed = self.prompt_for(lm).messages(**values), labels or self.labels
        if self.by_labels(lm):
            return ChatRequest(messages, key=key, labels=tuple(allowed))
        request = ChatRequest(
            messages, self.temperature, self.max_tokens, top_logprobs=top_logprobs, key=key
        )
        if self.reply != "json":
            return request
        choices = _first_spellings(allowed)
        more, last = _in_json().text(choices=", ".join(literals(choices))), messages[-1]
        with_form = (*messages[:-1], replace(last, content=f"{last.content}\n\n{more}"))
        bound = max(self.max_tokens, JSON_TOKENS)
        return replace(request, messages=with_form, max_tokens=bound, schema=schema(choices))

    def read(
        self,
        exchange: Exchange[Key],
        read: Callable[[Key, Reply], float],
        why: Callable[[Key, str], str],
        values: Callable[[Key], Mapping[str, float]],
    ) -> dict[Key, float]:
        """What replies say (``Exchange.read``); as JSON where that was asked for, by ``values`` of
        a question: what an allowed reply says -> its value."""
        if self.reply != "json":
            return exchange.read(read, why)
        return exchange.read(
            lambda key, reply: json_verdict(reply.text, values(key))[0],
            lambda key, text: json_verdict(text, values(key))[1],
        )

    def read_labels(self, exchange: Exchange[Key], values: Mapping[str, float]) -> dict[Key, float]:
        """What replies say that state a label; ``values``: what a label says -> its value."""
        return self.read(
            exchange,
            lambda _, reply: stated_label(reply.text, values),
            lambda _, text: no_label(text, _first_spellings(self.labels)),
            lambda _: {text: values[self.labels[text]] for text in _first_spellings(self.labels)},
        )

    def attrs(self, lm: EvaluationLM) -> dict[str, str]:
        """For the measured dataset: which prompt, and how the replies came about."""
        mode = "labels" if self.by_labels(lm) else "json" if self.reply == "json" else "generated"
        more = f" + {_in_json().identity}" if mode == "json" else ""
        return {"prompt": f"{self.prompt_for(lm).identity}{more}", "reply": mode}


@dataclass(frozen=True)
class TwoPromptMechanism(ClosedMechanism):
    """One whose prompt asks for reasons too, so that labels need a prompt of their own."""

    prompt_labels: Prompt | None = None  # asks for the label alone; the same fields

    @property
    def label_prompt(self) -> Prompt | None:
        return self.prompt_labels


@cache
def _in_json() -> Prompt:
    """Asks for JSON; read once, not with each question."""
    return Prompt(JSON)


def _first_spellings(labels: Mapping[str, str]) -> list[str]:
    first = {meaning: text for text, meaning in reversed(list(labels.items()))}
    return [first[meaning] for meaning in dict.fromkeys(labels.values())]


def whole_grades(low: float, high: float) -> dict[str, str]:
    """The whole numbers of a scale as labels."""
    return {str(g): str(g) for g in range(math.ceil(low), math.floor(high) + 1)}


_FENCE = re.compile(r"\s*```(?:json)?[^\S\n]*\n(.*)\n\s*```\s*", re.DOTALL)
_LONGEST_JSON = 100_000  # characters of a reply that is parsed


def literals(choices: Iterable[str]) -> dict[str, str]:
    """Each choice by what it is in JSON: a number where all are whole numbers, else a string."""
    listed = list(choices)
    numbers = all(re.fullmatch(r"-?\d+", one) for one in listed)
    return {one if numbers else json.dumps(one): one for one in listed}


def schema(choices: Iterable[str]) -> str:
    """The JSON schema of a reply whose verdict is one of the choices."""
    allowed = [json.loads(one) for one in literals(choices)]
    verdict = {"type": "string" if isinstance(allowed[0], str) else "integer", "enum": allowed}
    fields = {"reason": {"type": "string"}, "verdict": verdict}
    form = {"type": "object", "properties": fields, "required": list(fields)}
    return json.dumps({**form, "additionalProperties": False})


def json_verdict(text: str | None, choices: Mapping[str, float]) -> tuple[float, str]:
    """The value of the verdict, and ""; or NaN, and why the reply states none. It must be a JSON
    object of ``reason`` and ``verdict``, each once, but for thoughts before it and one code fence
    around it, and the verdict one of the choices."""
    answer = (without_thoughts(text or "") or "").strip()
    fenced = _FENCE.fullmatch(answer)
    whole = (fenced[1] if fenced else answer)[:_LONGEST_JSON]
    try:  # an object as its pairs, so that a key that stands twice is seen
        fields: Any = json.loads(whole, object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        return math.nan, "the reply is no JSON"
    if not isinstance(fields, tuple) or sorted(key for key, _ in fields) != ["reason", "verdict"]:
        return math.nan, "the reply is no JSON object of reason and verdict"
    verdict = dict(fields)["verdict"]
    choice = literals(choices).get(json.dumps(verdict)) if type(verdict) in (str, int) else None
    if choice is None:
        return math.nan, "the verdict of the JSON is none of the allowed ones"
    return choices[choice], ""
