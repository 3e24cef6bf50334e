"""An edit that changes nothing: what probes of a judge are held against."""

from __future__ import annotations

import re

from judgelab.attack.protocol import RuleAttack
from judgelab.core.step import Place

END_OF_SENTENCE = re.compile(r"(?<=[.!?]) (?=\S)")


class Placebo(RuleAttack):
    """Two spaces after every sentence and a line break at the end: no word and no sign changes.

    A judge whose verdict it changes wavers; an attack is to be held against that.
    """

    name = "placebo"
    expects = "no_rise"

    def rule(self, text: str, at: Place) -> str:
        return END_OF_SENTENCE.sub("  ", text) + "\n"
