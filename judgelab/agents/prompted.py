"""An LM answers every strategy's prompt (TVD-MI paper, section 4.1 and appendix C.3)."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from judgelab.agents import Agents
from judgelab.agents.taxonomy import Taxonomy, taxonomy_for
from judgelab.core.bounds import Count, NotNegative
from judgelab.core.errors import ConfigError, some
from judgelab.core.lm import Capability, ChatRequest, EvaluationLM, Message
from judgelab.core.panel import Panel
from judgelab.core.step import Cell, write_texts


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

    def answer(self, panel: Panel, lm: EvaluationLM) -> Panel:
        """The panel's items answered by all strategies, instead of the responses it had; a
        ConfigError where the taxonomy is unknown."""
        taxonomy = _with_wording(taxonomy_for(panel, self.taxonomy), self.wording)
        unanswered: Counter[str] = Counter()
        most = self.max_tokens or taxonomy.max_tokens

        def ask(texts: Mapping[Cell, str], stage: str) -> dict[Cell, str]:
            requests = {}
            for (i, j), text in texts.items():
                strategy, fence = taxonomy.strategies[j], _fence(text)
                instruction = (strategy.reading or "") if stage == "reading" else strategy.prompt
                instruction = instruction.replace("{noun}", self.noun or taxonomy.noun)
                content = f"{instruction}\n\n{fence}\n{text}\n{fence}\n\n{instruction}"
                key = ("agents", panel.items[i].id, strategy.name, stage)
                message = Message("user", content)
                requests[i, j] = ChatRequest((message,), self.temperature, most, key=key)
            replies = write_texts(lm, requests)
            unanswered.update(f"{stage}: {one.reason}" for one in replies.values() if not one.text)
            return {cell: one.text for cell, one in replies.items() if one.text}

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
        return panel.with_agents(
            [strategy.agent(synthetic="false") for _, strategy in strategies],
            tuple(
                tuple(item.reference if s.reference else answers.get((i, j)) for j, s in strategies)
                for i, item in enumerate(panel.items)
            ),
            agents=f"prompted ({lm.identity})",
            taxonomy=taxonomy.task,
            taxonomy_sha=taxonomy.sha,
            agents_temperature=self.temperature,
            agents_max_tokens=most,
            agents_unanswered=dict(sorted(unanswered.items())),
        )


def _with_wording(taxonomy: Taxonomy, file: str | None) -> Taxonomy:
    """The taxonomy with the instructions of a file of the authors."""
    if file is None:
        return taxonomy
    try:
        entries = json.loads(Path(file).read_text(encoding="utf-8"))["agent_perspectives"]
        theirs = {
            one["condition"]: {"prompt": one["strategy"], "reading": one["reading"]}
            for one in entries
        }
    except (OSError, ValueError, KeyError, TypeError) as cause:
        raise ConfigError(f"agents.wording={file!r} is no file of instructions.") from cause
    own = [one.name for one in taxonomy.strategies if not one.reference]
    if lacking := [name for name in own if name not in theirs]:
        raise ConfigError(f"agents.wording={file!r} has no instruction for {some(lacking)}.")
    worded = tuple(
        one if one.reference else one.model_copy(update=theirs[one.name])
        for one in taxonomy.strategies
    )
    sha = hashlib.sha256(json.dumps(theirs, sort_keys=True).encode()).hexdigest()[:12]
    return taxonomy.model_copy(update={"strategies": worded, "sha": f"{taxonomy.sha}+{sha}"})


def _fence(text: str) -> str:
    """Backticks, more of them in a row than the text holds, so that it cannot close its fence."""
    runs = (len(run) for run in re.findall(r"`+", text))
    return "`" * max(3, 1 + max(runs, default=0))
