"""How often intervals held is said below the tables that they stand in."""

from __future__ import annotations

from judgelab.core.result import Table
from judgelab.study.audit.coverage import coverage_sentence, said, trials


def test_a_sentence_gives_the_range_and_what_is_too_narrow() -> None:
    tried = {
        "agreement": {"LLMBar": [0.951, 0.95, 0.949], "FRANK": [None, 0.962, 0.955]},
        "gain": {"LLMBar": [0.881, 0.92, 0.94]},
    }
    assert coverage_sentence(tried, [50, 100, 200]) == (
        "Tried on real judges with 50, 100 and 200 labels, these intervals held the truth in 88 to "
        "96 of 100 cases. Too narrow: gain (88 in 100 on LLMBar with 50 labels)."
    )
    assert coverage_sentence({}, [50]) == ""


def test_tables_say_what_was_tried_of_their_columns_alone() -> None:
    row = {"judge": "a", "first_wins": 0.5}
    table = Table("position", "Position", [row | {"first_wins_low": 0.4}], "Note.")
    assert said(Table("position", "Position", [row], "Note.")).note == "Note."  # no interval
    assert said(table).note.startswith("Note. Tried on real judges")
    assert said(Table("position", "Position", [{"judge": "a"}], "Note.")).note == "Note."
    assert said(Table("other", "Other", [{"first_wins": 0.5}])).note == ""
    assert trials()["labels"] == [50, 100, 200]
