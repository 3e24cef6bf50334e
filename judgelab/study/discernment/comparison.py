"""Several judges that rated the same texts, held against each other: best first, and in pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from judgelab.core.result import Row, Table, Value, flat_estimate
from judgelab.stats.discernment.paired import JudgeRatings, PairedD, paired_judges
from judgelab.stats.discernment.score import How
from judgelab.stats.discernment.wilcoxon import ZeroMethod
from judgelab.study.common.judges import asks_nobody
from judgelab.study.common.plain import some
from judgelab.study.common.tables import columns, entries
from judgelab.study.discernment import tables
from judgelab.study.discernment.perturbation_result import verdict
from judgelab.study.discernment.rated import JudgeDiscernment

ALPHA = 0.05
SAID = 4  # judges of whom an answer says what they alone do not see
JUDGES_NOTE = (
    "Discernment: mean of D over levels of perturbations, with its 95 % interval over items; D is "
    "log_.05 of p, so that nominally 1 is p = .05. By chance: what 5 % of judges reach that see "
    "nothing. Least: D of the perturbation that the judge sees least."
)
ASKED_NOTE = (
    "Asked by: the mechanism. Calls, tokens and cost are of ratings, each question once; "
    "manifest.json has the account of retries."
)
PAIRS_NOTE = (
    "Discernment of each judge, with weights, on the n items of which both rated all texts, and "
    "the first's minus the second's with its 95 % interval (jackknife over items; none on few "
    "items, or where every item says the same). p: two-sided, of no difference; p Holm: adjusted "
    "for all pairs."
)
EACH_NOTE = (
    "D of each judge, with weights. A judge sees a perturbation where its D exceeds what 5 % of "
    "judges reach by chance. Texts: how many were changed; few have no part in averages."
)


@dataclass(frozen=True)
class JudgeComparison:
    """The discernment of several judges.

    Attributes:
        judges: the highest discernment first, unknown ones last.
        pairs: of judges in this order, on the items that both rated.
    """

    judges: Mapping[str, JudgeDiscernment]
    pairs: Mapping[tuple[str, str], PairedD]

    @classmethod
    def of(cls, judged: Mapping[str, JudgeDiscernment], how: How) -> JudgeComparison:
        """Of judges that rated the same items after the same perturbations."""
        ranked = sorted(judged.items(), key=lambda one: _order(one[1]))
        (_, any_of), *_ = ranked
        places = [k for k, one in enumerate(any_of.found) if one.counts_among(any_of.items)]
        there = any_of.rated.degraded.there
        given = {
            name: JudgeRatings(
                one.informative[[0, *(k + 1 for k in places)]],
                [one.found[k].weights for k in places],
                how,
                there[places],
            )
            for name, one in ranked
        }
        levels = [any_of.found[k].perturbation.level for k in places]
        return cls(dict(ranked), paired_judges(given, levels) if places else {})

    def behind(self, best: str) -> list[str]:
        """Judges that discern less than this one, tested in pairs with Holm."""
        worse = (
            (pair, found.difference.value if pair[0] == best else -found.difference.value)
            for pair, found in self.pairs.items()
            if best in pair and found.p_holm < ALPHA
        )
        return [pair[1] if pair[0] == best else pair[0] for pair, ahead in worse if ahead > 0]

    def ahead(self, best: str) -> list[str]:
        """Judges that discern more than this one on the items of both, with Holm."""
        others = [name for name in self.judges if name != best]
        return [name for name in others if best in self.behind(name)]

    @property
    def answer(self) -> list[tuple[str, str]]:
        """(heading, sentences): who discerns most and how surely, and what each does not see."""
        (best, first), *rest = self.judges.items()
        if not rest:
            by = f"{best}, {first.rated.context.mechanism.name}"
            return [verdict(first.found, by, first.items)]
        return [self._first(best, first, [name for name, _ in rest]), *self._unseen()]

    def _first(self, best: str, first: JudgeDiscernment, rest: Sequence[str]) -> tuple[str, str]:
        found = first.average
        value, bar = found.estimate.value, found.threshold
        if math.isnan(value):
            return "Not known who discerns more", "No judge has enough ratings to say."
        said = f"discernment {value:.1f}{_ends(found.estimate.low, found.estimate.high)}"
        bar = 1.0 if math.isnan(bar) else bar
        unknown = [name for name in rest if math.isnan(self.judges[name].average.estimate.value)]
        without = f" Without enough ratings: {some(unknown)}." if unknown else ""
        if not value > bar:
            return (
                "No judge is shown to discern more than chance",
                f"{best} has the highest {said}, which chance reaches, too (up to {bar:.1f} in "
                "19 of 20 cases). More texts with a reference, or another judge, may show more."
                f"{without}",
            )
        behind = self.behind(best)
        open_ = [name for name in rest if name not in (*behind, *unknown, *self.ahead(best))]
        parts = [f"{best} has the highest {said} (chance: up to {bar:.1f} in 19 of 20 cases)."]
        if ahead := self.ahead(best):
            parts.append(f"On the items that both rated {some(ahead)} surely discerns more.")
        if behind:
            parts.append(f"Surely less on the same items: {some(behind)}.")
        if open_:
            parts.append(
                f"Not shown to be behind it: {some(open_)}. Rate more items to tell them apart, or "
                "take the cheapest of these."
            )
        lost = {name: one.unscored_texts for name, one in self.judges.items()}
        if any(lost.values()):
            said = some([f"{name} ({n:,})" for name, n in lost.items() if n])
            parts.append(f"Texts without a rating: {said}; a judge may leave out its hardest.")
        undecided = open_ or unknown or ahead
        heading = "Not decided who discerns most" if undecided else f"Discerns most: {best}"
        return heading, " ".join(parts) + without

    def _unseen(self) -> list[tuple[str, str]]:
        known = {n: one for n, one in self.judges.items() if one.sees or one.unseen}
        if not known:
            return []
        (some_of, *_), all_of = known.values(), [set(one.unseen) for one in known.values()]
        nobody = [name for name in some_of.unseen if name in set.intersection(*all_of)]
        judge = "No judge" if len(known) == len(self.judges) else "No judge that was scored"
        parts = [f"{judge} sees {some(nobody, 12)}: let people look at that."] if nobody else []
        for name, one in list(known.items())[:SAID]:
            if more := [each for each in one.unseen if each not in nobody]:
                parts.append(f"Not seen by {name}, but by others: {some(more, 12)}.")
        if clear := [name for name, one in known.items() if not one.unseen]:
            parts.append(f"See every perturbation that was scored: {some(clear)}.")
        return [("What they do not see", " ".join(parts))]

    def tables(
        self, weights: str, zero_method: ZeroMethod, spent: Mapping[str, Mapping[str, Value]]
    ) -> list[Table]:
        """The comparison: judges, pairs, perturbations by judges; then each judge's own tables.

        Args:
            weights: in words.
            spent: judge -> calls, tokens and cost.
        """
        rows = [_judge_row(name, one) for name, one in self.judges.items()]
        who = [{**_who(name, one), **spent[name]} for name, one in self.judges.items()]
        each = {n: tables.of_judge(one, weights, zero_method) for n, one in self.judges.items()}
        return [
            Table("judges", f"Judges by discernment, {weights}", rows, JUDGES_NOTE),
            *self._pair_table(),
            self._by_perturbation(),
            Table("asked", "Who judged", who, ASKED_NOTE),
            *_joined(each),
        ]

    def _pair_table(self) -> list[Table]:
        rows: list[Row] = [
            {
                "first": first,
                "second": second,
                "first_discernment": found.first,
                "second_discernment": found.second,
                **flat_estimate("difference", columns(found.difference, "value", "low", "high")),
                **columns(found.difference, "n", "unscored", "p"),
                "p_holm": found.p_holm,
            }
            for (first, second), found in self.pairs.items()
        ]
        title = "Judges in pairs: difference of discernment"
        return [Table("judge_pairs", title, rows, PAIRS_NOTE)] if rows else []

    def _by_perturbation(self) -> Table:
        """Perturbations down, judges across."""
        (_, any_of), *_ = self.judges.items()
        rows: list[Row] = []
        for k, one in enumerate(any_of.found):
            here = {name: judge.found[k] for name, judge in self.judges.items()}
            few = not one.counts_among(any_of.items)
            seen = ", ".join(name for name, found in here.items() if found.seen)
            unseen = ", ".join(name for name, found in here.items() if found.seen is False)
            rows.append(
                {
                    "perturbation": one.perturbation.name,
                    "level": one.perturbation.level,
                    "texts": one.changed,
                    "seen_by": "too few texts" if few else seen or "none",
                    "not_seen_by": "" if few else unseen,
                    **{f"D of {name}": found.score.d_ew for name, found in here.items()},
                }
            )
        return Table("by_perturbation", "Every perturbation by judge", rows, EACH_NOTE)

    @property
    def summary(self) -> dict[str, Value]:
        """Flat entries: who is first, then each judge's average and what it does not see."""
        (best, first), *_ = self.judges.items()
        made: dict[str, Value] = {"judges": len(self.judges), "best": best}
        made |= _entries("best_discernment", first)
        for name, one in self.judges.items():
            made |= _entries(f"discernment/{name}", one)
            made[f"not_seen/{name}"] = ", ".join(one.unseen)
        made["clean/unscored_texts"] = sum(one.unscored_texts for one in self.judges.values())
        return made


