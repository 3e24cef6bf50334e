"""Graded texts as pairs, and the judges that know nothing."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from judgelab.core.errors import DataError
from judgelab.core.judgments import JudgeFacts, JudgmentTable, Units
from judgelab.study.audit.controls import with_controls
from judgelab.study.audit.graded import as_pairs


def graded(seed: int = 0, kind: str = "grade") -> JudgmentTable:
    """Texts of some of three systems on five items; two raters, one judge, gaps in all."""
    rng = np.random.default_rng(seed)
    texts = [(f"i{k}", f"s{a}") for k in range(5) for a in range(3) if rng.random() < 0.8]
    n = len(texts)
    labels = np.where(rng.random((n, 2)) < 0.3, np.nan, rng.integers(0, 3, (n, 2)))
    verdicts = np.where(rng.random((1, n, 1)) < 0.2, np.nan, rng.integers(0, 3, (1, n, 1)))
    items, systems = zip(*texts, strict=True)
    words = np.column_stack([rng.integers(1, 9, n), np.full(n, np.nan)])
    units = Units.of(items, systems, words=words, chance=rng.choice([0.5, 1.0], n))
    levels = ("bad", "fair", "good") if kind == "category" else ()
    judge = (JudgeFacts("j", pointwise=True),)
    asked = rng.random((1, n, 1)) < 0.9
    return JudgmentTable(kind, units, ("a", "b"), labels, judge, verdicts, asked, levels=levels)  # type: ignore[arg-type]


def sign(one: float, two: float) -> float:
    return np.nan if np.isnan(one + two) else 0.5 if one == two else float(one > two)


@pytest.mark.parametrize("seed", range(3))
def test_pairs_are_those_of_one_item_by_the_sign_of_the_difference(seed: int) -> None:
    table = graded(seed)
    made, of = as_pairs(table), table.units
    wanted = [p for p in combinations(range(len(of)), 2) if of.item[p[0]] == of.item[p[1]]]
    assert len(made.units) == len(wanted) > 5
    for k, (one, two) in enumerate(wanted):
        assert (made.units.first[k], made.units.second[k]) == (of.first[one], of.first[two])
        assert made.units.words[k].tolist() == [of.words[one, 0], of.words[two, 0]]
        same = of.chance[one] == of.chance[two]
        assert np.array_equal(made.units.chance[k], of.chance[one] if same else np.nan, True)
        labels = [sign(*table.labels[[one, two], rater]) for rater in (0, 1)]
        assert np.array_equal(made.labels[k], labels, equal_nan=True)
        said = sign(*table.verdicts[0, [one, two], 0])
        assert np.array_equal(made.verdicts[0, k], [said, said], equal_nan=True)
        assert (made.asked[0, k] == table.asked[0, [one, two], 0].all()).all()


def test_preferences_stay_and_categories_have_no_order() -> None:
    pairs = as_pairs(graded())
    assert as_pairs(pairs) is pairs
    with pytest.raises(DataError, match="sorted these texts into categories"):
        as_pairs(graded(kind="category"))


def test_controls_know_nothing_and_stay_the_same() -> None:
    for table in (graded(), graded(kind="category"), as_pairs(graded())):
        made, again = with_controls(table, 3), with_controls(table, 3)
        names = ["random"] if table.kind == "category" else ["length", "random"]
        assert [one.name for one in made.judges if one.control] == names
        assert np.array_equal(made.verdicts, again.verdicts, equal_nan=True)
        other = with_controls(table, 4).verdicts[-1]
        assert not np.array_equal(made.verdicts[-1], other), "another seed, another number"
    longer = made.verdicts[1, :, 0]
    words = table.units.words
    assert np.array_equal(longer, (np.sign(words[:, 0] - words[:, 1]) + 1) / 2)


def test_random_does_not_depend_on_which_other_texts_there_are() -> None:
    table = graded()
    few = with_controls(table.at(np.arange(4)), 0).verdicts[-1]
    assert np.array_equal(with_controls(table, 0).verdicts[-1][:4], few)
