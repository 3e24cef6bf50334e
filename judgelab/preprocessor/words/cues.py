"""Cue words of the four kinds of judgment, and what reviewers say around a judgment."""

from __future__ import annotations

import re


def _cue(words: str) -> re.Pattern[str]:
    """Any of the phrases (one between bars), as whole words; ``*`` stands for any ending."""
    phrases = [" ".join(phrase.split()) for phrase in words.split("|")]
    joined = "|".join(re.escape(phrase).replace(r"\*", r"\w*") for phrase in phrases)
    return re.compile(rf"(?<!\w)(?:{joined})(?!\w)", re.IGNORECASE)


SUGGESTS = _cue(
    """
    should | could be improved | can be improved | could be better | could also | would be good |
    would be great | would be nice | would be better | would be helpful | would be useful |
    would be interesting | would be beneficial | would be valuable | would like to see |
    would help | would benefit | would strengthen | would improve | would have liked |
    suggest | suggests | suggested | suggestion | recommend | recommended | please | encourage |
    encouraged | advise | advised | needs to | need to | consider adding |
    must | may want to | might want to | i would like | can be made | could be made |
    would love to see | worth adding
    """
)
QUESTIONS = _cue(
    """
    wonder* | curious | not sure if | not sure whether | not sure how | not sure why |
    not sure what | unsure | question whether | question is | not clear to me | unclear to me |
    unclear if | unclear whether | unclear how | unclear why | unclear what | not clear if |
    not clear whether | not clear how | not clear why | not clear what | do not understand |
    did not understand | how does | how do | how would | what happens
    """
)
CRITICIZES = _cue(
    """
    lack* | unclear | limited | limitation* | weak | weakness* | missing | miss | misses | fail |
    fails | failed | insufficient* | inadequate* | marginal* | incremental | confus* | difficult |
    hard | poor* | concern* | worr* | problem with | problematic | issue with | incorrect | wrong |
    unconvinc* | unfair | overclaim* | superficial | trivial | typo* | mistake* | vague* | flaw* |
    ambigu* | unjustified | unsupported | questionable | doubt* | drawback* | shortcoming* |
    disappoint* | unfortunately | only | not | no | never | nothing | without | neither | cannot |
    too | little | narrow | outdated | expensive | costly | slow | overly | absent | omit* |
    ignor* | restrict* | unrealistic | impractical | suffer* | inconsisten* | redundan* | reject* |
    worse | hardly | barely | unsatisf* | below | serious | thin | hard to follow | leaves
    """
)
APPRECIATES = _cue(
    """
    good | well | clear | clearly | strong | strength* | novel | novelty | interesting | important |
    sound | solid | thorough* | extensive* | comprehensive* | convinc* | impressive | excellent |
    great | nice | nicely | elegant* | simple | easy | useful | valuable | original | originality |
    creative | significant | outperform* | effective* | efficient* | promising | sensible |
    reasonable | rigorous* | careful* | detailed | timely | intuitive | insightful | enjoy* | like |
    appreciate* | appealing | improves | improvement* | better | best | helpful | correct |
    adequate* | sufficient* | reproducible | accept* | motivated | competitive | neat | compelling |
    relevant | practical | straightforward | satisf* | flexible | robust* | innovative | new |
    outstanding | stands | feasible | convincing
    """
)
NEGATION = re.compile(
    r"\b(?:not|no|never|hardly|less|cannot|lacks?|lacking|without|neither)\b(?:\W+\w+){0,3}?\W+$",
    re.IGNORECASE,
)
"""Before a word of praise it turns it round; up to three words may stand between."""

TOPICS = {
    "appreciates": "strength strengths strenghts pro pros positive positives",
    "criticizes": "weakness weaknesses con cons negative negatives limitations concerns",
    "questions": "question questions",
    "suggests": "suggestion suggestions",
    "": "summary clarity quality novelty originality significance reproducibility correctness",
}
"""Headings inside a section, and what a sentence below them is for where no cue tells."""

LEADS = re.compile(
    r"""^(?:[^,]{1,80},\s+(?=i(?:\s+would|'d)?\s+(?:strongly\s+)?(?:encourage|recommend|suggest)\b)
    |(?:however|moreover|furthermore|also|overall|in\ addition|additionally|besides|finally|
    in\ general|in\ summary|in\ sum|in\ particular|for\ example|for\ instance|and|but|so|yet|
    first(?:ly)?|second(?:ly)?|third(?:ly)?|lastly|in\ my\ (?:opinion|view)|to\ me|unfortunately
    |therefore|thus|hence),?\s+
    |(?:i|we)\s+(?:would\s+|also\s+|still\s+|do\s+|really\s+|strongly\s+)*
    (?:think|believe|feel|find|found|suggest|recommend|wonder|appreciate|like|encourage)
    (?:\s+that)?\s+
    |i\s+(?:would\s+like|would\s+love)\s+to\s+see\s+
    |it\s+(?:would|might|may|could)\s+(?:also\s+)?be\s+(?:\w+\s+)?\w+\s+(?:to|if|that)\s+
    |please\s+)+""",
    re.IGNORECASE | re.VERBOSE,
)
"""How reviewers lead up to a judgment; it goes."""

