"""What an audit says: facts for the template ``answer.md.j2``, and cards of conditions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from judgelab.core.errors import some
from judgelab.core.judgments import JudgmentTable
from judgelab.core.panel import Panel
from judgelab.core.result import Card, Table, Value
from judgelab.stats.intervals.arrays import row_means
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.audit.averages import AverageAnswer, AverageWord
from judgelab.study.audit.design import CLASS, Design
from judgelab.study.audit.drift import JudgeDrift, JudgeNoise
from judgelab.study.audit.evidence import WORDS, Evidence
from judgelab.study.common.stopping import Elimination
from judgelab.study.common.templates import hundredth, sentences, spoken

say = partial(spoken, __package__, "conditions.md.j2")
"""A condition or a verdict in a few words: ``say("heading", condition)``."""
SHOWN = ("verdict", "agreement", "people", "kappa", "labelled", "missed", "unread")
"""What sentences on a judge show as it is."""
MANY = 4  # classes from which on each has no card of its own
PAIRS = 20  # pairs below which the two orders show nothing of how verdicts were written
STANDINGS = {"met": "met", "broken": "not met", "open": "not known yet"}
REPORT: dict[AverageWord, str] = {
    "as it is": "right as it is",
    "with labels": "to be corrected by labels",
    "people alone": "of no help beside labels",
    "not known": "not known yet",
}


class AuditFacts(NamedTuple):
    """All that a page is made of."""

    design: Design
    # of each judge what is known, and of its average
    judged: Sequence[tuple[Evidence, AverageAnswer | None]]
    panel: Panel
    stopped: Elimination | None
    trials: Table | None  # of manipulations
    open: int  # verdicts that were not given, as calls were not sent or not answered
    # judge -> columns of what it cost, of those that were asked
    costs: Mapping[str, Mapping[str, Value]]
    noises: Mapping[str, JudgeNoise] = {}  # judge -> its noise, of those asked several times
    before: str = ""  # drifts: the earlier run, and what changed since
    drifts: Sequence[JudgeDrift] = ()
    alone: Sequence[str] = ()  # judges of one of the two runs, who were not compared

    @property
    def noun(self) -> str:
        """What is judged."""
        return "pair" if self.design.table.kind == "preference" else "text"

    @property
    def ranked(self) -> list[tuple[Evidence, AverageAnswer | None]]:
        """The best first: by word, then by agreement, then by name."""

        def place(judged: tuple[Evidence, AverageAnswer | None]) -> tuple[int, float, str]:
            one, _ = judged
            last = -one.agreement.value if one.agreement.n else 1.0
            return WORDS.index(one.verdict.word), last, one.name

        return sorted(self.judged, key=place)


def answer(audit: AuditFacts) -> tuple[str, list[tuple[str, str]]]:
    """Title, and (heading, sentences): the template's lines, a paragraph each."""
    table, ranked = audit.design.table, audit.ranked
    facts: dict[str, Any] = {
        **audit._asdict(),
        "noun": audit.noun,
        "kind": table.kind,
        "untested": _untested(audit),
        "read": str(table.facts.get("read", "")),
        "log": str(audit.panel.provenance.get("log", "")),
        "columns": str(audit.panel.provenance.get("columns_taken", "")),
        "looks": audit.design.turn is not None,
        "rules": audit.design.bars,
        "ties": _ties(table),
        "crossed": _crossed(table),
        "one": None,
        "noise": _noise_facts(audit.noises),
    }
    if len(ranked) == 1:
        ((one, average),) = ranked
        facts |= {"one": _judge_facts(audit.design, one), "average": average}
    else:
        words = Counter(sorted(average.word for _, average in ranked if average is not None))
        facts |= {"averages": [f"{n} {REPORT[word]}" for word, n in words.most_common()]}
        facts |= {"groups": _groups(audit), "judges": len(ranked)}
    title, *rest = sentences(__package__, "answer.md.j2", **facts)
    if title.startswith("the judge "):
        title = title[0].upper() + title[1:]
    paragraphs = (line.split(": ", 1) for line in rest)
    return title, [(heading, text) for heading, text in paragraphs]


def _judge_facts(design: Design, one: Evidence) -> dict[str, Any]:
    """What the sentences on one judge are made of: all that is known of it, and this."""
    counts, items = design.labels_of_class, design.table.units.cluster
    first, away = [each.value for each in one.of("position")], design.bars.position
    tipped = [x.value for x in first if x.low > 0.5 + away or x.high < 0.5 - away]
    return {
        **{part: getattr(one, part) for part in SHOWN},
        "name": "the judge" if one.name == "judge" else one.name,
        "fault": fault(one, design),
        "rule": one.best_control,
        "rule_agreement": one.controls[one.best_control],
        "lost": design.table.reasons.get(one.name, {}),
        "recalls": [(x, own.value) for x, own in one.recall.items() if counts[x] >= CLASS],
        "rare": [(name, n) for name, n in counts.items() if 0 < n < CLASS],
        "more": None if math.isinf(one.verdict.more) else int(one.verdict.more),
        "pool": len({*items} - {*items[design.table.labelled]}),
        "first_wins": next(iter(tipped), None),
    }


