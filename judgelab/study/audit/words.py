"""What an audit says: facts for the template ``answer.md.j2``, and cards of conditions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from judgelab.core.judgments import JudgmentTable
from judgelab.core.panel import Panel
from judgelab.core.result import Card, Table, Value
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.audit.asking import Inquiry
from judgelab.study.audit.averages import AverageAnswer
from judgelab.study.audit.design import CLASS, Design, came_in_turns, systems_of
from judgelab.study.audit.drift import JudgeDrift, JudgeNoise, Origin
from judgelab.study.audit.evidence import WORDS, Evidence
from judgelab.study.common.stopping import Elimination
from judgelab.study.common.templates import by_heading, hundredth, sentences, spoken

say = partial(spoken, __package__, "conditions.md.j2")
"""A condition or a verdict in a few words: ``say("heading", condition)``."""
MANY = 4  # classes from which on each has no card of its own


class AuditFacts(NamedTuple):
    """All that a page is made of."""

    design: Design
    # of each judge what is known, and of its average
    judges: Sequence[tuple[Evidence, AverageAnswer | None]]
    panel: Panel
    inquiries: Sequence[Inquiry]
    # judge -> how its verdicts came about, and columns of what it cost, of those that were asked
    origins: Mapping[str, Origin]
    costs: Mapping[str, Mapping[str, Value]]
    elimination: Elimination | None
    trials: Table | None  # of manipulations
    noises: Sequence[JudgeNoise]  # of judges that were asked several times
    before: str  # the earlier run; drifts, alone: what changed since, and judges of one run alone
    drifts: Sequence[JudgeDrift]
    alone: Sequence[str]

    @property
    def open(self) -> int:
        """Verdicts that were not given, as calls were not sent or not answered."""
        return sum(one.open for one in self.inquiries)

    @property
    def noun(self) -> str:
        """What is judged."""
        return "pair" if self.design.table.kind == "preference" else "text"

    @property
    def ranking(self) -> list[tuple[Evidence, AverageAnswer | None]]:
        """The best first: by word, then by agreement, then by name."""

        def place(pair: tuple[Evidence, AverageAnswer | None]) -> tuple[int, float, str]:
            one, _ = pair
            last = -one.agreement.value if one.agreement.n else 1.0
            return WORDS.index(one.verdict.word), last, one.name

        return sorted(self.judges, key=place)


def answer(audit: AuditFacts) -> tuple[str, list[tuple[str, str]]]:
    """Title, and (heading, sentences): the template's lines, a paragraph each."""
    design, ranking, table = audit.design, audit.ranking, audit.design.table
    noises = sorted(audit.noises, key=lambda one: (one.own.differ.value, one.name))
    # not the same where judges were asked about other texts
    people = {one.people and (one.people.units, one.people.differ.value) for one in noises}
    facts: dict[str, Any] = {
        **audit._asdict(),
        "open": audit.open,
        "noun": audit.noun,
        "kind": table.kind,
        "untested": _untested(audit),
        "read": str(table.facts.get("read", "")),
        "log": str(audit.panel.provenance.get("log", "")),
        "columns": str(audit.panel.provenance.get("columns_taken", "")),
        "ties": _ties(table),
        "crossed": [x.name for x, _ in ranking if x.crossed] if len(ranking) > 1 else [],
        "one": None,
        "noises": noises,
        "doubles": len({*table.units.cluster[design.double]}),
        "turns": came_in_turns(table),
        "people": noises[0].people if len(people) == 1 else None,
    }
    if len(ranking) == 1:
        ((one, average),) = ranking
        counts, items = design.labels_of_class, table.units.cluster
        facts |= {
            "one": one,
            "average": average,
            "fault": fault(one, design),
            "recalls": [(x, own.value) for x, own in one.recall.items() if counts[x] >= CLASS],
            "rare": [(name, n) for name, n in counts.items() if 0 < n < CLASS],
            "pool": len({*items} - {*items[table.labelled]}),
        }
    else:
        words = Counter(sorted(average.word for _, average in ranking if average is not None))
        facts |= {"averages": words.most_common(), "groups": _groups(audit)}
    title, *rest = sentences(__package__, "answer.md.j2", **facts)
    if title.startswith("the judge "):
        title = title[0].upper() + title[1:]
    return title, by_heading(rest)


