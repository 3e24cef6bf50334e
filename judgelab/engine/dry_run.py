"""What a run would ask and spend, before it does; nothing is asked."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judgelab.calls.cache import CallCache
from judgelab.calls.cached import Counted
from judgelab.calls.remote import Remote
from judgelab.config import Frame
from judgelab.core.lm import NOT_ASKED, EvaluationLM
from judgelab.engine.parts import Parts
from judgelab.report import console
from judgelab.report.tables import columns
from judgelab.store.run_dir import RunDir


def dry_run(parts: Parts, settings: Frame, prompts: Sequence[Mapping[str, str]] = ()) -> None:
    """Print prompts, calls, tokens, cache hits, time and cost of every stage; nothing is kept."""
    if prompts:
        console.page([console.grid(columns(prompts, list(prompts[0]))), ""])
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
        asked = {role: one for role, one in roles.items() if one.log.calls} or roles
        for role, one in asked.items():
            console.page(_screen(one, settings, role if len(asked) > 1 else ""))
        if len(asked) > 1:
            console.page([_together(list(asked.values()), settings)])
        texts = [one.stages["texts"] for one in roles.values() if "texts" in one.stages]
        if unwritten := sum(tally["calls"] - tally["hits"] for tally in texts):
            said = (
                f"{unwritten} texts are not written yet. Calls that would use them (later stages "
                f"of the agents, and every mechanism's) cannot be counted in advance ({NOT_ASKED})."
            )
            console.page([said])
    finally:
        for one in roles.values():
            one.close()


def _together(counting: Sequence[Counted], settings: Frame) -> str:
    """What all LMs would be asked and cost; those without a price are named."""
    costs, unknown, to_ask = defaultdict[str, float](float), dict[str, None](), 0
    for counted in counting:
        tally, lm = sum(counted.stages.values(), Counter[str]()), counted.lm
        to_ask += tally["calls"] - tally["hits"]
        if isinstance(lm, Remote):
            if price := lm.priced(settings.budget.prices):
                costs[price.currency] += price.cost(tally["input_tokens"], tally["output_tokens"])
            else:
                unknown[lm.model] = None
    said = " and ".join(f"{cost:.4f} {currency}" for currency, cost in costs.items())
    beside = f" beside that of {', '.join(unknown)}, which is unknown" if unknown else ""
    return f"All together: {to_ask:,} calls to ask, at most {said or '0'}{beside}."


def _screen(counted: Counted, settings: Frame, role: str = "") -> list[Any]:
    """One LM's stages in a table, and how far the numbers can be relied on."""
    lm = counted.lm
    price = lm.priced(settings.budget.prices) if isinstance(lm, Remote) else None
    stages = {name: tally for name, tally in counted.stages.items() if tally["calls"]}
    rows = []
    for name, tally in [*stages.items(), ("all", sum(stages.values(), Counter[str]()))]:
        calls, hits, read = tally["calls"], tally["hits"], tally["input_tokens"]
        to_ask, written = calls - hits, tally["output_tokens"]
        row: dict[str, Any] = {"stage": name, "calls": calls, "in_cache": hits, "to_ask": to_ask}
        row |= {"input_tokens": read}
        if isinstance(lm, Remote):
            row["output_tokens_at_most"] = written
            cost = price and f"{price.cost(read, written):.4f} {price.currency}"
            row["cost_at_most"] = cost or "unknown"
            limits = lm.limits.requests_per_minute, lm.limits.tokens_per_minute
            pairs = zip((to_ask, read + written), limits, strict=True)
            minutes = max((n / limit for n, limit in pairs if limit is not None), default=None)
            row["minutes"] = "unknown" if minutes is None else f"{minutes:.1f}"
        rows.append(row)
    who = f"{lm.identity} ({role})" if role else lm.identity
    lines: list[Any] = [f"Dry run of {who}: nothing was asked, nothing is kept.", ""]
    lines += [console.grid(columns(rows, list(rows[0]))), ""]
    if isinstance(lm, Remote):
        lines.append(
            "Tokens are estimated at 4 bytes each, replies at their upper bound; retries come on "
            "top. Minutes are what the configured limits allow at best."
        )
        if price is None:
            lines.append(f"The price list has no price of {lm.model}: the cost is unknown.")
    return lines
