"""How long the calls of a dry run will take on this machine: a few of them are tried.

Only for LMs that run here, where asking costs nothing but time, and whose weights are at hand. A
paid endpoint is never asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from judgelab.evaluation_lm.dry_run_lm import Counted

TRIAL = 5.0  # seconds that a trial of either kind of call may take, the first call apart
MOST = 256  # calls of a trial


class Throughput(NamedTuple):
    """Seconds of one call of each kind; None where there is nothing to try.

    Attributes:
        pair: a log-probability.
        chat: a reply that is generated.
        closed: a closed question, answered from the probabilities of its labels.
    """

    pair: float | None = None
    chat: float | None = None
    closed: float | None = None


def pace(counted: Counted) -> Throughput:
    """How long a call takes, by trying some.

    A trial is a stretch of neighbouring calls, so contexts are shared about as in the run; the
    first call, which loads the model, is left out.
    """
    lm = counted.lm
    if not lm.at_hand:
        return Throughput()
    per_pair = per_chat = per_closed = None
    if counted.pairs is not None:
        contexts, targets, pairs = counted.pairs
        per_pair = _seconds(lambda n: lm.logprob(contexts, targets, pairs[:n]), len(pairs))
    if counted.requests:
        requests = counted.requests
        per_chat = _seconds(lambda n: lm.chat(requests[:n]), len(requests))
    if counted.questions:
        questions = counted.questions
        per_closed = _seconds(lambda n: lm.chat(questions[:n]), len(questions))
    return Throughput(per_pair, per_chat, per_closed)


def _seconds(ask: Callable[[int], object], most: int) -> float:
    """Per call, over as many calls as a trial has time for."""
    ask(1)
    one = _timed(ask, 1)
    count = int(min(most, MOST, TRIAL / max(one, 1e-9)))
    return _timed(ask, count) / count if count > 1 else one


def _timed(ask: Callable[[int], object], count: int) -> float:
    start = time.perf_counter()
    ask(count)
    return time.perf_counter() - start
