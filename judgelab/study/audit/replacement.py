"""Part 2: may the judge take the place of one of the people who label?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.core.judgments import JudgmentTable
from judgelab.core.result import Row, Table, Value
from judgelab.stats.trust.agreement import clustered_means
from judgelab.stats.trust.annotators import (
    Advantages,
    Replaced,
    advantages,
    alternative_annotator,
    average_advantage,
)
from judgelab.stats.trust.ceiling import STRATA, spread, spread_strata
from judgelab.study.audit.evidence import Findings
from judgelab.study.audit.part import AuditCase, AuditPart

EPSILON: Mapping[str, float] = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
"""Advantage granted to a judge for being cheaper than such people (2501.10970, section 3)."""

MOST_ROWS = 200
"""Rows up to which each judge is shown against each rater."""

OFF_SCALE = "its grades are not on the scale of people's"
TOO_FEW = "no rater labelled enough units that others labelled, too"


@dataclass(frozen=True)
class Replacement(AuditPart):
    """May it take a person's place?

    Args:
        people: who labelled; how large an advantage the judge is granted (``EPSILON``).
        epsilon: the same as a number; null: by ``people``.
        fewest: clusters (items) of a rater below which the rater is left out.
        expert: name of the one rater that the judge and all other raters are held against; null:
            each rater is held against the others.
        q: false discovery rate over the raters.
    """

    people: Literal["expert", "skilled", "crowd"] = "skilled"
    epsilon: Annotated[float, Field(ge=0, lt=1)] | None = None
    fewest: Count = 30
    expert: str | None = None
    q: Annotated[float, Field(gt=0, lt=0.5)] = 0.05

    name: ClassVar[str] = "replacement"
    question: ClassVar[str] = "May it take a person's place?"

    def run(self, case: AuditCase) -> Findings:
        """See AuditPart."""
        table, expert = case.table, self._expert(case.table)
        counts = (~np.isnan(table.labels)).sum(axis=1)
        if counts.max(initial=0) < 2:
            return Findings(
                lacking="Whether a judge may take a person's place needs labels of at least two "
                f"people on the same {self.fewest} items or more (three are better): no unit has "
                "two."
            )
        grades = table.kind == "grade"
        found = advantages(table.verdicts, table.asked, table.labels, grades, expert)
        test = self._test(found, case)
        refused = [OFF_SCALE if off else "" for off in off_scale(table)]
        refused = [
            why or (TOO_FEW if np.isnan(omega) else "")
            for why, omega in zip(refused, test.omega, strict=True)
        ]
        made = [
            replacement_table(case, test, refused, self._granted),
            raters_table(case, found, grades),
            each_rater_table(case, test, refused),
            strata_table(case, found, refused),
        ]
        return Findings(
            tables=[one for one in made if one.rows],
            evidence=_evidence(case, test, refused),
            notes=self._notes(case, test, refused),
        )

    @property
    def _granted(self) -> float:
        return EPSILON[self.people] if self.epsilon is None else self.epsilon

    def _expert(self, table: JudgmentTable) -> int | None:
        if self.expert is None:
            return None
        if self.expert not in table.raters:
            hint = did_you_mean(self.expert, table.raters)
            raise ConfigError(f"replacement.expert: no rater is called {self.expert!r}.{hint}")
        return table.raters.index(self.expert)

    def _test(self, found: Advantages, case: AuditCase) -> Replaced:
        table = case.table
        args = self._granted, self.fewest, self.q, table.weight
        return alternative_annotator(found, table.clusters, *args)

    def _notes(self, case: AuditCase, test: Replaced, refused: Sequence[str]) -> list[str]:
        tested = np.asarray(~np.isnan(test.p)).any(axis=0)
        short_of = np.asarray((test.n > 0).any(axis=0) & ~tested)
        short = [name for name, few in zip(case.table.raters, short_of, strict=True) if few]
        made = []
        if short:
            made.append(
                f"Left out, with fewer than {self.fewest} items that others labelled, too: "
                f"{', '.join(short[:8])}{' and others' if len(short) > 8 else ''}."
            )
        if 0 < tested.sum() < 3:
            made.append(
                f"With {int(tested.sum())} people tested the winning rate moves in steps of "
                f"1/{int(tested.sum())}: look at the p values of each."
            )
        if any(why == OFF_SCALE for why in refused):
            made.append(
                "Judges whose grades lie outside the range of people's grades cannot be compared "
                "with people by distance: ask for grades on people's scale."
            )
        return made


def off_scale(table: JudgmentTable) -> list[bool]:
    """[judges] of grades: whether some lie outside people's, so that distance means nothing."""
    if table.kind != "grade" or np.isnan(table.labels).all():
        return [False] * len(table.judges)
    least, most = np.nanmin(table.labels), np.nanmax(table.labels)
    slack = 0.05 * (most - least)
    said = table.verdicts[:, :, 0]
    return [bool((x < least - slack).any() or (x > most + slack).any()) for x in said]


