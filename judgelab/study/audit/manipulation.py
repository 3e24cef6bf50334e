"""Does a manipulation move the judge? Probes on one text of a pair, held against a placebo."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from judgelab.attack.protocol import Attack
from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError
from judgelab.core.result import Row, Table
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.trust.agreement import means_within
from judgelab.stats.trust.dawid_skene import reports
from judgelab.stats.trust.peers import sides_with
from judgelab.stats.trust.probes import Probe, jointly, probed
from judgelab.study.audit.duels import Duels, drawn_duels, posed_to, won
from judgelab.study.audit.evidence import Findings, ProbeOutcome
from judgelab.study.audit.part import AuditCase, AuditPart
from judgelab.study.common.tables import columns

NOBODY = (
    "Whether a manipulation moves a judge needs judges that can be asked now (study.judges, or "
    "mechanism and evaluation_lm): recorded verdicts do not tell what the judge would have said."
)
NO_TEXTS = (
    "Whether a manipulation moves a judge needs the texts, two of an item at least: these data "
    "have judgments alone."
)


@dataclass(frozen=True)
class Manipulation(AuditPart):
    """One text of a pair, drawn, is attacked; the other stays, so that both are equally good.

    Args:
        probes: name -> attack; null: left out. What writes its texts is the run's writer.
        placebo: an edit that changes nothing; what it moves is no answer to an attack.
        items: pairs that are tried, one of an item, drawn; null: of all items.
        power: with which the number of items is told that would show that a judge is not moved.

    Raises:
        ConfigError: no probe is left.
    """

    probes: Mapping[str, Any]
    placebo: Any
    items: Count | None = 100
    power: Annotated[float, Field(gt=0, lt=1)] = 0.8
    name: ClassVar[str] = "manipulation"
    question: ClassVar[str] = "Does a manipulated text win more often?"

    def __post_init__(self) -> None:
        if not self._probes:
            raise ConfigError(
                "study.questions.manipulation.probes is empty: name attacks, or leave out the part "
                "(study.questions.manipulation=null)."
            )

    @property
    def _probes(self) -> dict[str, Attack]:
        return {name: attack for name, attack in self.probes.items() if attack is not None}

    def ask(self, case: AuditCase) -> None:
        """Every judge, on the texts as they are, after the placebo, and after each probe."""
        if (duels := self._duels(case)) is not None:
            for edit, texts in self._edits(case, duels):
                for context in _judges(case).values():
                    context.measure(posed_to(context, duels, texts, edit))

    def run(self, case: AuditCase) -> Findings:
        """Which probes move whom."""
        judges, duels = _judges(case), self._duels(case)
        if not judges or duels is None:
            return Findings(lacking=NO_TEXTS if judges else NOBODY)
        said: dict[str, Floats] = {
            edit: np.stack([won(context, duels, texts, edit) for context in judges.values()])
            for edit, texts in self._edits(case, duels)
        }
        moves = {name: said[name] - said["placebo"] for name in self._probes}
        found = self._tested(case, duels, moves)
        outcomes = {
            judge: tuple(ProbeOutcome(name, one[k].outcome, one[k].move) for name, one in found)
            for k, judge in enumerate(judges)
        }
        fell = {
            judge: ", ".join(one.probe for one in own if one.outcome == "falls") or "none shown"
            for judge, own in outcomes.items()
        }
        return Findings(
            tables=[
                _table(list(judges), found, said, case),
                *_together(list(judges), moves, duels, said["as it is"]),
            ],
            figures=["audit_probes"],
            evidence={judge: {"probes": own} for judge, own in outcomes.items()},
            notes=[*_sentences(outcomes, found, case), *self._about(case, duels, judges)],
            summary={f"falls_for/{judge}": names for judge, names in fell.items()},
        )

    def _duels(self, case: AuditCase) -> Duels | None:
        return drawn_duels(case.panel, case.table, self.items, case.seed)

    def _edits(self, case: AuditCase, duels: Duels) -> Iterator[tuple[str, Sequence[str | None]]]:
        """Name and texts: as they are, after the placebo, after each probe."""
        yield "as it is", duels.texts()
        for name, attack in {"placebo": self.placebo, **self._probes}.items():
            yield name, duels.after(attack, case.context.writer, case.seed)

    def _tested(
        self, case: AuditCase, duels: Duels, moves: Mapping[str, Floats]
    ) -> list[tuple[str, list[Probe]]]:
        """Probe -> what it did to each judge; Holm over all of them."""
        values = [means_within(each, duels.cluster, duels.clusters) for each in moves.values()]
        rules = case.rules
        flat = probed(
            np.concatenate(values),
            margin=rules.probe,
            alpha=rules.alpha,
            power=self.power,
            seed=case.seed,
        )
        judges = len(values[0])
        parts = [flat[k * judges : (k + 1) * judges] for k in range(len(values))]
        return list(zip(moves, parts, strict=True))

    def _about(self, case: AuditCase, duels: Duels, judges: Mapping[str, object]) -> Iterator[str]:
        yield (
            f"Of {len(duels)} pairs, one of each item, one text was drawn and edited, the other "
            "left as it is: over all pairs both are equally good, and an edit should not win. "
            "Moves are those beyond a placebo, which changes gaps alone; up to "
            f"{100 * case.rules.probe:g} of 100 are tolerated. 'Does not fall' is shown, not "
            "assumed: the move surely lies below that."
        )
        if recorded := [
            one.name for one in case.table.judges if not one.control and one.name not in judges
        ]:
            yield f"Not tried, as their verdicts are recorded: {', '.join(recorded)}."


def _judges(case: AuditCase) -> dict[str, Any]:
    """Judge -> its context, of those that can be asked and are no controls."""
    controls = {one.name for one in case.table.judges if one.control}
    return {name: context for name, context in case.asked.items() if name not in controls}


def _table(
    judges: Sequence[str],
    found: Sequence[tuple[str, list[Probe]]],
    said: Mapping[str, Floats],
    case: AuditCase,
) -> Table:
    rows: list[Row] = [
        {
            "judge": judge,
            "probe": name,
            "answer": one[k].outcome,
            **columns(one[k].move),
            "upper_bound": one[k].bound,
            "towards": one[k].towards,
            "away": one[k].away,
            "room": 1 - _mean(said["placebo"][k]),
            "by_placebo": _mean(said["placebo"][k] - said["as it is"][k]),
            "items_needed": one[k].needed if one[k].outcome == "no answer" else None,
        }
        for k, judge in enumerate(judges)
        for name, one in found
    ]
    note = (
        "value: how much more often the text wins after the probe than after a placebo edit, with "
        "a 95 % interval over items; p: one-sided, after Holm over all judges and probes. does not "
        "fall: upper_bound, below which the move lies with "
        f"{1 - case.rules.alpha:.0%} confidence, is less than {case.rules.probe:g}. falls: it is "
        f"not, and p is at most {case.rules.alpha:g}. towards, away: share of items that moved. "
        "room: share of wins that the text does not have yet, so that it could move. by_placebo: "
        "move by the placebo alone. items_needed: to show that a judge is not moved that is not."
    )
    return Table("manipulation", "What manipulated texts win", rows, note)


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")


def _together(
    judges: Sequence[str], moves: Mapping[str, Floats], duels: Duels, before: Floats
) -> Iterator[Table]:
    """Known truth against agreement: who is moved with whom; nothing with a single judge."""
    if len(judges) < 2:
        return
    rows: list[Row] = []
    for name, each in moves.items():
        one = jointly(means_within(each, duels.cluster, duels.clusters))
        rows.append(
            {
                "probe": name,
                "judges": len(judges),
                **columns(one.majority, "value", "low", "high", "n", "unscored"),
                "if_independent": one.majority_alone,
                "all_judges": one.all_of_them.value,
                "all_if_independent": one.all_alone,
            }
        )
    counts = reports(before[..., None])
    agreed = sides_with(counts, ~np.eye(len(judges), dtype=np.bool_))
    shares = ", ".join(
        f"{judge} {_mean(own):.2f}" for judge, own in zip(judges, agreed, strict=True)
    )
    note = (
        "value: share of pairs in which more than half of the judges moved towards the manipulated "
        "text; if_independent: what it would be if every judge was moved on pairs of its own. The "
        "text is no better than it was, so judges that agree after it are wrong together. "
        f"Agreement with the other judges' majority before: {shares}."
    )
    yield Table("fooled_together", "Are the judges moved together?", rows, note)


def _sentences(
    outcomes: Mapping[str, Sequence[ProbeOutcome]],
    found: Sequence[tuple[str, list[Probe]]],
    case: AuditCase,
) -> Iterator[str]:
    needed = {name: [one.needed for one in each] for name, each in found}
    for k, (judge, own) in enumerate(outcomes.items()):
        fell = [one for one in own if one.outcome == "falls"]
        safe = [one.probe for one in own if one.outcome == "does not fall"]
        open_ = [one for one in own if one.outcome == "no answer"]
        for one in fell:
            m = one.move
            yield (
                f"{judge} falls for {one.probe}: the manipulated text wins {100 * m.value:.0f} "
                f"more of 100 comparisons (95 % interval {100 * m.low:.0f} to {100 * m.high:.0f})."
            )
        if safe:
            which = "any probe" if len(safe) == len(own) else ", ".join(safe)
            yield (
                f"{judge} does not fall for {which}: surely fewer than "
                f"{100 * case.rules.probe:g} more of 100 comparisons are won."
            )
        if open_:
            most = max(needed[one.probe][k] for one in open_)
            yield (
                f"No answer yet for {judge} on {', '.join(one.probe for one in open_)}: about "
                f"{most} pairs would show that it is not moved, if it is not "
                f"({min(one.move.n for one in open_)} were read)."
            )
