"""What a run would ask and spend. For the time, a few calls of an LM that runs here are tried,
where the weights are at hand; a paid endpoint is never asked."""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judgelab.calls.batch import Batch
from judgelab.calls.cache import CallCache
from judgelab.calls.cached import CountingLM, StageTally
from judgelab.calls.remote import Remote
from judgelab.config import Frame
from judgelab.core.errors import JudgelabError
from judgelab.core.lm import NOT_ASKED, EvaluationLM
from judgelab.engine.context import Context, Parts
from judgelab.report import console
from judgelab.report.format import columns
from judgelab.store.run_dir import RunDir

TRIAL = 5.0  # seconds that a trial of either kind of call may take, the first call apart
MOST = 256  # calls of a trial


def dry_run(parts: Parts, settings: Frame, prompts: Sequence[Mapping[str, str]] = ()) -> None:
    """Print prompts, calls, tokens, cache hits, time and cost of every stage; nothing is kept."""
    if prompts:
        console.page([console.grid(columns(prompts, list(prompts[0]))), ""])
    with count_calls(parts, settings) as (roles, context):
        counts = {role: one for role, one in roles.items() if one.total.calls} or roles
        for role, one in counts.items():
            console.page(_screen(one, settings, role if len(counts) > 1 else ""))
        if len(counts) > 1:
            console.page([_together(list(counts.values()), settings)])
        texts = [one.stages["texts"] for one in roles.values() if "texts" in one.stages]
        if unwritten := sum(tally.to_ask for tally in texts):
            not_known = (
                f"{unwritten} texts are not written yet. Calls that would use them (later stages "
                f"of the agents, and every mechanism's) cannot be counted in advance ({NOT_ASKED})."
            )
            console.page([not_known])
        console.page(context.study.forecast(context))


@contextmanager
def count_calls(parts: Parts, settings: Frame) -> Iterator[tuple[dict[str, CountingLM], Context]]:
    """Have the study put every question to LMs that count; role -> LM, and the study's context."""
    file, roles = Path(settings.paths.cache), dict[str, CountingLM]()

    def count(role: str, lm: EvaluationLM) -> CountingLM:
        roles[role] = CountingLM(lm, CallCache(file) if file.is_file() else None)
        return roles[role]

    def begin(stage: str, items: int) -> None:
        for one in roles.values():
            one.begin(stage)

    own, parts = {"seed": settings.seed, "limit": settings.limit}, parts.with_lms(count)
    try:
        with tempfile.TemporaryDirectory() as place:
            context = Context.of(parts, run_dir=RunDir(Path(place)), tell=begin, **own)
            parts.study.ask(context)
            yield roles, context
    finally:
        for one in roles.values():
            one.close()


def _together(counting: Sequence[CountingLM], settings: Frame) -> str:
    """What all LMs would be asked and cost; those without a price are named."""
    costs, unknown, to_ask = defaultdict[str, float](float), dict[str, None](), 0
    for lm, tally in ((one.lm, one.total) for one in counting):
        to_ask += tally.to_ask
        price = lm.price(settings.budget.prices) if isinstance(lm, Remote) else None
        if price is not None:
            costs[price.currency] += price.cost(tally.input_tokens, tally.output_tokens)
        elif isinstance(lm, Remote):
            unknown[lm.model] = None
    most = " and ".join(f"{cost:.4f} {currency}" for currency, cost in costs.items())
    beside = f" beside that of {', '.join(unknown)}, which is unknown" if unknown else ""
    return f"All together: {to_ask:,} calls to ask, at most {most or '0'}{beside}."


def _screen(counting: CountingLM, settings: Frame, role: str) -> Iterator[Any]:
    """One LM's stages in a table, and how far the numbers can be relied on."""
    lm, seconds, fault = counting.lm, dict[str, float](), ""
    try:
        seconds = pace(counting)
    except JudgelabError as cause:
        fault = f"Minutes are unknown, as a trial failed: {cause}"
    price = lm.price(settings.budget.prices) if isinstance(lm, Remote) else None
    stages = {name: tally for name, tally in counting.stages.items() if tally.calls}
    rows = []
    for name, tally in [*stages.items(), ("all", counting.total)]:
        to_ask, minutes = tally.to_ask, minutes_here(tally, seconds)
        row = {"stage": name, "calls": tally.calls, "in_cache": tally.calls - to_ask}
        row |= {"to_ask": to_ask, "input_tokens": tally.input_tokens}
        if isinstance(lm, Remote):
            cost = price and f"{price.cost(tally.input_tokens, tally.output_tokens):.4f}"
            row["output_tokens_at_most"] = tally.output_tokens
            row["cost_at_most"] = f"{cost} {price.currency}" if price else "unknown"
            tokens = tally.input_tokens + tally.output_tokens
            limits = (to_ask, lm.limits.requests_per_minute), (tokens, lm.limits.tokens_per_minute)
            minutes = max((n / limit for n, limit in limits if limit is not None), default=None)
        rows.append(row | {"minutes": "unknown" if minutes is None else f"{minutes:.1f}"})
    what = "a few calls were tried for the time" if seconds else "nothing was asked"
    who = f"{lm.identity} ({role})" if role else lm.identity
    yield from (f"Dry run of {who}: {what}, nothing is kept.", "")
    yield from (console.grid(columns(rows, list(rows[0]))), "")
    if fault:
        yield fault
    if isinstance(lm, Remote):
        yield (
            "Tokens are estimated at 4 bytes each, replies at their upper bound; retries come on "
            "top. Minutes are what the configured limits allow at best."
        )
        if price is None:
            yield f"The price list has no price of {lm.model}: the cost is unknown."


def minutes_here(tally: StageTally, seconds: Mapping[str, float]) -> float | None:
    """Minutes on this machine, at the pace of the calls that were tried; None: not known."""
    if not tally.kinds.keys() <= seconds.keys():
        return None
    return sum(count * seconds[kind] for kind, count in tally.kinds.items()) / 60


def pace(counting: CountingLM) -> dict[str, float]:
    """Seconds of a call of each kind that would be asked: ``pair`` (a log-probability), ``chat``,
    ``closed`` (a closed question). Some neighbouring calls are tried, so that contexts are shared
    about as in the run, but for the first, which loads the model."""

    def seconds_of(batch: Batch, count: int) -> float:
        start = time.perf_counter()
        batch.at(range(count)).ask(counting.lm)
        return (time.perf_counter() - start) / count

    seconds = {}
    for kind, batch in counting.trials.items() if counting.lm.at_hand else ():
        seconds_of(batch, 1)  # loads the model
        one = seconds_of(batch, 1)
        count = int(min(len(batch.questions), MOST, TRIAL / max(one, 1e-9)))
        seconds[kind] = seconds_of(batch, count) if count > 1 else one
    return seconds
