"""LMExaminer: a chat LM grades each text by itself (GEM paper, appendix D.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgelab.core.bounds import Count
from judgelab.core.panel import Item, Panel
from judgelab.mechanism.closed import TwoPromptMechanism
from judgelab.mechanism.logprob import ABSENT
from judgelab.mechanism.pointwise import GradeMechanism
from judgelab.mechanism.texts import judged_pairs


@dataclass(frozen=True)
class LmExaminer(GradeMechanism, TwoPromptMechanism):
    """A grade from 0 to 10 for understanding, coverage, substantiation and constructiveness.

    The LM sees the item's source, where there is one, and the text; it sees no peer's text, so
    the grade does not depend on y, and reference agents get none. The release counts a reply
    without a grade as 5.
    """

    max_tokens: Count = 4000
    bounds = (0.0, 10.0)
    name = "lm_examiner"

    @property
    def tasks(self) -> frozenset[str]:
        """Reviews: the prompt speaks of feedback on work. One of the user's own fits any."""
        return frozenset({"peer_review"} if self.prompt.shipped or self.prompt.marked else ())

    def source(self, item: Item) -> str:
        return item.source if item.source.strip() else ABSENT

    def graded_agents(self, panel: Panel) -> NDArray[np.bool_]:
        return np.asarray(judged_pairs(panel).any(axis=1))
