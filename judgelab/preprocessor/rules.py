"""One judgment a line, by cue words: the offline stand-in for preprocessor=judgments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import sentencex

from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.resources import words
from judgelab.core.sentences import HEADERS, sections
from judgelab.core.step import PanelStep, Written, present, with_texts
from judgelab.preprocessor.judgments import BLANK, check_subject


def _cue(phrases: str) -> re.Pattern[str]:
    """Any of the phrases (one between bars), as whole words; ``*`` stands for any ending."""
    known = [" ".join(phrase.split()) for phrase in phrases.split("|")]
    joined = "|".join(re.escape(phrase).replace(r"\*", r"\w*") for phrase in known)
    return re.compile(rf"(?<!\w)(?:{joined})(?!\w)", re.IGNORECASE)


_TABLES = words("preprocessor/words/cues.yaml")
CUES = {verb: _cue(phrases) for verb, phrases in _TABLES["cues"].items()}
PATTERNS = {
    name: re.compile(pattern, re.IGNORECASE | re.VERBOSE)
    for name, pattern in _TABLES["patterns"].items()
}
IMPERATIVES = frozenset(_TABLES["imperatives"].split())
NO_JUDGMENT = "no sentence with a judgment"

NO_CUE = "no cue of a judgment, or a lone word"
REVIEW = "about the review itself"
RETELLING = "retelling of the work"
"""Why a sentence gives no line."""

_RETELLING = re.compile(
    r"[\W\d_]*(?:paper\s+)?summary(?:\s+of\s+(?:the\s+)?(?:paper|work|submission|contributions?))?\W*$",
    re.IGNORECASE,
)
_TOPIC = re.compile(r"[\W\d_]*([^\W\d_]+)[ \t]*[*_)\]]*(?:[:.\-–—][*_]*(?:\s|$)|\s*$)")
_POINT = re.compile(r"(?:^|\s)\(\d{1,2}\)\s")  # sentencex takes "(1) ... (2)" for one sentence
_TURN = re.compile(r";\s+|,?\s+(?:but|although|though|whereas)\s+|,\s+(?:however|yet)\b,?\s*")
_MARKS = re.compile(r"^(?:[-+*•–—>#\s]|\(?(?:\d{1,3}|[a-zA-Z])[.):]\s)+|[*_`]{2,}")
_OPEN = re.compile(r"\bwhether\b.*", re.IGNORECASE | re.DOTALL)  # what is asked is not said
_BY_TOPIC = {word: verb for verb, known in _TABLES["topics"].items() for word in known.split()}
_JOINED = ("that ", "to ", "the authors to ")
_LEAST = 2
"""Words in a judgment: a lone word judges nothing."""
_NEAR = 80
"""Characters before a word of praise among which a negation is looked for."""


@dataclass(frozen=True)
class RuleJudgments(PanelStep):
    """Sorts the sentences of a text into what a reviewer appreciates, criticizes, ... by cues.

    Sentences are cut at their turns ("but", ";"), lose what leads up to the judgment, and become
    one line each in the form of preprocessor=judgments. Left out are retellings of the work (the
    section that sums the paper up), sentences without a cue, whatever heading they stand below,
    and talk about the review itself; ``preprocessor_sentences_dropped`` in the provenance counts
    them by reason. It takes off some style, but can neither shorten nor leave out particulars: it
    is no substitute for the LM, it runs without one. A text without any judgment becomes None.

    Args:
        subject: how every line begins.

    Raises:
        ConfigError: a blank subject.
    """

    subject: str = "The reviewer"
    axis: ClassVar[str] = "preprocessor"
    name: ClassVar[str] = "rules"

    def __post_init__(self) -> None:
        check_subject(self.subject)

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """Rewrite every text."""
        dropped: Counter[str] = Counter()
        made = {}
        for cell, text in present(panel).items():
            lines, reasons = judged(text, self.subject)
            dropped.update(reasons)
            made[cell] = Written("\n".join(lines) or None, NO_JUDGMENT if text.strip() else BLANK)
        facts = self.facts(made.values()) | self.writer("rules", lm)
        facts["preprocessor_sentences_dropped"] = dict(sorted(dropped.items()))
        return with_texts(panel, made, **facts)


def judged(text: str, subject: str) -> tuple[list[str], Counter[str]]:
    """The judgments of a text, one a line, in order and each once.

    Returns:
        the lines; and how many sentences gave none, by reason.
    """
    lines: list[str] = []
    dropped: Counter[str] = Counter()
    for topic, sentence in _sentences(text):
        if not any(map(str.isalpha, sentence)):
            continue
        if topic is None:
            dropped[RETELLING] += 1
            continue
        said = [
            f"{subject} {verb} {_said(verb, bare)}." for bare, verb in _clauses(sentence, topic)
        ]
        lines += said
        if not said:
            dropped[REVIEW if PATTERNS["about_review"].search(_flat(sentence)) else NO_CUE] += 1
    return list(dict.fromkeys(lines)), dropped


def verb_of(clause: str, topic: str = "") -> str:
    """What the reviewer does in a clause: one of the four verbs, or '' for nothing.

    Args:
        topic: the verb of the heading above, which decides where the cues are in balance.
    """
    plain = clause.replace("’", "'").replace("n't", " not")
    if plain.rstrip(" \"')*_").endswith("?") or CUES["questions"].search(plain):
        return "questions"
    if CUES["suggests"].search(plain):
        return "suggests"
    said = _OPEN.sub("", plain)
    praise = [match.start() for match in CUES["appreciates"].finditer(said)]
    turned = sum(
        PATTERNS["negation"].search(said[max(0, start - _NEAR) : start]) is not None
        for start in praise
    )
    blame = len(CUES["criticizes"].findall(said)) + turned
    balance = len(praise) - turned - blame
    if balance == 0:
        return (topic or "criticizes") if blame else ""
    return "appreciates" if balance > 0 else "criticizes"


def _sentences(text: str) -> Iterator[tuple[str | None, str]]:
    """(verb of the heading above or '', sentence); None in retellings."""
    for part in sections(text, HEADERS):
        if _RETELLING.match(part.header):
            for line in part.body.splitlines():
                yield from ((None, one) for one in sentencex.segment("en", line.strip()))
            continue
        heading = _TOPIC.match(part.header)
        topic = _BY_TOPIC.get(heading[1].lower(), "") if heading else ""
        for line in part.body.splitlines():
            heading = _TOPIC.match(line)
            if heading is not None and heading[1].lower() in _BY_TOPIC:
                topic, line = _BY_TOPIC[heading[1].lower()], line[heading.end() :]
            for point in _POINT.split(line):
                for sentence in sentencex.segment("en", point.strip()):
                    yield topic, sentence


def _clauses(sentence: str, topic: str) -> Iterator[tuple[str, str]]:
    """The clauses that judge, less their leads, and their verbs."""
    for clause in _TURN.split(_flat(sentence)):
        verb = "" if PATTERNS["about_review"].search(clause) else verb_of(clause, topic)
        bare = PATTERNS["leads"].sub("", _MARKS.sub("", clause.strip()).strip())
        bare = _flat(bare).strip(" .,;:!?*_\"'")
        if verb and len(re.findall(r"[^\W\d_]+", bare)) >= _LEAST:
            yield bare, verb


def _flat(sentence: str) -> str:
    """The sentence with single blanks."""
    return " ".join(sentence.split())


def _said(verb: str, clause: str) -> str:
    """The clause as it follows the verb."""
    first, *rest = clause.split(" ", 1)
    if first[1:] == first[1:].lower() and first != "I":
        first = first.lower()
    clause = " ".join([first, *rest])
    if verb == "suggests" and first in IMPERATIVES:
        return f"that the authors {clause}"
    if verb == "questions" or not PATTERNS["finite"].search(clause) or clause.startswith(_JOINED):
        return clause
    return f"that {clause}"
