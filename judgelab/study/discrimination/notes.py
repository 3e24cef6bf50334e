"""The sentences a reader of a discrimination result must see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from judgelab.engine.context import Context
from judgelab.engine.provenance import FEW_ITEMS, trained
from judgelab.mechanism.protocol import Definition

if TYPE_CHECKING:
    from judgelab.study.discrimination.study import State


def notes(
    context: Context, states: Mapping[str, State], known: bool, definition: Definition
) -> tuple[str, ...]:
    """Data, LM, and whatever limits what the numbers mean."""
    return (
        *_made_of(context, states["clean"]),
        *_limits(states["clean"], known),
        *_left_out(states["clean"].panel.provenance),
        *_attack(states),
        *context.evaluation_lm.remarks(definition),
    )


def _made_of(context: Context, clean: State) -> Iterator[str]:
    origin = clean.panel.provenance
    where = origin.get("source") or origin.get("domain") or "as given"
    yield (
        f"Data: {origin.get('dataset', 'unnamed')} ({where}), {len(clean.panel.items)} items x "
        f"{len(clean.panel.agents)} agents ({origin.get('agents', 'as recorded')})."
    )
    yield f"Evaluation LM: {context.evaluation_lm.identity}."
    yield from trained(context.evaluation_lm, clean.panel)
    if "critic" in clean.measured.attrs:
        yield f"Critic: {clean.measured.attrs['critic']}."
    if clean.measured.attrs.get("reply") == "labels":
        yield "Replies: from the probabilities of the allowed labels; none was generated."


def _limits(clean: State, known: bool) -> Iterator[str]:
    items, agents = len(clean.panel.items), len(clean.panel.agents)
    if items < FEW_ITEMS:
        yield (
            f"Only {items} items: bootstrap intervals are too narrow below {FEW_ITEMS}, above all "
            "those of d (on normal data they hold the truth .86 of the time at 12 items)."
        )
    if agents == 2 and clean.scores.pair is not None:
        yield "With two agents a mechanism that pays both sides of a pair alike cannot rank them."
    if not known:
        yield (
            "No agent categories are known, so good faith and problematic agents cannot be told "
            "apart: effect sizes and AUC are left out (give dataset.agents={name: category})."
        )


def _left_out(origin: Mapping[str, object]) -> Iterator[str]:
    """What the data lost on the way here."""
    for key, what in (
        ("skipped_rows", "Rows without a source were skipped"),
        ("ignored_keys", "Unknown keys of the file were ignored"),
        ("agents_unanswered", "Agents gave no answer"),
    ):
        if origin.get(key):
            yield f"{what}: {origin[key]}."
    if origin.get("base_translation"):
        yield f"Rule-based translations rewrite a base translation: {origin['base_translation']}."


def _attack(states: Mapping[str, State]) -> Iterator[str]:
    settings = states.get("attacked", states["clean"]).panel.provenance.get("attack_settings")
    if isinstance(settings, Mapping) and settings.get("tag") == "source":
        yield (
            "attack.tag=source puts the same marker into all texts of an item: a rise under this "
            "attack is information the attack added, not robustness."
        )
