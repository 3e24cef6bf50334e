"""A short abstract of the source, for data without one (GEM paper, section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

from judgelab.core.capability import Capability
from judgelab.core.errors import ConfigError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.core.rewrite import Asking, By, needs
from judgelab.synopsis.outline import outline
from judgelab.synopsis.writing import NO_SOURCE, Written, ask, with_synopses


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
        ConfigError: sentences or max_tokens below 1, or a negative temperature.
    """

    prompt: Prompt
    by: By = "rules"
    sentences: int = 3
    temperature: float = 0.0
    max_tokens: int = 4000
    name: ClassVar[str] = "abstract"

    def __post_init__(self) -> None:
        Asking(self.prompt, self.temperature, self.max_tokens)
        if self.sentences < 1:
            raise ConfigError(f"synopsis.sentences={self.sentences} must be at least 1.")

    @property
    def requires(self) -> frozenset[Capability]:
        """Chat, where an LM writes the abstract."""
        return needs(self.by)

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """The panel with abstracts as synopses."""
        if self.by == "lm":
            asking = Asking(self.prompt, self.temperature, self.max_tokens)
            made = ask(panel, lm, self.name, asking, lambda _, reply: Written(reply))
        else:
            made = [self._lead(item) for item in panel.items]
        return with_synopses(panel, made, self, self.name, by=self.by, lm=lm)

    def _lead(self, item: Item) -> Written:
        first = (sentence for _, sentence in outline(item.source))
        text = " ".join(islice(first, self.sentences))
        return Written(text) if text else NO_SOURCE
