"""A review of the synopsis alone (GEM paper, appendix D.3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgelab.attack.protocol import Expectation
from judgelab.attack.words.generic_review import generic_review
from judgelab.core.capability import Capability
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel, rng_for
from judgelab.core.prompt import Prompt
from judgelab.core.rewrite import Asking, By, Cell, account, needs, present, with_texts, written

NO_SYNOPSIS = "the item has no synopsis"


@dataclass(frozen=True)
class AbstractOnly:
    """Puts a review by somebody who saw only the item's synopsis in the place of every text.

    With ``by: lm`` the LM writes one review per item, and every agent gets it: it knows nothing
    of the agents. (The study gives references their own texts back; without references all texts
    of an item would be the same one.) With ``by: rules`` the review consists of general remarks
    and quotations of the synopsis, drawn for each item and agent. Texts of an item without a
    synopsis become None.

    Args:
        prompt: field synopsis.
        by: who writes.
        temperature, max_tokens: of the reply.

    Raises:
        ConfigError: a negative temperature, or max_tokens below 1.
    """

    prompt: Prompt
    by: By = "rules"
    temperature: float = 0.0
    max_tokens: int = 4000
    name: ClassVar[str] = "abstract_only"
    expects: ClassVar[Expectation] = "fall"

    def __post_init__(self) -> None:
        Asking(self.prompt, self.temperature, self.max_tokens)

    @property
    def requires(self) -> frozenset[Capability]:
        """Chat, where the LM writes."""
        return needs(self.by)

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """Replace every text, by one batch with one call per item where the LM writes."""
        synopses = {
            i: item.synopsis.strip()
            for i, item in enumerate(panel.items)
            if item.synopsis and item.synopsis.strip()
        }
        cells = list(present(panel))
        unwritten = [NO_SYNOPSIS for i, _ in cells if i not in synopses]
        cells = [(i, j) for i, j in cells if i in synopses]
        if self.by == "rules":
            reviews = {
                (i, j): generic_review(
                    synopses[i],
                    rng_for(seed, self.name, panel.items[i].id, panel.agents[j].name),
                )
                for i, j in cells
            }
        else:
            reviews, failed = self._by_lm(panel, lm, synopses, cells)
            unwritten += failed
        facts = account("attack", self, self.name, by=self.by, lm=lm, unwritten=unwritten)
        return with_texts(panel, reviews, **facts)

    def _by_lm(
        self, panel: Panel, lm: EvaluationLM, synopses: dict[int, str], cells: list[Cell]
    ) -> tuple[dict[Cell, str], list[str]]:
        """The reviews by cell, and why the others are missing."""
        asking = Asking(self.prompt, self.temperature, self.max_tokens)
        requests = {
            i: asking.request(self.name, panel.items[i].id, synopsis=synopses[i]) for i, _ in cells
        }
        replies, reasons = written(lm, requests)
        reviews = {(i, j): replies[i] for i, j in cells if i in replies}
        return reviews, [reasons[i] for i, _ in cells if i in reasons]