def replacement_table(
    case: AuditCase, test: Replaced, refused: Sequence[str], epsilon: float
) -> Table:
    """One row for each judge."""
    rows: list[Row] = []
    tested = (~np.isnan(test.p)).sum(axis=1)
    for k, who in enumerate(case.table.judges):
        no = bool(refused[k])
        share = {
            "average_advantage": test.average[k],
            "average_advantage_low": test.low[k],
            "average_advantage_high": test.high[k],
            "winning_rate": test.omega[k],
        }
        row: dict[str, Value] = {"judge": who.name, "role": "control" if who.control else "judge"}
        row["may_replace"] = "no answer" if no else _answer(test.omega[k], case.rules.winning)
        row |= {key: None if no else float(value) for key, value in share.items()}
        row |= {"raters_tested": int(tested[k]), "n": int(test.n[k].sum())}
        rows.append(row | {"refused": refused[k] or None})
    rows.sort(key=lambda row: -(row["average_advantage"] or 0.0))  # type: ignore[operator]
    note = (
        "Average advantage: share of labels on which the judge is at least as close to the other "
        "people as the person left out is, mean over people. Winning rate: share of people whose "
        f"place it may take, being cheaper: not worse by {epsilon:g} or more, tested for each "
        f"person (Benjamini-Yekutieli). From {case.rules.winning:g} on it may replace a person. "
        "Weak raters are easy to replace: see how well they agree."
    )
    return Table("replacement", "May it take a person's place?", rows, note, 0.95)


def _answer(omega: float, bar: float) -> str:
    return "yes" if omega >= bar else "no"


def raters_table(case: AuditCase, found: Advantages, grades: bool) -> Table:
    """How close each rater is to the others."""
    clusters = case.table.clusters
    what, values = ("distance", -found.closeness) if grades else ("agreement", found.closeness)
    widest = float(np.nanmax(values, initial=0.0)) if grades else 1.0
    rows: list[Row] = [
        {
            "rater": name,
            what: one.value,
            f"{what}_low": one.low,
            f"{what}_high": one.high,
            "n": one.n,
        }
        for name, one in zip(
            case.table.raters,
            clustered_means(values, clusters, (0.0, max(widest, 1e-9)), weight=case.table.weight),
            strict=True,
        )
        if one.n
    ]
    note = (
        "Mean distance of the rater's grades to those of the others (root mean square)."
        if grades
        else "Share of the others' labels of the same units that are the rater's."
    )
    return Table("raters", "How close each person is to the others", rows, note, 0.95)


def each_rater_table(case: AuditCase, test: Replaced, refused: Sequence[str]) -> Table:
    """Judges against each rater, where that is not too long."""
    rows: list[Row] = [
        {
            "judge": who.name,
            "rater": rater,
            "advantage": float(test.advantage[k, j]),
            "rater_less_judge": float(test.difference[k, j]),
            "n": int(test.n[k, j]),
            "p": float(test.p[k, j]),
            "may_replace": "yes" if test.rejected[k, j] else "no",
        }
        for k, who in enumerate(case.table.judges)
        for j, rater in enumerate(case.table.raters)
        if not refused[k] and not np.isnan(test.p[k, j])
    ]
    note = (
        "p: one-sided, that the person is ahead by the advantage granted or more; a person's place "
        "may be taken where it is rejected."
    )
    shown = rows if len(rows) <= MOST_ROWS else []
    return Table("replacement_raters", "Whose place may it take?", shown, note, 0.95)


def strata_table(case: AuditCase, found: Advantages, refused: Sequence[str]) -> Table:
    """Average advantage by how much people differ."""
    table = case.table
    names = np.array(spread_strata(spread(table.labels, table.kind == "grade")), dtype=object)
    there = [name for name in STRATA if (names == name).any()]
    rows: list[Row] = []
    for name in there if len(there) > 1 else ():
        at = names == name
        part = Advantages(found.judge[:, :, at], found.rater[:, :, at], found.closeness[:, at])
        counted = np.asarray((~np.isnan(part.judge)).any(axis=2), np.bool_)
        average, low, high = average_advantage(part, table.clusters[at], counted, table.weight[at])
        for k, who in enumerate(table.judges):
            if not refused[k]:
                row: Row = {
                    "judge": who.name,
                    "stratum": name,
                    "average_advantage": float(average[k]),
                    "average_advantage_low": float(low[k]),
                    "average_advantage_high": float(high[k]),
                    "n": int((~np.isnan(part.judge[k])).sum()),
                }
                rows.append(row)
    note = "Where people agree fully a judge can at best be as close as they are."
    return Table("replacement_strata", "By how much people differ", rows, note, 0.95)


def _evidence(case: AuditCase, test: Replaced, refused: Sequence[str]) -> dict[str, dict[str, Any]]:
    return {
        who.name: {"omega": float("nan") if refused[k] else float(test.omega[k])}
        for k, who in enumerate(case.table.judges)
    }
