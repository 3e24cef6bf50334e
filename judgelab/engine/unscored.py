"""Why calls of a run have no result: a record of each, a table, and a warning where it is many."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from judgelab.calls.log import About, CallLog, LoggedCall
from judgelab.core.result import Result, Row, Table, Value
from judgelab.report import format
from judgelab.store.run_dir import RunDir

RECORD = "records/unscored.parquet"
LOUD = 0.05
"""Share of calls without a result above which a reader is warned before anything else."""
EXAMPLES = ("example", "second_example", "third_example")
LONGEST = 80  # characters of a reply, and of a reason, that the table shows
WORDS = 4  # of a server's message that tell one reason from another
STARK, UNLIKELY, RARE = 0.1, 0.05, 0.01
"""Calls are lost unevenly where agents' shares differ as they rarely do by chance; where they lie
so far apart, as is unlikely by chance."""
NOTE = (
    "Share: of all calls to LMs, each counted once. records/unscored.parquet has every call with "
    "its whole reason and reply."
)


def with_reasons(result: Result, log: CallLog, run_dir: RunDir, mechanism: str) -> Result:
    """The result with an account of the run's calls without a result, each with its reason.

    Writes ``records/unscored.parquet`` where there are any. The summary gets ``lm_calls``
    (different questions put to LMs), ``unscored_calls`` and ``unscored_share``.

    Args:
        mechanism: what log-probabilities are asked for.
    """
    (run_dir.path / RECORD).unlink(missing_ok=True)  # of an earlier execution
    if not log.calls:
        return result
    agents = _agents(log.abouts)
    rows = [_row(key, what, agents, mechanism) for key, what in log.by_key.items()]
    rows.sort(key=lambda row: [str(value or "") for value in row.values()])
    lost, share = len(rows), len(rows) / log.calls
    counts: dict[str, Value] = {
        "lm_calls": log.calls,
        "unscored_calls": lost,
        "unscored_share": share,
    }
    if not rows:
        return replace(result, summary={**result.summary, **counts})
    _write(run_dir, rows)
    table = Table("unscored", "Why calls have no result", _reasons(rows, log.calls), NOTE)
    uneven, notes, tables = _uneven(log), [*result.notes], [*result.tables, table]
    if share > LOUD:
        counts["unscored_warning"] = warning(rows, log.calls)
        notes = [str(counts["unscored_warning"]), *uneven, *notes]
        tables = [table, *result.tables]
    else:
        notes += uneven
    return replace(result, summary={**result.summary, **counts}, notes=notes, tables=tables)


def grouped(reason: str) -> str:
    """The reason without what differs from call to call: numbers and ids in a server's message."""
    reason = re.sub(r" after \d+ attempts$", "", format.text(reason))
    kind, colon, message = reason.partition(": ")
    if not colon or kind == "refused":
        return format.shorten(kind, LONGEST)
    words = []
    for word in message.split()[:WORDS]:
        if any(letter.isdigit() for letter in word):
            break
        words.append(word)
    return format.shorten(f"{kind}: {' '.join(words)}".rstrip(" :,;("), LONGEST)


def warning(rows: Sequence[Row], calls: int) -> str:
    """``11 % of calls (22 of 200) have no result: refused (15); ...``."""
    kinds = Counter(grouped(str(row["reason"])) for row in rows).most_common()
    said = [f"{kind} ({count:,})" for kind, count in kinds[:3]]
    if rest := sum(count for _, count in kinds[3:]):
        said.append(f"other reasons ({rest:,})")
    return (
        f"{len(rows) / calls:.0%} of calls ({len(rows):,} of {calls:,}) have no result: "
        f"{'; '.join(said)}. See the table “Why calls have no result”."
    ).replace("%", " %", 1)


def _agents(abouts: Iterable[About]) -> frozenset[str]:
    """Names of agents: what stands third in what some call is about."""
    return frozenset(about[2] for about in abouts if len(about) > 2)


