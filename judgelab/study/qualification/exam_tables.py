"""The tables of exams: judges, the controls beside them, and what easy answers look like."""

from __future__ import annotations

import numpy as np

from judgelab.core.result import Row, Table, Value
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.ends import mean_ends, of_ratio
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.qualification.decisions import accuracy, box
from judgelab.study.common.tables import columns
from judgelab.study.qualification.case import Case

INTERVAL = ("value", "low", "high")


def exams_table(case: Case) -> Table:
    """Numbers, thresholds and how certain the pass is."""
    rows: list[Row] = []
    for exam, marks in case.marks.items():
        for k, judge in enumerate(case.responses.judges):
            found = columns(marks.found.at(k), *INTERVAL, "n", "unscored")
            row: dict[str, Value] = {
                "exam": exam,
                "judge": judge,
                **{key: found[key] for key in INTERVAL},
                "bar": marks.bar,
                "passed": _passed(case, exam, k),
                "why_not": failure(case, exam, k) or None,
                "p_pass": float(marks.p_pass[k]),
                "n": found["n"],
                "unscored": found["unscored"],
            }
            if exam == "consistency":
                row["tied"] = float(case.responses.tied[k])
            if marks.gap is not None:
                row["gap"], row["gap_low"], row["gap_high"] = map(float, marks.gap[:, k])
            rows.append(row)
    note = (
        "Consistency P_c, pertinence P_p, self-confidence P_s, with 95 % intervals over items. "
        "bar: the threshold. p_pass: share of resamples of the items, threshold, controls and all, "
        "in which the judge passes: near 0 or 1 the data decide, near .5 chance. unscored: answers "
        "that were asked for and could not be read. tied: share of answers that are ties before "
        "and after the change, which agree without comparing anything. gap: confidence on the easy "
        "minus the hard set."
    )
    return Table("exams", "Exams", rows, note)


def leads_table(case: Case) -> Table:
    """How far every judge is ahead of the controls that decide an exam."""
    rows: list[Row] = []
    for exam, marks in case.marks.items():
        for control, leads in marks.leads.items():
            answers = case.responses.controls.get(exam, {}).get(control)
            own = (
                0.5 if answers is None else float(answers.values(np.ones((1, answers.items)))[0, 0])
            )
            for k, judge in enumerate(case.responses.judges):
                found = columns(leads.at(k), *INTERVAL, "p", "n", "unscored")
                named = {"exam": exam, "judge": judge, "control": control}
                rows.append({**named, "control_value": own, **found})
    note = (
        "Mean difference between what the judge and the control got for the same answers, with its "
        "95 % interval and a two-sided p from flipping the sign of whole items, each test by "
        "itself; n: items. A judge passes where it is above 0 with p <= .05. random: what coin "
        "flips get on average. length: the longer answer is better; control_value: what it got."
    )
    return Table("leads", "Judges against controls", rows, note)


def superficial_table(case: Case) -> Table:
    """How relevant answers differ from irrelevant ones to somebody who reads no question."""
    rows: list[Row] = []
    for exam, gaps in case.responses.gaps.items():
        for (who, measure), values in gaps.items():
            found = _mean(values)
            asked = int(np.count_nonzero(~np.isnan(gaps[who, "words"])))
            rows.append(
                {"exam": exam, "asked": who, "measure": measure}
                | {**columns(found, *INTERVAL, "n"), "unscored": asked - found.n}
                | {"items": found.clusters}
            )
    note = (
        "Relevant answer minus irrelevant one, mean over the pairs asked, with 95 % intervals over "
        "items. words: how many. fluency: log P of the text by the evaluation LM without the "
        "source, nats per token; where it has log-probabilities. The paper wants the irrelevant "
        "answer to look better: both below 0. Above 0 a judge may go by looks."
    )
    return Table("superficial", "How relevant and irrelevant answers look", rows, note)


def confidence_table(case: Case) -> Table:
    """How sure each judge is on the easy and on the hard set: the boxes of Figure 4."""
    rows: list[Row] = []
    right = {pool.name: case.accuracy(pool.sign).value for pool in case.singles if case.known}
    for judge, sets in case.responses.confidences.items():
        levels = any(np.nanmax(cells, initial=-np.inf) > 0 for cells in sets)  # else ln p
        for name, cells in zip(("easy", "hard"), sets, strict=True):
            shown = cells if levels else -cells
            known = int(np.count_nonzero(~np.isnan(cells)))
            rows.append(
                {"judge": judge, "set": name, "unit": "level" if levels else "-ln p"}
                | columns(accuracy(shown), *INTERVAL)  # mean over answers
                | {"n": known, "unscored": cells.size - known}
                | {"sd": float(np.nanstd(shown)), **box(shown)}
                | {"accuracy": right.get(judge, float("nan"))}
            )
    note = (
        "Unit -ln p: uncertainty, of the label that the judge emitted; level: confidence in words, "
        "from 1. A judge is fit that is less uncertain, or at a higher level, on the easy set. "
        "value: mean over answers, 95 % interval over items; whiskers reach to the last value "
        "within 1.5 times the quartiles' gap. accuracy: on the pairs that people decided."
    )
    return Table("confidence", "Confidence on easy and on hard pairs", rows, note)


def _mean(values: Floats) -> Estimate:
    """Over the questions of all items [items, questions], with an interval over items."""
    count = (~np.isnan(values)).sum(axis=1).astype(np.float64)
    parts = of_ratio(np.nansum(values, axis=1), count)
    low, high = mean_ends(parts)
    items = int(np.count_nonzero(count))
    mean = float(np.nanmean(parts)) if items else float("nan")
    return Estimate(mean, float(low), float(high), int(count.sum()), clusters=items)


def failure(case: Case, exam: str, judge: int) -> str:
    """Why a judge that took an exam did not pass it; empty where it did."""
    marks = case.marks[exam]
    if marks.passed[judge] or not case.responses.taken[exam][judge]:
        return ""
    if np.isnan(marks.found.value[judge]):
        return "no readable answer"
    if unbeaten := marks.unbeaten(judge):
        return f"no better than {' and '.join(unbeaten)}"
    return "below the threshold" if exam != "self_confidence" else "not surer of the easy set"


def _passed(case: Case, exam: str, judge: int) -> bool | str:
    marks = case.marks[exam]
    if not case.responses.taken[exam][judge] or (marks.alone[judge] and marks.passed[judge]):
        return "excused"
    return bool(marks.passed[judge])
