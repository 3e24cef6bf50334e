"""The grade that a reply states. What is ambiguous is unread, never guessed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import islice

from judgelab.core import reply
from judgelab.core.resources import words

_TABLES = words("core/words/replies.yaml")


def _any(name: str) -> str:
    return reply.alternatives(str(_TABLES[name]))


_WORDS = {word: float(k) for k, word in enumerate(_TABLES["numbers"].split())}
_DIGITS = r"-?(?<!\d)\d{1,9}(?!\d)(?:[.,]\d{1,20}(?!\d))?"
_SCALE_OF = rf"(?P<of>\d{{1,9}}(?!\d)|(?:{'|'.join(_WORDS)})\b)"
_OF = (
    rf"(?:\s*(?:/|out\s+of|von|sur|de)\s*{_SCALE_OF}"
    rf"|\s*\(\s*(?:/|(?:out\s+)?of|von|sur|de)\s*{_SCALE_OF.replace('<of>', '<of2>')}\s*\))?"
)
_NUMBER = rf"(?P<n>{_DIGITS}|(?:{'|'.join(_WORDS)})\b){_OF}"
_LEAD = r"[-•+|\s]{0,12}(?:\d{1,9}[.)]\s+)?"
_QUOTE = r"[\[(\"'“”‘’{]*\s*"
_UNQUOTE = r"\s*[\])\"'“”‘’}]*"
_HEDGE = re.compile(
    rf"\s*(?:[-–~—]|,?\s*(?:to|or|and|maybe|perhaps|possibly)(?:\s+(?:rather|even|maybe|a|an)){{0,3}})\s*"
    rf"(?:{_DIGITS}|(?:{'|'.join(_WORDS)})\b)",
    re.I,
)
_SCALE = re.compile(
    r"\(\s*\d+\s*(?:-|–|to)\s*\d+[^)\n]{0,80}\)"
    r"|\b(?:on|in|of|using)?\s*(?:a|the)?\s*(?:scale|range)\s*(?:of|from|between|:)?\s*"
    r"\d+\s*(?:-|–|to|and)\s*\d+|\b\d+\s*-\s*\d+\s+scale\b|\bfrom\s+\d+\s+to\s+\d+\b",
    re.I,
)
_RECITED = re.compile(r"(?:^[-•*\s]{0,12}\d{1,9}\s*[:=–-]\s*[^\d\n]{1,40}(?:\n|\Z)){3,}", re.M)
_LONE = re.compile(
    rf"(?:[-•+]\s+)?{_QUOTE}{_NUMBER}\s*(?P<unit>%|points?|stars?|分|点|점)?{_UNQUOTE}[\s.!,;:]*$",
    re.I,
)
_OPENING = re.compile(
    rf"{_QUOTE}{_NUMBER}{_UNQUOTE}(?P<then>\s*[.:;,)(–—]|\s*-\s|\s*\n|\s+(?:{_any('after')})\b|\s*#)",
    re.I,
)
_MARK = re.compile(
    rf"\b(?P<final>(?:{_any('final')})\s+)?(?:{_any('grade')})\b"
    rf"(?:\s+(?:for|of|on)\s+[\w' ]{{1,40}}?)?\s*(?:\([^)\n]{{0,40}}\))?\s*"
    rf"(?:is|was|would\s+be|should\s+be|will\s+be|=|:|->|→|\||-|–|of)+\s*"
    rf"(?:a|an|about|around)?\s*{_QUOTE}{_NUMBER}",
    re.I,
)
_ALL = re.compile(
    rf"^{_LEAD}(?:{_any('final')})\s*(?:\([^)\n]{{0,80}}\))?\s*[:=|]\s*{_QUOTE}{_NUMBER}",
    re.I | re.M,
)
_GIVEN = re.compile(
    rf"\b(?:{_any('give')})\b(?P<gap>[^.\n\d]{{0,60}}?)\b(?:a|an|it|as|of|at|with|:|is)?\s*{_QUOTE}"
    rf"(?P<n>{_DIGITS}){_OF}",
    re.I,
)
_LINE = re.compile(
    rf"^{_LEAD}(?P<what>[^\W\d_][\w &/'-]{{0,40}}?)\s*(?:\([^)\n]{{0,80}}\))?\s*[:=|]\s*"
    rf"{_QUOTE}{_NUMBER}{_UNQUOTE}\s*(?:%|points?|stars?)?[\s.|,;]*$",
    re.I | re.M,
)
_BOXED = re.compile(rf"(?:\\boxed\{{|\[\[)\s*{_NUMBER}\s*(?:\}}|\]\])", re.I)
_FREE = re.compile(rf"(?<![\w.,/:<>≤≥-])(?P<n>{_DIGITS}){_OF}(?![\w.,]{{0,30}}\d)")
_PLACEHOLDER = re.compile(r"<(\d{1,9}(?:[.,]\d{1,9})?)>")
_RULED_OUT = re.compile(
    r"(?:\b(?:not|never|less\s+than|fewer\s+than|lower\s+than|more\s+than|higher\s+than"
    r"|greater\s+than|below|above|under|over|at\s+least|at\s+most)|n['’]t|[<>≤≥])"
    r"(?:\s+(?:be|a|an|get|give|deserve|it|this|the)){0,4}\s*[\[(\"'“”‘’{]?\s*$",
    re.I,
)
"""What stands before a number that is no grade: what it is not, or a bound."""
_DENIED = re.compile(
    r"(?:\b(?:not|never|cannot)|n['’]t)(?:\s+[^\W\d_]+){0,3}\s*[\[(\"'“”‘’{]?\s*$", re.I
)
"""What stands before a verb that gives no grade, or before the number that it does not give."""
_MANY = 100  # numbers of a reply that are looked at: the first ones that differ decide
_RETRACTED = re.compile(r"\b(?:on\s+second\s+thoughts?|correction|i\s+mean|scratch\s+that)\b", re.I)
_NEXT = re.compile(r"\s+([^\W\d_]+)")
_BEFORE = re.compile(r"([^\W\d_]{1,60})[\s.:(]{0,9}$")
_TAGS = re.compile(r"<(/?)([A-Za-z][\w-]{0,60})>")
_AFTER, _COUNTED, _PLACES = (frozenset(_TABLES[n].split()) for n in ("after", "counted", "places"))
_GRADE = re.compile(rf"(?:^|[\s_-])(?:{_any('grade')})$", re.I)
_FINAL = re.compile(rf"(?:{_any('final')})", re.I)


def stated_grade(text: str | None, low: float, high: float) -> float:
    """The grade that a reply states; NaN where it states none, several, or one off the scale.

    Read are, whatever markdown or quotation marks stand around the number: a number alone in the
    reply or on its first or last line (``[8]``, ``**8**``, ``4/5``, ``four``); one that opens the
    reply ("4: fluent", "4 because ..."); one behind a word for grades ("Rating: 4", "I would give
    it a 4"), in a tag, in JSON, or in a row of a table; and the only number of a reply if it
    counts nothing. An overall or final grade goes before others. Unread are thoughts before the
    answer, ranges ("3-4", "3 or 4"), grades that differ, counts ("3 errors"), fractions and
    percentages of another scale ("8/10" on a scale to 5), and the scale recited ("1: poor", ...).
    """
    fields, rest = reply.named_contents(reply.answer_of(text), text)
    final, grades, others = (list[float | None]() for _ in range(3))
    for name, content in fields:
        match = _LONE.match(reply.without_marks(content))
        value = _value(match, "", high) if match else None
        if match or len(re.findall(r"[^\W\d_]+", content)) < 2:  # more is a remark, no grade
            if _FINAL.match(name):
                final.append(value)
            elif _GRADE.search(name) or name in ("answer", "result"):
                grades.append(value)
            elif match and not set(re.split(r"[\W_]+", name)) & (_COUNTED | _PLACES):
                others.append(value)
    grades = grades or others
    tags = {tag[2]: bool(tag[1]) for tag in _TAGS.finditer(rest)}
    if any(_GRADE.search(name) and not closes for name, closes in tags.items()):
        return math.nan  # cut within the grade, or before it
    rest = _PLACEHOLDER.sub(r"\1", re.sub(r"</?[A-Za-z][\w-]*>", " ", rest))
    rest = _RECITED.sub("", reply.without_marks(rest))
    bare = _SCALE.sub(" ", rest)
    final += [_value(match, "", high) for match in _BOXED.finditer(rest)]
    final += [_value(match, bare, high) for match in _ALL.finditer(bare)]
    for match in _MARK.finditer(bare):
        (final if match["final"] else grades).append(_value(match, bare, high))
    grades += _alone(bare, high)
    grades += _after_verbs(bare, high)
    if _RETRACTED.search(bare) and len(set(_FREE.findall(bare))) > 1:
        grades.append(None)
    rows = (row for row in _LINE.finditer(bare) if not _words_of(row["what"]) & _COUNTED)
    lines = [_value(row, bare, high) for row in rows]
    grade = reply.agreement([final, grades, lines, list(_free(bare, high))])
    return grade if grade is not None and low <= grade <= high else math.nan


def _alone(text: str, high: float) -> Iterator[float | None]:
    """Of the first and the last line, and of the number that opens the reply."""
    for line in reply.lone_lines(text):
        if match := _LONE.match(line):
            yield _value(match, line, high)
    match = _OPENING.match(text)
    if match is None or _LONE.match(text.splitlines()[0].strip()):
        return
    listed, rest = match["then"].strip()[:1] in (".", ")"), text[match.end() :]
    if not listed or not (match["n"] == "1" or re.search(r"^\s*\(?\d+[.)]\s", rest, re.M)):
        yield _value(match, text, high)


def _after_verbs(text: str, high: float) -> Iterator[float | None]:
    for match in _GIVEN.finditer(text):
        after = _NEXT.match(text, match.end())
        if (after and after[1].casefold() not in _AFTER) or _words_of(match["gap"]) & _COUNTED:
            continue
        places = match.start(), match.start("n")
        if not any(_DENIED.search(text[max(0, at - reply.LONGEST) : at]) for at in places):
            yield _value(match, text, high)


def _free(text: str, high: float) -> Iterator[float | None]:
    """Numbers in prose that count nothing, number no place and are not ruled out."""
    text = re.sub(r"^\s*\(?\d+[.)]\s", "", text, flags=re.M)
    for match in islice(_FREE.finditer(text), _MANY):
        start = match.start()
        near = text[max(0, start - reply.LONGEST) : start]
        sentence = re.split(r"[.!?\n]", near)[-1]
        after, before = _NEXT.match(text, match.end()), _BEFORE.search(near)
        if _HEDGE.match(text, match.end()):
            yield None
        if after and after[1].casefold() not in _AFTER:
            continue
        if before and before[1].casefold() in _PLACES:
            continue
        if not _words_of(sentence) & _COUNTED and not _RULED_OUT.search(sentence):
            yield _value(match, text, high)


def _words_of(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]+", text.casefold()))


def _value(match: re.Match[str], text: str, high: float) -> float | None:
    """The number of a match; None where another follows it, or it is of another scale."""
    at = max(match.end("n"), match.end("of"), match.end("of2")) if text else 0
    rest = text[at : at + reply.LONGEST]
    if _HEDGE.match(rest) or rest.startswith(("+", "~")):
        return None
    of = (match["of"] or match["of2"] or "").casefold()
    other = of and _WORDS.get(of, of) not in (high, str(int(high)))
    if other or (rest.lstrip().startswith("%") and high != 100):
        return None
    number = match["n"].casefold()
    return _WORDS[number] if number in _WORDS else float(number.replace(",", "."))


def no_grade(text: str, low: float, high: float) -> str:
    """Why a text states no grade of this scale."""
    numbers = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", reply.ends(text))}
    several = sum(low <= grade <= high for grade in numbers) > 1
    return f"{'several numbers, no single' if several else 'no'} grade from {low:g} to {high:g}"
