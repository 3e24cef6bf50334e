"""What a result says of itself: the data, who measured, who wrote; and by the log of its calls,
which have no result and why, what the same command asks again, and what judges said."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from judgelab.calls.batch import About, LoggedCall
from judgelab.calls.caller import stamp
from judgelab.calls.log import CallLog
from judgelab.core.errors import JudgelabError
from judgelab.core.judgments import JudgmentTable, Mask
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.result import Result, Row, Table, Value
from judgelab.engine.context import Context
from judgelab.report import format
from judgelab.scoring.source import trained_on
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from pandas import DataFrame

FEW_ITEMS = 30
RECORD = "records/unscored.parquet"
LOUD = 0.05
"""Share of calls without a result above which a reader is warned before anything else."""
LONGEST = 80  # characters of a reply, and of a reason, that the table shows
WORDS = 4  # of a server's message that tell one reason from another
RARE = 0.01  # calls are lost unevenly where agents' shares differ as they do so rarely by chance
NOTE = (
    "Share: of all calls to LMs, each counted once. records/unscored.parquet has every call with "
    "its whole reason and reply."
)
FAILED = ("HTTP ", "malformed answer")
"""How reasons begin of settled calls whose answers were not a model's."""
SUBJECT = ("item", "agent", "peer", "detail")
NO_REASON = "no value"  # why a verdict is missing of which nothing more is known
NOT_KEPT = "not kept here, as there are too many replies: the call cache has it"


def sources(context: Context, panel: Panel, last: Panel | None = None) -> list[str]:
    """Sentences on how the texts of a clean panel and the numbers came about; ``last`` is the panel
    that went through every step, an attack included (None: the same)."""
    origin = format.sentences(
        "engine/sources.md.j2",
        context=context,
        panel=panel,
        references=sum(agent.reference for agent in panel.agents),
        items_with_one=sum(bool((item.reference or "").strip()) for item in panel.items),
        steps=(panel if last is None else last).provenance,
    )
    return [*origin, *training_of(context.evaluation_lm, panel)]


def training_of(lm: EvaluationLM, panel: Panel) -> Iterator[str]:
    """Whether an adapter was trained on what it now scores."""
    adapter = lm.unwrapped.adapter
    if adapter is None:
        return
    training = trained_on(Path(adapter).expanduser())
    if training is None:
        yield "The adapter does not say what it was trained on: these texts may be among it."
    elif shared := training.overlap(panel):
        yield (
            f"{len(shared)} of {len(panel.items)} items are among those that the adapter was "
            "trained on: what it says of them is no evidence."
        )


def origin_of(panel: Panel, attrs: Mapping[str, object]) -> dict[str, object]:
    """How a panel and its measurements were made, ready for JSON."""
    origin = {**panel.provenance, "digest": panel.digest, **attrs}
    return dict(json.loads(json.dumps(origin, default=str)))


def with_reasons(result: Result, log: CallLog, run_dir: RunDir, mechanism: str) -> Result:
    """The result with an account of the run's calls without a result, each with its reason, which
    ``records/unscored.parquet`` lists. The summary gets ``lm_calls`` (different questions put to
    LMs), ``unscored_calls`` and ``unscored_share``; log-probabilities are asked for
    ``mechanism``."""
    (run_dir.path / RECORD).unlink(missing_ok=True)  # of an earlier execution
    if not log.calls:
        return result
    agents = _agents(log.abouts)
    rows = [_row(key, what, agents, mechanism) for key, what in log.unscored_by_key.items()]
    rows.sort(key=lambda row: [str(value or "") for value in row.values()])
    share = len(rows) / log.calls
    summary = {**result.summary, "lm_calls": log.calls, "unscored_calls": len(rows)}
    summary["unscored_share"] = share
    if not rows:
        return replace(result, summary=summary)
    import pandas as pd

    frame = pd.DataFrame([{k: writable(v) for k, v in row.items()} for row in rows])
    types = {name: "boolean" if name == "settled" else "string" for name in frame}
    run_dir.write_table(RECORD, frame.astype(types))
    table = Table("unscored", "Why calls have no result", _reasons(rows, log.calls), NOTE)
    notes = [*result.notes, *_uneven(log)]
    if share > LOUD:
        kinds = Counter(stem_of(str(row["reason"])) for row in rows)
        summary["unscored_warning"] = warning = (
            f"{100 * share:.0f} % of calls ({len(rows):,} of {log.calls:,}) have no result: "
            f"{_by_reason(kinds)}. See the report's table “Why calls have no result”."
        )
        notes = [warning, *_uneven(log), *result.notes]
    # last, as programs and console take the study's own table by its being the first
    return replace(result, summary=summary, notes=notes, tables=[*result.tables, table])


