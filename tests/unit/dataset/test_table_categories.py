"""Two values are categories, however they are spelled, and whoever spells them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.judgments import JudgmentTable
from judgelab.core.panel import Panel
from judgelab.dataset.table import LabelledTable
from tests.judgment_tables import categories

LONG = ("id", "label", "judge", "verdict")
SPELLINGS: list[tuple[Any, Any]] = [(1, 0), ("1.0", "0.0"), (True, False), ("true", "FALSE")]
SPELLINGS += [("yes", "no"), ("Pass", "fail"), ("good", "bad")]
HALF_KNOWN = [("ok", "nok"), ("correct", "hallucinated"), ("fine", "bad")]


def test_a_category_is_one_of_the_levels() -> None:
    table = categories(np.random.default_rng(0))
    with pytest.raises(DataError, match="Categories are places in levels"):
        replace(table, labels=np.where(table.labels == 1, 5.0, table.labels))


def panel_of(head: tuple[str, ...], *rows: tuple[Any, ...], **settings: Any) -> Panel:
    frame = pd.DataFrame([(str(k), *row) for k, row in enumerate(rows)], columns=list(head))
    return LabelledTable(**settings).of(frame)


def table_of(head: tuple[str, ...], *rows: tuple[Any, ...], **settings: Any) -> JudgmentTable:
    found = panel_of(head, *rows, **settings).judgments
    assert found is not None
    return found


def refusal(head: tuple[str, ...], *rows: tuple[Any, ...], **settings: Any) -> str:
    with pytest.raises((DataError, ConfigError)) as caught:
        table_of(head, *rows, **settings)
    return str(caught.value)


def judged_by(one: Any, two: Any, verdicts: str, **settings: Any) -> JudgmentTable:
    """Ten texts of which six have the first label."""
    rows = [(one if k < 6 else two, "g", said) for k, said in enumerate(verdicts.split())]
    return table_of(LONG, *rows, **settings)


def test_the_four_spellings_are_one_table() -> None:
    """Whatever people write, the judge's words name the levels."""
    verdicts = "pass fail pass pass pass fail fail pass fail fail"
    found = {judged_by(yes, no, verdicts).digest for yes, no in SPELLINGS}
    assert len(found) == 1
    three = "pass fail maybe pass pass fail maybe pass fail fail"
    said = [("yes", "no", "maybe"), ("good", "bad", "Maybe"), ("Pass", "FAIL", "maybe ")]
    rows = [[(one[k % 3], "g", word) for k, word in enumerate(three.split())] for one in said]
    tables = [table_of(LONG, *its) for its in rows]
    assert len({one.digest for one in tables}) == 1
    assert tables[0].levels == ("fail", "maybe", "pass") and tables[0].positive == ""
    grades = ".9 .2 .8 .7 .6 .4 .3 .5 .1 0"
    probable = [judged_by(yes, no, grades) for yes, no in SPELLINGS]
    assert {one.kind for one in probable} == {"grade"}
    assert len({one.digest for one in probable}) == 1


TWO = ["1010 1001", "1111 1001", "3443 3433", "ABAA ABBB", "10-0 1001"]  # -: no label, h: one half
SCALES = ["1010 4251", "1010 3553", "1231 1010", "h1h1 11h1"]


@pytest.mark.parametrize("cells", [*TWO, *SCALES])
def test_grades_and_categories(cells: str) -> None:
    people, judge = ([{"h": ".5", "-": "NA"}.get(x, x) for x in side] for side in cells.split())
    rows = list(zip(people, "gggg", judge, strict=True))
    assert table_of(LONG, *rows).kind == ("category" if cells in TWO else "grade")
    assert cells in TWO or table_of(LONG, *rows, kind="grade").kind == "grade"


def test_a_stray_number_does_not_make_grades() -> None:
    rows = [(k % 2, "g", 7 if k == 5 else k % 2) for k in range(100)]
    found = table_of(LONG, *rows)
    assert found.kind == "category" and found.levels == ("0", "1")
    assert found.reasons == {"g": {"the verdict is none of the categories": 1}}
    assert table_of(LONG, *rows, kind="grade").kind == "grade"


