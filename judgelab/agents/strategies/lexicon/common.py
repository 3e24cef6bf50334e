"""Function words, calendar words, number words, and light synonyms."""

from __future__ import annotations

from judgelab.agents.strategies.lexicon.base import Lexicon, options, phrases, words_of

STOPWORDS = words_of(
    """
    a about above after again against ago all almost along already also although always am among
    an and another any anyone anything are aren around as ask asked at away back be became because
    become been before behind being below between both but by came can cannot come could couldn d
    did didn do does doesn doing don done down during each either else enough even ever every few
    first for found from further gave get gets give given go goes going gone got had hadn has hasn
    have haven having he held her here hers herself him himself his how however i if in indeed
    instead into is isn it its itself just keep kept know known last later least less let like ll
    lot m made make makes many may me might mine more most much must my myself near need neither
    never new next no nobody none nor not nothing now of off often on once one only onto or other
    others our ours out over own per perhaps put quite rather re really s said same saw say saying
    says see seem seems seen set several shall she should shouldn since so some someone something
    soon still such t take taken tell than that the their theirs them then there these they thing
    things think this those though three through thus to told too took toward two under until up
    upon us use used using ve very want was wasn way we well went were weren what when where
    whether which while who whole whom whose why will with within without won would wouldn yes yet
    you your yours yourself
    """
)
"""Words that carry grammar more than content."""

CALENDAR = words_of(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december mon tue wed thu fri sat sun christmas easter
    spring summer autumn winter today tomorrow yesterday tonight
    """
)

UNITS = words_of(
    """
    percent cent year years month months week weeks days hour hours minute minutes mile miles
    million billion thousand hundred four five seven eight nine eleven twelve twenty thirty section
    subsection today yesterday night morning evening
    """
)
"""Measures, which are no topic."""

HEADINGS = words_of(
    """
    abstract aim aims background conclusion conclusions date design findings introduction
    keywords methods method note objective objectives purpose question results result section
    setting source summary title update edit
    """
)
"""Words before a colon that open a section and are nobody's name."""

NUMBER_WORDS = options(
    """
    two | three | four | five | six | seven | eight | nine | ten | eleven | twelve | thirteen
    fourteen | fifteen | sixteen | eighteen | twenty | thirty | forty | fifty | sixty | ninety
    """
)
NUMBER_LEXICON = Lexicon.of(frozenset(NUMBER_WORDS))
MAGNITUDES = Lexicon.parse(
    "hundred: thousand; hundreds: dozens; thousand: hundred; thousands: hundreds"
    "; million: thousand | billion; billion: million; half: a quarter; third: fifth; twice: once"
    "; quarter: half; dozen: hundred; dozens: hundreds; double: triple"
)

DISCOURSE = options(
    """
    however, | but | and | so | meanwhile, | also, | then, | in addition, | moreover, | yet | well,
    furthermore, | besides, | still, | anyway, | for example, | indeed, | for instance, | in fact,
    of course, | therefore, | as a result, | nevertheless, | at the same time, | on the other hand,
    """
)
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

SYNONYMS = Lexicon.parse(
    """
    about: around; according to: as stated by; across: throughout; allowed: permitted
    although: though | even though; announced: made known; another: a further; around: about
    article: piece; asked: inquired | enquired; at present: now; at the moment: right now
    at least: no less than; attempted: tried; began: started; big: large | sizeable
    blamed: held responsible; bought: purchased; build (v): construct; built: constructed
    carried: bore; chief: head; child: youngster; children: youngsters; chose: picked
    close to: near; costs (n): expenses; damaged: harmed; decided: chose | resolved
    difficult: hard; doctor: physician; ended: finished; enough: sufficient; entire: whole
    estimated: reckoned; expected: anticipated; expects: anticipates; fewer than: under
    finally: in the end; fitted: equipped; found: discovered; happened: occurred
    happy: glad | pleased; helped: assisted; huge: very large; hurt: injured; idea: notion
    important: significant; in order to: so as to; increased: went up; intends: plans
    interrupted: halted; is going to: will; journey: trip; kept: held on to; large: big
    later: afterwards; lies: is situated; looked: gazed; made: produced
    mistake: error; money: funds; more than: over | upwards of; nearly: almost; near: close to
    need (v): require; needs (v): requires; nevertheless: even so; nobody: no one
    often: frequently; only: merely; people: persons; perhaps: possibly; permitted: allowed
    picture: image; planned: intended; problem: issue | difficulty; put: placed; quickly: fast
    quietly: softly; quite: rather; rain: rainfall; replied: answered; rose: went up
    said: stated | remarked; saw: noticed; says: states; seems: appears; seem: appear
    several: a number of; show (v): indicate; showed: indicated; shows (v): indicates
    shut: closed; small: little; so far: to date; started: began; stayed: remained
    stopped: halted; street: road; suddenly: all at once; tell: inform; think (v): believe
    thinks (v): believes; thought (v): believed; told: informed; tried: attempted
    turned out: proved; understood: realised; until: till; upper: top; usually: normally
    waited: stood waiting; walked: went on foot; warned: cautioned; whole: entire
    worked: laboured; workers: staff; writes: pens
    """
)
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

INVENTED_NAMES = options(
    """
    Marlow Denby | Ines Calder | Petra Quill | Tobias Rusk | Lenora Vance | Amos Trill
    Greta Holm | Silas Orme | Nadia Fenwick | Caspar Dunn | Edith Larkin | Rolf Tarn
    """
)
INVENTED_PLACES = options(
    "Port Denholm | Calderwick | Upper Marlow | Orrin Bay | Fenbridge | New Tarn | Lindmere"
)
INVENTED_BODIES = options(
    """
    the Calder Institute | the harbour board | the teachers' league | a rival committee
    the ministry's press office | a retired inspector | the growers' union
    """
)
