"""Closed questions, whose allowed replies are known: of two answers which is better, and others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

from judgelab.core.lm import ChatRequest, Reply
from judgelab.core.panel import Panel

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


CHOICES = {"one": 1.0, "two": 0.0, "tie": 0.5}
"""What a reply may say -> did the answer shown first win."""

LABELS = cased(list(CHOICES))
"""Allowed reply -> what it says."""

Cell = tuple[int, int, int]


def pair_questions(
    panel: Panel, name: str
) -> Iterator[tuple[Cell, tuple[str, ...], dict[str, str]]]:
    """(item, first, second), key and fields of the question on every ordered pair of texts."""
    task = panel.task_description
    names = [agent.name for agent in panel.agents]
    for k, (item, row) in enumerate(zip(panel.items, panel.texts, strict=True)):
        for i, j in permutations(range(len(names)), 2):
            one, two = row[i], row[j]
            if one is None or two is None:
                continue
            values = {"task": task, "source": item.source, "one": one, "two": two}
            yield (k, i, j), (name, item.id, names[i], names[j]), values
