"""The sentences a reader of a validation result must see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from judgelab.stats.estimate import Estimate
from judgelab.study.discrimination_notes import FEW_ITEMS
from judgelab.study.lab import Lab

if TYPE_CHECKING:
    from judgelab.study.validation import State


def notes(
    lab: Lab, states: Mapping[str, State], change: Estimate | None, word: str
) -> tuple[str, ...]:
    """Data, LM, how texts were made, and whatever limits what the numbers mean."""
    return (*_made_of(lab, states), *_finding(lab, change, word), *_limits(states))


def _made_of(lab: Lab, states: Mapping[str, State]) -> Iterator[str]:
    clean = states["clean"]
    origin = clean.panel.provenance
    references = sum(agent.reference for agent in clean.panel.agents)
    yield (
        f"Data: {origin.get('dataset', 'unnamed')} ({origin.get('source') or 'as given'}), "
        f"{len(clean.panel.items)} items, {len(clean.panel.agents) - references} candidates, "
        f"{references} references."
    )
    yield f"Evaluation LM: {lab.evaluation_lm.identity}."
    if lab.writer_lm is not None:
        yield f"Texts are written by: {lab.writer_lm.identity}."
    if lab.mechanism.reads == "preprocessed":
        yield f"Texts were preprocessed by: {lab.preprocessor.name}."
    last = states.get("attacked", clean).panel.provenance
    for key, value in last.items():
        if str(key).endswith("written_by"):
            yield f"{str(key).replace('_', ' ')}: {value}."
        if str(key).endswith(("unanswered", "unwritten")) and value:
            yield f"Texts that could not be written are unscored ({key}): {value}."


def _finding(lab: Lab, change: Estimate | None, word: str) -> Iterator[str]:
    if change is None:
        return
    wanted = "fall" if lab.attack.expects == "fall" else "not rise"
    yield (
        f"Under {lab.attack.name} the score of an honest metric should {wanted}: "
        f"{lab.mechanism.name} {word} (d {change.value:.3f}, 95 % interval {change.low:.3f} to "
        f"{change.high:.3f})."
    )


def _limits(states: Mapping[str, State]) -> Iterator[str]:
    items = len(states["clean"].panel.items)
    if items < FEW_ITEMS:
        yield f"Only {items} items: intervals are rough below {FEW_ITEMS}."