def _order(one: JudgeDiscernment) -> float:
    value = one.average.estimate.value
    return math.inf if math.isnan(value) else -value


def _ends(low: float, high: float) -> str:
    return f" [{low:.1f}, {high:.1f}]" if math.isfinite(low) and math.isfinite(high) else ""


def _entries(key: str, one: JudgeDiscernment) -> dict[str, Value]:
    found = one.average
    bar: dict[str, Value] = {f"{key}_threshold": found.threshold}
    return entries(key, found.estimate, "low", "high", "n", "unscored") | bar


def _judge_row(name: str, one: JudgeDiscernment) -> dict[str, Value]:
    over = {found.name: found for found in one.over}
    average, least = over["average_ew"], over["minimum_ew"]
    return {
        "judge": name,
        "discernment": average.estimate.value,
        "discernment_low": average.estimate.low,
        "discernment_high": average.estimate.high,
        "by_chance": average.threshold,
        "least": least.estimate.value,
        "sees": f"{len(one.sees)} of {len(one.sees) + len(one.unseen)}",
        "n": average.estimate.n,
        "unscored": average.estimate.unscored,
    }


def _who(name: str, one: JudgeDiscernment) -> dict[str, Value]:
    context = one.rated.context
    model = None if asks_nobody(context.mechanism) else context.evaluation_lm.presentation.model
    return {"judge": name, "asked_by": context.mechanism.name, "model": model}


def _joined(each: Mapping[str, Sequence[Table]]) -> list[Table]:
    """The tables of all judges, one of each kind, with the judge in front; texts that were left
    out are the same for all."""
    made: dict[str, Table] = {}
    for judge, own in each.items():
        for one in own:
            if one.name == "excluded":
                made.setdefault(one.name, one)
                continue
            before = made[one.name].rows if one.name in made else ()
            rows = [*before, *({"judge": judge, **row} for row in one.rows)]
            made[one.name] = replace(one, rows=rows, by="judge")
    return [replace(one, rows=tables.without_twins(one.rows)) for one in made.values()]