def fault(one: Evidence, design: Design) -> str:
    """The class that is found least, in counts: ``passes 13 of the 27 texts that people failed``.

    Of equals the one that is passed wrongly; "" for other data and for classes with few labels.
    """
    table, confusion = design.table, one.confusion
    classes = [k for k, x in enumerate(table.levels) if design.labels_of_class[x] >= CLASS]
    if confusion is None or not classes:
        return ""
    wrong = confusion.sum(axis=1) - confusion.diagonal()

    def worst_first(k: int) -> tuple[float, bool, float, str]:
        level = table.levels[k]
        return one.recall[level].value, level == table.positive, -wrong[k], level

    k = min(classes, key=worst_first)
    row, level = confusion[k].tolist(), table.levels[k]
    if not sum(row) > 0:
        return ""
    others = [name for name in design.classes if name != level]
    other = others[0] if len(others) == 1 else ""
    as_other = row[table.levels.index(other)] if other else None
    return say("fault", level, other, wrong[k], sum(row), as_other)


def cards(one: Evidence) -> list[Card]:
    """One card for each condition; of the rules that know nothing the nearest alone.

    Agreement and classes without a bar have a card, too.
    """
    nearest = min(one.of("control"), key=lambda each: (each.value.low, each.about))
    cards = list[Card]()
    for each in one.conditions:
        if each.name != "control" or each is nearest:
            small = f"{say('ends', each)}, {say('wanted', each)}: {say('answer', each)}"
            cards.append(Card(say("heading", each), say("number", each), small, each.standing))

    def without_bar(name: str, share: Estimate) -> Card:
        small = f"{hundredth(share.low)} to {hundredth(share.high)}; no bar of its own"
        return Card(name, f"{hundredth(share.value)} %", small, "open")

    if not one.of("minimum"):
        cards.insert(1, without_bar("Agreement with people", one.agreement))
    barred = {each.about for each in one.of("class")}
    for name, own in one.recall.items() if len(one.recall) <= MANY else ():
        if name not in barred and own.n:
            cards.append(without_bar(f"Finds '{name}'", own))
    return cards


def _untested(audit: AuditFacts) -> list[str]:
    """What a reader must not take for tested."""
    table, kinds = audit.design.table, {"manipulation": "manipulated texts (study.manipulate)"}
    systems = systems_of(audit.design)
    if systems is not None and len({*systems[2]}) > 1:
        kinds["system"] = "whether it knows more of a text than who wrote it"
    if table.kind == "preference" and not all(who.pointwise for who in table.judges):
        kinds["position"] = "the order of the two texts"
    conditions = {each.name for one, _ in audit.judges for each in one.conditions}
    return [what for name, what in kinds.items() if name not in conditions]


def _groups(audit: AuditFacts) -> list[dict[str, Any]]:
    """Verdict -> its judges, the best first, and why, the commonest reason first."""
    groups = []
    for word in WORDS:
        own = [one for one, _ in audit.ranking if one.verdict.word == word]
        if not own:
            continue
        counts = Counter(say("because", one.verdict, True) for one in own)
        order = sorted(counts, key=lambda why: (-counts[why], why))
        several = len(order) > 1
        wrong = fault(own[0], audit.design) if word != "use" else ""
        groups.append(
            {
                "word": word,
                "judges": own,
                "only": "" if several else own[0].verdict.reason,
                "reasons": [f"{why} ({counts[why]})" if several else why for why in order],
                "shares": sorted(x.agreement.value for x in own if x.agreement.n) or [math.nan],
                "fault": f"{own[0].name} {wrong}" if wrong else "",
            }
        )
    return groups


def _ties(table: JudgmentTable) -> tuple[float, float] | None:
    """Share of people's labels, and of verdicts, that prefer neither text; None where few do."""
    if table.kind != "preference":
        return None
    people, judges = (x[~np.isnan(x)] for x in (table.labels, table.verdicts))
    share = float((people == 0.5).mean()) if people.size else 0.0
    return (share, float((judges == 0.5).mean())) if share >= 0.1 and judges.size else None
