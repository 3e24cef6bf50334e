"""Offline, deterministic writers that do what each strategy's description says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from judgelab.agents.protocol import Agents
from judgelab.agents.strategies import WRITERS
from judgelab.agents.strategies.text import Source, Writer, has_letters
from judgelab.agents.taxonomy import Taxonomy, load_taxonomy
from judgelab.core.capability import Capability
from judgelab.core.errors import ConfigError
from judgelab.core.panel import Item, Panel, rng_for

if TYPE_CHECKING:
    from judgelab.core.lm import EvaluationLM


@dataclass(frozen=True)
class Rules(Agents):
    """A synthetic panel: every strategy of a taxonomy carried out by text rules.

    No model and no network is used. A text depends on the item's source, the strategy and the
    seed alone, so neither the order nor the number of items changes it. The panel is labelled
    ``agents="rules (synthetic)"``, and every agent but the human reference ``synthetic: true``.

    Translation: there is no offline translator, so the rules rewrite a *base translation*: the
    item's literal English gloss (``meta["gloss"]``) where the dataset has one, else the human
    reference (the texts are then closer to the reference than any translator's would be). The
    provenance says how many items used which. Without either, the text is None: unscored.

    Args:
        taxonomy: a name under conf/taxonomy or a path; None takes the panel's task.
        seed: of all choices.
        noun: what a source is called; None takes the taxonomy's word.
    """

    taxonomy: str | None = None
    seed: int = 0
    noun: str | None = None
    requires: ClassVar[frozenset[Capability]] = frozenset()

    def answer(self, panel: Panel, lm: EvaluationLM | None = None) -> Panel:
        """The panel's items answered by all strategies; responses it had are replaced.

        Raises:
            ConfigError: the taxonomy is unknown, its task has no rules, or a strategy has none.
        """
        taxonomy = load_taxonomy(self.taxonomy or panel.task)
        writers = _writers(taxonomy)
        noun = self.noun or taxonomy.noun
        bases = [_base(item, taxonomy.task) for item in panel.items]
        facts: dict[str, object] = {
            "agents": "rules (synthetic)",
            "taxonomy": taxonomy.task,
            "taxonomy_sha": taxonomy.sha,
            "agents_seed": self.seed,
        }
        if taxonomy.task == "translation":
            origins = [origin for _, origin in bases]
            facts["base_translation"] = {name: origins.count(name) for name in sorted(set(origins))}
        return replace(
            panel,
            agents=tuple(
                s.agent(synthetic="false" if s.reference else "true") for s in taxonomy.strategies
            ),
            texts=tuple(
                self._answers(item, base, writers, noun)
                for item, (base, _) in zip(panel.items, bases, strict=True)
            ),
            provenance={**panel.provenance, **facts},
        )

    def _answers(
        self, item: Item, base: str | None, writers: Mapping[str, Writer | None], noun: str
    ) -> tuple[str | None, ...]:
        if base is None or not has_letters(base):
            return tuple(item.reference if writer is None else None for writer in writers.values())
        source = Source(base, noun, original=item.source)
        return tuple(
            item.reference
            if writer is None
            else writer(source, rng_for(self.seed, "rules", item.id, name))
            for name, writer in writers.items()
        )


def _base(item: Item, task: str) -> tuple[str | None, str]:
    """The text to work on, and where it comes from."""
    if task != "translation":
        return item.source, "source"
    if has_letters(item.meta.get("gloss")):
        return item.meta["gloss"], "gloss"
    if has_letters(item.reference):
        return item.reference, "reference"
    return None, "none"


def _writers(taxonomy: Taxonomy) -> dict[str, Writer | None]:
    """The function of each strategy, in order; None for the reference."""
    if taxonomy.task not in WRITERS:
        raise ConfigError(
            f"agents=rules has rules for {', '.join(WRITERS)}, but none for the task "
            f"{taxonomy.task!r}: use agents=prompted."
        )
    known = WRITERS[taxonomy.task]
    missing = [s.name for s in taxonomy.strategies if not s.reference and s.name not in known]
    if missing:
        raise ConfigError(
            f"agents=rules has no rule for the {taxonomy.task} strategies {', '.join(missing)}: "
            f"remove them from the taxonomy, or use agents=prompted."
        )
    return {s.name: None if s.reference else known[s.name] for s in taxonomy.strategies}
