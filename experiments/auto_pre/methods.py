"""Tables 3, 4 and 6: accuracy and rank correlation of judges and of pools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from experiments.auto_pre import counting
from experiments.auto_pre.bench import PAIRWISE, Bench, Recipe
from experiments.auto_pre.printed import ablation, number, numbers, printed, recipes
from experiments.command import Row, Table
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.qualification.exams import difference

ENSEMBLES = ("PRE (w/o Filter)", "PRE (Auto-Exam)", "PRE (Human Filter)", "Auto-PRE")
AGAINST = "PRE (Auto-Exam)"
ABLATION = (AGAINST, "Auto-PRE (P)", "Auto-PRE (S)", "PRE (Human Filter)", "Auto-PRE (C+P+S)")
Credit = Callable[[Bench, Recipe, str], Floats]


def table3(benches: Sequence[Bench]) -> Table:
    """Accuracy."""
    rows: list[Row] = []
    for bench in benches:
        for row, judge in _singles(bench):
            rows += [_single(bench, row, judge, form) for form in _forms(bench, judge)]
        for method in ENSEMBLES:
            rows += [_pool(bench, method, form) for form in bench.forms]
        rows += _unreleased(bench)
    notes = [f"{method} is typed in as: {_typed(method)}" for method in ENSEMBLES[1:]]
    notes += [note for bench in benches for note in (*_missing(bench), *bench.notes)]
    return Table("3", "accuracy", tuple(rows), tuple(notes))


def differences(benches: Sequence[Bench]) -> Table:
    """Table 3's daggers: a method minus PRE (Auto-Exam), tested on items."""
    rows = []
    for bench in benches:
        for form in bench.forms:
            for method in ENSEMBLES:
                if method != AGAINST:
                    rows.append(_difference(bench, method, form))
    note = (
        f"Accuracy minus that of {AGAINST}; p by sign flips of whole items. The paper's t-tests "
        "take pairs of answers as independent."
    )
    return Table("3 (daggers)", "differences of accuracy", tuple(rows), (note,))


def table4(benches: Sequence[Bench]) -> Table:
    """Mean over items of Spearman's rho."""
    rows = []
    for bench in benches:
        for form in bench.forms[:-1]:
            for method in ("gpt-4", "ChatEval", *ENSEMBLES):
                row = _rho(bench, method, form)
                if row is not None:
                    rows.append(row)
    note = (
        "The grades of a judge or pool that are all the same have no rho; it counts 0, as released."
    )
    return Table("4", "Spearman's rho, mean over items", tuple(rows), (note,))


def table6(benches: Sequence[Bench]) -> Table:
    """The ablation, pairwise, with who passes."""
    rows, notes = [], [note for bench in benches for note in bench.notes]
    for bench in benches:
        for method in ABLATION:
            paper, listed = ablation(method, bench.name)
            name = "Auto-PRE" if method == "Auto-PRE (C+P+S)" else method
            typed = typed_recipe(bench, name, PAIRWISE)
            row = _cell("6", bench, method, PAIRWISE, paper, typed, bench.stated(name, PAIRWISE))
            rows.append(row)
            stated = bench.stated(name, PAIRWISE)
            notes.append(
                f"{bench.name}, {method}: passes by the paper "
                f"[{numbers(listed) if listed else '-'}], by the stated rule on released data "
                f"[{numbers(stated.judges) if stated else '-'}]."
            )
    return Table("6", "ablation, pairwise accuracy", tuple(rows), tuple(notes))


def _singles(bench: Bench) -> Iterator[tuple[str, str]]:
    """(row of Table 3, judge) of every judge by itself."""
    judges = {judge for form in bench.forms for judge in bench.by_judge(form)}
    for judge in bench.candidates:
        yield judge, judge
    for row, judge in (("deepseek-r1", "deepseek-r1"), ("ChatEval", "chatEval")):
        if judge in judges and judge not in bench.candidates:
            yield row, judge


def _missing(bench: Bench) -> Iterator[str]:
    """How many replies of each judge have no verdict or grade, by format."""
    judges = [judge for _, judge in _singles(bench)]
    for form in bench.forms:
        counts = {
            judge: int(np.count_nonzero(np.isnan(bench.readable(judge, form))))
            for judge in judges
            if judge in bench.by_judge(form)
        }
        if lacks := [f"{judge} {count}" for judge, count in counts.items() if count]:
            yield (
                f"{bench.name}, {form}: replies in which neither an answer nor a tie nor a grade "
                f"could be read: {', '.join(lacks)}. They count as ties in released; in the other "
                "columns they are left out, and unscored is where a whole pair has none."
            )


def _forms(bench: Bench, judge: str) -> list[str]:
    return [form for form in bench.forms if judge in bench.by_judge(form)]


def _unreleased(bench: Bench) -> list[Row]:
    """Printed cells without released data."""
    have = {row for row, _ in _singles(bench)} | set(ENSEMBLES)
    rows = []
    for row in printed("accuracy"):
        for form in ("5-level", "100-level", PAIRWISE):
            paper = number("accuracy", row, bench.name, form)
            if row not in have and paper is not None:
                rows.append(Row("3", row, f"{bench.name}/{form}", paper))
    return rows


