"""The figures of all studies by name."""

from __future__ import annotations

from collections.abc import Mapping

from judgelab.config.targets import located
from judgelab.core.resources import conf
from judgelab.report import style
from judgelab.report.style import Drawing, Drawn, Tables

TARGETS = sorted(
    line.split()[1]
    for file in (conf() / "study").glob("*.yaml")
    for line in file.read_text(encoding="utf-8").splitlines()
    if line.startswith("_target_:")
)
DRAWINGS: Mapping[str, Drawing] = {
    name: drawing
    for target in TARGETS
    for name, drawing in located(target, "study").drawings.items()
}


def draw(name: str, tables: Tables) -> Drawn:
    """As a page draws it."""
    return style.draw(name, tables, DRAWINGS)
