"""Figures of probes and of disagreement, from what the parts of an audit found."""

from __future__ import annotations

from pathlib import Path

from judgelab.mechanism.length import Length
from judgelab.report.figures import draw
from judgelab.report.tables import frame
from judgelab.study.audit.evidence import Findings
from tests.judgment_tables import made_pairs
from tests.unit.study.audit.asked_case import asked_case, chat, falls_for_marker, merits
from tests.unit.study.audit.test_alone import PART
from tests.unit.study.audit.test_manipulation import part


def drawn(found: Findings, name: str) -> tuple[list[str], str]:
    """Titles of the axes, and the caption."""
    assert list(found.figures) == [name]
    figure = draw(name, {table.name: frame(vars(table)) for table in found.tables})
    return [side.get_title("left") for side in figure.figure.axes if side.axison], figure.caption


def test_every_judge_has_its_probes(tmp_path: Path) -> None:
    case = asked_case(tmp_path, {"marked": chat(falls_for_marker)}, merits(20), length=Length())
    titles, caption = drawn(part("instruction", "padding").run(case), "audit_probes")
    assert titles == ["marked", "length"] and "n\u00a0=\u00a020 pairs" in caption


def test_every_group_of_units_is_drawn_with_or_without_labels(tmp_path: Path) -> None:
    table = made_pairs(90, (0.9, 0.8, 0.7, 0.6), labelled=40)
    titles, caption = drawn(PART.run(asked_case(tmp_path, {}, table=table)), "audit_disagreement")
    assert titles == ["all", "with a label", "without a label"]
    assert "agreement misleads" in caption
