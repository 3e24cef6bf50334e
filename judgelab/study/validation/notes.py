"""The sentences a reader of a validation result must see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from judgelab.engine.context import Context
from judgelab.engine.provenance import sources
from judgelab.mechanism.protocol import Definition
from judgelab.stats.intervals.estimate import Estimate

if TYPE_CHECKING:
    from judgelab.study.validation.study import ValidationState

INTERVALS: Mapping[Definition, str] = {
    "corrected": "95 % interval over items",
    "paper": "1.96 paired standard errors over rows",
    "released": "1.645 paired standard errors over rows",
}


def notes(
    context: Context,
    states: Mapping[str, ValidationState],
    change: Estimate | None,
    word: str,
    definition: Definition,
) -> tuple[str, ...]:
    """Data, LM, how texts were made, and the finding."""
    clean = states["clean"].panel
    last = states.get("attacked", states["clean"]).panel
    return (*sources(context, clean, last), *_finding(context, change, word, definition))


def _finding(
    context: Context, change: Estimate | None, word: str, definition: Definition
) -> Iterator[str]:
    if change is None:
        return
    wanted = "fall" if context.attack.expects == "fall" else "not rise"
    yield (
        f"Under {context.attack.name} the score of an honest metric should {wanted}: "
        f"{context.mechanism.name} {word} "
        f"(d {change.value:.3f} [{change.low:.3f}, {change.high:.3f}], {INTERVALS[definition]})."
    )
