"""TVD-MI: total variation mutual information through a categorical critic (section 3.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from judgelab.core.capability import Capability
from judgelab.core.errors import ConfigError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.scores import Scores, mean_over, symmetric
from judgelab.mechanism.closed import Closed, ReplyMode
from judgelab.mechanism.critic import LABELS, ChatCritic, likelihood_grades
from judgelab.mechanism.logprob import delimiter_for, measure_logprob
from judgelab.mechanism.negatives import folds, partners
from judgelab.mechanism.protocol import BaseMechanism, Definition, Reads, Subject

if TYPE_CHECKING:
    import xarray as xr

CriticName = Literal["auto", "chat", "likelihood"]
Estimator = Literal["graded", "binary"]
ACCEPT = 1.0  # the binary test accepts a pair only on the label "significant gain"


@dataclass(frozen=True)
class TvdMi(BaseMechanism):
    """E_P[g] - E_Q[g] for a test g in [0, 1]: a lower bound of TV(P+, P-) (equation 3).

    P pairs two agents' texts of one item; Q pairs a text with the other agent's text of another
    item. Both are scored and stored apart. ``graded`` uses the labels' values 1, .25 and 0 (as
    released); ``binary`` accepts on the strongest label alone, so that the difference is
    TPR + TNR - 1. Payment of agent i: the mean over peers of both directions.

    Args:
        critic: ``chat`` (three labels), ``likelihood`` (any log-probability LM), or ``auto``:
            chat where the LM can, else likelihood; the result says which.
        estimator: graded or binary.
        negatives: independent sources drawn for each item (Q pairs per P pair).
        folds: items are split into this many parts; the likelihood critic's thresholds for one
            part come from the others, and Q partners from the same part.
        little, significant: quantiles of Q that bound the likelihood critic's grades.
        prompt: of the chat critic; fields task, a, b.
        reply: of the chat critic: generated, labels or auto; see judgelab.mechanism.closed.
        prompt_labels: asks for the label alone, for replies by labels; the same fields.
    """

    prompt: Prompt
    critic: CriticName = "auto"
    estimator: Estimator = "graded"
    negatives: int = 1
    folds: int = 2
    little: float = 0.95
    significant: float = 0.99
    temperature: float = 0.0
    max_tokens: int = 150
    delimiter: str | None = None
    reply: ReplyMode = "auto"
    prompt_labels: Prompt | None = None
    name: ClassVar[str] = "tvd_mi"
    measurement: ClassVar[str] = "tvd_mi"
    subject: ClassVar[Subject] = "pair"
    reads: ClassVar[Reads] = "preprocessed"

    def __post_init__(self) -> None:
        if self.negatives < 1 or self.folds < 2:
            raise ConfigError("mechanism.negatives must be at least 1 and mechanism.folds 2.")
        if not 0 < self.little < self.significant < 1:
            raise ConfigError(
                "mechanism.little and mechanism.significant are quantiles: 0 < little < "
                f"significant < 1, but got {self.little} and {self.significant}."
            )
        _ = self.closed  # says what is wrong with the settings

    @property
    def closed(self) -> Closed:
        """How the chat critic's questions are put."""
        return Closed(self.reply, LABELS, self.prompt, self.prompt_labels, self.temperature)

    @property
    def requires(self) -> tuple[frozenset[Capability], ...]:
        """What the chosen critic needs; either will do for ``auto``."""
        chat, logprob = self.closed.requires, frozenset({Capability.LOGPROB})
        return {"auto": (chat, logprob), "chat": (chat,), "likelihood": (logprob,)}[self.critic]

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """Same-source and independent pairs; ``critic`` names who judged them.

        Raises:
            ConfigError: too few items for the folds and negatives asked.
        """
        ids = [item.id for item in panel.items]
        able = self.closed.requires <= lm.capabilities
        chat = self.critic == "chat" or (self.critic == "auto" and able)
        fold = folds(ids, 1 if chat else self.folds, seed)
        partner = partners(ids, fold, self.negatives, seed)
        if chat:
            critic = ChatCritic(self.closed, self.max_tokens)
            data = critic.measure(panel, lm, partner)
        else:
            delimiter = delimiter_for(panel.task, self.delimiter)
            data = measure_logprob(panel, lm, delimiter, partner)
        data["fold"] = ("item", fold)
        data["partner"] = (("item", "draw"), np.array(ids)[partner])
        data.attrs["critic"] = "chat" if chat else "likelihood"
        return data

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """P - Q per ordered pair, symmetrised; recorded data holds that difference only."""
        if "p_minus_q" in measured:
            difference = measured["p_minus_q"]
            diagnostics: dict[str, float] = {}
        else:
            p, q = self._tests(measured)
            difference = p - mean_over(q, "draw")
            diagnostics = {
                "accepted_same_source": float(mean_over(p, "peer").mean()),
                "accepted_independent": float(mean_over(mean_over(q, "draw"), "peer").mean()),
            }
        pair = symmetric(difference)
        return Scores(agent=mean_over(pair, "peer"), pair=pair, diagnostics=diagnostics)

    def _tests(self, data: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
        if "p" in data:
            p, q = data["p"], data["q"]
        else:
            p, q = likelihood_grades(data, data["fold"].values, self.little, self.significant)
        if self.estimator == "graded":
            return p, q
        return tuple((g >= ACCEPT).where(g.notnull()).astype(float) for g in (p, q))  # type: ignore[return-value]
