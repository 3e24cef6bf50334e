"""An LM answers every strategy's prompt (TVD-MI paper, section 4.1 and appendix C.3)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from judgelab.agents.protocol import Agents
from judgelab.agents.taxonomy import Strategy, Taxonomy, load_taxonomy
from judgelab.core.capability import Capability
from judgelab.core.errors import CapabilityError, ConfigError
from judgelab.core.lm import ChatRequest, Message
from judgelab.core.panel import Panel

if TYPE_CHECKING:
    from judgelab.core.lm import EvaluationLM

Cell = tuple[int, int]
"""(item index, strategy index)."""


class Prompted(Agents):
    """The panel of the paper: one chat LM, one prompt per strategy.

    Strategies with a reading stage take two calls: notes are taken from the source, and the
    answer is written from the notes alone. All reading calls are one batch, all answers another.
    The reference agent is the item's human text. A refused, failed or empty reply is None:
    unscored, and counted by reason in the provenance (``agents_unanswered``).

    Args:
        taxonomy: a name under conf/taxonomy or a path; None takes the panel's task.
        temperature: of sampling; the paper uses 0.7.
        max_tokens: budget of a reply, tokens; None takes the taxonomy's.
        noun: what a source is called in the prompts; None takes the taxonomy's word.

    Raises:
        ConfigError: the taxonomy is unknown, the temperature negative, or the budget below 1.
        CapabilityError: there is no LM that can chat.
    """

    requires: frozenset[Capability] = frozenset({Capability.CHAT})

    def __init__(
        self,
        taxonomy: str | None = None,
        temperature: float = 0.7,
        max_tokens: int | None = None,
        noun: str | None = None,
    ) -> None:
        if not 0 <= temperature < float("inf"):
            raise ConfigError(f"agents.temperature must be 0 or more, not {temperature}.")
        if max_tokens is not None and max_tokens < 1:
            raise ConfigError(f"agents.max_tokens must be 1 or more, or null, not {max_tokens}.")
        self._taxonomy = taxonomy
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._noun = noun

    def answer(self, panel: Panel, lm: EvaluationLM | None) -> Panel:
        """The panel's items answered by all strategies; responses it had are replaced."""
        if lm is None or Capability.CHAT not in lm.capabilities:
            raise CapabilityError(
                "agents=prompted needs an evaluation LM that can chat: set evaluation_lm to one, "
                "or use agents=rules."
            )
        taxonomy = load_taxonomy(self._taxonomy or panel.task)
        answers, missing = self._two_stages(panel, taxonomy, lm)
        texts = tuple(
            tuple(
                item.reference if strategy.reference else answers.get((i, j))
                for j, strategy in enumerate(taxonomy.strategies)
            )
            for i, item in enumerate(panel.items)
        )
        facts = {
            "agents": f"prompted ({lm.identity})",
            "taxonomy": taxonomy.task,
            "taxonomy_sha": taxonomy.sha,
            "agents_temperature": self._temperature,
            "agents_max_tokens": self._max_tokens or taxonomy.max_tokens,
            "agents_unanswered": dict(sorted(missing.items())),
        }
        return replace(
            panel,
            agents=tuple(s.agent(synthetic="false") for s in taxonomy.strategies),
            texts=texts,
            provenance={**panel.provenance, **facts},
        )

    def _two_stages(
        self, panel: Panel, taxonomy: Taxonomy, lm: EvaluationLM
    ) -> tuple[dict[Cell, str], Counter[str]]:
        """The answers there are, and why the others are missing."""
        strategies = taxonomy.strategies
        cells = [
            (i, j)
            for i in range(len(panel.items))
            for j, strategy in enumerate(strategies)
            if not strategy.reference
        ]
        sources = {(i, j): panel.items[i].source for i, j in cells}
        reading = {cell: text for cell, text in sources.items() if strategies[cell[1]].reading}
        notes, unread = self._ask(panel, taxonomy, lm, reading, "reading")
        ready = {
            cell: notes[cell] if cell in reading else sources[cell]
            for cell in cells
            if cell not in reading or cell in notes
        }
        answers, unwritten = self._ask(panel, taxonomy, lm, ready, "answer")
        return answers, unread + unwritten

    def _ask(
        self,
        panel: Panel,
        taxonomy: Taxonomy,
        lm: EvaluationLM,
        texts: Mapping[Cell, str],
        stage: str,
    ) -> tuple[dict[Cell, str], Counter[str]]:
        """One batch: the replies by cell, and the reasons of those that are absent."""
        if not texts:
            return {}, Counter()
        requests = [
            ChatRequest(
                messages=(self._message(taxonomy, taxonomy.strategies[j], text, stage),),
                temperature=self._temperature,
                max_tokens=self._max_tokens or taxonomy.max_tokens,
                key=("agents", panel.items[i].id, taxonomy.strategies[j].name, stage),
            )
            for (i, j), text in texts.items()
        ]
        replies: dict[Cell, str] = {}
        reasons: Counter[str] = Counter()
        for cell, reply in zip(texts, lm.chat(requests), strict=True):
            if reply.text is not None and reply.text.strip():
                replies[cell] = reply.text.strip()
            else:
                reasons[f"{stage}: {reply.reason or 'empty reply'}"] += 1
        return replies, reasons

    def _message(self, taxonomy: Taxonomy, strategy: Strategy, text: str, stage: str) -> Message:
        instruction = (strategy.reading or "") if stage == "reading" else strategy.prompt
        return Message(
            "user",
            taxonomy.prompt_template.format(
                instruction=instruction.replace("{noun}", self._noun or taxonomy.noun),
                fence=_fence(text),
                text=text,
            ),
        )


def _fence(text: str) -> str:
    """Backticks, more of them in a row than the text holds, so that it cannot close its fence."""
    runs = (len(run) for run in re.findall(r"`+", text))
    return "`" * max(3, 1 + max(runs, default=0))
