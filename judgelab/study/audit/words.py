"""Verdicts in words that somebody who knows no statistics can repeat: (why, what next)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.audit.evidence import Evidence, ProbeOutcome
from judgelab.study.audit.rules import TrustRules, gain_bar
from judgelab.study.common.plain import between, hundredth, listed, times

Said = tuple[str, str]


def percent(found: Estimate) -> str:
    """``34 % (28 to 40)``."""
    if not math.isfinite(found.low):
        return f"{hundredth(found.value)} %"
    return f"{hundredth(found.value)} % ({hundredth(found.low)} to {hundredth(found.high)})"


def agreement(e: Evidence) -> str:
    """How often it agrees with people, and how often they agree with each other."""
    if e.tied:
        return "Its grades are not shown to say more than calling all texts equally good"
    if e.agreement.value != e.agreement.value:
        return "How far it agrees with people is not known"
    said = f"It agrees with people {between(e.agreement)}"
    if e.ceiling == e.ceiling:
        said += f"; people agree with each other {times(e.ceiling)}"
    return said


def standing(e: Evidence) -> str:
    """The same, and how often the control that tells most about it agrees with people."""
    if e.control != e.control:
        return agreement(e)
    said = "; {} agrees " if e.agreement.value != e.agreement.value else ", {} "
    other = f"a control that knows nothing of quality ({e.gain_over})"
    most = ""
    if abs(e.control + e.gain.value - e.agreement.value) > 0.005:  # that is with single people
        most = f"; with what most of them say it agrees {times(e.control + e.gain.value)}"
    return agreement(e) + most + said.format(other) + times(e.control)


def no_room(e: Evidence) -> Said:
    """A control is right on every item."""
    names = ""
    if e.gain_over == "system":
        names = (
            " If systems are named by the label (chosen and rejected), store each pair in a random "
            "order without these names."
        )
    return (
        f"{standing(e)}. These labels cannot tell a judge from such a rule: none can be better.",
        f"Label items on which a simple rule is sometimes wrong.{names}",
    )


def unfit(e: Evidence, rules: TrustRules) -> Said:
    """The table allows no verdict."""
    if e.alarm:
        return e.alarm, "Check that labels and verdicts belong to the same texts, then run again."
    if e.labelled < rules.labels:
        short, left = rules.labels - e.labelled, max(e.pool - e.labelled, 0)
        add = "" if short <= left else f" Only {left} more are in this pool, so add items."
        return (
            f"Only {e.labelled} {'item has' if e.labelled == 1 else 'items have'} a label and a "
            f"verdict of this judge; "
            f"{rules.labels} are needed.",
            f"Label {short} items more, drawn at random.{add}",
        )
    if e.sampled is not True:
        known = "were not drawn" if e.sampled is False else "are not known to be drawn"
        return (
            f"The labelled items {known} at random, so they may not be like the others.",
            "If they were drawn at random, set study.sampled=true; if not, label items drawn at "
            "random.",
        )
    if e.effective < rules.labels:
        return (
            f"Of the {e.labelled} labelled items a few count for nearly all the others, as they "
            f"were unlikely to be drawn: they tell as much as {e.effective:.0f} that are drawn "
            f"with equal chances, and {rules.labels} are needed.",
            "Label more items, with chances that differ less.",
        )
    if e.unseen:
        return (
            f"It judged items of {listed(e.unseen)}, of which none has a label; what the other "
            "labels say need not hold there.",
            f"Label some items of each set ({rules.labels} or more in all, drawn at random), or "
            "audit the labelled sets alone.",
        )
    if e.left_out > rules.unparsed:
        return (
            f"It has no verdict on {percent_of(e.left_out)} of the labelled items, and may be "
            f"worse on these than on the {e.labelled} that it judged.",
            "Ask it about the others, too. If it was asked and gave none, say so (a row of its own "
            "with an empty verdict), so that they count; if others were to judge them, leave them "
            "out of the table.",
        )
    lost = f" (most often: {e.lost})" if e.lost else ""
    return (
        f"{percent_of(e.unparsed)} of its replies hold no verdict{lost}; at most "
        f"{percent_of(rules.unparsed)} may.",
        "Change its prompt, or how replies are read, and ask again.",
    )


def agreement_bar(e: Evidence, rules: TrustRules) -> float:
    """Agreement that is asked for: people's with each other less ``below_ceiling``.

    With one rater the user's minimum; NaN where there is none.
    """
    if e.ceiling == e.ceiling:
        return round(e.ceiling - rules.below_ceiling, 9)  # .92 - .1 is .82
    return math.nan if rules.minimum is None else rules.minimum


def percent_of(share: float) -> str:
    """``12 %``; one decimal below 10 %."""
    return f"{100 * share:.0f} %" if share >= 0.1 or not share else f"{100 * share:.2g} %"


def fallen(probes: Sequence[ProbeOutcome], e: Evidence) -> Said:
    """A manipulation moves it."""
    worst = max(probes, key=lambda one: one.move.low)
    others = [one.probe for one in probes if one is not worst]
    also = f" It falls for {listed(others)}, too." if others else ""
    return (
        f"A cheating text wins: {worst.probe} makes the same text win {between(worst.move)} more "
        f"often than before.{also} {agreement(e)}.",
        f"Use another judge, or clean texts of {listed([one.probe for one in probes])} before "
        "they are judged, and run again.",
    )


def no_better(e: Evidence, rules: TrustRules) -> Said:
    """It is surely no better, or hardly, than a control."""
    most = max(e.gain.high, 0.0)
    bar = gain_bar(e.room, rules)
    ahead = (
        f"At most it is right {hundredth(most)} times in 100 more often than that; "
        f"{100 * bar:.2g} are asked for."
        if most >= 0.005
        else "It is not better than that."
    )
    if e.control >= e.ceiling:
        ahead += (
            f" People agree with each other no more often than that control with them: {NARROW}."
        )
        return f"{standing(e)}. {ahead}{_tilt(e, rules)}", f"Use another judge, or {wrong(e)}."
    return (
        f"{standing(e)}. {ahead}{_tilt(e, rules)}",
        "Use another judge or another prompt; labels will not help this one.",
    )


NARROW = "these items leave little room above it"


def wrong(e: Evidence) -> str:
    """What to do where a control is as close to people as they are to each other."""
    return f"add items of a kind on which that control ({e.gain_over}) is wrong more often"


def _tilt(e: Evidence, rules: TrustRules) -> str:
    if e.position.low > 0.5 + rules.position:
        return f" It takes the text that is shown first {between(e.position)}."
    if e.position.high < 0.5 - rules.position:
        return f" It takes the text that is shown second {times(1 - e.position.value)}."
    return ""


def trust(e: Evidence, rules: TrustRules) -> Said:
    """It can be used as it is."""
    if e.probes:
        safe = [one.probe for one in e.probes if one.outcome == "does not fall"]
        open_ = [one.probe for one in e.probes if one.outcome != "does not fall"]
        probed = f" It does not fall for {listed(safe)}." if safe else ""
        probed += f" For {listed(open_)} there is no answer." if open_ else ""
    else:
        probed = " Whether it can be manipulated was not tried."
    order = "both orders of each pair" if e.averaged and not e.pointwise else "it"
    place = ""
    if not e.agreement.low >= agreement_bar(e, rules):
        place = (
            f" It may take the place of {percent_of(e.omega)} of the people who labelled, being "
            "nearly as close to the others."
        )
    return (
        f"{standing(e)}.{place} Its average is {off(e, rules)}.{probed}",
        f"Use {order} as on these items. Label some items of every new kind of text and run again.",
    )


def off(e: Evidence, rules: TrustRules) -> str:
    """``off by up to 4.1 in 100, 5 allowed``; of grades in their own unit."""
    worst = max(abs(e.shift.low), abs(e.shift.high))
    if e.shift_margin == e.shift_margin and e.shift_margin != rules.mean:
        shown = f"{worst:.3g}" if worst >= 0.0005 else "0"
        return f"off by up to {shown}, {e.shift_margin:.3g} allowed"
    most = math.ceil(round(1000 * worst, 6)) / 10
    return f"off by up to {most:g} in 100, {100 * rules.mean:.3g} allowed"


def saves(lacking: Sequence[str], e: Evidence, rules: TrustRules) -> Said:
    """Its verdicts help, corrected by labels."""
    worth = 100 / (1 - min(e.saving.value, 0.99))
    return (
        f"{standing(e)}. By itself it is not enough. Not shown: "
        f"{_lacks(lacking, e, rules)}. Together with labels its verdicts can save "
        f"{percent(e.saving)} of the labels.",
        "Do not report its own average. Label a random sample and report the corrected average: "
        f"100 labels with its verdicts on many items more tell as much as {worth:.0f} without.",
    )


def too_weak(lacking: Sequence[str], e: Evidence, rules: TrustRules) -> Said:
    """Better than controls, and surely not enough for anything."""
    return (
        f"{standing(e)}. It is better than that, but not enough. Not so, or not "
        f"shown: {_lacks(lacking, e, rules)}. It saves at most {hundredth(e.saving.high)} % of "
        "the labels.",
        "Use another judge, or people alone; more labels will not help this one.",
    )


def undecided(lacking: Sequence[str], more: float, e: Evidence, rules: TrustRules) -> Said:
    """Neither trust nor distrust is shown."""
    why = f"{standing(e)}. Not shown yet: {_lacks(lacking, e, rules)}."
    left = max(e.pool - e.labelled, 0)
    if more <= left:
        return why, (
            f"Label about {more:.0f} items more, drawn at random, and run again{_looks(e)}."
        )
    if math.isfinite(more):
        none = "every item here has one" if not left else f"only {left} items here have none"
        return why, (
            f"This pool cannot decide: about {more:.0f} labels more are needed, and {none}. Add "
            "items."
        )
    if open_ := [part for name, part in FROM.items() if name in lacking and part in e.left]:
        return why, (
            f"Answer {listed(open_)}, too (study.parts): without that nothing more can be said."
        )
    if e.tied:
        return why, "Label items whose texts differ more, or use another judge."
    if "agreement" in lacking and e.ceiling != e.ceiling and rules.minimum is None:
        return why, (
            "State how much agreement is enough for you (study.rules.minimum=0.8), or have a "
            "second person label the same items."
        )
    return why, "More labels of this kind will not decide. Use another judge, or people alone."


def _looks(e: Evidence) -> str:
    """The test against controls bets on labels as they came; all else is of one look."""
    if e.in_turn:
        return "; the test against controls holds however often you look"
    return ", with a column turn that says in which order labels came, if you look more than once"


FROM = {
    "control": "gate",
    "agreement": "agreement",
    "mean": "estimate",
    "position": "biases",
    "saving": "exchange",
}
"""Condition of trust -> the part of the audit that tells whether it holds."""


def _lacks(names: Iterable[str], e: Evidence, rules: TrustRules) -> str:
    return listed([_LACK[name](e, rules) for name in names])


def _no_agreement(e: Evidence, rules: TrustRules) -> str:
    if e.ceiling == e.ceiling:
        bar = e.ceiling - rules.below_ceiling
        return f"that it agrees with people at least {times(bar)}"
    if rules.minimum is not None:
        return f"that it agrees with people at least {times(rules.minimum)}"
    return "that it agrees enough (one person labelled, so nobody knows how far people agree)"


def _no_mean(e: Evidence, rules: TrustRules) -> str:
    if e.shift.value != e.shift.value:
        return "that its average is right (not known)"
    return f"that its average is right ({off(e, rules)})"


def _no_position(e: Evidence, rules: TrustRules) -> str:
    if e.position.value != e.position.value:
        return "that the order of texts does not matter (ask it in both)"
    return f"that the order of texts does not matter (the first wins {between(e.position)})"


def _no_manipulation(e: Evidence, rules: TrustRules) -> str:
    return f"that it resists {listed([one.probe for one in e.probes if one.outcome == 'falls'])}"


def _no_control(e: Evidence, rules: TrustRules) -> str:
    return "that it is better than every control by more than chance"


def _no_saving(e: Evidence, rules: TrustRules) -> str:
    if e.saving.value != e.saving.value:
        return "that it saves labels (not known)"
    return f"that it saves {percent_of(rules.saving)} of the labels (so far {percent(e.saving)})"


_LACK = {
    "agreement": _no_agreement,
    "mean": _no_mean,
    "position": _no_position,
    "manipulation": _no_manipulation,
    "control": _no_control,
    "saving": _no_saving,
}