def fault(one: Evidence, design: Design) -> str:
    """The class that is found least, in counts: ``passes 13 of the 27 texts that people failed``.

    Of equals the one that is passed wrongly; "" for other data and for classes with few labels.
    """
    table, confusion = design.table, one.confusion
    known = [k for k, x in enumerate(table.levels) if design.labels_of_class[x] >= CLASS]
    if confusion is None or not known:
        return ""
    wrong = confusion.sum(axis=1) - confusion.diagonal()

    def worst_first(k: int) -> tuple[float, bool, float, str]:
        level = table.levels[k]
        return one.recall[level].value, level == table.positive, -wrong[k], level

    k = min(known, key=worst_first)
    row, level = confusion[k].tolist(), table.levels[k]
    if not sum(row) > 0:
        return ""
    others = [name for name in design.classes if name != level]
    other = others[0] if len(others) == 1 else ""
    said = row[table.levels.index(other)] if other else None
    return say("fault", level, other, wrong[k], sum(row), said)


def cards(one: Evidence) -> list[Card]:
    """One card for each condition; of the rules that know nothing the nearest alone.

    Agreement and classes without a bar have a card, too.
    """
    nearest = min(one.of("control"), key=lambda each: (each.value.low, each.about))
    cards = [
        Card(
            say("heading", each),
            say("number", each),
            f"{say('ends', each)}, {say('wanted', each)}: {STANDINGS[each.standing]}",
            each.standing,
        )
        for each in one.conditions
        if each.name != "control" or each is nearest
    ]

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
    table, left = audit.design.table, []
    tested = {each.name for one, _ in audit.judged for each in one.conditions}
    if "manipulation" not in tested:
        left.append("manipulated texts (study.manipulate)")
    compares = table.kind == "preference" and not all(who.pointwise for who in table.judges)
    if compares and "position" not in tested:
        left.append("the order of the two texts")
    return left


def _groups(audit: AuditFacts) -> list[dict[str, Any]]:
    """Verdict -> its judges, the best first, and why, the commonest reason first."""
    groups = []
    for word in WORDS:
        own = [one for one, _ in audit.ranked if one.verdict.word == word]
        if not own:
            continue
        counts = Counter(say("because", one.verdict, True) for one in own)
        order = sorted(counts, key=lambda why: (-counts[why], why))
        several, best, names = len(order) > 1, own[0], [one.name for one in own]
        values = [one.agreement.value for one in own if one.agreement.n]
        wrong = fault(best, audit.design) if word != "use" else ""
        groups.append(
            {
                "word": word,
                "only": "" if several else best.verdict.reason,
                "n": len(own),
                "names": some(names),
                "first": some(names, 2),
                "reasons": [f"{why} ({counts[why]})" if several else why for why in order],
                "unstated": any(one.verdict.reason == "no bar" for one in own),
                "range": (min(values, default=math.nan), max(values, default=math.nan)),
                "rule": best.best_control,
                "fault": f"{best.name} {wrong}" if wrong else "",
            }
        )
    return groups


def _noise_facts(noises: Mapping[str, JudgeNoise]) -> dict[str, Any] | None:
    """The judges that contradict themselves least and most, and people beside them."""
    if not noises:
        return None
    order = sorted(noises.values(), key=lambda one: (one.own.differ.value, one.name))
    # not the same where judges were asked about other texts
    people = {one.people and (one.people.units, one.people.differ.value) for one in order}
    return {
        "least": order[0],
        "most": order[-1],
        "people": order[0].people if len(people) == 1 else None,
    }


def _crossed(table: JudgmentTable) -> list[str]:
    """Judges that surely agree with people in one order of texts, and disagree in the other.

    A judge that takes what is shown first is right in about half of either order.
    """
    if table.kind != "preference":
        return []
    names, people = list[str](), np.sign(row_means(table.labels) - 0.5)
    for name, orders in zip(table.names, table.verdicts.transpose(0, 2, 1), strict=True):
        sides = []
        for verdicts in orders:
            right = (people * np.sign(verdicts - 0.5))[(people * (verdicts - 0.5)) ** 2 > 0]
            far = 2 / np.sqrt(max(right.size, 1))  # two standard errors of a guess
            away = right.size >= PAIRS and abs(right.mean()) > far
            sides.append(float(np.sign(right.mean())) if away else 0.0)
        names += [name] if np.prod(sides) < 0 else []
    return names


def _ties(table: JudgmentTable) -> tuple[float, float] | None:
    """Share of people's labels, and of verdicts, that prefer neither text; None where few do."""
    if table.kind != "preference":
        return None
    people, judges = (x[~np.isnan(x)] for x in (table.labels, table.verdicts))
    share = float((people == 0.5).mean()) if people.size else 0.0
    return (share, float((judges == 0.5).mean())) if share >= 0.1 and judges.size else None
