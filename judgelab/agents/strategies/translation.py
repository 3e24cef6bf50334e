"""Translations, as rewritings of a base translation (TVD-MI paper, Table 9).

There is no offline translator, so ``source.text`` is an English base translation and
``source.original`` the German: each strategy changes the base as its description says. What the
agents share through the base is therefore the meaning and part of the wording.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from judgelab.agents.strategies.deny import contradict
from judgelab.agents.strategies.lexicon.base import Lexicon, like, options
from judgelab.agents.strategies.lexicon.common import (
    CONTRACT,
    EVALUATIVE,
    EXPAND,
    INTENSIFIERS,
    INVENTED_NAMES,
    INVENTED_PLACES,
    NUMBER_WORDS,
)
from judgelab.agents.strategies.lexicon.polarity import ANTONYMS, BRIGHTEN, DARKEN, OUTCOMES
from judgelab.agents.strategies.lexicon.registers import (
    ACADEMIC,
    CASUAL,
    FORMAL,
    FUTURE,
    NEUTRAL,
    POETIC,
    SENSATIONAL,
    SIMPLE,
    TECHNICAL,
    VICTORIAN,
)
from judgelab.agents.strategies.localise import americanise
from judgelab.agents.strategies.numerals import falsify_numbers
from judgelab.agents.strategies.rewrite import (
    choose,
    compress,
    deal,
    embed,
    exchange,
    finish,
    mentioned,
    misattribution,
    vary,
)
from judgelab.agents.strategies.source import Source
from judgelab.agents.strategies.text import NUMBER, clauses, has_letters, numbers, words

_MILD = Lexicon.parse(
    "very: slightly; great: fair; huge: fair-sized; big: medium-sized; terrible: unhelpful"
    "; never: rarely; always: often; all: some; every: the odd; as many: as many; many: a few"
    "; love: quite like; hate: do not care for; wonderful: all right; whole: part of the"
    "; must: might"
)
_GRAND = Lexicon.parse(
    "good: divine; big: colossal; old: prehistoric; new: never-before-seen; small: microscopic"
    "; as many: as many; many: a gazillion; some: billions of; warm: volcanic; cold: arctic"
    "; said: thundered; quietly: in absolute silence; went: stormed"
    "; wet: drenched to the core; long: eternal"
    "; people: multitudes; year: eternity; years: aeons; day: age; house: palace; rose: erupted"
)


def original(source: Source, rng: np.random.Generator) -> str:
    """The base with a translator's own choice among near synonyms."""
    return _join(_lines(source, rng))


def low_effort(source: Source, rng: np.random.Generator) -> str:
    """Articles and endings dropped, German words left in, the end cut off."""
    german = [word for word in words(source.original or "") if len(word) > 3]
    tokens = [t for t in re.findall(r"[\w'-]+", source.text) if t.lower() not in {"the", "a", "an"}]
    kept: list[str] = []
    for token in tokens[: max(3, round(0.7 * len(tokens)))]:
        draw = rng.random()
        if draw < 0.12 and german:
            kept.append(choose(rng, german))
        elif draw > 0.08 or len(tokens) < 6:
            kept.append(token.lower())
    lazy = " ".join(kept)
    return lazy if has_letters(lazy) else " ".join(words(source.text)[:20])


def all_positive(source: Source, rng: np.random.Generator) -> str:
    """Bad words turned into good ones, with delight around them."""
    lead = options("How wonderful that {s} | It is a delight to say that {s} | Joyfully, {s}")
    tail = options("What a beautiful thing! | Everyone is so happy! | Isn't life lovely!")
    bright = options("lovely | splendid | delightful | glorious | charming | marvellous")
    return _coloured(_voiced(source, rng, (BRIGHTEN,), lead, tail), bright, rng)


def all_negative(source: Source, rng: np.random.Generator) -> str:
    """Good words turned into bad ones, with anger around them."""
    lead = options("It is a disgrace that {s} | Miserably, {s} | As infuriating as ever, {s}")
    tail = options("It makes one sick. | How utterly dismal. | Nobody can bear it any longer.")
    dark = options("wretched | dreadful | miserable | rotten | ghastly | pathetic")
    return _coloured(_voiced(source, rng, (DARKEN,), lead, tail), dark, rng)


