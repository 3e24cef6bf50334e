"""Tables 9, 10 and 11, and how sure the exams' passes are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.auto_pre import counting
from experiments.auto_pre.bench import STATED_EXAM, Bench
from experiments.auto_pre.printed import named
from experiments.auto_pre.rows import Row, Table
from experiments.command import point
from judgelab.core.parse_reply import read_choice
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.qualification.exams import Threshold, mark

PRINTED_ON = "XSum"
LEVELS = {"null": 1.0, "low": 2.0, "medium": 3.0, "high": 4.0, "expert": 5.0}
PARTS = ("easy mean", "easy std", "hard mean", "hard std")
CHOICE = {"one": -1, "two": 1, "tie": 0}


def table9(benches: Sequence[Bench]) -> Table:
    """P_p of every configuration, printed or released."""
    rows: list[Row] = []
    for bench in benches:
        data = bench.data.pertinence
        configurations = dict.fromkeys(
            zip(data["L1_RA"].astype(str), data["L2_IA"].astype(str), data["prompt"], strict=True)
        )
        for first, second, prompt in configurations:
            for judge, cells in bench.relevant(first, second, int(prompt)).items():
                paper = None
                if bench.name == PRINTED_ON and int(prompt) == STATED_EXAM[2]:
                    paper = bench.printed.pertinence(first, second).get(judge)
                label = f"{bench.name}: L1={first}, L2={second}, prompt{prompt}"
                released, read = _mean(cells), _read(bench, first, second, int(prompt), judge)
                rows.append(Row("9", label, judge, paper, released, released, read))
        if bench.name == PRINTED_ON:
            rows += _only_printed(bench, {(f, s) for f, s, _ in configurations})
    note = (
        "released: as stored; stated: read anew as whole words, the first label counting, unread "
        "answers left out. The interval is over items, of which both orders belong together."
    )
    return Table("9", "P_p", tuple(rows), (note,))


def table10(benches: Sequence[Bench]) -> Table:
    """Uncertainty -ln p on the easy and on the hard set."""
    rows: list[Row] = []
    for bench in benches:
        printed = bench.printed.table("table10_") if bench.name == PRINTED_ON else {}
        frame = bench.data.confidence
        mine = frame[frame["method"] == "prob"]
        known = dict.fromkeys(
            zip(mine["prompt"].astype(str), mine["evaluator"].astype(str), strict=True)
        )
        for key in dict.fromkeys([*printed, *(f"{p}+{e}" for p, e in known)]):
            prompt, judge = key.split("+", 1)
            numbers = printed.get(key, [None] * 4)
            current = _uncertainty(bench, prompt, judge, old=False)
            earlier = _uncertainty(bench, prompt, judge, old=True)
            as_printed = earlier or current
            for part, name in enumerate(PARTS):
                rows.append(
                    Row(
                        "10",
                        f"{bench.name}: {key}",
                        name,
                        numbers[part],
                        as_printed[part] if as_printed else None,
                        current[part] if current else None,
                        current[part] if current else None,
                    )
                )
    note = (
        "-ln p of the emitted label, natural logarithm, population SD. Where a run was repeated "
        "the printed numbers are of the earlier one; corrected and stated: of the later. "
        "The intervals are over items."
    )
    return Table("10", "uncertainty", tuple(rows), (note,))


def table11(benches: Sequence[Bench]) -> Table:
    """Confidence in words, levels 1 to 5."""
    rows: list[Row] = []
    for bench in benches:
        printed = bench.printed.table("table11_") if bench.name == PRINTED_ON else {}
        frame = bench.data.confidence
        mine = frame[frame["method"] == "direct"]
        known = dict.fromkeys(
            zip(mine["prompt"].astype(str), mine["evaluator"].astype(str), strict=True)
        )
        for key in dict.fromkeys([*printed, *(f"{p}_{e}" for p, e in known)]):
            prompt, judge = key.split("_", 1)
            numbers = printed.get(key, [None] * 4)
            released = corrected = None
            if (prompt, judge) in known:
                sets = counting.confidence_by_item(frame, "direct", prompt, judge)
                released = _spread(*sets)
                corrected = _in_words(bench, prompt, judge)
            for part, name in enumerate(PARTS):
                rows.append(
                    Row(
                        "11",
                        f"{bench.name}: {key}",
                        name,
                        numbers[part],
                        released[part] if released else None,
                        corrected[part] if corrected else None,
                        corrected[part] if corrected else None,
                    )
                )
    note = (
        "released: an unread level counts 0, and labels are looked for anywhere in the text "
        '("low" in "following"). corrected: the last label as a whole word, the unread left out.'
    )
    return Table("11", "confidence in words", tuple(rows), (note,))


def passes(benches: Sequence[Bench]) -> Table:
    """P_c and P_p with intervals, and in how many resamples of the items a judge passes."""
    rows, notes = [], [note for bench in benches for note in bench.notes]
    for bench in benches:
        for exam in ("consistency", "pertinence"):
            found = bench.shares_of(exam)
            if found is None:
                continue
            judges, answers = found
            marks = mark(answers, Threshold(), counting.DRAWS)
            notes.append(f"{bench.name}, {exam}: the mean of the candidates is {marks.bar:.4f}.")
            for k, judge in enumerate(judges):
                value = Estimate(
                    float(marks.value[k]),
                    float(marks.low[k]),
                    float(marks.high[k]),
                    int(marks.n[k]),
                    int(marks.unscored[k]),
                )
                rows.append(Row("exams", judge, f"{bench.name}/{exam}", None, value, value, value))
                chance = point(float(marks.p_pass[k]), int(marks.n[k]))
                label = f"{bench.name}/{exam}, share of resamples passed"
                rows.append(Row("exams", judge, label, None, None, None, chance))
    return Table("exams", "P_c and P_p against the mean", tuple(rows), tuple(notes))


def _only_printed(bench: Bench, released: set[tuple[str, str]]) -> list[Row]:
    rows = []
    for row in bench.printed.table("table9_"):
        if (named(row["L1"]), named(row["L2"])) in released:
            continue
        label = f"{bench.name}: L1={row['L1']}, L2={row['L2']}, prompt1"
        cells = {k: v for k, v in row.items() if k not in ("L1", "L2")}
        rows += [Row("9", label, judge, float(value)) for judge, value in cells.items()]
    return rows


def _mean(cells: Floats) -> Estimate:
    """Mean over answers, both orders of an item belonging together."""
    flat = cells[~np.isnan(cells)]
    found = counting.share(cells, macro=False)
    return Estimate(found.value, found.low, found.high, len(flat), int(np.isnan(cells).sum()))


def _read(bench: Bench, first: str, second: str, prompt: int, judge: str) -> Estimate | None:
    """The same answers read anew; None where they were not kept."""
    rows = bench.data.pertinence
    if "response" not in rows:
        return None
    mine = rows[
        (rows["L1_RA"] == first)
        & (rows["L2_IA"] == second)
        & (rows["prompt"] == prompt)
        & (rows["evaluator"] == judge)
    ].copy()
    if "old_run" in mine and not mine["old_run"].all():
        mine = mine[~mine["old_run"]]
    said = [read_choice(text, CHOICE) for text in mine["response"].astype(str)]
    mine["result_stored"] = [CHOICE.get(one or "", -9) for one in said]
    cells = counting.relevant(mine[mine["result_stored"] != -9], bench.data.tasks)
    return _mean(cells)


def _uncertainty(bench: Bench, prompt: str, judge: str, *, old: bool) -> list[Estimate] | None:
    frame = bench.data.confidence
    easy, hard = counting.confidence_by_item(frame, "prob", prompt, judge, old=old)
    told = np.isfinite(easy).any() and np.isfinite(hard).any()
    return _spread(-easy, -hard) if told else None


def _spread(easy: Floats, hard: Floats) -> list[Estimate]:
    return [*counting.spread(easy), *counting.spread(hard)]


def _in_words(bench: Bench, prompt: str, judge: str) -> list[Estimate] | None:
    """Levels read anew."""
    frame = bench.data.confidence
    if "response" not in frame or prompt != "null":
        return None
    mine = frame[
        (frame["method"] == "direct") & (frame["prompt"] == prompt) & (frame["evaluator"] == judge)
    ]
    sets = []
    for name in ("easy", "hard"):
        rows = mine[mine["set"] == name]
        said = [read_choice(text, LEVELS, "last") for text in rows["response"].astype(str)]
        levels = np.array([LEVELS.get(one or "", np.nan) for one in said])
        sets.append(counting.by_task(rows["task_id"], levels))
    return _spread(*sets)