def test_named_categories_are_words_or_numbers() -> None:
    rows = [(k % 2, "g", k % 2) for k in range(6)]
    for names in ([0, 1], ["0", "1"], [0.0, 1.0]):
        found = table_of(LONG, *rows, categories=names)
        assert found.levels == ("0", "1") and found.positive == "1"
    words = table_of(LONG, *rows, categories=["pass", "fail"])
    assert words.levels == ("pass", "fail") and words.truth.tolist() == [1, 0] * 3
    scale = [(k % 5, "g", k % 5) for k in range(10)]
    assert table_of(LONG, *scale, categories=list(range(5))).kind == "category"
    assert "each category once" in refusal(LONG, *rows, categories=["a", "A"])
    assert "dataset.kind=grade" in refusal(LONG, *rows, kind="grade", categories=[0, 1])


def test_words_without_a_match_are_asked_about() -> None:
    rows = [("toxic" if k % 3 else "clean", "g", k % 2) for k in range(9)]
    said = refusal(LONG, *rows)
    assert "people say 'toxic' and 'clean', judge 'g' says '0' and '1'" in said
    assert "dataset.labels='{clean: [...], toxic: [...]}'" in said and said.count("\n") == 0
    found = table_of(LONG, *rows, labels={"toxic": [1], "clean": 0}, positive="TOXIC")
    assert found.levels == ("toxic", "clean") and found.positive == "toxic"
    assert table_of(LONG, *rows, labels={"toxic": [0], "clean": 1}).positive == "clean"
    assert table_of(LONG, *rows, labels={"toxic": ["0", 1], "clean": 2}).positive == ""
    assert found.values[0].tolist() == [1, 0, 1, 0, 1, 0, 1, 0, 1]
    assert found.truth.tolist() == [1, 0, 0] * 3
    assert "'1' is 'a' and 'b', too" in refusal(LONG, *rows, labels={"a": [1], "b": ["1.0"]})
    three = [("pass" if k % 2 else "fail", "g", ["ok", "wrong", "unsafe"][k % 3]) for k in range(9)]
    assert "judge 'g' says 'ok', 'unsafe' and 'wrong'" in refusal(LONG, *three)
    codes = [(k % 2 + 1, "g", "AB"[k % 2]) for k in range(8)]
    assert "dataset.labels" in refusal(LONG, *codes)
    scale = [(("ok", "nok")[k % 2], k % 2, k % 6) for k in range(12)]
    assert "judge 'b' says '0'" in refusal(("id", "human", "a", "b"), *scale, judges=["a", "b"])


@pytest.mark.parametrize("its", [*SPELLINGS, *HALF_KNOWN])
@pytest.mark.parametrize("theirs", [*SPELLINGS, *HALF_KNOWN])
def test_other_words_give_the_same_figures_or_a_refusal(theirs: Any, its: Any) -> None:
    """The opposite of a known category of people is their other one, whatever its word."""
    rows = [(theirs[k % 3 == 0], "g", its[k % 4 == 0]) for k in range(12)]
    if strange := {*its} & {"nok", "hallucinated", "fine"} - {*theirs}:
        assert f"it means by {strange.pop()!r}: write dataset.labels=" in refusal(LONG, *rows)
        return
    found = table_of(LONG, *rows)
    good = found.levels.index(found.positive)
    assert len(found.levels) == 2 and (found.truth == good).tolist() == [0, 1, 1] * 4
    assert (found.values[0] == good).tolist() == [0, 1, 1, 1] * 3


@pytest.mark.parametrize(
    ("labels", "verdicts", "setting", "outcome"),
    [
        ("ok nok", "1 0 unsure", {}, {"nok", "ok", "unsure"}),
        ("ok nok", "yes no", {"categories": ["nok", "ok"]}, {"nok", "ok"}),
        ("ok nok", "ok unsure", {"categories": ["nok", "ok"]}, {"nok", "ok"}),
        ("1 NA", "1 0", {}, {"1", "0"}),
        ("good fair bad", "good fair ?", {}, {"good", "fair", "bad", "?"}),
        ("ok nok", "ok unsure", {}, "'unsure'"),
        ("ok nok", "ok 0 nok", {}, "'0'"),
        ("pass fail", "pass fail 0 1", {}, "'0' and '1'"),
        ("good fair poor", "good fair bad", {}, "'bad'"),
    ],
)
def test_a_word_may_be_a_category(labels: str, verdicts: str, setting: Any, outcome: Any) -> None:
    one, two = labels.split(), verdicts.split()
    rows = [(one[k % len(one)], "g", two[k % len(two)]) for k in range(24)]
    if isinstance(outcome, str):
        assert f"which of people's categories it means by {outcome}: " in refusal(LONG, *rows)
    else:
        assert {*table_of(LONG, *rows, **setting).levels} == outcome