def open_calls(log: CallLog, until: float | None) -> dict[str, Any] | None:
    """What the same command asks again of a run: how many calls are ``open`` of how many ``calls``,
    for which ``reasons``, ``until`` when a server wants to be asked again (UTC), and a ``sentence``
    for the top of page and console. None where every call is settled (JudgelabError: no call was
    answered, so there is nothing to show)."""

    def kinds(calls: Iterable[LoggedCall]) -> Counter[str]:
        reasons = (str(what.reason) for what in calls)  # why nothing was sent is one for all
        return Counter(one if one.startswith("not sent: ") else stem_of(one) for one in reasons)

    failed = [w for w in log.unscored if not w.settled or str(w.reason).startswith(FAILED)]
    wait = stamp(until) if until else None
    again = f" not before {wait}" if wait else ""
    if failed and len(failed) == log.calls:
        if all(what.settled for what in failed):
            again = " with retry=unscored, once the cause is mended"
        raise JudgelabError(
            f"None of {len(failed):,} calls was answered ({_by_reason(kinds(failed))}): "
            f"ask again{again}."
        )
    still = kinds(what for what in log.unscored if not what.settled)
    if not still:
        return None
    sentence = (
        f"PARTIAL: {still.total():,} of {log.calls:,} calls are open ({_by_reason(still)}), and "
        f"all numbers lack them: the same command asks these alone again{again}."
    )
    counts = {"open": still.total(), "calls": log.calls, "reasons": dict(still.most_common())}
    return counts | {"until": wait, "sentence": sentence}


def stem_of(reason: str) -> str:
    """The reason without what differs from call to call: numbers and ids in a server's message."""
    reason = re.sub(r" after \d+ attempts$", "", format.text(reason))
    kind, colon, message = reason.partition(": ")
    if not colon or kind == "refused":
        return format.shorten(kind, LONGEST)
    words = takewhile(lambda word: not re.search(r"\d", word), message.split()[:WORDS])
    return format.shorten(f"{kind}: {' '.join(words)}".rstrip(" :,;("), LONGEST)


def writable(value: Value) -> Value:
    """As a file can hold it: half a character is none."""
    return value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value


def _by_reason(reasons: Counter[str]) -> str:
    """``refused (15); no label (7); other reasons (3)``."""
    first = dict(reasons.most_common(3))
    rest = {"other reasons": reasons.total() - sum(first.values())}
    return "; ".join(f"{reason} ({n:,})" for reason, n in (first | rest).items() if n)


def _agents(abouts: Iterable[About]) -> frozenset[str]:
    """Names of agents: what stands third in what some call is about."""
    return frozenset(about[2] for about in abouts if len(about) > 2)


def _row(key: bytes, what: LoggedCall, agents: Collection[str], mechanism: str) -> dict[str, Value]:
    """A call as a row of the record; a log-probability that nobody named is about nothing known."""
    about = what.about if len(what.about) > 1 else ()
    step, *subject = _subject(about, agents)
    return {
        "judge": what.role,
        "mechanism": (step or mechanism) if about or what.verb == "logprob" else "",
        **{name: part or None for name, part in zip(SUBJECT, subject, strict=True)},
        "verb": what.verb,
        "reason": what.reason,
        "settled": what.settled,
        "reply": what.reply,
        "call": key.hex(),
    }


def _subject(about: About, agents: Collection[str]) -> tuple[str, str, str, str, str]:
    """Step, item, agent, peer, and what else a call is about; "" for what it is not."""
    step, item, agent, *rest = (*about, *("",) * (3 - len(about)))
    peer = rest.pop(0) if rest and rest[0] in agents else ""
    return step, item, agent, peer, ", ".join(rest)


