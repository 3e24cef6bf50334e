"""Part 1: how often judges agree with people, beside people themselves and what knows nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from judgelab.core.result import Row, Table, Value
from judgelab.stats.intervals.arrays import Floats, divide
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.trust.agreement import Places, preferred_by_most
from judgelab.stats.trust.ceiling import krippendorff_alpha
from judgelab.stats.trust.clustered import cluster_sums
from judgelab.study.audit.correlations import correlation_table, join_alarms
from judgelab.study.audit.evidence import UNKNOWN, Findings
from judgelab.study.audit.judge_comparison import correlation_pairs_table, judge_pairs_table
from judgelab.study.audit.part import AuditCase, AuditPart
from judgelab.study.audit.rules import gain_bar
from judgelab.study.audit.strata import strata_table
from judgelab.study.audit.with_people import AgreementWithPeople
from judgelab.study.common.tables import entries

TIES = "no better than calling every pair a tie"
ONE_RATER = (
    "How well people agree with each other is not known: nobody labelled a unit a second time. "
    "Labels of a second person on about 50 items would tell."
)
FEW_TWICE = (
    "Only {n} items have labels of two people: too few to say how well people agree with each "
    "other ({needed} are needed), so judges are held against people together."
)
WEIGHTED = (
    "Labels were chosen with different chances: agreement and gains are weighted, so that they "
    "speak for the whole pool; correlations and exact tests speak for the labelled items alone."
)
ACROSS = (
    "Most items have one graded text, so texts of different items are compared, two by two: "
    "agreement says how often the better one of two texts on different items gets the higher grade."
)


@dataclass(frozen=True)
class Agreement(AuditPart):
    """How often does the judge agree with people?

    Args:
        systems: fewest systems whose order is compared (of five, the smallest two-sided p of
            Kendall's tau is .017).
    """

    systems: int = 6

    name: ClassVar[str] = "agreement"
    question: ClassVar[str] = "How often does it agree with people?"

    def run(self, case: AuditCase) -> Findings:
        """See AuditPart."""
        if not case.credits.labelled.any():
            return Findings(
                evidence=_unlabelled(case),
                lacking="Agreement needs labels by people: there is none that a judge could match.",
            )
        found = AgreementWithPeople(case)
        alarms = join_alarms(case)
        made = [
            agreement_table(found),
            controls_table(found),
            gains_table(found),
            ceiling_table(found),
            judge_pairs_table(found),
            correlation_table(case, self.systems),
            correlation_pairs_table(case),
            strata_table(case),
        ]
        best = max(
            (
                one
                for one, who in zip(found.agreement, case.table.judges, strict=True)
                if not who.control
            ),
            key=lambda one: one.value if one.n else -1,
            default=UNKNOWN,
        )
        return Findings(
            tables=[table for table in made if table.rows],
            evidence=_evidence(found, alarms),
            notes=[
                *_notes(found),
                *(f"{name}: {said[0].lower()}{said[1:]}" for name, said in alarms.items() if said),
            ],
            summary=entries("best_agreement", best, "low", "high", "n"),
        )


def agreement_table(found: AgreementWithPeople) -> Table:
    """One row for each judge, the best first."""
    case, rows = found.case, []
    asked = case.table.asked.sum(axis=(1, 2))
    for k, who in enumerate(case.table.judges):
        one, control = found.agreement[k], found.best_control(k)
        gain = found.gains[k][control]
        row: dict[str, Value] = {"judge": who.name, "role": "control" if who.control else "judge"}
        row |= _columns("agreement", one)
        row |= {"n": one.n, "unscored": one.unscored, "clusters": one.clusters}
        row |= _columns("gain", gain) | {"gain_over": case.credits.controls[control]}
        row |= {"unparsed": int(found.unparsed[k]), "asked": int(asked[k])}
        row |= {"refused": TIES if found.tied[k] else None}
        rows.append((who.control, -one.value, row))
    rows.sort(key=lambda row: (row[0], row[1] if row[1] == row[1] else 2.0))
    return Table(
        "agreement",
        "Agreement with people",
        [row for *_, row in rows],
        _HOW[case.table.kind],
        found.level,
    )


_HOW: Mapping[str, str] = {
    "preference": "Agreement: share of pairs on which the judge prefers the text that (most) "
    "people prefer, mean of both orders; a tie on one side counts one half, a verdict that could "
    "not be read counts 0. ",
    "category": "Agreement: share of units that get people's category; one that could not be "
    "read counts 0. ",
    "grade": "Agreement: share of an item's pairs of texts that the judge orders as people do. "
    "Gaps of grades up to a threshold count as ties; the threshold is chosen on other items. A "
    "grade that could not be read counts 0 on its pairs. ",
}
_HOW = {
    kind: said + "n: items. Gain: agreement minus that of the best control, on the same items."
    for kind, said in _HOW.items()
}


def controls_table(found: AgreementWithPeople) -> Table:
    """What each control earns."""
    credits = found.case.credits
    means = found.controls
    # What is the same on every item is known, not estimated.
    spread = np.nanmax(credits.control, axis=1) - np.nanmin(credits.control, axis=1)
    means = [
        one if s else replace(one, low=np.nan, high=np.nan)
        for one, s in zip(means, spread, strict=True)
    ]
    rows = [
        {"control": name, **_columns("agreement", one), "n": one.n, "unscored": one.unscored}
        for name, one in zip(credits.controls, means, strict=True)
    ]
    note = (
        "What knows nothing of quality gets. random: by chance; longer, shorter: that text wins; "
        "system, stratum: what people surely said of the other texts of that system or stratum."
    )
    return Table("controls", "Agreement of controls with people", rows, note, found.level)


def gains_table(found: AgreementWithPeople) -> Table:
    """Every judge against every control."""
    credits, table = found.case.credits, found.case.table
    rows: list[Row] = [
        {"judge": who.name, "control": control, **_columns("gain", one), "n": one.n}
        for who, row in zip(table.judges, found.gains, strict=True)
        for control, one in zip(credits.controls, row, strict=True)
        if not who.control
    ]
    note = (
        "Agreement of the judge minus that of the control, on the same items. Of preferences and "
        "categories, intervals of gains over system, stratum and most frequent take what these say "
        "here as given; what they would say after other labels is not in them, and trials found "
        "the gain of a large sample in .75 to .90 of such intervals instead of .95."
    )
    return Table("gains", "Gain over each control", rows, note, found.level)


def ceiling_table(found: AgreementWithPeople) -> Table:
    """Judges beside people, both against single people."""
    rows: list[Row] = []
    if found.people is not None:
        less = found.more_than_people
        labels, kind = found.case.table.labels, found.case.table.kind
        scale = {"preference": "ordinal", "category": "nominal", "grade": "interval"}[kind]
        alpha = krippendorff_alpha(labels, scale, found.case.table.clusters, found.case.seed)  # type: ignore[arg-type]
        head = {"judge": "people with each other"} | _columns("agreement", found.ceiling)
        rows.append(head | {"n": found.ceiling.n} | _columns("krippendorff_alpha", alpha))
        rows += [
            {
                "judge": who.name,
                **_columns("agreement", one),
                "n": one.n,
                **_columns("more_than_people", gap),
            }
            for who, one, gap in zip(found.case.table.judges, found.with_one, less, strict=True)
        ]
    note = (
        "Agreement with one person at a time, on units that at least two people labelled: the same "
        "target for judges and for people. Krippendorff's alpha: agreement of people beyond "
        "chance, 1 perfect, 0 none; its interval resamples clusters."
    )
    return Table("ceiling", "Judges beside people", rows, note, found.level)


def _columns(name: str, one: Estimate) -> dict[str, Value]:
    return {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}


def _pool(case: AuditCase) -> Places:
    """[judges] clusters that each judged."""
    known = cluster_sums(~np.isnan(case.table.values), case.table.clusters)
    return np.asarray((known > 0).sum(axis=1), np.intp)


def _unparsed_share(case: AuditCase) -> Floats:
    table = case.table
    return divide(
        (table.asked & np.isnan(table.verdicts)).sum(axis=(1, 2)), table.asked.sum(axis=(1, 2))
    )


def _unlabelled(case: AuditCase) -> dict[str, dict[str, Any]]:
    pool, share = _pool(case), np.nan_to_num(_unparsed_share(case))
    return {
        name: {"labelled": 0, "pool": int(pool[k]), "unparsed": float(share[k])}
        for k, name in enumerate(case.table.names)
    }


def _telling(found: AgreementWithPeople, judge: int) -> int:
    """The control that the verdict names: the best; but where it is surely no better than some, it.

    The best control's own share is uncertain: a judge that always shrugs may be hard to tell from
    it, and yet surely be no better than random.
    """
    name, rules = found.case.table.names[judge], found.case.rules
    sure = {
        k: one.high
        for k, one in enumerate(found.gains[judge])
        if (room := round(1 - found.beside(judge, k), 9)) > 0
        and one.high < gain_bar(room, rules)
        and found.case.credits.controls[k] != name
    }
    best = found.best_control(judge)
    return best if best in sure or not sure else min(sure, key=lambda k: sure[k])


def _evidence(found: AgreementWithPeople, alarms: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    case = found.case
    known = case.table.labelled & case.table.asked.any(axis=2)
    labelled = (cluster_sums(known, case.table.clusters) > 0).sum(axis=1)
    made = _unlabelled(case)
    for k, name in enumerate(case.table.names):
        control = _telling(found, k)
        agreed = found.with_one[k] if found.compared else found.agreement[k]
        made[name] |= {
            "labelled": int(labelled[k]),
            "alarm": alarms.get(name, ""),
            "gain": found.gains[k][control],
            "gain_over": case.credits.controls[control],
            "control": found.beside(k, control),
            "tied": found.tied[k],
            "agreement": replace(UNKNOWN, n=agreed.n) if found.tied[k] else agreed,
            "ceiling": found.ceiling.value if found.compared else float("nan"),
        }
    return made


def _split(found: AgreementWithPeople) -> int:
    """Labelled units without an answer of most people; grades have a mean."""
    table = found.case.table
    if table.kind == "grade":
        return 0
    most = preferred_by_most(table.labels) if table.kind == "preference" else table.truth
    return int((table.labelled & np.isnan(most)).sum())


def _notes(found: AgreementWithPeople) -> list[str]:
    names = found.case.table.names
    lost = [f"{names[k]} {n:,}" for k, n in enumerate(found.unparsed) if n]
    tied = [name for name, tie in zip(names, found.tied, strict=True) if tie]
    made = [] if found.people is not None else [ONE_RATER]
    if found.people is not None and not found.compared:
        made.append(FEW_TWICE.format(n=found.ceiling.n, needed=found.case.rules.labels))
    if np.ptp(found.weight) > 0:
        made.append(WEIGHTED)
    made += [ACROSS] if found.case.credits.across else []
    if split := _split(found):
        made.append(
            f"On {split} labelled units people are split, so that there is nothing that most "
            "of them say: these count where judges and people are held against single people "
            "alone."
        )
    if lost:
        made.append(
            f"{int(found.unparsed.sum()):,} verdicts were asked for and could not be read; they "
            f"count as wrong: {_listed(lost)}."
        )
    if tied:
        made.append(
            f"Agreement of {_listed(tied)} is refused: its interval does not lie above what "
            "calling every pair a tie gets, so that nothing is known of the order that it gives. "
            "Label items whose texts differ more."
        )
    return made


def _listed(names: list[str], most: int = 8) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
