"""Which of two answers is better, in one word (Auto-PRE paper, Table 8)."""

from __future__ import annotations

from judgelab.mechanism.judge import CHOICES, PairMechanism

LABELS = {spelled: word for word in CHOICES for spelled in (word, word.capitalize())}
"""Allowed reply -> what it says."""


class Pairwise(PairMechanism):
    """Every ordered pair is judged, so each two answers are seen in both orders.

    The judge replies ``one`` or ``two``. A longer reply counts if it states which, or a tie; any
    other is unscored (the release takes the first of these words wherever it stands). An agent's
    score is its win rate over both orders. study=qualification asks several judges so.

    The prompt's fields are task, source, one and two. ``pairwise.txt`` says how to reply at its
    beginning ("prompt1" in the paper), ``pairwise_last.txt`` at its end ("prompt2").
    """

    labels = LABELS
    verdicts = CHOICES
    reads = "raw"
    name = "pairwise"
