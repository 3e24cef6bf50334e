"""Table 5: does a pool favour GPT-3.5 where people do not?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.auto_pre import counting
from experiments.auto_pre.bench import PAIRWISE, Bench, Recipe
from experiments.auto_pre.methods import ENSEMBLES, typed_recipe
from experiments.auto_pre.printed import number, recipes
from experiments.command import Row, Table
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.qualification.exams import decide, favour_rate, votes_of

METHODS = ("gpt-4", *ENSEMBLES)


def table5(benches: Sequence[Bench]) -> Table:
    """Accuracy, and the rate of equation 5 in per cent, on two models' answers."""
    rows: list[Row] = []
    for bench in benches:
        k = _pair(bench)
        if k is None:
            continue
        for method in METHODS:
            typed = _typed(bench, method)
            stated = typed if method == "gpt-4" else bench.stated(method, PAIRWISE)
            if typed is not None and stated is not None:
                rows += _rows(bench, k, method, typed, stated)
    note = (
        'rate: per order with equal weights, as printed; corrected: on aligned files. "own '
        'weights": the method\'s; "merged": both orders are one vote, as in its accuracy.'
    )
    return Table("5", "bias toward GPT-3.5 (against ChatGLM2-6B), pairwise", tuple(rows), (note,))


def _pair(bench: Bench) -> int | None:
    """The pair's place; the first answer is the family's."""
    agents = bench.data.agents
    names = [recipes()["bias"][key] for key in ("family", "other")]
    if not all(name in agents for name in names):
        return None
    places = [agents.index(name) for name in names]
    matches = np.flatnonzero((bench.data.pairs == sorted(places)).all(axis=1))
    return int(matches[0])


def _rows(bench: Bench, k: int, method: str, typed: Recipe, stated: Recipe) -> list[Row]:
    late = int(str(bench.count["late"]))
    gold, flip = _oriented(bench, k)

    def readable(recipe: Recipe) -> list[Floats]:
        return [_turned(bench.readable(judge, PAIRWISE), k, flip) for judge in recipe.judges]

    shifted = [_late(_turned(bench.verdicts[judge], k, flip), late) for judge in typed.judges]
    right = _late_vote(shifted, typed, gold, late)
    accuracy = [counting.share(right, gold, macro=False)]
    accuracy += [_accuracy(readable(recipe), recipe, gold) for recipe in (typed, stated)]
    equal = [_rate(shifted, [1.0] * len(typed.judges), gold, unread=0.0)]
    equal += [_rate(readable(each), [1.0] * len(each.judges), gold) for each in (typed, stated)]
    rows = [_row(bench, method, "accuracy", accuracy, 4), _row(bench, method, "rate", equal, 2)]
    for label, in_one in (("own weights", False), ("own weights, merged", True)):
        own = [_rate(readable(each), each.weight, gold, in_one) for each in (typed, stated)]
        rows.append(_row(bench, method, f"rate, {label}", [None, *own], 2))
    return rows


def _row(
    bench: Bench, method: str, what: str, numbers: Sequence[Estimate | None], digits: int
) -> Row:
    released, corrected, stated = numbers
    paper = number("bias", method, bench.name, what)
    column = f"{bench.name}/{what}"
    return Row("5", method, column, paper, released, corrected, stated, digits)


def _typed(bench: Bench, method: str) -> Recipe | None:
    special = recipes()["bias"].get(method, {}).get(bench.name)
    if special is not None:
        return bench.recipe(special, PAIRWISE)
    return typed_recipe(bench, method, PAIRWISE)


def _oriented(bench: Bench, k: int) -> tuple[Floats, bool]:
    """[items, 1] preference, 1 for the family; and whether the pair had to be turned round."""
    family = bench.data.agents.index(recipes()["bias"]["family"])
    flip = int(bench.data.pairs[k, 0]) != family
    gold = bench.truth[:, [k]]
    return (-gold if flip else gold), flip


def _turned(cells: Floats, k: int, flip: bool) -> Floats:
    """[items, 1, orders] verdicts on the pair, 1 for the family's answer."""
    return 1 - cells[:, [k]] if flip else cells[:, [k]]


def _late(cells: Floats, late: int) -> Floats:
    """Item t has what item t + late got; the last have nothing."""
    gone = np.full((late, *cells.shape[1:]), np.nan)
    return np.concatenate([cells[late:], gone])


def _late_vote(cells: list[Floats], recipe: Recipe, gold: Floats, late: int) -> Floats:
    """Credit with the files read late; beyond their end a pool is wrong, a judge half right."""
    right = counting.released_vote(cells, recipe.weight, gold)
    if late and len(recipe.judges) > 1:
        right[-late:] = np.where(np.isnan(right[-late:]), np.nan, 0.0)
    return right


def _accuracy(cells: list[Floats], recipe: Recipe, gold: Floats) -> Estimate:
    right = counting.corrected_credit(cells, recipe.weight, gold, np.zeros((1, 2), np.int64))
    return counting.share(right, gold, macro=False)


def _rate(
    cells: list[Floats],
    weight: Sequence[float],
    gold: Floats,
    in_one: bool = False,
    unread: float = np.nan,
) -> Estimate:
    """Equation 5 in per cent; a tie does not favour, and without a vote there is ``unread``."""
    votes = votes_of(np.stack(cells)) if in_one else 2 * np.stack(cells) - 1
    sign = decide(votes, weight)
    favours = np.where(np.isnan(sign), unread, (sign > 0).astype(np.float64))
    rate = favour_rate(favours, gold if in_one else gold[..., None])
    percent = (100 * rate.value, 100 * rate.low, 100 * rate.high)
    votes_due = int(np.count_nonzero(gold <= 0)) * (1 if in_one else 2)
    return Estimate(*percent, rate.n, votes_due - rate.n, clusters=rate.clusters)