ABOUT_REVIEW = re.compile(
    r"""\b(?:in|of|throughout)\ (?:this|my|the\ present)\ (?:review|report|assessment)\b
    |\bin\ (?:the\ following|what\ follows)\b | ^\W*what\ follows\b
    |\b(?:this|the\ following|the\ next|the\ present|my)\ (?:section|paragraph|review|report|
        assessment|summary|comment|point|remark|question)s?\ (?:\w+\ ){0,3}?(?:will|aims?|serves?|
        seeks?|(?:is|are)\ (?:to|devoted|meant|intended|organi[sz]ed|structured|divided)|
        discuss(?:es)?|describes?|summari[sz]es?|lists?|covers?|gives?|presents?|brings?|consists?|contains?|
        begins?|starts?|focus(?:es)?|provides?|offers?|concerns?|deals?|turns?|outlines?|
        evaluates?|assess(?:es)?|examines?|considers?|reviews?|addresses|highlights?)\b
    |\b(?:are|is|be|have)\ (?:\w+\ )?(?:discussed|addressed|covered|listed|described|considered|
        examined|assessed|evaluated|reviewed|summari[sz]ed|outlined|detailed|given|raised|
        mentioned|provided)\ (?:\w+\ )?
        (?:below|above|in\ (?:this|the\ (?:following|next|previous|above))\ (?:section|paragraph)s?)
    |\b(?:my|our|some|the|few|more|other|minor|major|main|detailed)\ (?:\w+\ ){0,2}?(?:comment|
        question|concern|suggestion|remark|point|issue|reason|strength|weakness|weaknesse|typo)s?
        (?:\ \w+){0,4}?\ (?:are|is|can\ be\ found|follows?|come)\ (?:\w+\ )?
        (?:as\ follows|the\ following|following|these|below|above|next)\b
    |\b(?:i|we)\ (?:\w+\ )?have\ (?:the|some)\ following\b
    |^\W*(?:below|here|following)\ (?:are|is)\b
    |^\W*(?:please\ )?(?:also\ )?(?:see|refer\ to|read|address|consult)\ (?:\S+\ ){0,6}?
        (?:above|below|comments?|weakness(?:es)?|strengths?|review|previous\ section)\b
    |\bi(?:\ (?:will|shall|would|now|can|may|might|am\ (?:willing|ready|happy|open)\ to)|'ll)\ 
        (?:\w+\ )?(?:start|begin|discuss|detail|list|outline|summari[sz]e|justify|elaborate|
        explain\ my|raise|increase|keep|lower|update|upgrade|reconsider|re-?evaluate|adjust|
        change|revise|finali[sz]e|go\ through|turn\ to|proceed)\b
    |\b(?:raise|raised|increase|increased|keep|kept|lower|lowered|update|updated|change|changed|
        revise|revised|increasing|raising|updating|justify|maintain|maintained)\ (?:\w+\ )?my\ 
        (?:\w+\ )?(?:scores?|ratings?|recommendation|evaluation|decision|assessment|opinion)\b
    |\bmy\ (?:\w+\ )?(?:confidence|familiarity|expertise)\b
    |\b(?:strengths?|pros?|advantages?|merits?|positives?|upsides?)\ and\ (?:\w+\ )?
        (?:weakness(?:es)?|cons?|disadvantages?|flaws?|negatives?|downsides?|shortcomings)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Talk about the review itself: what it will do, where in it something stands, what its score is.

It judges no work, nor does a clause that names both sides in one breath. A section of the work
may be called "this section", too, so only verbs that announce make it talk about the review.
"""

_ORDERS = """
    add include compare provide explain clarify discuss consider use give show report cite
    elaborate describe evaluate test correct fix check make define specify state move remove see
    have improve extend conduct perform run analyze analyse expand justify mention complete
"""
IMPERATIVES = frozenset(_ORDERS.split())
FINITE = re.compile(
    r"""\b(?:is|are|was|were|has|have|had|does|do|did|can|cannot|could|should|would|will|may|might|
    must|needs?|seems?|appears?|lacks?|shows?|provides?|uses?|proposes?|remains?|makes?|gives?|
    presents?|fails?|looks?|feels?|outperforms?|achieves?|improves?|suffers?|leaves|lies|stands|
    holds?|deserves?|covers?|helps?|addresses|demonstrates?)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""A verb that makes a sentence of a phrase."""
