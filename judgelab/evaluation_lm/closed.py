"""Closed questions, whose allowed replies are known: how they go through caches and workers."""

from __future__ import annotations

from collections.abc import Sequence

from judgelab.evaluation_lm.protocol import ChatRequest

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
