"""Annotations of AlpacaEval: which of two outputs an annotator prefers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judgelab.dataset.files import cell_text, number
from judgelab.dataset.logs.log import Log, LogFile, each, either, rows_of

TOOL = "AlpacaEval annotations"
ITEMS = "instructions"
NEEDED = {"instruction", "output_1", "output_2", "preference"}
NAMES = {"annotator", "annotator_index"}  # of whoever prefers, one of these
MIDDLE = 1.5  # 1 is the first output, 2 the second; 0 and 1.5 are ties


def recognises(content: Any) -> bool:
    """Two outputs of an instruction with a preference and who had it."""
    return any(row.keys() >= NEEDED and row.keys() & NAMES for row in rows_of(content))


def read(files: Sequence[LogFile], log: Log) -> None:
    """Generators are agents; annotators judge, those with a number are people."""
    instructions = dict[str, str]()
    for row in each(files):
        first, second = (str(row.get(name)) for name in ("output_1", "output_2"))
        if first == second:
            log.left_out["pairs of equal outputs"] += 1
            continue
        instruction = str(row.get("instruction"))
        item = instructions.setdefault(instruction, f"instruction {len(instructions) + 1}")
        one, two = (str(row.get(name) or "") for name in ("generator_1", "generator_2"))
        if not one or not two or one == two:
            one, two = "first", "second"
        facts = {"source": instruction, "text": first, "other_text": second}
        unit = log.unit(item, one, two, alike=f"{first}\0{second}", **facts)
        value = number(cell_text(row.get("preference")) or "")
        cell = "tie" if value in (0, MIDDLE) else one if value < MIDDLE else two
        if value == value and value % 1 not in (0, 0.5):
            log.left_out["fractions of preferences: the likelier output counts"] += 1
        name = cell_text(either(row, *sorted(NAMES))) or "annotator"
        cell = cell if value == value else ""
        if name.isdigit() or "human" in name.lower():
            unit.label(f"annotator {name}" if name.isdigit() else name, cell)
        else:
            unit.verdict(name, cell)
