"""Deletion and completion (GEM paper, appendix D.3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from judgelab.attack.protocol import Expectation
from judgelab.attack.sentence_deletion import Deletion, Gap, thin, thin_as_released
from judgelab.attack.words.fillers import filler
from judgelab.core.capability import Capability
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.rewrite import Asking, By, account, needs, present, with_texts, written
from judgelab.core.sections import HEADERS

MARKER = "[There is one missing sentence]"


@dataclass(frozen=True)
class DeletionCompletion:
    """Deletes every other sentence and fills the gaps with sentences that say nothing.

    With ``by: lm`` each gap is marked and the LM completes the whole text; a reply that still
    shows the marker is not complete and counts as unwritten. With ``by: rules`` each gap gets a
    sentence of a fixed list. A text without a second sentence in any section has no gap and
    stays as it is.

    Args:
        prompt: field text.
        by: who writes.
        headers, definition: as in attack=sentence_deletion.
        temperature, max_tokens: of the reply.

    Raises:
        ConfigError: a negative temperature, or max_tokens below 1.
    """

    prompt: Prompt
    by: By = "rules"
    headers: Sequence[str] = HEADERS
    definition: Deletion = "corrected"
    temperature: float = 0.0
    max_tokens: int = 4000
    name: ClassVar[str] = "deletion_completion"
    expects: ClassVar[Expectation] = "fall"

    def __post_init__(self) -> None:
        Asking(self.prompt, self.temperature, self.max_tokens)

    @property
    def requires(self) -> frozenset[Capability]:
        """Chat, where the LM writes."""
        return needs(self.by)

    def gapped(self, text: str, gap: Gap) -> str:
        """The text with ``gap()`` in the place of every other sentence."""
        if self.definition == "corrected":
            return thin(text, self.headers, gap)
        return thin_as_released(text, self.headers, gap, bold=True)

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """Complete every text, by one batch where the LM writes."""
        if self.by == "lm":
            return self._by_lm(panel, lm)
        facts = account("attack", self, self.name, by=self.by, lm=lm)
        return panel.map(
            lambda text, item, agent, rng: self.gapped(text, filler(rng)),
            seed=seed,
            salt=self.name,
            **facts,
        )

    def _by_lm(self, panel: Panel, lm: EvaluationLM) -> Panel:
        asking = Asking(self.prompt, self.temperature, self.max_tokens)
        marked = {cell: self.gapped(t, lambda: MARKER) for cell, t in present(panel).items()}
        requests = {
            (i, j): asking.request(self.name, panel.items[i].id, panel.agents[j].name, text=text)
            for (i, j), text in marked.items()
            if MARKER in text
        }
        replies, reasons = written(lm, requests)
        complete = {cell: text for cell, text in replies.items() if MARKER not in text}
        reasons |= dict.fromkeys(replies.keys() - complete.keys(), "a gap was left open")
        whole = {cell: text for cell, text in marked.items() if cell not in requests}
        why = reasons.values()
        facts = account("attack", self, self.name, by=self.by, lm=lm, unwritten=why)
        return with_texts(panel, {**whole, **complete}, **facts)
