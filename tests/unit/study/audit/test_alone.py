"""What judges say without labels: real verdicts, and LMs that follow a rule."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from judgelab.core.judgments import JudgmentTable
from judgelab.core.prompt import Prompt
from judgelab.core.result import Row
from judgelab.exam.consistency import Consistency
from judgelab.exam.pertinence import Pertinence
from judgelab.study.audit.alone import Alone
from judgelab.study.audit.blind_spots import Panelled
from judgelab.study.audit.evidence import Findings
from tests.judgment_tables import ADVERSARIAL, NATURAL, frank, llmbar, made_pairs
from tests.unit.study.audit.asked_case import PAIRWISE, asked_case, chat, merits, oracle

RESPOND = Prompt("respond.txt")
EXAMS = {
    "consistency": Consistency(PAIRWISE, pairs=1),
    "pertinence": Pertinence(PAIRWISE, Prompt("similar_question.txt"), RESPOND, pairs=1),
}
PART = Alone(EXAMS, label=12)


def found_in(folder: Path, table: JudgmentTable) -> Findings:
    return PART.run(asked_case(folder, {}, table=table))


def rows(found: Findings, name: str, key: str) -> dict[object, Row]:
    table = next(one for one in found.tables if one.name == name)
    return {row[key]: row for row in table.rows}


@pytest.mark.parametrize("sets", [NATURAL, ADVERSARIAL], ids=["natural", "adversarial"])
def test_the_same_agreement_is_a_guide_on_one_set_and_misleads_on_the_other(
    shared_data: Path, tmp_path: Path, sets: tuple[str, ...]
) -> None:
    table = llmbar(shared_data, sets)
    found = found_in(tmp_path, table)
    whole = rows(found, "blind_spots", "units")["all"]
    said = " ".join(found.notes)
    if sets == NATURAL:
        assert whole["changed"] == pytest.approx(0.08) and whole["majority_right"] == 0.93
        assert (whole["nearly_all_agree"], whole["right_where_nearly_all_agree"]) == (22, 1.0)
        assert "hardly depends on who is asked: 8%" in said and "agree more, here, with" in said
    else:
        assert float(str(whole["changed"])) > 0.9
        assert whole["majority_right"] == pytest.approx(0.52, abs=0.005)
        assert (whole["nearly_all_agree"], whole["right_where_nearly_all_agree"]) == (5, 0.2)
        assert "Do not believe their majority" in said and "agree less with people" in said
        strata = rows(found, "blind_spots", "units")
        assert strata.keys() == {"all", *sets}
    judge = rows(found, "peers", "judge")["GPT-4/Metrics_Reference"]
    assert judge["agrees_with_people_n"] == len(table.units) and judge["family"] == "GPT-4"
    assert float(str(judge["agrees_with_people"])) > 0.8
    assert not found.evidence


def test_items_to_label_are_open_ones_and_some_on_which_all_agree(tmp_path: Path) -> None:
    table = made_pairs(150, (0.95, 0.9, 0.7, 0.6, 0.55), labelled=60, seed=2)
    found = found_in(tmp_path, table)
    named = rows(found, "label_to_see", "item")
    assert len(named) == 12
    assert all(int(str(item).split()[1]) >= 60 for item in named)
    why = [row["why"] for row in named.values()]
    assert why.count("nearly all agree: drawn") >= 4 and why[0] == "depends on who is asked"
    groups = rows(found, "blind_spots", "units")
    assert (groups["with a label"]["n"], groups["without a label"]["n"]) == (60, 90)
    assert groups["without a label"]["labelled"] == 0
    assert groups["without a label"]["majority_right"] != groups["with a label"]["majority_right"]


def test_an_opposite_is_rated_low_by_the_others_alone(tmp_path: Path) -> None:
    """Independent errors, as the model has them: ratings are what judges really reach."""
    wanted = (0.95, 0.85, 0.8, 0.75, 0.2)
    found = found_in(tmp_path, made_pairs(1500, wanted, seed=4))
    own = rows(found, "peers", "judge").values()
    assert [row["panel_rating"] for row in own] == pytest.approx(wanted, abs=0.03)
    assert [row["without_family"] for row in own] == pytest.approx(wanted, abs=0.05)
    assert [row["agrees_with_people"] for row in own] == pytest.approx(wanted, abs=0.03)


def test_texts_that_were_graded_are_pairs_with_one_answer_each(shared_data: Path) -> None:
    panel = Panelled.of(frank(shared_data), 0, 100)
    assert panel.counts.sum(axis=2).max() == 1 and panel.table.kind == "preference"
    assert np.isnan(panel.consistent).all()
    tied = panel.table.truth == 0.5
    assert tied.any() and np.isnan(panel.truth[tied]).all()
    assert np.nanmax(panel.credit) == 1


def test_exams_of_judges_that_can_be_asked(tmp_path: Path) -> None:
    judges = {"oracle": chat(oracle), "first": chat(lambda *_: "one")}
    case = asked_case(tmp_path, judges, merits(30))
    PART.ask(case)
    before = [list(lm.seen) for lm in judges.values()]
    found = PART.run(case)
    assert [lm.seen[len(one) :] for lm, one in zip(judges.values(), before, strict=True)] == before
    marks = {(row["judge"], row["exam"]): row for row in found.tables[0].rows}
    assert marks["oracle", "consistency"]["value"] == marks["oracle", "pertinence"]["value"] == 1
    assert marks["first", "consistency"]["value"] == 0
    assert marks["first", "pertinence"]["value"] == 0.5
    assert float(str(marks["oracle", "pertinence"]["p"])) < 0.01
    assert float(str(marks["first", "pertinence"]["p"])) > 0.5
    assert marks["oracle", "consistency"]["n"] == 30


def test_what_it_needs(tmp_path: Path) -> None:
    table = made_pairs(40, (0.9,))
    found = found_in(tmp_path, table)
    assert "three judges or more" in found.lacking and "Exams need judges" in found.lacking
    same = made_pairs(40, (0.9, 0.8, 0.7))
    family = tuple(replace(one, family="one") for one in same.judges)
    assert "two families" in found_in(tmp_path, replace(same, judges=family)).lacking
