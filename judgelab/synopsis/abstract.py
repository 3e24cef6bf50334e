"""A short abstract of the source, for data without one (GEM paper, section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import ClassVar, Literal

from judgelab.capability import Capability
from judgelab.errors import ConfigError
from judgelab.evaluation_lm.protocol import EvaluationLM
from judgelab.panel import Item, Panel
from judgelab.prompt import Prompt
from judgelab.synopsis.outline import outline
from judgelab.synopsis.writing import NO_SOURCE, Question, Written, ask, with_synopses
from judgelab.writing import OFFLINE


@dataclass(frozen=True)
class Abstract:
    """Every item gets a new synopsis, an abstract of its source.

    ``by=lm`` is the paper's, for student proposals (it does not print its prompt). ``by=rules``
    is an offline stand-in: the first sentences of the source.

    Args:
        by: lm or rules.
        sentences: rules: how many.
        prompt: field source.
        temperature: of the LM.
        max_tokens: upper bound on its reply.

    Raises:
        ConfigError: sentences below 1.
    """

    prompt: Prompt
    by: Literal["lm", "rules"] = "rules"
    sentences: int = 3
    temperature: float = 0.0
    max_tokens: int = 4000
    name: ClassVar[str] = "abstract"

    def __post_init__(self) -> None:
        if self.sentences < 1:
            raise ConfigError(f"synopsis.sentences={self.sentences} must be at least 1.")

    @property
    def requires(self) -> frozenset[Capability]:
        """Chat, where an LM writes the abstract."""
        return frozenset({Capability.CHAT}) if self.by == "lm" else frozenset()

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """The panel with abstracts as synopses."""
        settings: dict[str, object] = {"by": self.by}
        if self.by == "lm":
            question = Question(self.name, self.prompt, self.temperature, self.max_tokens)
            written = ask(panel, lm, question, _read)
            settings |= {"prompt": self.prompt.identity}
        else:
            written = [self._lead(item) for item in panel.items]
            settings |= {"sentences": self.sentences, "variant": "offline: first sentences"}
        by = f"lm ({lm.identity})" if self.by == "lm" else OFFLINE
        return with_synopses(panel, written, self.name, {**settings, "written_by": by})

    def _lead(self, item: Item) -> Written:
        first = (sentence for _, sentence in outline(item.source))
        text = " ".join(islice(first, self.sentences))
        return Written(text) if text else NO_SOURCE


def _read(item: Item, reply: str) -> Written:
    text = reply.strip()
    return Written(text) if text else Written(None, "the reply is empty")
