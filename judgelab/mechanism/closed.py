"""Closed questions: the allowed replies are known, so a local LM need not write one.

An LM that can tell how likely each allowed reply is answers in one pass over the question, and all
questions about an item share what they begin with. The verdict is that of greedy decoding, and the
probabilities of all labels go into the record.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from judgelab.core.bounds import Count
from judgelab.core.errors import CapabilityError, ConfigError
from judgelab.core.exchange import shares
from judgelab.core.lm import Capability, ChatRequest, EvaluationLM, Reply
from judgelab.core.prompt import Prompt
from judgelab.mechanism.protocol import Mechanism

if TYPE_CHECKING:
    import xarray as xr

Index = TypeVar("Index", bound=tuple[int, ...])
ReplyMode = Literal["generated", "labels", "auto"]
"""How a closed question is answered; see ``Closed``."""


@dataclass(frozen=True)
class Closed:
    """How the closed questions of a mechanism are put.

    Args:
        mode: ``generated``: the LM writes a reply, and the label is read out of it; ``labels``:
            from the log-probabilities of the allowed replies; ``auto``: labels where the LM can
            tell them, the temperature is 0, and there is a prompt for it: ours beside our own
            prompt, or one that the user gave for it. A user's own ``prompt`` may ask for reasons.
        labels: allowed reply -> what it says; several replies may say the same (one, One).
        prompt: of generated replies.
        alone: asks for the label alone (may be ``prompt`` itself); None without one:
            then ``labels`` puts ``prompt``, and ``auto`` generates.
        temperature, max_tokens: of generated replies.

    Raises:
        ConfigError: labels with a temperature, or fewer than two labels.
    """

    mode: ReplyMode
    labels: Mapping[str, str]
    prompt: Prompt
    alone: Prompt | None = None
    temperature: float = 0.0
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        if self.mode == "labels" and self.temperature > 0:
            raise ConfigError(
                f"mechanism.reply=labels draws no replies, but mechanism.temperature is "
                f"{self.temperature:g}: set it to 0, or mechanism.reply=generated."
            )
        if self.mode == "labels" and len(set(self.labels.values())) < 2:
            raise ConfigError(
                "mechanism.reply=labels needs two grades to choose from, whole numbers: change "
                "the scale, or set mechanism.reply=generated."
            )

    @property
    def requires(self) -> frozenset[Capability]:
        """What the LM must be able to do."""
        return frozenset({Capability.LABELS if self.mode == "labels" else Capability.CHAT})

    def by_labels(self, lm: EvaluationLM) -> bool:
        """Whether this LM is asked for the probabilities of the labels.

        Raises:
            CapabilityError: ``labels`` with an LM that cannot tell them.
        """
        able = Capability.LABELS in lm.capabilities
        if self.mode == "labels" and not able:
            raise CapabilityError(
                f"mechanism.reply=labels needs an LM that can tell how likely a reply is, and "
                f"{lm.identity.split()[0]} cannot: set mechanism.reply=auto or generated."
            )
        if self.mode != "auto":
            return self.mode == "labels"
        several = len(set(self.labels.values())) > 1
        return able and several and self.temperature == 0 and self._meant_for_labels

    @property
    def _meant_for_labels(self) -> bool:
        if self.alone is None:
            return False
        return self.prompt.shipped or (self.alone is not self.prompt and not self.alone.shipped)

    def asked(self, lm: EvaluationLM) -> Prompt:
        """The prompt that this LM gets."""
        return self.alone if self.alone is not None and self.by_labels(lm) else self.prompt

    def request(
        self,
        lm: EvaluationLM,
        key: tuple[str, ...],
        values: Mapping[str, str],
        top_logprobs: int = 0,
    ) -> ChatRequest:
        """The question as this LM gets it: with labels, or with what sampling needs.

        Args:
            key: what it is about.
            values: for the fields of the prompt.
            top_logprobs: alternatives to report for each token of a generated reply; one by
                labels has the probabilities of all labels anyway.
        """
        messages = self.asked(lm).messages(**values)
        if self.by_labels(lm):
            return ChatRequest(messages, key=key, labels=tuple(self.labels))
        return ChatRequest(
            messages, self.temperature, self.max_tokens, top_logprobs=top_logprobs, key=key
        )

    def attrs(self, lm: EvaluationLM) -> dict[str, str]:
        """For the measured dataset: which prompt, and how the replies came about."""
        mode = "labels" if self.by_labels(lm) else "generated"
        return {"prompt": self.asked(lm).identity, "reply": mode}


@dataclass(frozen=True)
class ClosedMechanism(Mechanism):
    """A mechanism that puts closed questions to a chat LM.

    Args:
        prompt: of generated replies; for replies by labels too, unless there is one for those.
        temperature, max_tokens: of generated replies.
        reply: generated, labels or auto; see ``Closed``.

    Raises:
        ConfigError: labels with a temperature, or of a scale without two whole numbers.
    """

    prompt: Prompt
    temperature: float = 0.0
    max_tokens: Count = 16
    reply: ReplyMode = "auto"

    def __post_init__(self) -> None:
        _ = self.closed  # says what is wrong with the settings

    @property
    @abstractmethod
    def labels(self) -> Mapping[str, str]:
        """Allowed reply -> what it says."""

    @property
    def label_prompt(self) -> Prompt | None:
        """Asks for the label alone."""
        return self.prompt

    @property
    def closed(self) -> Closed:
        """How the questions are put."""
        return Closed(
            mode=self.reply,
            labels=self.labels,
            prompt=self.prompt,
            alone=self.label_prompt,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
        )

    @property
    def requires(self) -> tuple[frozenset[Capability], ...]:
        """Chat, or the probabilities of labels where they are asked for."""
        return (self.closed.requires,)


@dataclass(frozen=True)
class TwoPromptMechanism(ClosedMechanism):
    """One whose prompt asks for reasons too, so that labels need a prompt of their own.

    Args:
        prompt_labels: asks for the label alone; the same fields.
    """

    prompt_labels: Prompt | None = None

    @property
    def label_prompt(self) -> Prompt | None:
        """The prompt for replies by labels, if there is one."""
        return self.prompt_labels


def whole_grades(low: float, high: float) -> dict[str, str]:
    """The whole numbers of a scale as labels."""
    return {str(g): str(g) for g in range(math.ceil(low), math.floor(high) + 1)}


def expected(reply: Reply, labels: Mapping[str, str]) -> float:
    """Mean grade under the probabilities of the labels, which are numbers; NaN without any."""
    found = shares(reply, labels)
    return math.fsum(float(g) * p for g, p in found.items()) if found else np.nan


def mass(reply: Reply) -> float:
    """P that the reply begins with an allowed label at all; NaN where that was not asked."""
    if not reply.label_logprobs:
        return np.nan
    return math.fsum(math.exp(nats) for _, nats in reply.label_logprobs)


def with_shares(
    data: xr.Dataset,
    dims: Sequence[str],
    replies: Mapping[Index, Reply],
    labels: Mapping[str, str],
    graded: bool = False,
    prefix: str = "",
) -> xr.Dataset:
    """The dataset with what replies by labels tell beside the verdict; as it is without any.

    Adds ``probability`` [*dims, label], made to add up to 1 (NaN for a label that a request did
    not hold), ``label_mass`` [*dims], what the labels have together, and with ``graded`` the
    ``expected`` grade [*dims].

    Args:
        dims: of the cells; all are dimensions of the dataset.
        replies: by their index; of a longer one its beginning counts.
        graded: the labels are numbers.
        prefix: of the names of what is added.
    """
    if not any(reply.label_logprobs for reply in replies.values()):
        return data
    names = list(dict.fromkeys(labels.values()))
    sizes = tuple(data.sizes[dim] for dim in dims)
    probability = np.full((*sizes, len(names)), np.nan)
    together, mean = np.full(sizes, np.nan), np.full(sizes, np.nan)
    for index, reply in replies.items():
        cell, found = index[: len(dims)], shares(reply, labels)
        if found:
            probability[cell] = [found.get(name, np.nan) for name in names]
            together[cell], mean[cell] = mass(reply), expected(reply, labels) if graded else np.nan
    added = {"probability": ((*dims, "label"), probability), "label_mass": (tuple(dims), together)}
    added |= {"expected": (tuple(dims), mean)} if graded else {}
    labelled = data.assign_coords(label=names)
    return labelled.assign({f"{prefix}{name}": values for name, values in added.items()})
