"""No manipulation."""

from __future__ import annotations

from judgelab.core.step import Unchanged


class NoAttack(Unchanged):
    """Leaves the panel as it is; a run then has no attacked half."""

    axis = "attack"
    name = "none"
    expects = "no_rise"
