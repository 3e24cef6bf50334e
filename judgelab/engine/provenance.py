"""What every result says first: the data, who measured, who wrote, and what is missing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from judgelab.config import WRITER
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.engine.context import Context
from judgelab.scoring.source import trained_on

FEW_ITEMS = 30


def sources(context: Context, panel: Panel, last: Panel | None = None) -> Iterator[str]:
    """Sentences on how the texts of a clean panel and the numbers came about; ``last`` is the panel
    that went through every step, an attack included (None: the same)."""
    origin = panel.provenance
    references = sum(agent.reference for agent in panel.agents)
    yield (
        f"Data: {origin.get('dataset', 'unnamed')} ({origin.get('source') or 'as given'}), "
        f"{len(panel.items)} items, {len(panel.agents) - references} candidates, "
        f"{references} references."
    )
    if taken := origin.get("columns_taken"):
        yield f"Columns: {taken}."
    if read := origin.get("log"):
        yield str(read)
    whose = origin.get("references")
    if isinstance(whose, str):  # a list names reviewers, who are counted above
        has = sum(bool((item.reference or "").strip()) for item in panel.items)
        yield f"References are those {whose}: {has} of {len(panel.items)} items have one."
    yield f"Evaluation LM: {context.evaluation_lm.identity}."
    for role, lm in context.writers.items():
        yield f"Writer LM{'' if role == WRITER else f' of {role[4:]}'}: {lm.identity}."
    if context.mechanism.reads == "preprocessed":
        yield f"Texts were preprocessed by: {context.preprocessor.name}."
    for key, value in (panel if last is None else last).provenance.items():
        if key.endswith("written_by"):
            yield f"{key.replace('_', ' ').capitalize()}: {value}."
        if key.endswith(("unanswered", "unwritten")) and value and isinstance(value, Mapping):
            yield unwritten(key, value)
        if key.endswith("_kept"):
            yield f"What the {key.removesuffix('_kept')} kept: {value}."
    yield from trained(context.evaluation_lm, panel)


def unwritten(key: str, reasons: Mapping[str, int]) -> str:
    """Why texts are unscored that a step could not write: ``STEP_unwritten``, reason -> texts."""
    step, count = key.rpartition("_")[0], sum(reasons.values())
    why = "; ".join(f"{reason} ({n})" for reason, n in reasons.items())
    return f"{count} texts are unscored because the {step} could not write them: {why}."


def trained(lm: EvaluationLM, panel: Panel) -> Iterator[str]:
    """Whether an adapter was trained on what it now scores."""
    adapter = lm.unwrapped.adapter
    if adapter is None:
        return
    found = trained_on(Path(adapter).expanduser())
    if found is None:
        yield "The adapter does not say what it was trained on: these texts may be among it."
    elif shared := found.overlap(panel):
        yield (
            f"{len(shared)} of {len(panel.items)} items are among those that the adapter was "
            "trained on: what it says of them is no evidence."
        )


def origin_of(panel: Panel, attrs: Mapping[str, object]) -> dict[str, object]:
    """How a panel and its measurements were made, ready for JSON."""
    made = {**panel.provenance, "digest": panel.digest, **attrs}
    origin: dict[str, object] = json.loads(json.dumps(made, default=str))
    return origin