@pytest.mark.parametrize("ann", [("yes", "no"), ("ok", "nok")])
@pytest.mark.parametrize("bob", [*SPELLINGS, ("correct", "wrong")])
def test_each_rater_has_words_of_its_own(ann: Any, bob: Any) -> None:
    """So has one who never says no; who says two yeses means two categories."""
    head, who = ("id", *"abcg"), {"raters": ["a", "b", "c"], "judges": ["g"]}
    labels = [(ann[k % 3 == 0], bob[k % 4 == 0], "y") for k in range(24)]
    rows = [(*said, ann[k % 2]) for k, said in enumerate(labels)]
    found = table_of(head, *rows, kind="category", **who)
    good = (found.labels == found.levels.index(found.positive)).tolist()
    assert len(found.levels) == 2 and good == [[k % 3 > 0, k % 4 > 0, 1] for k in range(24)]
    if "no" in ann:
        assert table_of(head, *rows, **who).digest == found.digest
        read = table_of(head, *((*said, k / 24) for k, said in enumerate(labels)), **who)
        assert read.kind == "grade" and read.labels.tolist() == good
    more = [("good", "good", "y", "good"), ("ok", "bad", "y", "bad"), ("bad", "good", "y", "ok")]
    assert len(table_of(head, *more * 2, **who).levels) == 4


def test_words_and_grades_need_to_know_which_end_is_which() -> None:
    rows = [("toxic" if k % 3 else "clean", "g", k / 10) for k in range(9)]
    assert "dataset.positive=" in refusal(LONG, *rows)
    found = table_of(LONG, *rows, positive="toxic")
    assert found.kind == "grade" and found.truth.tolist() == [0, 1, 1] * 3
    plain = [(k % 3, "g", k % 4) for k in range(12)]
    assert "dataset.positive=1 names a category" in refusal(LONG, *plain, positive=1)


def test_what_only_a_judge_says_is_an_answer() -> None:
    words = ["pass", "fail", "unsure", "pass", "fail", "unsure", "I would rather not say " * 3, "?"]
    rows = [(("yes", "no")[k % 2], "g", word) for k, word in enumerate(words)]
    found = table_of(LONG, *rows)
    assert found.levels == ("fail", "pass", "unsure") and found.positive == "pass"
    assert np.array_equal(found.values[0], [1, 0, 2, 1, 0, 2, np.nan, np.nan], equal_nan=True)
    assert found.reasons == {"g": {"the verdict is none of the categories": 2}}
    assert found.facts["read"] == (
        "people: no = fail (4) and yes = pass (4); "
        "judge g: fail (2), pass (2), unreadable (2) and unsure (2)"
    )


def test_the_class_that_matters() -> None:
    rows = [(k % 2, "g", ("unsafe", "safe")[k % 2]) for k in range(6)]
    assert table_of(LONG, *rows).positive == "safe"
    for given_name in ("unsafe", "UNSAFE", 0, "0.0", False, "fail"):
        assert table_of(LONG, *rows, positive=given_name).positive == "unsafe"
    assert "Known are: safe, unsafe" in refusal(LONG, *rows, positive="x")
    assert "Did you mean 'unsafe'?" in refusal(LONG, *rows, positive="unsave")
    letters = [("AB"[k % 2], "g", "AB"[k % 2]) for k in range(6)]
    assert table_of(LONG, *letters).positive == ""
    assert table_of(LONG, *letters, positive="b").positive == "B"
    three = [(("pass", "fail", "none")[k % 3], "g", "pass") for k in range(6)]
    assert table_of(LONG, *three).positive == ""
    assert "Known are: x, y, z" in refusal(LONG, *((one, "g", one) for one in "xyz"), positive=True)
    assert table_of(LONG, *letters, labels={"yes": ["A"], "B": ["no"]}).positive == "yes"
    assert table_of(LONG, *rows).digest != table_of(LONG, *rows, positive="unsafe").digest


def test_a_scale_of_one_judge_takes_no_words_from_another() -> None:
    """Beside 3 the judge's own 1 is no yes; that of the other judge still is."""
    wide, judges = ("id", "human", "one", "two"), ["one", "two"]
    said = [(("no", "yes")[k % 2], k % 2, ("yes", "no", "3")[k % 3]) for k in range(9)]
    found = table_of(wide, *said, judges=judges)
    assert found.levels == ("no", "yes", "3") and found.positive == "yes"
    assert "judge one: 0 = no (5) and 1 = yes (4)" in str(found.facts["read"])
    scale = [(k % 2, k % 2, k % 6) for k in range(12)]
    scaled = table_of(wide, *scale, judges=judges, kind="category")
    assert scaled.levels[:2] == ("0", "1") and scaled.positive == "1"
    named = [(("unsafe", "safe")[k % 2], "g", k % 5) for k in range(10)]
    assert table_of(LONG, *named, categories=["0", "1"]).truth.tolist() == [0, 1] * 5


