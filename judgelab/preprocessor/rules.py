"""One judgment a line, by cue words: the offline stand-in for preprocessor=judgments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import sentencex

from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.resources import words
from judgelab.core.sentences import HEADERS, heading, label, sections
from judgelab.core.step import PanelStep, Written, present, with_texts
from judgelab.preprocessor.judgments import BLANK, Subject, check_reviews
from judgelab.stats.intervals.arrays import Floats


def _cue(phrases: str) -> re.Pattern[str]:
    """Any of the phrases (one between bars), as whole words; ``*`` stands for any ending."""
    patterns = [" ".join(phrase.split()) for phrase in phrases.split("|")]
    alternatives = "|".join(re.escape(phrase).replace(r"\*", r"\w*") for phrase in patterns)
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)", re.IGNORECASE)


_TABLES = words("preprocessor/words/cues.yaml")
CUES = {verb: _cue(phrases) for verb, phrases in _TABLES["cues"].items()}
PATTERNS = {
    name: re.compile(pattern, re.IGNORECASE | re.VERBOSE)
    for name, pattern in _TABLES["patterns"].items()
}
IMPERATIVES = frozenset(_TABLES["imperatives"].split())
NO_JUDGMENT = "no sentence with a judgment"
NO_REVIEW = "no review: under a third of its sentences judge"
LEAST = 1 / 3
"""Of the sentences of a text that must give a judgment. Of the 900 reviews that the GEM paper's
authors released 3 in 1,000 lie below, of summaries, stories and translations a half."""

NO_CUE = "no cue of a judgment, or a lone word"
REVIEW = "about the review itself"
RETELLING = "retelling of the work"  # why a sentence gives no line

_RETELLING = re.compile(
    r"[\W\d_]*(?:paper\s+)?summary(?:\s+of\s+(?:the\s+)?(?:paper|work|submission|contributions?))?\W*$",
    re.IGNORECASE,
)
_POINT = re.compile(r"(?:^|\s)\(\d{1,2}\)\s")  # sentencex takes "(1) ... (2)" for one sentence
_TURN = re.compile(r";\s+|,?\s+(?:but|although|though|whereas)\s+|,\s+(?:however|yet)\b,?\s*")
_MARKS = re.compile(r"^(?:[-+*•–—>#\s]|\(?(?:\d{1,3}|[a-zA-Z])[.):]\s)+|[*_`]{2,}")
_OPEN = re.compile(r"\bwhether\b.*", re.IGNORECASE | re.DOTALL)  # what is asked is not said
_BY_TOPIC = {word: verb for verb, words in _TABLES["topics"].items() for word in words.split()}
_JOINED = ("that ", "to ", "the authors to ")
_LEAST = 2  # words in a judgment: a lone word judges nothing
_NEAR = 80  # characters before a word of praise among which a negation is looked for


@dataclass(frozen=True)
class RuleJudgments(PanelStep):
    """Sorts the sentences of a text into what a reviewer appreciates, criticizes, ... by cues.

    Sentences are cut at their turns ("but", ";"), lose what leads up to the judgment, and become
    one line each in the form of preprocessor=judgments. Retellings of the work, sentences without
    a cue and talk about the review itself are left out and counted by reason. It takes off some
    style, but can neither shorten nor leave out particulars. A text without any judgment becomes
    None, and so does one that is no review: of its sentences about the work under a third judge.
    ConfigError: the task is not peer review.
    """

    subject: Subject = "The reviewer"  # how every line begins
    axis: ClassVar[str] = "preprocessor"
    name: ClassVar[str] = "rules"

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        check_reviews(panel, self.name)
        dropped: Counter[str] = Counter()
        rewritten, shares = {}, np.full((len(panel.items), len(panel.agents)), np.nan)
        for cell, text in present(panel).items():
            of = judgments_of(text, self.subject)
            dropped.update(of.dropped)
            shares[cell] = of.share
            why = NO_REVIEW if of.lines else NO_JUDGMENT if text.strip() else BLANK
            good = of.lines and of.share >= LEAST
            rewritten[cell] = Written("\n".join(of.lines)) if good else Written(None, why)
        facts = self.facts(rewritten.values()) | self.writer("rules", lm)
        facts["preprocessor_sentences_dropped"] = dict(sorted(dropped.items()))
        facts["preprocessor_kept"] = kept_in_words(panel, shares)
        return with_texts(panel, rewritten, **facts)


class Judged(NamedTuple):
    """What became of the sentences of a text."""

    lines: list[str]  # the judgments, in order and each once
    dropped: Counter[str]  # how many sentences gave none, by reason
    share: float  # of the sentences about the work, those that gave one; NaN without such


def kept_in_words(panel: Panel, shares: Floats) -> str:
    """Which share [items, agents] of a text's sentences gave a judgment: of all, by agent."""
    valid = ~np.isnan(shares)
    if not valid.any():
        return "no sentence of any text"
    middle = np.median(shares[valid])
    sentence = (
        f"of the sentences of a text that are about the work, {middle:.0%} (median of "
        f"{valid.sum()} texts) gave a judgment, {shares[valid].min():.0%} at least"
    )
    agents = [j for j in range(len(panel.agents)) if valid[:, j].any()]
    if len(agents) > 1:
        medians = sorted((np.nanmedian(shares[:, j]), panel.agents[j].name) for j in agents)
        least, most = (f"{share:.0%} ({name})" for share, name in (medians[0], medians[-1]))
        sentence += f"; by agent from {least} to {most}"
    if middle < 0.5:
        sentence += (
            ". Most of these texts judge little: preprocessor=identity leaves them as they are"
        )
    return sentence


