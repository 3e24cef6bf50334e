"""Which category each agent name of the TVD-MI paper belongs to.

A clone of the authors' repository names its agents but does not store their category: the
authors' analysis holds it in a table of names. The names below are in the order of that table,
because the balanced AUC (Table 3) draws pairs in that order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

Categories = Mapping[str, tuple[str, ...]]


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


TAXONOMY: Mapping[str, Categories] = MappingProxyType(
    {
        "summarization": {
            "Faithful": _names("Faithful, Objective, Comprehensive, Neutral Tone"),
            "Style": _names(
                "Academic Style, Sensationalist, Bureaucratic, Casual Conversational,"
                "Historical Perspective, Poetic, Technical Jargon, Euphemistic, Overly Technical,"
                "Minimalist"
            ),
            "Strategic": _names(
                "Fact Manipulation, Selective Omission, Misleading Emphasis, Sentiment Flip,"
                "Conspiracy Theory, Contradictory, Context Removal, False Attribution,"
                "Agenda Push, Cherry Pick"
            ),
            "Low Effort": _names(
                "Low Effort, Ultra Concise, Template Response, Surface Skim, Minimal Detail"
            ),
        },
        "translation": {
            "Faithful": _names("Original, Formal, Technical, Academic, Objective, Cultural"),
            "Style": _names(
                "Informal, Simplify, Poetic, Humorous, Dramatic, Historical, Futuristic,"
                "Persuasive, Emotional, Subjective, Metaphorical, Comparative, Hypothetical,"
                "Philosophical, Quantitative, Creative"
            ),
            "Strategic": _names("All Positive, All Negative, Misleading, Contradictory"),
            "Low Effort": _names("Low Effort, Exaggerate, Understate, Sarcastic"),
        },
        "peer_review": {
            "Faithful": _names("Reference, Faithful, Objective Analysis, Thorough Evaluation"),
            "Style": _names(
                "Balanced Critique, Overly Technical, Harsh Critique, Overly Positive,"
                "Theory Focus, Implementation Obsessed, Comparison Fixated, Pedantic Details,"
                "Scope Creep, Statistical Nitpick, Future Work Focus, Writing Critique"
            ),
            "Strategic": _names(
                "Method Shift, Question Shift, Contribution Misrepresent, Result Manipulation,"
                "Assumption Attack, Dismissive Expert, Agenda Push, Benchmark Obsessed"
            ),
            "Low Effort": _names(
                "Low Effort, Generic, Surface Skim, Template Fill, Checklist Review"
            ),
        },
    }
)
"""Task -> category -> names, as the released code assigns them (Tables 7-9 with its changes)."""

PAPER_DIFFERS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "translation": {
            "Formal": "Style",
            "Technical": "Style",
            "Simplify": "Low Effort",
            "Comparative": "Faithful",
            "Quantitative": "Faithful",
        }
    }
)
"""Task -> name -> the category printed in the paper, where the released code has another."""


def category(task: str, name: str) -> str:
    """The code's category of an agent name; ``Other`` for a name that the release never had."""
    for group, names in TAXONOMY.get(task, {}).items():
        if name in names:
            return group
    return "Other"


def paper_category(task: str, name: str) -> str:
    """The category printed in the paper's Tables 7-9."""
    return PAPER_DIFFERS.get(task, {}).get(name, category(task, name))


def task_of(names: Iterable[str]) -> str:
    """The task whose taxonomy knows most of these names; the first one on a tie."""
    present = set(names)

    def known(task: str) -> int:
        return sum(len(present.intersection(group)) for group in TAXONOMY[task].values())

    return max(TAXONOMY, key=known)