def test_other_studies_have_grades_of_two_categories() -> None:
    """The share of raters who said yes; numbers of a judge; nothing where no end is known."""
    columns = ("id", "ann", "bob", "gpt")
    setting = {"raters": ["ann", "bob"], "judges": ["gpt"]}
    numbers = panel_of(columns, (1, 1, 1), (1, 0, 0), (0, None, 1), **setting)
    words = panel_of(columns, ("y", "y", "y"), ("y", "n", "n"), ("n", None, "y"), **setting)
    for panel in (numbers, words):
        assert [item.human["response"] for item in panel.items] == [1.0, 0.5, 0.0]
        assert [item.scores["gpt"]["response"] for item in panel.items] == [1.0, 0.0, 1.0]
    item, _ = panel_of(columns, ("A", "A", "A"), ("A", "B", "B"), **setting).items
    assert item.human == {} and item.scores == {}


@pytest.mark.parametrize("said", ["sorce source source", "modle agent model", "lable human label"])
def test_a_misspelled_column_is_named(said: str) -> None:
    (column, role, name), rows = said.split(), [("a", k) for k in range(4)]
    said = refusal(("id", column, "score"), *rows)
    assert f"has no column '{name}'; there is '{column}': rename it" in said
    assert f"dataset.columns.{role}={column}" in said
    assert table_of(("id", column, "score"), *rows, columns={role: False}).names == ("judge",)


def test_columns_that_are_no_misspellings() -> None:
    names = "sources texts tests change store labels models judges source_id rates"
    more = "annotation annotators responses response_id turns difference worlds order_2 mode scope"
    for name in [*names.split(), *more.split(), "words", "total", "time"]:
        assert table_of(("id", name, "human"), ("3", 1), ("4", 0)).kind == "category"


def test_numbers_without_measure_are_no_grades() -> None:
    said = refusal(("id", "human"), (1e13,), (2.5,), (3,))
    assert "people said '10000000000000', which is beyond 1e12" in said
    found = table_of(LONG, (1, "g", 1e300), (2, "g", 3), (3, "g", 2))
    assert found.reasons == {"g": {"the verdict is beyond 1e12, as no grade is": 1}}


WORDS = st.sampled_from(["pass", "fail", "Fail", "unsure", "maybe", "", "no idea " * 9])
ROWS = st.lists(st.tuples(st.booleans(), WORDS, WORDS), max_size=12)


@settings(max_examples=40, deadline=None)
@given(ROWS, st.sampled_from(SPELLINGS), st.randoms(use_true_random=False))
def test_order_spelling_and_names_do_not_matter(data: Any, spelled: Any, shuffled: Any) -> None:
    """Rows and columns shuffled, ids renamed, people's labels spelled otherwise: one table."""
    data = [(True, "pass", "pass"), (False, "fail", "fail"), *data]
    rows = [
        {"id": f"q{k:02}", "human": "yes" if yes else "no", "a": one, "b": two}
        for k, (yes, one, two) in enumerate(data)
    ]
    other = [row | {"id": f"z{row['id']}", "human": spelled[row["human"] == "no"]} for row in rows]
    names = ["id", "human", "a", "b"]
    shuffled.shuffle(other)
    shuffled.shuffle(names)
    results = []
    for frame in (pd.DataFrame(rows), pd.DataFrame(other)[names]):
        table = LabelledTable(judges=["a", "b"]).of(frame).judgments
        assert table is not None
        table = table.of("ab")
        judges = str(table.facts["read"]).partition("judge")[2]
        values = table.labels.tolist(), np.nan_to_num(table.verdicts, nan=-1).tolist()
        results.append((table.levels, table.positive, *values, table.reasons, judges))
    assert results[0] == results[1]


def test_none_of_people_stays_a_word_beside_a_judge_of_figures() -> None:
    """The level of "ok" and 1 was called 1, and then "None" was a missing number."""
    people, own = ["ok", "None"] * 10, ["1", "0"] * 10
    table = pd.DataFrame({"id": range(20), "human": people, "a": own})
    with pytest.raises(DataError, match="people say 'None' and 'ok', judge 'a' says '0' and '1'"):
        LabelledTable(judges=["a"]).of(table)
