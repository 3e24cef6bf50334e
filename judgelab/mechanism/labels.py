"""Reading a label out of a reply. What cannot be read is unscored, never a tie and never 0."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from judgelab.core.lm import Reply

LABEL = re.compile(r"\[\[\s*([^\[\]]+?)\s*\]\]")


def read_label(reply: Reply, values: Mapping[str, float]) -> float:
    """The value of the label in double brackets; NaN where the reply does not say which.

    Case and spaces inside the brackets do not matter. One label, wherever it stands, is read. A
    reply with different labels (models restate the options before they answer) is read only if
    its last line holds a single one and nothing after it, alone or behind a colon: "Verdict:
    [[B]]". Prose such as "[[A]] is better than [[B]]" is unscored.
    """
    if reply.text is None:
        return np.nan
    known = _labels(reply.text, values)
    if len(set(known)) > 1:
        last = reply.text.strip().splitlines()[-1]
        known = _labels(last, values)
        before = LABEL.split(last)[0].strip(" *_#>`-")
        after = last[last.rfind("]]") + 2 :].strip(" *_`.")
        if len(known) != 1 or after or not (before == "" or before.endswith(":")):
            return np.nan
    return values[known[0]] if known else np.nan


def _labels(text: str, values: Mapping[str, float]) -> list[str]:
    names = (" ".join(found.lower().split()) for found in LABEL.findall(text))
    return [name for name in names if name in values]