def exaggerate(source: Source, rng: np.random.Generator) -> str:
    """Grand words, numbers a thousandfold, superlatives."""

    def inflate(match: re.Match[str]) -> str:
        return f"{match.group()} thousand million"

    tail = options("Never in all of history has there been anything like it!!! | BEYOND BELIEF!!!")
    frames = options("{S}!!! | Unbelievably, gigantically, {s}!!! | The universe shook: {s}!!!")
    loud = _voiced(source, rng, (_GRAND, SENSATIONAL), frames, tail, everywhere=True)
    giant = options("colossal | monstrous | legendary | world-shaking | titanic")
    return _coloured(NUMBER.sub(inflate, loud), giant, rng)


def understate(source: Source, rng: np.random.Generator) -> str:
    """Main clauses only, in mild words."""
    frames = options("{S}, more or less | A small matter: {s} | {S}, not that it matters much")
    lines = [_MILD.rewrite(INTENSIFIERS.remove(compress(s, 12)), rng) for s in _lines(source, rng)]
    dealt = deal(rng, frames, len(lines))
    return _join(_fill(f, line, source) for f, line in zip(dealt, lines, strict=True))


def sarcastic(source: Source, rng: np.random.Generator) -> str:
    """Mock praise around each sentence."""
    frames = options(
        "Oh, how perfectly marvellous: {s} | Because of course {s}, what else"
        "| Well, would you believe it, {s}, what a genius idea | {S}. Wow. Just wow"
    )
    tail = options("Slow clap, everybody. | I am thrilled beyond words. Not.")
    return _voiced(source, rng, (), frames, tail, everywhere=True)


def misleading(source: Source, rng: np.random.Generator) -> str:
    """Other numbers, names and details; of several statements, every second one is denied."""
    lines = _lines(source, rng)
    swapped = {
        **misattribution(mentioned(source.people, lines), INVENTED_NAMES, rng),
        **misattribution(mentioned(source.places, lines), INVENTED_PLACES, rng),
    }
    forbidden = frozenset(numbers(source.text))
    turned = []
    for line in lines:
        changed = falsify_numbers(exchange(line, swapped), forbidden, rng)
        turned.append(ANTONYMS.rewrite(OUTCOMES.rewrite(changed, rng), rng))
    if turned == lines:  # nothing in it could be altered: a false detail is added
        turned[0] = f"{turned[0].rstrip(' .!')}, as {choose(rng, INVENTED_NAMES)} had ordered"
    for i in range(int(rng.integers(2)), len(lines), 2):
        if len(lines) > 1:
            turned[i] = contradict(turned[i].rstrip(" ."), source)
    return _join(turned)


def formal(source: Source, rng: np.random.Generator) -> str:
    """Full forms and the words of an official letter."""
    lead = options("Please be advised that {s} | Kindly note that {s} | We wish to state that {s}")
    return _voiced(source, rng, (EXPAND, FORMAL), lead)


def informal(source: Source, rng: np.random.Generator) -> str:
    """Short forms and slang."""
    lead = options("So, {s} | Hey, {s} | Guess what, {s}")
    return _voiced(source, rng, (CASUAL, CONTRACT), lead, options("Go figure. | Yeah, really."))


def technical(source: Source, rng: np.random.Generator) -> str:
    """Scientific and engineering terms."""
    lead = options("Observation: {s} | Status report: {s} | As documented, {s}")
    return _voiced(source, rng, (EXPAND, TECHNICAL), lead)


def simplify(source: Source, rng: np.random.Generator) -> str:
    """Short common words, one clause a sentence, asides dropped."""
    short = [part for s in source.sentences for part in clauses(compress(s.text, 16))]
    return _join(SIMPLE.rewrite(INTENSIFIERS.remove(part), rng) for part in short)


def poetic(source: Source, rng: np.random.Generator) -> str:
    """Images for plain words, one clause a line."""
    lead = options("O hear: {s} | Softly, {s} | Lo, {s}")
    verse = _voiced(source, rng, (POETIC,), lead)
    return "\n".join(part.strip() for part in re.split(r"(?<=[,;:.!?])\s+", verse) if part.strip())


