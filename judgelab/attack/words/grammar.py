"""Words that are wrong in each other's place."""

from __future__ import annotations

AGREEMENT = {
    "is": "are",
    "are": "is",
    "was": "were",
    "were": "was",
    "has": "have",
    "have": "has",
    "does": "do",
    "isn't": "aren't",
    "aren't": "isn't",
    "wasn't": "weren't",
    "weren't": "wasn't",
    "this": "these",
    "these": "this",
    "those": "that",
}
"""Subject and verb, or noun and determiner, out of agreement."""

PRONOUNS = {
    "he": "him",
    "she": "her",
    "they": "them",
    "we": "us",
    "him": "he",
    "them": "they",
    "us": "we",
    "his": "their",
    "their": "its",
    "its": "their",
    "who": "which",
}

TENSE = {
    "said": "say",
    "says": "said",
    "made": "make",
    "makes": "made",
    "took": "taken",
    "taken": "took",
    "went": "goes",
    "came": "comes",
    "gave": "given",
    "found": "find",
    "told": "tells",
    "won": "winning",
    "lost": "losing",
    "left": "leaves",
    "became": "become",
    "began": "begun",
    "been": "be",
    "had": "having",
    "will": "would have",
    "can": "could have",
}

PREPOSITIONS = {
    "in": "at",
    "on": "in",
    "at": "on",
    "for": "of",
    "of": "for",
    "from": "by",
    "by": "from",
    "with": "to",
    "into": "onto",
    "after": "since",
    "about": "on",
}

ARTICLES = {"a": "an", "an": "a"}

WRONG = {**AGREEMENT, **PRONOUNS, **TENSE, **PREPOSITIONS, **ARTICLES}

_ENDING_IN_S = """
    across address always analysis as basis business crisis congress cross discuss diagnosis
    does series his hypothesis is its less loss mass miss news pass perhaps plus press process
    progress species status success this thus towards us various virus was yes
"""
IRREGULAR_S = frozenset(_ENDING_IN_S.split())
"""Words in -s that would not lose it."""
