"""What a run would ask and spend, before it does.

For the time, a few calls of an LM that runs here are tried, where asking costs nothing else and the
weights are at hand; a paid endpoint is never asked.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from judgelab.calls.cache import CallCache
from judgelab.calls.cached import Counted, StageTally
from judgelab.calls.models import Price
from judgelab.calls.pace import Limits
from judgelab.calls.remote import Remote
from judgelab.config import Frame
from judgelab.core.errors import JudgelabError
from judgelab.core.lm import NOT_ASKED, EvaluationLM
from judgelab.engine.parts import Parts
from judgelab.report import console
from judgelab.report.tables import columns
from judgelab.store.run_dir import RunDir

TRIAL = 5.0  # seconds that a trial of either kind of call may take, the first call apart
MOST = 256  # calls of a trial


def dry_run(parts: Parts, settings: Frame) -> None:
    """Print calls, tokens, cache hits, time and cost of every stage; nothing paid is asked.

    An LM that runs here is tried on a few calls, for the time; nothing is kept.
    """
    file = Path(settings.paths.cache)
    roles: dict[str, Counted] = {}

    def count(role: str, lm: EvaluationLM) -> Counted:
        cache = CallCache(file, read_only=True) if file.is_file() else None
        roles[role] = Counted(lm, cache)
        return roles[role]

    def begin(stage: str, items: int) -> None:
        for one in roles.values():
            one.begin(stage)

    parts = parts.with_lms(count)
    try:
        with tempfile.TemporaryDirectory() as folder:
            run_dir = RunDir(Path(folder))
            parts.study.ask(
                parts.context(run_dir=run_dir, seed=settings.seed, limit=settings.limit, tell=begin)
            )
        asked = {role: one for role, one in roles.items() if one.total} or roles
        for role, one in asked.items():
            console.page(_screen(one, settings, role if len(asked) > 1 else ""))
        if len(asked) > 1:
            console.page([_together(list(asked.values()), settings)])
        counting = list(roles.values())
        texts = [one.stages["texts"] for one in counting if "texts" in one.stages]
        if unwritten := sum(tally.calls - tally.hits for tally in texts):
            console.page([_unwritten(unwritten)])
    finally:
        for one in roles.values():
            one.close()


def _unwritten(count: int) -> str:
    return (
        f"{count} texts are not written yet. Calls that would use them (later stages of the "
        f"agents, and every mechanism's) cannot be counted in advance ({NOT_ASKED})."
    )


def _together(counting: Sequence[Counted], settings: Frame) -> str:
    """What all LMs would be asked and cost; those without a price are named."""
    totals = [(one.lm, _total(one)) for one in counting]
    costs: dict[str, float] = {}
    unknown = []
    for lm, tally in totals:
        price = lm.priced(settings.budget.prices) if isinstance(lm, Remote) else None
        if price is not None:
            cost = price.cost(tally.input_tokens, tally.output_tokens)
            costs[price.currency] = costs.get(price.currency, 0.0) + cost
        elif isinstance(lm, Remote) and lm.model not in unknown:
            unknown.append(lm.model)
    said = " and ".join(f"{cost:.4f} {currency}" for currency, cost in costs.items())
    beside = f" beside that of {', '.join(unknown)}, which is unknown" if unknown else ""
    to_ask = sum(tally.calls - tally.hits for _, tally in totals)
    return f"All together: {to_ask:,} calls to ask, at most {said or '0'}{beside}."


def _total(counted: Counted) -> StageTally:
    """Over all stages."""
    tallies = counted.stages.values()
    return StageTally(*(sum(getattr(t, f) for t in tallies) for f in StageTally.__annotations__))


def _screen(counted: Counted, settings: Frame, role: str = "") -> list[Any]:
    lm = counted.lm
    price = lm.priced(settings.budget.prices) if isinstance(lm, Remote) else None
    limits = lm.limits if isinstance(lm, Remote) else None
    stages = {name: tally for name, tally in counted.stages.items() if tally.calls}
    total = _total(counted)
    paces, untried = _tried(counted, total.calls - total.hits)
    rows = [
        _paid_row(name, tally, price, limits)
        if isinstance(lm, Remote)
        else _row(name, tally) | {"minutes": _shown(minutes_here(tally, paces))}
        for name, tally in [*stages.items(), ("all", total)]
    ]
    asked = "nothing was asked" if paces == Throughput() else "a few calls were tried for the time"
    who = f"{lm.identity} ({role})" if role else lm.identity
    lines: list[Any] = [f"Dry run of {who}: {asked}, nothing is kept.", ""]
    lines += [console.grid(columns(rows, list(rows[0]))), ""]
    lines += untried
    if isinstance(lm, Remote):
        lines.append(
            "Tokens are estimated at 4 bytes each, replies at their upper bound; retries come on "
            "top. Minutes are what the configured limits allow at best."
        )
        if price is None:
            lines.append(f"The price list has no price of {lm.model}: the cost is unknown.")
    return lines


def _tried(counted: Counted, to_ask: int) -> tuple[Throughput, list[str]]:
    """The pace of a few calls; where there is none, the sentence that says why."""
    try:
        found = pace(counted)
    except JudgelabError as cause:
        return Throughput(), [f"Minutes are unknown, as a trial failed: {cause}"]
    if found != Throughput() or not to_ask or isinstance(counted.lm, Remote):
        return found, []
    return found, ["Minutes are unknown: only an LM whose weights lie on this machine is tried."]


def _row(stage: str, tally: StageTally) -> dict[str, Any]:
    return {
        "stage": stage,
        "calls": tally.calls,
        "in_cache": tally.hits,
        "to_ask": tally.calls - tally.hits,
        "input_tokens": tally.input_tokens,
    }


def _paid_row(
    stage: str, tally: StageTally, price: Price | None, limits: Limits | None
) -> dict[str, Any]:
    row = _row(stage, tally)
    cost = price.cost(tally.input_tokens, tally.output_tokens) if price else None
    shown = "unknown" if cost is None or price is None else f"{cost:.4f} {price.currency}"
    minutes = _minutes(row["to_ask"], tally.input_tokens + tally.output_tokens, limits)
    return row | {
        "output_tokens_at_most": tally.output_tokens,
        "cost_at_most": shown,
        "minutes": _shown(minutes),
    }


def _shown(minutes: float | None) -> str:
    return "unknown" if minutes is None else f"{minutes:.1f}"


def minutes_here(tally: StageTally, found: Throughput) -> float | None:
    """Minutes on this machine, at the pace of the calls that were tried."""
    pairs = tally.calls - tally.hits - tally.chats - tally.closed
    parts = ((pairs, found.pair), (tally.chats, found.chat), (tally.closed, found.closed))
    if any(count and seconds is None for count, seconds in parts):
        return None
    return sum(count * seconds for count, seconds in parts if seconds is not None) / 60


def _minutes(calls: int, tokens: int, limits: Limits | None) -> float | None:
    if limits is None:
        return None
    bounds = ((calls, limits.requests_per_minute), (tokens, limits.tokens_per_minute))
    known = [amount / limit for amount, limit in bounds if limit is not None]
    return max(known) if known else None


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
