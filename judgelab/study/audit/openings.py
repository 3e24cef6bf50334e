"""What a page of verdicts opens with: one plain sentence for each verdict."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from judgelab.study.audit.evidence import Evidence
from judgelab.study.audit.rules import TrustRules
from judgelab.study.audit.verdict import STANDINGS, Standing, TrustVerdict
from judgelab.study.audit.words import NARROW, wrong
from judgelab.study.common.plain import listed, times

NAMED = 5  # judges that are named; the others are counted
BECAUSE = {
    "no better than a control": "no better, or hardly, than something that knows nothing of "
    "quality (control: {control})",
    "falls for manipulation": "moved by a manipulation of the text",
    "too weak": "better than a guess, but too far from people and of no help beside labels",
    "labels and verdicts may be misaligned": "perhaps held against the wrong labels",
    "labels are alike": "judged on labels that a rule which knows nothing gets all right",
    "few labels count for most": "judged on labels of which a few count for nearly all",
    "labelled items left out": "without a verdict on some labelled items",
    "too few labels": "judged on too few labelled items",
    "labels may not be random": "held against labels that may not be a random sample",
    "no labels of a set": "used on sets of which no item has a label",
    "replies without a verdict": "too often without a readable verdict",
    "too little evidence": "not shown to be good or bad",
}
"""Reason -> why, of "1 judge is ..." and "3 judges are ..."."""


def openings(
    verdicts: Mapping[str, TrustVerdict], evidence: Mapping[str, Evidence], rules: TrustRules
) -> list[tuple[str, str]]:
    """(heading, sentences) for each verdict that a judge has, the best first.

    Args:
        verdicts: judge -> verdict, in the order in which judges are to be named.
    """
    made = []
    for standing in STANDINGS:
        group = [name for name, one in verdicts.items() if one.verdict == standing]
        if group:
            one = f"{standing[0].upper()}{standing[1:]}"
            heading = (
                one if len(verdicts) == 1 else f"{one}: {len(group)} of {len(verdicts)} judges"
            )
            made.append((heading, _sentence(standing, group, verdicts, evidence, rules)))
    return made


def _sentence(
    standing: Standing,
    group: Sequence[str],
    verdicts: Mapping[str, TrustVerdict],
    evidence: Mapping[str, Evidence],
    rules: TrustRules,
) -> str:
    if len(group) == 1:
        one = verdicts[group[0]]
        return f"{group[0]}. {one.why} {one.next}"
    found = [evidence[name] for name in group]
    said = f"{_names(group)}. "
    if standing == "trust":
        low, high = _range([one.agreement.value for one in found])
        return said + (
            f"They agree with people {low} to {times(high / 100)}, and their averages are "
            "right. Use them as they are, on items like these."
        )
    if standing == "trust after correction":
        low, high = _range([one.saving.value for one in found])
        return said + (
            "They know something of quality, but their own averages are not to be reported. Label "
            "a random sample and report the corrected average: with verdicts on many items more it "
            f"needs {low} to {high} % fewer labels than people alone.{_unstated(found, rules)}"
        )
    narrow = [
        one
        for name, one in zip(group, found, strict=True)
        if verdicts[name].reason == "no better than a control" and one.control >= one.ceiling
    ]
    if standing == "do not trust" and len(narrow) == len(group):
        return (
            f"{_because(group, verdicts, evidence)}People agree with each other no more often than "
            f"that control does with them: {NARROW}. Use another judge, or {wrong(narrow[0])}."
        )
    return _because(group, verdicts, evidence) + _then(standing, verdicts, group)


def _unstated(found: Sequence[Evidence], rules: TrustRules) -> str:
    """What a user must state before a judge can be trusted as it is, with one person's labels."""
    if rules.minimum is not None or any(one.ceiling == one.ceiling for one in found):
        return ""
    return (
        " With one person's labels nobody knows how far people agree: to trust a judge as it is, "
        "state how much agreement is enough (study.rules.minimum=0.8)."
    )


def _names(group: Sequence[str]) -> str:
    if len(group) > NAMED:
        return f"{', '.join(group[: NAMED - 1])} and {len(group) - NAMED + 1} more"
    return listed(group)


def _because(
    group: Sequence[str],
    verdicts: Mapping[str, TrustVerdict],
    evidence: Mapping[str, Evidence],
) -> str:
    """Who for which reason, the commonest first."""
    counts = Counter(verdicts[name].reason for name in group).most_common()
    made = []
    for reason, n in counts:
        names = [name for name in group if verdicts[name].reason == reason]
        control = Counter(evidence[name].gain_over for name in names).most_common(1)[0][0]
        why = BECAUSE[reason].format(control=control or "a guess")
        made.append(f"{_names(names)} {'is' if n == 1 else 'are'} {why}")
    return f"{'; '.join(made)}. "


def _then(standing: Standing, verdicts: Mapping[str, TrustVerdict], group: Sequence[str]) -> str:
    if standing == "do not trust":
        return "Use another judge or another prompt."
    found = [verdicts[name] for name in group]
    here = [one.more for one in found if one.here]
    beyond = [one.more for one in found if not one.here and math.isfinite(one.more)]
    never = [one for one in found if math.isinf(one.more)]
    said = [f"Label {_counts(here)} items more{_of(here, group)}."] if here else []
    if beyond:
        said.append(
            f"About {_counts(beyond)} labels more would decide{_of(beyond, group)}, more than this "
            "pool has: add items."
        )
    steps = {one.next for one in never}
    if len(never) == len(group) and len(steps) == 1:
        said.append(steps.pop())
    elif never:
        said.append(f"Labels alone do not decide{_of(never, group)}: the table says what would.")
    return " ".join(said)


def _counts(more: Sequence[float]) -> str:
    low, high = int(min(more)), int(max(more))
    return f"{low}" if low == high else f"{low} to {high}"


def _of(some: Sequence[object], group: Sequence[str]) -> str:
    return "" if len(some) == len(group) else f" on {len(some)} of them"


def _range(shares: Sequence[float]) -> tuple[int, int]:
    """Least and most, in hundredths."""
    known = [round(100 * share) for share in shares if share == share]
    return (min(known), max(known)) if known else (0, 0)