def _reasons(rows: Sequence[Row], calls: int) -> list[Row]:
    """Each judge's reasons, the most frequent first, each with an example."""
    groups: dict[tuple[Value, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["judge"], stem_of(str(row["reason"]))), []).append(row)
    largest_first = sorted(groups.items(), key=lambda one: (-len(one[1]), str(one[0])))
    return [
        {
            "judge": judge,
            "reason": reason,
            "calls": len(own),
            "share": len(own) / calls,
            "asked_again": sum(not row["settled"] for row in own),
            "example": _example(own[0]),
        }
        for (judge, reason), own in largest_first
    ]


def _example(row: Row) -> str:
    """``q1, gpt and human: "beginning of the reply…"``."""
    who = " and ".join(str(row[key]) for key in ("agent", "peer") if row[key])
    about = ", ".join(str(part) for part in (row["item"], who, row["detail"]) if part)
    about = format.text(about or row["mechanism"] or row["verb"])
    reply = format.shorten(format.text(row["reply"]), LONGEST)
    return about if row["reply"] is None else f"{about}: “{reply}”"


def _uneven(log: CallLog) -> list[str]:
    """A sentence where calls about some agents are lost more often than about others."""
    agents, lost_calls = _agents(log.abouts), (what.about for what in log.unscored)
    calls, failures = (
        Counter(name for about in abouts for name in {*about[2:4]} & agents)
        for abouts in (log.abouts, lost_calls)
    )
    table = [[failures[agent], n - failures[agent]] for agent, n in calls.items()]
    if len(table) < 2 or not all(map(sum, zip(*table, strict=True))):  # none is lost, or all are
        return []
    from scipy.stats import chi2_contingency

    if chi2_contingency(table).pvalue > RARE:
        return []
    least, *_, most = (
        f"{100 * failures[agent] / n:.0f} % of those about {agent} ({failures[agent]:,} of {n:,})"
        for agent, n in sorted(calls.items(), key=lambda one: failures[one[0]] / one[1])
    )
    return [
        f"Calls are lost unevenly: {most} and {least} have no result, so comparisons of agents may "
        "be biased."
    ]


def missing_verdicts(
    log: CallLog, table: JudgmentTable, missing: Mask, *, of_pairs: bool
) -> tuple[Mask, dict[str, int]]:
    """[units, orders] which ``missing`` verdicts are of calls that the same command asks again; and
    reason -> how many of the others are missing for it. ``of_pairs``: whether a call is about two
    texts, or a verdict on two rests on calls about each."""
    failures: dict[About, list[LoggedCall]] = defaultdict(list)
    for (about, _), key in log.questions.items():
        if log.rows[key].reason:
            failures[about[1:4] if of_pairs else about[1:3]].append(log.rows[key])
    unsent, counts, units = np.zeros(missing.shape, np.bool_), Counter[str](), table.units
    for k, order in np.argwhere(missing):
        item, texts = str(units.item[k]), [str(units.first[k]), str(units.second[k])]
        in_order = texts if order == 0 else texts[::-1]
        subjects = [(item, *in_order)] if of_pairs else [(item, text) for text in in_order]
        calls = [failures[subject] for subject in subjects if subject in failures]
        if any(not call.settled for several in calls for call in several):
            unsent[k, order] = True
        else:
            counts[stem_of(str(calls[0][-1].reason)) if calls else NO_REASON] += 1
    return unsent, dict(counts.most_common())


def reply_records(log: CallLog, judge: str, agents: Collection[str]) -> DataFrame:
    """One row for each reply about a text or pair, and for each call about one without a value:
    judge, item, agent, peer (of a pair: ``agent`` was shown first), detail, draw, reply, reason
    (why there is none, or it could not be read), probabilities, prompt."""
    import pandas as pd

    names_of_agents, rows = frozenset(agents), []
    for (about, draw), key in log.questions.items():
        call = log.rows[key]
        if len(about) < 3 or about[2] not in names_of_agents:
            continue
        if call.verb == "logprob" and call.reason is None:
            continue
        reason = call.reason or ("" if call.reply is not None else NOT_KEPT)
        words = writable(call.reply), writable(reason), call.probabilities, writable(call.prompt)
        rows.append((judge, *_subject(about, names_of_agents)[1:], draw, *words))
    names = ["judge", *SUBJECT, "draw", "reply", "reason", "probabilities", "prompt"]
    table = pd.DataFrame(rows, columns=names)
    return table.astype({name: "string" for name in table if name != "draw"})