def judgments_of(text: str, subject: str) -> Judged:
    """The judgments of a text, one a line, and what became of its other sentences."""
    lines: list[str] = []
    dropped: Counter[str] = Counter()
    with_judgment = 0
    for topic, sentence in _sentences(text):
        if not any(map(str.isalpha, sentence)):
            continue
        if topic is None:
            dropped[RETELLING] += 1
            continue
        clauses = [f"{subject} {verb} {clause}." for verb, clause in _clauses(sentence, topic)]
        lines += clauses
        with_judgment += bool(clauses)
        if not clauses:
            dropped[REVIEW if PATTERNS["about_review"].search(_flat(sentence)) else NO_CUE] += 1
    about = with_judgment + dropped[NO_CUE]
    return Judged(list(dict.fromkeys(lines)), dropped, with_judgment / about if about else np.nan)


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
    statement = _OPEN.sub("", plain)
    praise = [match.start() for match in CUES["appreciates"].finditer(statement)]
    turned = sum(
        PATTERNS["negation"].search(statement[max(0, start - _NEAR) : start]) is not None
        for start in praise
    )
    blame = len(CUES["criticizes"].findall(statement)) + turned
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
        topic = _topic_of(part.header, "")
        for line in part.body.splitlines():
            title = heading(line, colon=False)
            lead, line = ("", "") if title else label(line)
            topic = _topic_of(title or lead, topic)
            for point in _POINT.split(line):
                for sentence in sentencex.segment("en", point.strip()):
                    yield topic, sentence


def _topic_of(title: str, above: str) -> str:
    """The verb that the first word of a heading stands for; that of the heading above without."""
    for word in re.findall(r"[^\W\d_]+", title.casefold()):
        if word in _BY_TOPIC:
            return str(_BY_TOPIC[word])
    return above


def _clauses(sentence: str, topic: str) -> Iterator[tuple[str, str]]:
    """The clauses that judge, less their leads, behind their verbs."""
    for clause in _TURN.split(_flat(sentence)):
        verb = "" if PATTERNS["about_review"].search(clause) else verb_of(clause, topic)
        bare = PATTERNS["leads"].sub("", _MARKS.sub("", clause.strip()).strip())
        bare = _flat(bare).strip(" .,;:!?*_\"'")
        if verb and len(re.findall(r"[^\W\d_]+", bare)) >= _LEAST:
            yield verb, _dependent(verb, bare)


def _flat(sentence: str) -> str:
    return " ".join(sentence.split())


def _dependent(verb: str, clause: str) -> str:
    first, *rest = clause.split(" ", 1)
    if first[1:] == first[1:].lower() and first != "I":
        first = first.lower()
    clause = " ".join([first, *rest])
    if verb == "suggests" and first in IMPERATIVES:
        return f"that the authors {clause}"
    if verb == "questions" or not PATTERNS["finite"].search(clause) or clause.startswith(_JOINED):
        return clause
    return f"that {clause}"
