"""Reading a label out of a reply. What cannot be read is unscored, never a tie and never 0."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from judgelab.evaluation_lm.protocol import Reply


def read_label(reply: Reply, values: Mapping[str, float]) -> float:
    """The value of the one label in double brackets; NaN for none, or for two different ones.

    Case and spaces inside the brackets do not matter. A reply that quotes several labels counts
    by its last one only if that closes the reply: models restate the options before they answer.
    """
    if reply.text is None:
        return np.nan
    found = list(re.finditer(r"\[\[\s*([^\[\]]+?)\s*\]\]", reply.text))
    known = [m for m in found if " ".join(m[1].lower().split()) in values]
    if not known:
        return np.nan
    last = known[-1]
    distinct = {" ".join(m[1].lower().split()) for m in known}
    closes = not re.search(r"\w", reply.text[last.end() :])
    if len(distinct) > 1 and not closes:
        return np.nan
    return values[" ".join(last[1].lower().split())]
