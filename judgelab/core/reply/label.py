"""Which of some labels a reply states. What is ambiguous is unread, never guessed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice

from judgelab.core import reply
from judgelab.core.resources import words

_TABLES = words("core/words/verdicts.yaml")


def _any(name: str) -> str:
    return reply.alternatives(_TABLES[name])


_NOUNS = _any("nouns")
_BRACKETED = re.compile(r"\[\[([^\[\]]+)\]\]")
_LAST = re.compile(r"(?:[^\[\]]*:)?[ *_#>`-]*\[\[([^\[\]]+)\]\][ *_`.]*")
_NOUN = rf"(?:the\s+)?(?:{_NOUNS})"
_WORST = re.compile(rf"\b(?:{_any('worse')}|{_any('less')})\b", re.I)
_WORST_IS = re.compile(
    rf"\b(?:{_any('worse')}|(?:{_any('less')})\s\w{{1,30}})\s(?:{_NOUNS}|one|choice)"
    r"(?:\s(?:is|was))?[\s:*]{0,4}$",
    re.I,
)
_LAST_WORDS = re.compile(r"(?:[\w'’]{1,30}[ _-]){0,3}[ _-]?$")
_IS = r"\s*(?:is|was|would\s+be|=|:|->|→|-|–)+\s*"
_KEY = re.compile(rf"(?:^|[\s_-])(?:{_any('verdict')})$", re.I)
_COMPARISONS = ((_any("better"), _any("worse")), (_any("more"), _any("less")))
_TURNED = re.compile(rf"\b(?:{_any('turned')})\b|n't\b", re.I)
_IF = re.compile(r"\W*(?:\w+\W+)?(?:if|when|unless)\b", re.I)
_VERB = re.compile(r"\s+(?:is|was|wins|does|has|seems|appears|provides|beats)\b")
_TIE = re.compile(
    r"\b(?:it\s+is|it's|this\s+is|call\s+it|declare)\s+(?:it\s+)?a\s+(?:tie|draw)\b", re.I
)
_CLAUSES = re.compile(r"[.!?\n;]|,?\s+(?i:but|while|whereas|however|although|though)\s+")
_AFTER = (
    r"(?=\s*(?:[\])\"'“”’.,;:!)/(–-]|$|\n"
    r"|(?:because|as|since|with|by|or|and|is|over|due)\b))"
)
"""What may follow a verdict, so that "the winner is A good text" names none."""
_THEN = r"(?:\s*[:,;.]\s|\s+(?:-|–|—|because)\s)"
_OTHER = re.compile(r"\s*(?:or|and|/|&)\s|\s*[/|]\s*\w")
_MANY = 100  # labels in brackets that are looked at
_QUOTE, _UNQUOTE = r"[\[(\"'“”‘’{]*", r"[\])\"'“”‘’}]*"


def stated_label(text: str | None, names: Mapping[str, float]) -> float:
    """The value of the label (in small letters) that a reply states; NaN for none, or several.

    A label in double brackets decides. Else one is read, whatever markdown or quotation marks stand
    around it: alone in the reply or on its first or last line (``A``, ``**Two**``, ``Answer one``);
    where it opens the reply ("One: it is ..."); behind a word for verdicts ("Verdict: B", "the
    winner is answer two"), in a tag or in JSON; in a sentence that says which is better or worse,
    if all such sentences agree. A final verdict goes before others. Thoughts before the answer do
    not count; "A good answer" and "one of them" name no label.
    """
    answer = reply.answer_of(text)
    if _BRACKETED.search(answer):
        return _bracketed_value(answer, names)
    spoken = _with_synonyms(names)
    labels, final, statements = tuple(spoken), list[float | None](), list[float | None]()
    fields, rest = reply.named_contents(answer, text)
    for name, content in fields:
        if _KEY.search(name):
            value = _meant_value(name, _of(content, spoken), spoken)
            (final if "final" in name else statements).append(value)
    plain = reply.without_marks(re.sub(r"</?[A-Za-z][\w-]*>", " ", rest))
    final += [_value(m, spoken) for m in _verdict_pattern("final ", labels).finditer(plain)]
    final += [_of(m[1], spoken) for m in re.finditer(r"\\boxed\{(?:\\text\{)?([^{}]*)\}", plain)]
    statements += [_value(m, spoken) for m in _verdict_pattern("", labels).finditer(plain)]
    lone = (_of(line, spoken) for line in reply.lone_lines(plain))
    statements += [value for value in lone if value is not None]
    opening = re.match(rf"{_QUOTE}{_label(labels)}{_UNQUOTE}{_THEN}", plain)
    if opening is not None and not _restates(opening, plain, spoken):
        statements.append(_value(opening, spoken))
    comparisons = (list(_by_comparison(plain, spoken, *pair)) for pair in _COMPARISONS)
    verdict = reply.agreement([final, statements, *comparisons])
    return math.nan if verdict is None else verdict


def _bracketed_value(text: str, values: Mapping[str, float]) -> float:
    """The value of the label in double brackets; NaN where the text does not say which.

    A reply with different labels (models restate the options before they answer) is read only if
    its last line holds a single one and nothing after it, alone or behind a colon: "Verdict:
    [[B]]". Prose such as "[[A]] is better than [[B]]" is unscored.
    """
    for match in islice(_BRACKETED.finditer(text), _MANY):
        if _WORST_IS.search(text[max(0, match.start() - reply.LONGEST) : match.start()]):
            return math.nan
    labels = {" ".join(label.lower().split()) for label in _BRACKETED.findall(text)} & {*values}
    if len(labels) > 1:
        last = _LAST.fullmatch(text.strip().splitlines()[-1])
        labels = labels & {" ".join(last[1].lower().split())} if last else set()
    return values[labels.pop()] if labels else math.nan


def _restates(opening: re.Match[str], text: str, spoken: Mapping[str, float]) -> bool:
    """Whether "Answer one: ..." repeats that answer: the other one follows."""
    others = (match["label"] for match in re.finditer(_label(tuple(spoken)), text[opening.end() :]))
    own = spoken.get(opening["label"].casefold())
    noun = re.match(rf"{_QUOTE}(?:{_NOUN})", opening[0], re.I)
    return bool(noun) and ":" in opening[0] and any(spoken.get(o.casefold()) != own for o in others)


def _with_synonyms(names: Mapping[str, float]) -> dict[str, float]:
    """The labels, and what else a reply may call them."""
    synonyms = [(label, other) for label in names for other in _TABLES["synonyms"].get(label, ())]
    return {**{other: names[label] for label, other in synonyms}, **names}


@cache
def _label(spoken: tuple[str, ...]) -> str:
    """A pattern for a label, perhaps behind a noun; single letters stand as capitals alone."""
    single = [name for name in spoken if len(name) == 1 and name.isalpha()]
    letters = "|".join(name.upper() for name in single)
    others = reply.alternatives([name for name in spoken if name not in single])
    both = "|".join(part for part in (letters, f"(?i:{others})" if others else "") if part)
    before, behind = rf"(?:(?i:{_NOUN})\s*[\"'(]*)?", rf"(?:\s+(?i:{_NOUNS})\b)?"
    return rf"{before}(?P<label>(?:{both}))(?!\w|['’]s\b){behind}"


def _of(content: str, spoken: Mapping[str, float]) -> float | None:
    """The value of a label that is all there is; small letters will do."""
    bare = content.strip(" \t[](){}\"'“”‘’.,;:!-•+")
    bare = re.sub(rf"^(?:{_NOUN})\s+|\s+(?:{_NOUNS})$", "", bare, flags=re.I)
    bare = re.sub(r"^(?:a|the)\s+", "", bare, flags=re.I) if len(bare) > 3 else bare
    return spoken.get(" ".join(bare.casefold().split()))


def _value(match: re.Match[str], spoken: Mapping[str, float]) -> float | None:
    """The value of a match; None where another label follows."""
    if _OTHER.match(match.string, match.end()):
        return None
    value = spoken.get(" ".join(match["label"].casefold().split()))
    before = match.string[max(0, match.start() - reply.LONGEST) : match.start()]
    words = _LAST_WORDS.search(before)
    return _meant_value(words[0] if words else "", value, spoken)


def _meant_value(words: str, value: float | None, spoken: Mapping[str, float]) -> float | None:
    """The value of a label behind such words: the other one of "the weaker answer is A".

    None of what is ruled out ("not my choice: A"), and of a weaker one among more than two.
    """
    words = words.replace("_", " ")
    if _TURNED.search(words):
        return None
    if not _WORST.search(words) or value is None:
        return value
    return 1 - value if {0.0, 1.0} <= {*spoken.values()} <= {0.0, 0.5, 1.0} else None


@cache
def _verdict_pattern(lead: str, spoken: tuple[str, ...]) -> re.Pattern[str]:
    """A word for verdicts, and the label that it is; or that label preferred."""
    before = rf"(?i:\b{lead}(?:{_any('verdict')}))(?:\s*\([^)\n]{{0,80}}\))?(?i:{_IS})"
    before += r"(?i:(?:for|in\s+favou?r\s+of)\s+)?"
    if not lead:
        before += rf"|(?i:\bi(?:\s+would|['’]d)?\s+(?:{_any('choose')})\s+)"
        before += r"|(?i:\b(?:better|best)\b[^.\n]{0,80}?\bis\s+)"
    label = rf"(?i:a\s+(?=tie|draw))?{_QUOTE}\s*{_label(spoken)}{_UNQUOTE}"
    return re.compile(rf"(?:{before}){label}{_AFTER}", re.M)


def _by_comparison(
    text: str, spoken: Mapping[str, float], better: str, worse: str
) -> Iterator[float | None]:
    """What comparing sentences say: which label is better, or worse, than the other."""
    sides = {label: value for label, value in spoken.items() if value in (0.0, 1.0)}
    if set(sides.values()) != {0.0, 1.0}:
        return
    label = re.compile(rf"(?<![\w'’]){_label(tuple(sides))}")
    for clause in _CLAUSES.split(text):
        if _TIE.search(clause):
            yield spoken.get("tie")
            continue
        claim = re.search(rf"\b(?:(?P<better>{better})|(?P<worse>{worse}))\b", clause, re.I)
        subject = label.search(clause)
        if claim is None or subject is None or subject.start() > claim.start():
            continue
        open_ended = _TURNED.search(clause[: claim.start()]) or _IF.match(clause, claim.end())
        noun = re.search(_NOUNS, subject[0], re.I)  # or else a verb at once
        if open_ended or not (noun or _VERB.match(clause, subject.end())):
            continue
        value = sides[" ".join(subject["label"].casefold().split())]
        between = label.search(clause[subject.end() : claim.start()])
        if between is not None and sides.get(between["label"].casefold(), value) != value:
            yield None
        else:
            yield value if claim["better"] else 1 - value


def no_label(text: str, labels: Iterable[str]) -> str:
    """Why a text states none of these labels."""
    spellings = tuple(dict.fromkeys(labels))
    how_many = "no single one" if reply.labels_in(reply.ends(text), spellings) else "none"
    return f"{how_many} of the labels {', '.join(spellings)}"
