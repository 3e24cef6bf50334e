"""Several judges that rated the same texts, held against each other: best first, and in pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from judgelab.core.result import Row, Table, Value, flat_estimate
from judgelab.stats.discernment.paired import JudgeRatings, PairedD, paired_judges
from judgelab.stats.discernment.score import How
from judgelab.study.common.judges import asks_nobody
from judgelab.study.common.tables import columns, entries
from judgelab.study.discernment import tables
from judgelab.study.discernment.results import JudgeResult

ALPHA = 0.05


@dataclass(frozen=True)
class JudgeComparison:
    """The discernment of several judges.

    Attributes:
        judges: the highest discernment first, unknown ones last.
        pairs: of judges in this order, on the items that both rated.
    """

    judges: Mapping[str, JudgeResult]
    pairs: Mapping[tuple[str, str], PairedD]

    @classmethod
    def of(cls, judged: Mapping[str, JudgeResult], how: How) -> JudgeComparison:
        """Of judges that rated the same items after the same perturbations."""
        ranked = sorted(judged.items(), key=lambda one: _order(one[1]))
        (_, any_of), *_ = ranked
        places = [k for k, one in enumerate(any_of.found) if one.counts]
        if not places:
            return cls(dict(ranked), {})
        there = any_of.rated.degraded.there[places]
        given = {
            name: JudgeRatings(
                one.informative[[0, *(k + 1 for k in places)]],
                [one.found[k].weights for k in places],
                how,
                there,
            )
            for name, one in ranked
        }
        levels = [any_of.found[k].perturbation.level for k in places]
        return cls(dict(ranked), paired_judges(given, levels))

    def behind(self, best: str) -> list[str]:
        """Judges that discern less than this one on the items of both, with Holm."""
        worse = []
        for (first, second), found in self.pairs.items():
            lead = found.difference.value if first == best else -found.difference.value
            if best in (first, second) and found.p_holm < ALPHA and lead > 0:
                worse.append(second if first == best else first)
        return worse

    def ahead(self, best: str) -> list[str]:
        """Judges that discern more than this one on the items of both, with Holm."""
        return [name for name in self.judges if name != best and best in self.behind(name)]

    def tables(self, weights: str, spent: Mapping[str, Mapping[str, Value]]) -> list[Table]:
        """The comparison: judges, pairs, perturbations by judges; then each judge's own tables.

        Args:
            weights: in words.
            spent: judge -> calls, tokens and cost.
        """
        rows = [_judge_row(name, one) for name, one in self.judges.items()]
        who = [{**_who(name, one), **spent[name]} for name, one in self.judges.items()]
        each = {name: tables.of_judge(one, weights) for name, one in self.judges.items()}
        return [
            tables.table("judges", rows, weights=weights),
            *self._pair_table(),
            self._by_perturbation(),
            tables.table("asked", who),
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
        return [tables.table("judge_pairs", rows)] if rows else []

    def _by_perturbation(self) -> Table:
        """Perturbations down, judges across."""
        (_, any_of), *_ = self.judges.items()
        rows: list[Row] = []
        for k, one in enumerate(any_of.found):
            here = {name: judge.found[k] for name, judge in self.judges.items()}
            seen = ", ".join(name for name, found in here.items() if found.seen)
            unseen = ", ".join(name for name, found in here.items() if found.seen is False)
            rows.append(
                {
                    "perturbation": one.perturbation.name,
                    "level": one.perturbation.level,
                    "texts": one.changed,
                    "seen_by": (seen or "none") if one.counts else "too few texts",
                    "not_seen_by": unseen if one.counts else "",
                    **{f"D of {name}": found.score.d_ew for name, found in here.items()},
                }
            )
        return tables.table("by_perturbation", rows)

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


def _order(one: JudgeResult) -> float:
    value = one.average[0].value
    return math.inf if math.isnan(value) else -value


def _entries(key: str, one: JudgeResult) -> dict[str, Value]:
    found, threshold = one.average
    return entries(key, found, "low", "high", "n", "unscored") | {f"{key}_threshold": threshold}


def _judge_row(name: str, one: JudgeResult) -> dict[str, Value]:
    (found, threshold), sees = one.average, one.answers["yes"]
    return {
        "judge": name,
        **flat_estimate("discernment", columns(found, "value", "low", "high")),
        "by_chance": threshold,
        "least": one.over["minimum_ew"][0].value,
        "sees": f"{len(sees)} of {len(sees) + len(one.unseen)}",
        **columns(found, "n", "unscored"),
    }


def _who(name: str, one: JudgeResult) -> dict[str, Value]:
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
