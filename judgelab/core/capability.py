"""What an evaluation LM can do, so that a mismatch is refused before anything is loaded."""

from __future__ import annotations

from enum import StrEnum


class Capability(StrEnum):
    """One verb of an evaluation LM."""

    LOGPROB = "logprob"  # log P(y | x) of a given text
    CHAT = "chat"  # a reply to messages
    LABELS = "labels"  # how likely each of some allowed replies to messages is
