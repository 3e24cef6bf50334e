"""A user's own table of labels and judgments: what is read, and how every fault is told."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.judgments import JudgmentTable
from judgelab.core.panel import Panel
from judgelab.dataset import building
from judgelab.dataset.table import LabelledTable

GRADES = """id,source,agent,text,rater,human,judge,verdict
a,The sky.,gpt,It is blue.,ann,4,,
a,,gpt,,bob,5,,
a,,me,Grey.,ann,2,,
a,,me,,,,g4,3
a,,gpt,,,,g4,I cannot say
b,The sea.,gpt,Wet.,,,g4,
"""
PAIRS = """id,agent,other,text,other_text,preference,judge,order,verdict
1,x,y,aa bb,cc,x,j,0,[[A]]
1,x,y,,,x,j,1,y
2,x,y,dd,ee,tie,j,0,[[C]]
2,y,x,,,,j,0,y
3,x,y,ff,gg,,j,0,who knows
"""
TURNS = "id,agent,rater,human,turn\ni10,x,ann,good,2\ni10,x,bob,bad,3\ni2,x,ann,fair,1"


def load(folder: Path, text: str | bytes, name: str = "own.csv", **settings: Any) -> Panel:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return LabelledTable(path=str(file), **settings).load()


def judged(panel: Panel) -> JudgmentTable:
    assert panel.judgments is not None
    return panel.judgments


def refusal(folder: Path, text: str | bytes, name: str = "own.csv", **settings: Any) -> str:
    with pytest.raises((DataError, ConfigError)) as caught:
        load(folder, text, name, **settings)
    return str(caught.value)


def same(one: Any, two: Any) -> bool:
    return bool(np.array_equal(np.array(one, float), np.array(two, float), equal_nan=True))


def test_a_table_may_hold_categories_of_agents_and_synopses(tmp_path: Path) -> None:
    rows = "id,synopsis,agent,category,text\na,Short.,gpt,Faithful,It is.\n"
    rest = "a,,me,Low Effort,Is.\nb,,gpt,{},Wet.\nb,,me,,\n"
    panel = load(tmp_path, rows + rest.format("Faithful"))
    assert [agent.category for agent in panel.agents] == ["Faithful", "Low Effort"]
    assert [item.synopsis for item in panel.items] == ["Short.", None]
    said = refusal(tmp_path, rows + rest.format("Style"))
    assert "line 4: category is not what line 2 says of gpt" in said
    assert "line 4: category 'Stile' must be" in refusal(tmp_path, rows + rest.format("Stile"))
    topics = "id,agent,category,text\na,gpt,style,1\nb,gpt,Other,2\n"
    assert load(tmp_path, topics).provenance["columns_not_read"] == ["category"]


def test_grades_keep_their_raters_and_judges_their_reasons(tmp_path: Path) -> None:
    panel = load(tmp_path, GRADES)
    found = judged(panel)
    assert found.kind == "grade" and found.raters == ("ann", "bob") and found.names == ("g4",)
    assert same(found.labels, [[4, 5], [2, np.nan], [np.nan, np.nan]])
    assert same(found.verdicts[0, :, 0], [np.nan, 3, np.nan]) and found.asked.all()
    assert found.reasons == {"g4": {"the verdict is no number": 1, "no verdict in the data": 1}}
    assert [one.human for one in panel.items] == [{"gpt": 4.5, "me": 2.0}, {}]
    assert panel.items[0].scores == {"g4": {"me": 3.0}}
    assert panel.texts == (("It is blue.", "Grey."), ("Wet.", None))
    assert panel.items[1].source == "The sea." and panel.provenance["labelled"] == 2


def test_what_a_limit_leaves_out_is_not_counted(tmp_path: Path) -> None:
    file, rows = tmp_path / "own.csv", ("1,x,4,j,4\n", "2,x,5,j,well\n")
    file.write_text("id,agent,human,judge,verdict\n" + "".join(rows))
    own = LabelledTable(path=str(file), kind="grade")
    alone = judged(own.load(1))
    each = "".join(f"{name},{row}" for row in rows for name in "cd")
    file.write_text("criterion,id,agent,human,judge,verdict\n" + each)
    for table in (alone, *own.load(1).criteria.values()):
        read = "people: grades from 4 to 4 (1); judge j: grades from 4 to 4 (1)"
        assert len(table.units) == 1 and not table.reasons and table.facts["read"] == read


def test_runs_stand_by_number_or_else_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "number", lambda run: float(run if run.isdigit() else "nan"))
    runs = ["c", "b", "a", "10", "9", ""]
    assert sorted(runs, key=building._run_place) == runs[::-1]


def test_pairs_in_either_order_are_one_unit(tmp_path: Path) -> None:
    """A row that names its systems the other way round showed them so."""
    found = judged(load(tmp_path, PAIRS))
    assert found.kind == "preference" and same(found.truth, [1, 0.5, np.nan])
    assert same(found.verdicts[0], [[1, 0], [0.5, 0], [np.nan, np.nan]])
    assert found.asked[0].tolist() == [[True, True], [True, True], [True, False]]
    assert found.reasons == {"j": {"the verdict names neither text": 1}}


def test_letters_may_name_what_was_shown_first(tmp_path: Path) -> None:
    rows = "id,agent,other,judge,order,verdict\n1,x,y,j,0,A\n1,x,y,j,1,A\n2,x,y,j,1,x\n2,x,y,j,0,\n"
    assert same(judged(load(tmp_path, rows)).verdicts[0], [[1, 1], [np.nan, 1]])
    shown = judged(load(tmp_path, rows, numbering="shown"))
    assert same(shown.verdicts[0], [[1, 0], [np.nan, 1]])


@pytest.mark.parametrize("cells", ["1 2 0", "1 0 .5", "1 -1 0", "model_a model_b tie", "x y same"])
def test_preferences_are_read_as_they_are_written(tmp_path: Path, cells: str) -> None:
    rows = [f"{k},x,y,{cell}" for k, cell in enumerate(cells.split())]
    found = judged(load(tmp_path, "\n".join(["id,agent,other,preference", *rows])))
    assert same(found.truth, [1, 0, 0.5])


@pytest.mark.parametrize("text", [GRADES, PAIRS, TURNS])
def test_rows_may_come_in_any_order(tmp_path: Path, text: str) -> None:
    head, *rows = text.splitlines()
    panels = list[Panel]()
    for seed in range(6):
        panels += [load(tmp_path, "\n".join([head, *rows]))]
        panels += [LabelledTable(path=str(tmp_path / "own.csv")).load(1)]
        random.Random(seed).shuffle(rows)
    seen = [[(x.items, x.digest, judged(x).facts) for x in panels[k::2]] for k in (0, 1)]
    assert all(one == its[0] for its in seen for one in its)
    assert panels[1].items[0].id in ("a", "1", "i2")


def test_numbers_that_do_not_fit_together_are_asked_about(tmp_path: Path) -> None:
    rows = "id,agent,other,preference,judge,verdict\n1,x,y,1,j,0\n2,x,y,2,j,1\n"
    said = refusal(tmp_path, rows)
    assert all(x in said for x in ("of people: 1 first", "of j: 1 first", "dataset.preferences"))
    found = judged(load(tmp_path, rows, preferences={"first": 1, "second": 2, "tie": 0}))
    assert same(found.verdicts[0, :, 0], [0.5, 1])


def test_a_wide_table(tmp_path: Path) -> None:
    rows = "id,text,other_text,ann,bob,ab,ba,len\n1,aa,bb,1,2,A,B,1\n2,cc,dd,2,,B,,2\n"
    judges = {"gpt": ["ab", "ba"], "length": "len"}
    found = judged(load(tmp_path, rows, raters=["ann", "bob"], judges=judges))
    assert found.raters == ("ann", "bob") and found.names == ("gpt", "length")
    assert same(found.labels, [[1, 0], [0, np.nan]])
    assert same(found.verdicts[0], [[1, 0], [0, np.nan]]) and not found.asked[0, 1, 1]
    assert found.units.first.tolist() == ["first", "first"]
    said = refusal(tmp_path, rows, judges=["lenn"])
    assert "dataset.judges" in said and "Did you mean 'len'" in said
    rows = "id,human,gpt,void\n1,2,3,\n2,4,4, \n"
    assert judged(load(tmp_path, rows, judges="gpt")).names == ("gpt",)
    said = refusal(tmp_path, rows, judges=["gpt", "void"])
    assert "holds no verdict of 'void'" in said and "dataset.judges" in said
    one = refusal(tmp_path, "id,human,a,b\n1,2,3,4\n", judges={" x ": "a", "x": "b"})
    assert "x said something else of the same" in one
    assert "rater is empty" in refusal(tmp_path, "id,a,b\n1,2,3\n", raters={" ": "a", "x": "b"})


def test_judges_compare_what_people_graded(tmp_path: Path) -> None:
    """The better grade of one rater is that rater's preference; a judge's grades are a metric."""
    rows = (
        "id,agent,other,rater,human,judge,verdict,score\n1,x,,ann,4,m,,.5\n1,y,,ann,3,,,\n"
        "1,x,,bob,1,,,\n1,y,,bob,2,m,,.7\n1,x,y,,,j,x,\n"
    )
    panel = load(tmp_path, rows)
    found = judged(panel)
    assert found.raters == ("ann", "bob") and same(found.labels, [[1, 0]])
    assert found.names == ("j",) and same(found.verdicts[0, 0], [1, np.nan])
    assert panel.items[0].scores == {"m": {"x": 0.5, "y": 0.7}}
    assert panel.items[0].human == {"x": 2.5, "y": 2.5}
    words = rows.replace(",4,", ",good,").replace(",3,", ",bad,")
    words = words.replace("bob,1", "bob,bad").replace("bob,2", "bob,good")
    assert same(judged(load(tmp_path, words)).labels, [[1, 0]])


def test_columns_by_other_names(tmp_path: Path) -> None:
    rows = "Nr,System,grade,Human,note\n1,x,3,,hm\n2,x,4,,\n"
    panel = load(tmp_path, rows, columns={"id": "Nr", "human": "grade"})
    assert panel.items[0].human == {"x": 3.0}
    assert panel.provenance["columns_not_read"] == ["Human", "note"]
    assert "Did you mean 'grade'" in refusal(tmp_path, rows, columns={"id": "Nr", "human": "grad"})
    said = refusal(tmp_path, rows.replace("2,x", "2,y"))
    assert "dataset.columns.id=COLUMN" in said and "dataset.columns.id=false" in said
    without = load(tmp_path, rows, columns={"id": "Nr", "human": "grade", "agent": False})
    assert without.agents[0].name == "response"
    with pytest.raises(ConfigError, match="Did you mean 'human'"):
        LabelledTable(path="x.csv", columns={"humn": "grade"})


def test_units_carry_what_is_known_of_them(tmp_path: Path) -> None:
    rows = (
        "id,agent,other,words,other_words,stratum,cluster,turn,preference\n"
        "1,x,y,10,20,easy,doc,1,x\n1,y,x,20,10,,,,\n2,x,y,,,,,2,y\n"
    )
    units = judged(load(tmp_path, rows)).units
    assert same(units.words, [[10, 20], [np.nan, np.nan]])
    assert units.stratum.tolist() == ["easy", ""] and units.cluster.tolist() == ["doc", "2"]
    assert same(units.turn, [1, 2])


def test_every_format_holds_the_same(tmp_path: Path) -> None:
    """CSV as Excel saves it in several countries, TSV, JSONL, parquet, and a frame in memory."""
    texts = ['He said "no"\nand left; gone', "a,b", "ü"]
    frame = pd.DataFrame({"id": [1, 2, 3], "agent": "x", "text": texts, "human": [4.5, None, 3.0]})
    comma = frame.to_csv(index=False)
    semicolon = frame.to_csv(index=False, sep=";", decimal=",")
    lines = [{k: v for k, v in row.items() if v == v} for row in frame.to_dict("records")]
    wanted = judged(load(tmp_path, comma)).digest
    rows = "\n".join(json.dumps(row) for row in lines)
    tab = frame.to_csv(index=False, sep="\t")
    for text, name in (
        (comma.encode("utf-8-sig"), "a.csv"),
        (comma.replace("\n", "\r\n").replace('no""\r\n', 'no""\n'), "b.csv"),
        (semicolon.encode("utf-8-sig"), "c.csv"),
        (tab, "e.tsv"),
        (tab.encode("utf-16"), "f.txt"),
        (rows, "g.jsonl"),
        (rows.replace("\n", "\r"), "h.jsonl"),
        (json.dumps(lines), "j.json"),
    ):
        panel = load(tmp_path, text, name)
        assert judged(panel).digest == wanted, name
        assert panel.texts[0][0] == frame["text"][0], name
    frame.set_axis([4, 2, 7]).to_parquet(tmp_path / "i.parquet")  # pandas adds a column
    panel = LabelledTable(path=str(tmp_path / "i.parquet")).load()
    assert judged(panel).digest == wanted and not panel.provenance["columns_not_read"]
    assert judged(LabelledTable().of(frame)).digest == wanted


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("a,gpt,ann,4,,", "keep one of them, or say who said it (dataset.columns.rater=COLUMN)"),
        ("a,gpt,ann,3,g,2", "line 3: ann said something else of the same in line 2"),
        (",gpt,ann,4,,", "line 3: id is empty"),
        ("b,gpt,ann,good,,", "line 3: ann said 'good', which is no number"),
        ("b,gpt,ann,4", "line 3: 4 cells where the header has 6"),
        ('b,gpt,"ann,4,,', "a quote that is left open"),
    ],
)
def test_a_bad_row_is_named_with_its_reason(tmp_path: Path, row: str, said: str) -> None:
    head = "id,agent,rater,human,judge,verdict\na,gpt,ann,4,,\n"
    assert said in refusal(tmp_path, head + row + "\n")


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        (b"", "own.csv", "has no rows"),
        (b"id,human\n1,\xff\n", "own.csv", "line 2: not valid UTF-8"),
        (b"id,id\n1,2\n", "own.csv", "two columns 'id'"),
        (b"id,note\n1,x\n", "own.csv", "no label, no verdict and no text"),
        (b"id,ann,bob\n1,2,3\n", "own.csv", "dataset.raters=[...]"),
        (b"id,agent,preference\n1,x,x\n", "own.csv", "dataset.columns.other names no other one"),
        (b"id,text,writer\n1,x,a\n1,y,b\n", "own.csv", "dataset.columns.agent=COLUMN"),
        (b'{"id": 1, "human": [3]}\n[1]\n{', "own.jsonl", "3 problems"),
        (b'[{"id": 1, "human": 3}, 4]', "own.json", "row 2: not a JSON object"),
        (b"3", "own.json", "is no list of records, as [{...}, {...}] is: save it as one"),
        (b'{"id": 1, "text": "\\ud800"}', "own.jsonl", "is not valid Unicode"),
    ],
)
def test_files_that_are_no_tables(tmp_path: Path, text: bytes, name: str, said: str) -> None:
    assert said in refusal(tmp_path, text, name)


def test_odd_cells_of_columns_that_mean_nothing_do_not_matter(tmp_path: Path) -> None:
    rows = '{"id": 1, "human": 3, "tokens": [1, 2], "meta": {"a": 1}}\n{"id": 2, "human": 4}'
    assert load(tmp_path, rows, "own.jsonl").provenance["columns_not_read"] == ["tokens", "meta"]
    said = refusal(tmp_path, rows, "own.jsonl", columns={"text": "tokens"})
    assert "line 1: the cell 'tokens' is no number and no Unicode text" in said


ODD = ["", "1", "2", "A", "x", "tie", "nan", "1e400", "-0", "9" * 400, "4,5", "\x00"]
REST = st.sampled_from([True, False, None, [1]])
CELLS = st.one_of(st.sampled_from(ODD), st.text(max_size=6), st.floats(), st.integers(), REST)
WORDS = (
    "id agent other human preference judge order verdict score rater words turn text stratum Note"
)
NAMES = st.sampled_from(WORDS.split())


@settings(max_examples=30, deadline=None, suppress_health_check=[*HealthCheck])
@given(rows=st.lists(st.dictionaries(NAMES, CELLS, max_size=8), max_size=6), raw=st.binary())
def test_odd_cells_read_or_refused(tmp_path: Path, rows: list[dict[str, Any]], raw: bytes) -> None:
    """Nothing but a sentence: no other error, whatever a file holds."""
    rows = [{"id": "1"} | row for row in rows]
    frame = pd.DataFrame(rows, dtype=object)
    text = "\n".join(json.dumps(row) for row in rows)
    for make in (
        lambda: LabelledTable().of(frame),
        lambda: load(tmp_path, text, "own.jsonl"),
        lambda: load(tmp_path, frame.to_csv(index=False).encode("utf-8", "replace")),
        lambda: load(tmp_path, raw, "raw.csv"),
        lambda: load(tmp_path, b"id,human\n" + raw, "raw.csv"),
    ):
        try:
            judged(make())
        except (DataError, ConfigError) as cause:
            assert str(cause)


def test_the_head_of_a_panel_has_its_judgments(tmp_path: Path) -> None:
    panel = load(tmp_path, GRADES)
    head = panel.head(1)
    assert set(judged(head).units.item) == {"a"} and len(judged(panel).units) == 3
    limited = LabelledTable(path=str(tmp_path / "own.csv")).load(1)
    assert judged(limited).digest == judged(head).digest
    assert panel.digest != head.digest
    for limit in (0, -1):
        with pytest.raises(ConfigError, match="at least 1"):
            LabelledTable(path=str(tmp_path / "own.csv")).load(limit)
