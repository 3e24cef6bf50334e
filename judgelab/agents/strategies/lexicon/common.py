"""Function words, calendar words, number words, and light synonyms."""

from __future__ import annotations

from judgelab.agents.strategies.lexicon.base import Lexicon, options, phrases, sections, words_of

WORDS = sections("common.txt")

STOPWORDS = words_of(WORDS["STOPWORDS"])
"""Words that carry grammar more than content."""

CALENDAR = words_of(WORDS["CALENDAR"])

UNITS = words_of(WORDS["UNITS"])
"""Measures, which are no topic."""

HEADINGS = words_of(WORDS["HEADINGS"])
"""Words before a colon that open a section and are nobody's name."""

NUMBER_WORDS = options(WORDS["NUMBER_WORDS"])
NUMBER_LEXICON = Lexicon.of(frozenset(NUMBER_WORDS))
MAGNITUDES = Lexicon.parse(
    "hundred: thousand; hundreds: dozens; thousand: hundred; thousands: hundreds"
    "; million: thousand | billion; billion: million; half: a quarter; third: fifth; twice: once"
    "; quarter: half; dozen: hundred; dozens: hundreds; double: triple"
)

DISCOURSE = options(WORDS["DISCOURSE"])
"""Openings that only make sense after another sentence."""

INTENSIFIERS = Lexicon.of(
    phrases(
        "very, really, extremely, incredibly, absolutely, totally, utterly, completely, hugely,"
        "deeply, highly, so very, terribly, awfully, truly, simply, remarkably, shockingly,"
        "surprisingly, unbelievably, amazingly, desperately, wildly, enormously, massively,"
        "particularly, especially, quite, rather, pretty, just, even, literally, seriously,"
        "obviously, clearly, certainly, definitely, sadly, unfortunately, fortunately, happily,"
        "luckily, frankly, honestly, of course"
    )
)

OPINION = Lexicon.of(
    phrases(
        "i think, i feel, i believe, i guess, in my opinion, think, thinks, thought, feel, feels,"
        "felt, believe, believes, hope, hopes, hoped, maybe, perhaps, probably, seems, seemed,"
        "apparently, should, ought, amazing, awful, wonderful, terrible, great, horrible, lovely,"
        "ugly, beautiful, best, worst, shocking, sadly, love, hate, proud, ashamed, stupid"
    )
)
EVALUATIVE = Lexicon.of(
    phrases(
        "amazing, awful, wonderful, terrible, great, horrible, lovely, ugly, beautiful, shocking,"
        "brilliant, dreadful, fantastic, disgusting, magnificent, pathetic, glorious, stupid,"
        "incredible, outrageous, ridiculous, superb, hideous, excellent, marvellous"
    )
)

SYNONYMS = Lexicon.parse(WORDS["SYNONYMS"])
"""Everyday words and near equivalents, as two writers would differ."""

EXPAND = Lexicon.parse(
    "don't: do not; doesn't: does not; didn't: did not; can't: cannot; won't: will not"
    "; isn't: is not; aren't: are not; wasn't: was not; weren't: were not; haven't: have not"
    "; hasn't: has not; hadn't: had not; wouldn't: would not; couldn't: could not"
    "; shouldn't: should not; I'm: I am; I've: I have; I'll: I will; I'd: I would; it's: it is"
    "; that's: that is; there's: there is; he's: he is; she's: she is; we're: we are"
    "; they're: they are; you're: you are; we've: we have; they've: they have; let's: let us"
)
CONTRACT = Lexicon.parse(
    "do not: don't; does not: doesn't; did not: didn't; cannot: can't; can not: can't"
    "; will not: won't; is not: isn't; are not: aren't; was not: wasn't; were not: weren't"
    "; have not: haven't; has not: hasn't; had not: hadn't; would not: wouldn't"
    "; could not: couldn't; should not: shouldn't; I am: I'm; I have: I've; I will: I'll"
    "; it is: it's; that is: that's; there is: there's; he is: he's; she is: she's"
    "; we are: we're; they are: they're; you are: you're; let us: let's"
)

INVENTED_NAMES = options(WORDS["INVENTED_NAMES"])
INVENTED_PLACES = options(
    "Port Denholm | Calderwick | Upper Marlow | Orrin Bay | Fenbridge | New Tarn | Lindmere"
)
INVENTED_BODIES = options(WORDS["INVENTED_BODIES"])
