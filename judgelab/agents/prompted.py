"""An LM answers every strategy's prompt (TVD-MI paper, section 4.1 and appendix C.3)."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from judgelab.agents import Agents, written
from judgelab.agents.taxonomy import Taxonomy, taxonomy_for
from judgelab.core.bounds import Count, NotNegative
from judgelab.core.errors import CapabilityError, ConfigError, some
from judgelab.core.lm import Capability, ChatRequest, Message
from judgelab.core.panel import Panel

if TYPE_CHECKING:
    from judgelab.core.lm import EvaluationLM

Cell = tuple[int, int]  # (item index, strategy index)


@dataclass(frozen=True)
class Prompted(Agents):
    """The panel of the paper: one chat LM, one prompt per strategy.

    Strategies with a reading stage take two calls: notes are taken from the source, and the
    answer is written from the notes alone. All reading calls are one batch, all answers another.
    The reference agent is the item's human text. A refused, failed or empty reply is None:
    unscored, and counted by reason in the provenance (``agents_unanswered``).
    """

    taxonomy: str | None = None
    temperature: NotNegative = 0.7
    max_tokens: Count | None = None
    noun: str | None = None
    wording: str | None = None
    requires: ClassVar[frozenset[Capability]] = frozenset({Capability.CHAT})

    def answer(self, panel: Panel, lm: EvaluationLM | None) -> Panel:
        """The panel's items answered by all strategies; responses it had are replaced.

        Raises:
            ConfigError: the taxonomy is unknown.
            CapabilityError: there is no LM that can chat.
        """
        if lm is None or Capability.CHAT not in lm.capabilities:
            raise CapabilityError(
                "agents=prompted needs an evaluation LM that can chat: set evaluation_lm to one, "
                "or use agents=rules."
            )
        taxonomy = _worded(taxonomy_for(panel, self.taxonomy), self.wording)
        unanswered: Counter[str] = Counter()

        def ask(given: Mapping[Cell, str], stage: str) -> dict[Cell, str]:
            requests = [
                self._request(panel, taxonomy, cell, text, stage) for cell, text in given.items()
            ]
            replies = zip(given, written(lm, requests, stage, unanswered), strict=True)
            return {cell: reply for cell, reply in replies if reply is not None}

        strategies = list(enumerate(taxonomy.strategies))
        sources = {
            (i, j): item.source
            for i, item in enumerate(panel.items)
            for j, strategy in strategies
            if not strategy.reference
        }
        reads = {j for j, strategy in strategies if strategy.reading}
        notes = ask({cell: text for cell, text in sources.items() if cell[1] in reads}, "reading")
        ready = {cell: text for cell, text in sources.items() if cell[1] not in reads} | notes
        answers = ask({cell: ready[cell] for cell in sources if cell in ready}, "answer")
        texts = tuple(
            tuple(item.reference if one.reference else answers.get((i, j)) for j, one in strategies)
            for i, item in enumerate(panel.items)
        )
        facts = {
            "agents": f"prompted ({lm.identity})",
            "taxonomy": taxonomy.task,
            "taxonomy_sha": taxonomy.sha,
            "agents_temperature": self.temperature,
            "agents_max_tokens": self.max_tokens or taxonomy.max_tokens,
            "agents_unanswered": dict(sorted(unanswered.items())),
        }
        agents = tuple(strategy.agent(synthetic="false") for _, strategy in strategies)
        provenance = {**panel.provenance, **facts}
        return replace(panel, agents=agents, texts=texts, provenance=provenance)

    def _request(
        self, panel: Panel, taxonomy: Taxonomy, cell: Cell, text: str, stage: str
    ) -> ChatRequest:
        strategy = taxonomy.strategies[cell[1]]
        instruction = (strategy.reading or "") if stage == "reading" else strategy.prompt
        instruction = instruction.replace("{noun}", self.noun or taxonomy.noun)
        fence = _fence(text)
        content = f"{instruction}\n\n{fence}\n{text}\n{fence}\n\n{instruction}"
        return ChatRequest(
            messages=(Message("user", content),),
            temperature=self.temperature,
            max_tokens=self.max_tokens or taxonomy.max_tokens,
            key=("agents", panel.items[cell[0]].id, strategy.name, stage),
        )


def _worded(taxonomy: Taxonomy, file: str | None) -> Taxonomy:
    """The taxonomy with the instructions of a file of the authors."""
    if file is None:
        return taxonomy
    try:
        listed = json.loads(Path(file).read_text(encoding="utf-8"))["agent_perspectives"]
        theirs = {one["condition"]: (one["strategy"], one["reading"]) for one in listed}
    except (OSError, ValueError, KeyError, TypeError) as cause:
        raise ConfigError(f"agents.wording={file!r} is no file of instructions.") from cause
    own = [one for one in taxonomy.strategies if not one.reference]
    if lacking := [one.name for one in own if one.name not in theirs]:
        raise ConfigError(f"agents.wording={file!r} has no instruction for {some(lacking)}.")
    worded = tuple(
        one
        if one.reference
        else one.model_copy(update={"prompt": theirs[one.name][0], "reading": theirs[one.name][1]})
        for one in taxonomy.strategies
    )
    sha = hashlib.sha256(json.dumps(theirs, sort_keys=True).encode()).hexdigest()[:12]
    return taxonomy.model_copy(update={"strategies": worded, "sha": f"{taxonomy.sha}+{sha}"})


def _fence(text: str) -> str:
    """Backticks, more of them in a row than the text holds, so that it cannot close its fence."""
    runs = (len(run) for run in re.findall(r"`+", text))
    return "`" * max(3, 1 + max(runs, default=0))