def _single(bench: Bench, row: str, judge: str, form: str) -> Row:
    cells = bench.by_judge(form)[judge]
    in_one = row in recipes()["merged_single"] and bench.count["orders"] == "merged"
    if in_one and form == PAIRWISE:
        right = counting.released_vote([cells], [1.0], bench.truth)
    else:
        right = counting.released_single(cells, bench.truth, bench.data.pairs)
    released = counting.share(right, bench.truth, macro=bench.macro)
    corrected = _share(bench, Recipe((judge,), (1.0,)), form)
    paper = number("accuracy", row, bench.name, form)
    return Row("3", row, f"{bench.name}/{form}", paper, released, corrected, corrected)


def _pool(bench: Bench, method: str, form: str) -> Row:
    paper = number("accuracy", method, bench.name, form)
    typed = typed_recipe(bench, method, form)
    return _cell("3", bench, method, form, paper, typed, bench.stated(method, form))


def _cell(
    table: str,
    bench: Bench,
    method: str,
    form: str,
    paper: float | None,
    typed: Recipe | None,
    stated: Recipe | None,
) -> Row:
    released = None
    if typed is not None:
        right = _released(bench, typed, form)
        released = counting.share(right, bench.truth, macro=bench.macro)
    corrected, ours = _share(bench, typed, form), _share(bench, stated, form)
    return Row(table, method, f"{bench.name}/{form}", paper, released, corrected, ours)


def _difference(bench: Bench, method: str, form: str) -> Row:
    typed = [typed_recipe(bench, each, form) for each in (method, AGAINST)]
    stated = [bench.stated(each, form) for each in (method, AGAINST)]
    return Row(
        "3 (daggers)",
        method,
        f"{bench.name}/{form}",
        None,
        _gap(bench, typed, form, _released),
        _gap(bench, typed, form, _credit),
        _gap(bench, stated, form, _credit),
    )


def _gap(bench: Bench, pair: Sequence[Recipe | None], form: str, credit: Credit) -> Estimate | None:
    first, second = pair
    if first is None or second is None:
        return None
    gap = credit(bench, first, form) - credit(bench, second, form)
    estimate = difference(counting.of_items(gap, bench.macro), draws=counting.DRAWS)
    return counting.of_pairs(estimate, gap, bench.truth)


def typed_recipe(bench: Bench, method: str, form: str, table: str = "accuracy") -> Recipe | None:
    """What is typed in for a cell; None where its judges have no data, or nothing is typed in."""
    typed = None
    if method in ("gpt-4", "ChatEval"):
        judge = "chatEval" if method == "ChatEval" else method
        return Recipe((judge,), (1.0,)) if judge in bench.by_judge(form) else None
    for key in dict.fromkeys((table, "accuracy")):
        cells = recipes()[key].get(method, {})
        typed = typed or cells.get(bench.name, {}).get(form)
    if typed is None and form == PAIRWISE:
        typed = recipes()["ablation"].get(method, {}).get(bench.name)
    if typed is None and bench.name in recipes()["datasets"]:
        typed = recipes()["accuracy"].get(method, {}).get("usual", {}).get(form)
    return None if typed is None else bench.recipe(typed, form)


def _released(bench: Bench, recipe: Recipe, form: str) -> Floats:
    """[items, pairs] credit of a pool as the release counts it."""
    values = [bench.by_judge(form)[judge] for judge in recipe.judges]
    if form != PAIRWISE:
        total = counting.released_sum(values, recipe.weight)
        return counting.released_single(total, bench.truth, bench.data.pairs)
    if bench.count["orders"] == "merged":
        return counting.released_vote(values, recipe.weight, bench.truth)
    return counting.released_vote_per_order(values, recipe.weight, bench.truth)


def _credit(bench: Bench, recipe: Recipe, form: str) -> Floats:
    values = [bench.readable(judge, form) for judge in recipe.judges]
    return counting.corrected_credit(values, recipe.weight, bench.truth, bench.data.pairs)


def _share(bench: Bench, recipe: Recipe | None, form: str) -> Estimate | None:
    """Accuracy without the faults."""
    if recipe is None:
        return None
    return counting.share(_credit(bench, recipe, form), bench.truth, macro=bench.macro)


def _rho(bench: Bench, method: str, form: str) -> Row | None:
    typed = typed_recipe(bench, method, form, "spearman")
    stated = bench.stated(method, form) if method in ENSEMBLES else typed
    paper = number("spearman", method, bench.name, form)
    if typed is None and stated is None:
        return None
    human = bench.data.human
    released = corrected = ours = None
    if typed is not None:
        grades = [bench.by_judge(form)[judge] for judge in typed.judges]
        absolute = bench.count["spearman"] == "absolute"
        total = counting.released_sum(grades, typed.weight)
        released = counting.average(counting.correlations(total, human, absolute=absolute))
        pooled = counting.corrected_grades(grades, typed.weight)
        corrected = counting.average(counting.correlations(pooled, human, absolute=False))
    if stated is not None:
        grades = [bench.by_judge(form)[judge] for judge in stated.judges]
        pooled = counting.corrected_grades(grades, stated.weight)
        ours = counting.average(counting.correlations(pooled, human, absolute=False))
    return Row("4", method, f"{bench.name}/{form}", paper, released, corrected, ours)


def _typed(method: str) -> str:
    cells = recipes()["accuracy"][method]
    return "; ".join(
        f"{dataset} " + ", ".join(f"{form} {who} {weight}" for form, (who, weight) in by.items())
        for dataset, by in cells.items()
    )