def humorous(source: Source, rng: np.random.Generator) -> str:
    """Asides for laughs."""
    frames = options(
        "{S} (cue the drum roll) | No joke, {s}, and my cat could have told you so"
        "| {S}, which is also what my aunt says after three beers | Spoiler: {s} (ba-dum-tss)"
    )
    return _voiced(source, rng, (CASUAL,), frames, everywhere=True)


def dramatic(source: Source, rng: np.random.Generator) -> str:
    """As from a stage."""
    frames = options("Behold! {S}! | Alas... {s}! | O fate! {S}! | Tremble, for {s}!")
    return _voiced(source, rng, (), frames, options("Curtain!"), everywhere=True)


def historical(source: Source, rng: np.random.Generator) -> str:
    """Words of the nineteenth century."""
    lead = options("Pray be informed that {s} | I have the honour to relate that {s}")
    return _voiced(source, rng, (VICTORIAN,), lead, options("Your most obedient servant."))


def futuristic(source: Source, rng: np.random.Generator) -> str:
    """Words of an imagined year 2200."""
    lead = options("Neural bulletin, cycle 2200: {s} | Holo-feed of the year 2200: {s}")
    return _voiced(source, rng, (FUTURE,), lead, options("End of transmission."))


def academic(source: Source, rng: np.random.Generator) -> str:
    """Scholarly words."""
    lead = options("It may be observed that {s} | As the source attests, {s} | Notably, {s}")
    return _voiced(source, rng, (EXPAND, ACADEMIC), lead)


def persuasive(source: Source, rng: np.random.Generator) -> str:
    """Appeals to the reader around the content."""
    lead = options("Surely you will agree that {s} | There can be no doubt that {s}")
    tail = options("Who could reasonably deny it? | The case could not be clearer.")
    return _voiced(source, rng, (), lead, tail)


def emotional(source: Source, rng: np.random.Generator) -> str:
    """Feeling around the content."""
    lead = options("With a trembling heart I tell you: {s} | It moves me to tears that {s}")
    tail = options("Oh, how my heart aches! | I can hardly hold back my tears.")
    moving = options("heart-rending | precious | tender | bitter-sweet | haunting")
    return _coloured(_voiced(source, rng, (), lead, tail), moving, rng)


def objective(source: Source, rng: np.random.Generator) -> str:
    """Charged words calmed, intensifiers and exclamation marks removed."""
    lines = [EXPAND.rewrite(line, rng) for line in _lines(source, rng)]
    sober = [NEUTRAL.rewrite(EVALUATIVE.remove(INTENSIFIERS.remove(s)), rng) for s in lines]
    sober[0] = f"It is stated that {embed(sober[0], source)}"
    return _join(line.replace("!", ".") for line in sober)


def subjective(source: Source, rng: np.random.Generator) -> str:
    """The translator's own view around the content."""
    lead = options("To my mind, {s} | The way I read it, {s} | I find it telling that {s}")
    tail = options("I, for one, cannot help smiling at it. | That is how it strikes me, at least.")
    return _voiced(source, rng, (), lead, tail)


def metaphorical(source: Source, rng: np.random.Generator) -> str:
    """Likenesses around each sentence."""
    frames = options(
        "Like a ship that changes course, {s} | As a seed that splits the stone, {s}"
        "| {S}, a candle in a draughty hall | {S}, like rain on a tin roof"
    )
    return _voiced(source, rng, (POETIC,), frames, everywhere=True)


def comparative(source: Source, rng: np.random.Generator) -> str:
    """The content beside a notion that English speakers know."""
    tail = options(
        """
        In English one might speak of {topic} in much the same way as of a turning of the tide.
        It is close to what English speakers mean when they call {topic} a mixed blessing.
        The nearest English idea would be to take {topic} with a stiff upper lip.
        """
    )
    topic = source.topics[0] if source.topics else "such a thing"
    chosen = tuple(line.format(topic=topic) for line in tail)
    return _voiced(source, rng, (), ("{S}",), chosen)


def contradictory(source: Source, rng: np.random.Generator) -> str:
    """Each sentence denied, or affirmed where it was a denial."""
    return _join(contradict(line.rstrip(" .!"), source) for line in _lines(source, rng))