def _row(key: bytes, what: LoggedCall, agents: frozenset[str], mechanism: str) -> dict[str, Value]:
    """A call as a row of the record; a log-probability that nobody named is about nothing known."""
    about = what.about if len(what.about) > 1 else ()
    step, item, agent, *rest = (*about, *("",) * (3 - len(about)))
    peer = rest.pop(0) if rest and rest[0] in agents else ""
    return {
        "judge": what.role,
        "mechanism": (step or mechanism) if about or what.verb == "logprob" else "",
        "item": item or None,
        "agent": agent or None,
        "peer": peer or None,
        "detail": ", ".join(rest) or None,
        "verb": what.verb,
        "reason": what.reason,
        "settled": what.settled,
        "reply": what.reply,
        "call": key.hex(),
    }


def _write(run_dir: RunDir, rows: Sequence[Row]) -> None:
    import pandas as pd

    # a lone surrogate in a reply is no text that a file can hold
    safe = [
        {k: v.encode(errors="backslashreplace").decode() if isinstance(v, str) else v for k, v in r}
        for r in (row.items() for row in rows)
    ]
    names = {k: "boolean" if k == "settled" else "string" for k in rows[0]}
    run_dir.write_table(RECORD, pd.DataFrame(safe).astype(names))


def _reasons(rows: Sequence[Row], calls: int) -> list[Row]:
    """Each judge's reasons, the most frequent first, with three examples."""
    groups: dict[tuple[Value, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["judge"], grouped(str(row["reason"]))), []).append(row)
    ordered = sorted(groups.items(), key=lambda one: (-len(one[1]), str(one[0])))
    return [
        {
            "judge": judge,
            "reason": reason,
            "calls": len(found),
            "share": len(found) / calls,
            "asked_again": sum(not row["settled"] for row in found),
        }
        | dict(zip(EXAMPLES, map(_example, found), strict=False))
        for (judge, reason), found in ordered
    ]


def _example(row: Row) -> str:
    """``q1, gpt and human: "beginning of the reply…"``."""
    who = " and ".join(str(row[key]) for key in ("agent", "peer") if row[key])
    about = ", ".join(str(part) for part in (row["item"], who, row["detail"]) if part)
    about = format.text(about or row["mechanism"] or row["verb"])
    if row["reply"] is None:
        return about
    return f"{about}: “{format.shorten(format.text(row['reply']), LONGEST)}”"


def _uneven(log: CallLog) -> list[str]:
    """A sentence where calls about some agents are lost more often than about others."""
    agents = _agents(log.abouts)
    asked = _by_agent(log.abouts, agents)
    lost = _by_agent((what.about for what in log.unscored), agents)
    shares = {agent: lost[agent] / n for agent, n in asked.items()}
    if len(shares) < 2:
        return []
    most, least = (pick(shares, key=lambda agent: shares[agent]) for pick in (max, min))
    most_likely = UNLIKELY if shares[most] - shares[least] >= STARK else RARE
    if _by_chance(asked, lost) > most_likely:
        return []
    said = [
        f"{100 * shares[agent]:.0f} % of those about {agent} ({lost[agent]:,} of {asked[agent]:,})"
        for agent in (most, least)
    ]
    return [
        f"Calls are lost unevenly: {' and '.join(said)} have no result, so comparisons of agents "
        "may be biased."
    ]


def _by_agent(abouts: Iterable[About], agents: frozenset[str]) -> Counter[str]:
    """Agent -> calls that are about its text."""
    return Counter(name for about in abouts for name in {*about[2:4]} & agents)


def _by_chance(asked: Mapping[str, int], lost: Mapping[str, int]) -> float:
    """P of shares at least so different if all agents lost calls alike (chi-square)."""
    from scipy.stats import chi2_contingency

    table = [[lost[agent], n - lost[agent]] for agent, n in asked.items()]
    if not all(map(sum, zip(*table, strict=True))):
        return 1.0  # none is lost, or all are
    return float(chi2_contingency(table).pvalue)
