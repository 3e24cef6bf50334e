"""What each strategy does to a text, as pure functions of (source, generator)."""

from collections.abc import Mapping

from judgelab.agents.strategies.reviews import REVIEWS
from judgelab.agents.strategies.summaries import SUMMARIES
from judgelab.agents.strategies.text import Writer
from judgelab.agents.strategies.translations import TRANSLATIONS

__all__ = ["WRITERS"]

WRITERS: Mapping[str, Mapping[str, Writer]] = {
    "summarization": SUMMARIES,
    "translation": TRANSLATIONS,
    "peer_review": REVIEWS,
}
"""Task -> strategy name -> the function that writes."""