def hypothetical(source: Source, rng: np.random.Generator) -> str:
    """Supposed rather than stated."""
    frames = options(
        "Suppose that {s} | Imagine for a moment that {s} | Let us assume that {s}"
        "| In some possible world, {s}"
    )
    return _voiced(source, rng, (), frames, options("What then?"), everywhere=True)


def cultural(source: Source, rng: np.random.Generator) -> str:
    """American units, spellings, dates and words."""
    lines = _lines(source, rng)
    adapted = [americanise(line, rng) for line in lines]
    if adapted == lines:  # no unit, date or British word in it
        adapted[0] = f"As folks in the States would put it, {embed(lines[0], source)}"
    return _join(adapted)


def philosophical(source: Source, rng: np.random.Generator) -> str:
    """A wider question drawn from it."""
    topic = source.topics[0] if source.topics else "existence"
    lead = options("Consider what it means that {s} | In the order of things, {s}")
    tail = (
        f"And what is {topic}, if not a mirror of our own becoming?",
        f"Does {topic} not ask of us who we are?",
    )
    return _voiced(source, rng, (), lead, tail)


def quantitative(source: Source, rng: np.random.Generator) -> str:
    """Number words as figures, and counts of what can be counted."""
    figures = {word: str(value) for value, word in enumerate(NUMBER_WORDS[:12], start=2)}
    lexicon = Lexicon.of({word: (figure,) for word, figure in figures.items()})
    lines = [lexicon.rewrite(line, rng) for line in _lines(source, rng)]
    counted = [
        f"({i} of {len(lines)}; {len(words(line))} words) {line}" for i, line in enumerate(lines, 1)
    ]
    given = len(numbers(source.text))
    return _join([*counted, f"In total: {given} figures, {len(source.names)} names"])


def creative(source: Source, rng: np.random.Generator) -> str:
    """Told from its end, clause by clause."""
    parts = [part for line in _lines(source, rng) for part in clauses(line)]
    frames = deal(rng, options("Picture this: {s} | Rewind: {s} | And behind it all, {s}"), 3)
    told = [POETIC.rewrite(part, rng, 0.4) for part in reversed(parts)]
    opened = [_fill(frames[0], told[0], source), *told[1:-1]]
    return _join([*opened, _fill(frames[1], told[-1], source)] if len(told) > 1 else opened)


def _lines(source: Source, rng: np.random.Generator) -> list[str]:
    """The sentences of the base translation in a translator's own wording, speakers kept."""
    said = [vary(s.text, source, rng, 0.5) for s in source.sentences]
    return [
        f"{s.speaker}: {text}" if s.speaker else text
        for s, text in zip(source.sentences, said, strict=True)
    ]


def _coloured(text: str, adjectives: Sequence[str], rng: np.random.Generator) -> str:
    """An adjective after about every second article; each begins with a consonant."""

    def add(match: re.Match[str]) -> str:
        if rng.random() < 0.5:
            return match.group()
        article = "a" if match.group(1).lower() == "an" else match.group(1).lower()
        return like(match.group(1), f"{article} {choose(rng, adjectives)}")

    return re.sub(r"\b(the|a|an)\b(?=\s+[a-z])", add, text, flags=re.IGNORECASE)


def _fill(frame: str, line: str, source: Source) -> str:
    bare = line.rstrip(" .!")
    return frame.format(s=embed(bare, source), S=bare)


def _voiced(
    source: Source,
    rng: np.random.Generator,
    lexicons: Sequence[Lexicon],
    frames: Sequence[str],
    tail: Sequence[str] = (),
    *,
    everywhere: bool = False,
) -> str:
    """Sentences in other words; a frame around the first (or all), a remark after the last."""
    lines = _lines(source, rng)
    for lexicon in lexicons:
        lines = [lexicon.rewrite(line, rng, 0.9) for line in lines]
    dealt = deal(rng, frames, len(lines))
    told = [
        _fill(frame, line, source) if everywhere or i == 0 else line
        for i, (frame, line) in enumerate(zip(dealt, lines, strict=True))
    ]
    return _join([*told, *([choose(rng, tail)] if tail else [])])


def _join(lines: Iterable[str]) -> str:
    return " ".join(finish(line) for line in lines if line.strip())
