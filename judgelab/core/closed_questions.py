"""Closed questions, whose allowed replies are known: how they go through caches and workers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from judgelab.core.lm import ChatRequest, Reply

ABOUT = 2  # parts of a request's key that name the mechanism and the item


def closed_batches(requests: Sequence[ChatRequest]) -> list[list[int]]:
    """Indices of the closed questions, those about one item together.

    An LM encodes what the questions of a batch share once. A batch is neither cut nor mixed, so
    that it is the same call in one process and in workers, and has the same sums to the last bit;
    a kill costs the item under way.
    """
    batches: dict[tuple[str, ...], list[int]] = {}
    for index, request in enumerate(requests):
        if request.labels:
            batches.setdefault(request.key[:ABOUT], []).append(index)
    return list(batches.values())


def open_questions(requests: Sequence[ChatRequest]) -> list[int]:
    """Indices of the requests whose replies are generated."""
    return [index for index, request in enumerate(requests) if not request.labels]


def cased(words: Sequence[str]) -> dict[str, str]:
    """Words as labels, in small letters and with a capital."""
    return {spelled: word for word in words for spelled in (word, word.capitalize())}


def shares(reply: Reply, labels: Mapping[str, str]) -> dict[str, float]:
    """What a reply may say -> its probability; they add up to 1. Empty without probabilities.

    Labels that the request did not put to the LM are not there.
    """
    known = [(labels[text], nats) for text, nats in reply.label_logprobs if text in labels]
    if not known:
        return {}
    found = dict.fromkeys((name for name, _ in known), 0.0)
    top = max(nats for _, nats in known)
    for name, nats in known:
        found[name] += math.exp(nats - top)
    total = math.fsum(found.values())
    return {name: value / total for name, value in found.items()}
