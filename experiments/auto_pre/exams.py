"""Tables 9, 10 and 11, and how sure the exams' passes are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from experiments.auto_pre import counting
from experiments.auto_pre.bench import STATED_EXAM, Bench
from experiments.auto_pre.printed import pertinence as printed_pertinence
from experiments.auto_pre.printed import printed, released_name
from experiments.auto_pre.release import confidence, pertinence
from experiments.command import Row, Table
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate

PRINTED_ON = "XSum"
PARTS = ("easy mean", "easy std", "hard mean", "hard std")


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
                    paper = printed_pertinence(first, second).get(judge)
                label = f"{bench.name}: L1={first}, L2={second}, prompt{prompt}"
                released = _mean(cells)
                anew = _mean(pertinence(bench.data, judge, first, second, int(prompt)))
                rows.append(Row("9", label, judge, paper, released, anew, anew))
        if bench.name == PRINTED_ON:
            rows += _only_printed(bench, {(f, s) for f, s, _ in configurations})
    note = (
        "released: as stored, unread answers counting a half; corrected and stated: read anew as "
        "whole words, the first label counting, unread answers left out. The interval is over "
        "items, of which both orders belong together."
    )
    return Table("9", "P_p", tuple(rows), (note,))


def table10(benches: Sequence[Bench]) -> Table:
    """Uncertainty -ln p on the easy and on the hard set."""
    note = (
        "-ln p of the emitted label, natural logarithm, population SD. Where a run was repeated "
        "the printed numbers are of the earlier one; corrected and stated: of the later. "
        "The intervals are over items."
    )
    rows = [row for bench in benches for row in _confidence(bench, "10", "prob", "+")]
    return Table("10", "uncertainty", tuple(rows), (note,))


def table11(benches: Sequence[Bench]) -> Table:
    """Confidence in words, levels 1 to 5."""
    note = (
        "released: an unread level counts 0, and labels are looked for anywhere in the text "
        '("low" in "following"). corrected: the last label as a whole word, the unread left out.'
    )
    rows = [row for bench in benches for row in _confidence(bench, "11", "direct", "_")]
    return Table("11", "confidence in words", tuple(rows), (note,))


def _confidence(bench: Bench, table: str, method: str, between: str) -> Iterator[Row]:
    """Four rows for each prompt and judge, printed or released."""
    key = "uncertainty" if method == "prob" else "levels"
    listed = printed(key) if bench.name == PRINTED_ON else {}
    frame = bench.data.confidence
    mine = frame[frame["method"] == method]
    names = dict.fromkeys(
        f"{p}{between}{e}" for p, e in zip(mine["prompt"], mine["evaluator"], strict=True)
    )
    for name in dict.fromkeys([*listed, *names]):
        prompt, judge = name.split(between, 1)
        released = _as_released(bench, method, prompt, judge) if name in names else None
        anew = _anew(bench, f"{method}, {prompt}", judge, -1 if method == "prob" else 1)
        numbers = listed.get(name, [None] * 4)
        for k, part in enumerate(PARTS):
            was, now = (None if four is None else four[k] for four in (released, anew))
            yield Row(table, f"{bench.name}: {name}", part, numbers[k], was, now, now)


def _only_printed(bench: Bench, released: set[tuple[str, str]]) -> list[Row]:
    rows = []
    for row in printed("pertinence"):
        if (released_name(row["L1"]), released_name(row["L2"])) in released:
            continue
        label = f"{bench.name}: L1={row['L1']}, L2={row['L2']}, prompt1"
        cells = {k: v for k, v in row.items() if k not in ("L1", "L2")}
        rows += [Row("9", label, judge, float(value)) for judge, value in cells.items()]
    return rows


def _mean(cells: Floats) -> Estimate:
    """Mean over answers, both orders of an item belonging together."""
    return counting.share(cells, np.ones(cells.shape), macro=False)


def _as_released(bench: Bench, method: str, prompt: str, judge: str) -> list[Estimate] | None:
    """Of the earlier run where there are two."""
    sign = -1 if method == "prob" else 1
    for old in (True, False):
        sets = counting.confidence_by_item(bench.data.confidence, method, prompt, judge, old=old)
        if all(np.isfinite(cells).any() for cells in sets):
            return _spread(*(sign * cells for cells in sets))
    return None


def _spread(easy: Floats, hard: Floats) -> list[Estimate]:
    return [*counting.spread(easy), *counting.spread(hard)]


def _anew(bench: Bench, way: str, judge: str, sign: int) -> list[Estimate] | None:
    """As the reader of the release has it: the later run, levels as whole words, none unread."""
    values = confidence(bench.data, judge, way)
    return None if values is None else _spread(sign * values[0], sign * values[1])
