"""Offline, deterministic writers that do what each strategy's description says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from judgelab.agents.protocol import Agents
from judgelab.agents.reading import Source, has_letters
from judgelab.agents.strategies import TASKS, Writer, writers
from judgelab.agents.taxonomy import Strategy, Taxonomy, taxonomy_for
from judgelab.core.errors import ConfigError
from judgelab.core.lm import Capability
from judgelab.core.panel import Item, Panel, rng_for

if TYPE_CHECKING:
    from judgelab.core.lm import EvaluationLM


@dataclass(frozen=True)
class Rules(Agents):
    """A synthetic panel: the strategies of a taxonomy that text rules can carry out.

    The others are left out, and named in the provenance (``agents_without_rule``): only an LM
    (``agents=prompted``) writes them.

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
            ConfigError: the taxonomy is unknown, or rules carry out none of its strategies.
        """
        taxonomy = taxonomy_for(panel, self.taxonomy)
        strategies, without = _with_rules(taxonomy)
        noun = self.noun or taxonomy.noun
        bases = [_base(item, taxonomy.task) for item in panel.items]
        facts: dict[str, object] = {
            "agents": "rules (synthetic)",
            "taxonomy": taxonomy.task,
            "taxonomy_sha": taxonomy.sha,
            "agents_seed": self.seed,
            "agents_without_rule": without,
        }
        if taxonomy.task == "translation":
            origins = [origin for _, origin in bases]
            facts["base_translation"] = {name: origins.count(name) for name in sorted(set(origins))}
        return replace(
            panel,
            agents=tuple(s.agent(synthetic="false" if s.reference else "true") for s in strategies),
            texts=tuple(
                self._answers(item, base, strategies, noun)
                for item, (base, _) in zip(panel.items, bases, strict=True)
            ),
            provenance={**panel.provenance, **facts},
        )

    def _answers(
        self, item: Item, base: str | None, strategies: Mapping[Strategy, Writer], noun: str
    ) -> tuple[str | None, ...]:
        source = Source(base, noun, original=item.source) if base and has_letters(base) else None
        return tuple(
            item.reference
            if strategy.reference
            else None
            if source is None
            else writer(source, rng_for(self.seed, "rules", item.id, strategy.name))
            for strategy, writer in strategies.items()
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


def _with_rules(taxonomy: Taxonomy) -> tuple[dict[Strategy, Writer], list[str]]:
    """The reference and what rules carry out, in order; and the names of the others."""
    known = writers(taxonomy.task) if taxonomy.task in TASKS else {}
    kept = {
        strategy: known.get(strategy.name, _nothing)
        for strategy in taxonomy.strategies
        if strategy.reference or strategy.name in known
    }
    if all(strategy.reference for strategy in kept):
        raise ConfigError(
            f"agents=rules carries out no strategy of the taxonomy {taxonomy.task!r} (it knows "
            f"tasks {', '.join(TASKS)}): use agents=prompted."
        )
    return kept, [s.name for s in taxonomy.strategies if s not in kept]


def _nothing(source: Source, rng: np.random.Generator) -> str:
    raise AssertionError("the reference is a person's text")
