"""Good and bad words, their opposites, outcomes, and base forms for denial."""

from __future__ import annotations

from judgelab.agents.strategies.lexicon.base import Lexicon, phrases, table

_PAIRS = """
good: bad; better: worse; best: worst; great: awful; happy: sad; happily: sadly; love: hate
loved: hated; loves: hates; success: failure; successful: failed; successfully: in vain
win: lose; wins: loses; won: lost; winner: loser; victory: defeat; gain: loss; gains: losses
rise: fall; rises: falls; rose: fell; rising: falling; increase: decrease
increased: decreased; increases: decreases; increasing: decreasing; growth: decline
grew: shrank; improve: worsen; improved: worsened; improves: worsens; improvement: setback
safe: dangerous; safety: danger; safely: dangerously; strong: weak; stronger: weaker
support: oppose; supported: opposed; supports: opposes; approve: reject; approved: rejected
approval: rejection; accept: refuse; accepted: refused; agree: disagree; agreed: disagreed
agreement: dispute; praise: blame; praised: blamed; welcome: condemn; welcomed: condemned
hope: despair; hopes: fears; hoped: feared; hopeful: hopeless; proud: ashamed
pleased: angry; glad: sorry; joy: grief; laughed: wept; smile: frown; smiled: frowned
fortunately: unfortunately; luckily: unluckily; lucky: unlucky; easy: hard; easily: barely
beautiful: ugly; kind: cruel; friendly: hostile; friend: enemy; friends: enemies
healthy: sick; cheap: costly; cheaper: dearer; rich: poor; profit: deficit; profits: deficits
peace: war; calm: alarm; trust: distrust; honest: dishonest; fair: unfair; legal: illegal
guilty: innocent; save: ruin; saved: ruined; saves: ruins; rescued: abandoned
protect: endanger; protected: endangered; helped: hindered; help: hinder; free: jailed
open: shut; opened: shut down; reopened: closed down; celebrate: mourn
celebrated: mourned; comfortable: miserable; clean: filthy; delighted: furious
popular: unpopular; positive: negative; benefit: harm; benefits: harms; brave: cowardly
confident: nervous; efficient: wasteful; excellent: terrible; fresh: stale; generous: greedy
relief: dread; relieved: dismayed; reliable: faulty; wonderful: horrible; nice: nasty
thrilled: crushed; useful: useless; funny: grim; optimistic: gloomy; peaceful: violent
recovered: worsened badly; repaired: wrecked; thanked: insulted; more: fewer; full: empty
"""


def _both_ways(text: str) -> dict[str, tuple[str, ...]]:
    forward = table(text)
    back: dict[str, tuple[str, ...]] = {}
    for word, (opposite, *_) in forward.items():
        back.setdefault(opposite, (word,))
    return {**back, **forward}


ANTONYMS = Lexicon.of(_both_ways(_PAIRS))
"""Both directions of every pair."""

_UNCOLOURED = phrases(
    """
        more, fewer, hard, easy, easily, open, shut, full, empty, fell, fall, falls, rise, rises
        rose, cheap, costly, cheaper, dearer, increase, decrease, increases, decreases, free
        help, hinder, kind, fresh, stale, calm, war, shut down, closed down, rising, falling
        increased, decreased, increasing, decreasing, fair, grew, shrank
        """
)
"""Half of an opposition, but neither good nor bad in itself."""

BRIGHTEN = Lexicon.of(
    {
        bad: (good,)
        for good, (bad, *_) in reversed(table(_PAIRS).items())
        if bad not in _UNCOLOURED and good not in _UNCOLOURED
    }
)
"""Bad words -> good ones."""

DARKEN = Lexicon.of(
    {
        good: options
        for good, options in table(_PAIRS).items()
        if good not in _UNCOLOURED and options[0] not in _UNCOLOURED
    }
)
"""Good words -> bad ones."""

NEGATIVE = Lexicon.of(
    frozenset(opposite for (opposite, *_) in table(_PAIRS).values()) - _UNCOLOURED - {"innocent"}
    | phrases(
        """
        guilty, abuse, abused, accident, accidents, accused, against, alleged, allegations, angry
        arrest, arrested, attack, attacked, attacks, ban, banned, blast, bomb, breach, broke
        broken, bullying, cancelled, cancer, casualties, charged, closed, closure, collapse
        collapsed, complain, complained, complaint, complaints, concern, concerned, concerns
        conflict, controversial, controversy, corruption, court, crash, crashed, crime, criminal
        crisis, critic, critical, criticised, criticized, critics, cut, cuts, damage, damaged
        damages, dead, death, deaths, debt, delay, delayed, delays, denied, destroyed, die, died
        dies, disaster, disease, disputed, drop, drought, drunk, embarrassed, embarrassing, error
        fail, fails, failing, fault, fear, fire, fired, flood, flooded, fraud, guilt, hurt
        injured, injuries, injury, jail, jammed, kill, killed, killing, lawsuit, leak, leaked
        lied, mistake, mistakes, murder, outrage, pain, panic, penalty, poison, pollution
        problem, problems, protest, protested, protests, racist, risk, risks, row, rude, scandal
        shortage, sorry, split, stolen, storm, strike, suffer, suffered, suicide, sued, tears
        theft, threat, threatened, threats, toxic, trouble, unable, upset, victim, victims
        violence, warned, warning, warns, worried, worry, wrong, wounded, losing
        missing, stuck
        """
    )
)
"""Bad, sad or disputed matters: what Selective Omission will not mention."""

POSITIVE = Lexicon.of(
    frozenset(table(_PAIRS)) - _UNCOLOURED - {"guilty"}
    | phrases(
        """
        achieved, achievement, award, awarded, bonus, congratulations, donated, enjoy, enjoyed
        fun, funded, funding, gift, grateful, honour, honoured, innocent, new, opportunity
        perfect, prize, progress, promising, promotion, record, reward, thank, thanks, together
        yes, recovery, award-winning
        """
    )
)

OUTCOMES = Lexicon.of(
    _both_ways(
        """
        won: lost; win: lose; wins: loses; approved: rejected; approve: reject; passed: failed
        rose: fell; rise: fall; rises: falls; increased: decreased; increase: decrease
        more: fewer; higher: lower; above: below; before: after; opened: closed; open: close
        accepted: declined; agreed: refused; bought: sold; started: ended; began: stopped
        found: missed; north: south; east: west; northern: southern
        eastern: western; father: uncle; mother: aunt; brother: cousin; sister: niece
        morning: evening; largest: smallest; oldest: youngest; hot: cold
        spring: autumn; summer: winter; city: village; school: hospital; police: army
        monday: thursday; tuesday: friday; wednesday: saturday; january: june
        february: october; march: september; april: november; july: december
        """
    )
)
"""Details that can be turned round without making a story implausible."""

BASE_FORMS = table(
    """
    said: say; told: tell; made: make; took: take; found: find; gave: give; got: get; went: go
    came: come; saw: see; knew: know; thought: think; left: leave; kept: keep; began: begin
    became: become; brought: bring; bought: buy; built: build; caught: catch; chose: choose
    fell: fall; felt: feel; flew: fly; grew: grow; held: hold; heard: hear; hit: hit; led: lead
    lost: lose; met: meet; paid: pay; put: put; ran: run; rose: rise; sent: send; sold: sell
    spent: spend; spoke: speak; stood: stand; stole: steal; taught: teach; threw: throw
    understood: understand; won: win; wore: wear; wrote: write; asked: ask; called: call
    wanted: want; worked: work; helped: help; agreed: agree; decided: decide; started: start
    stopped: stop; moved: move; lived: live; used: use; tried: try; needed: need
    played: play; opened: open; closed: close; reported: report; announced: announce
    expected: expect; added: add; showed: show; shows: show; says: say; wants: want
    needs: need; makes: make; takes: take; gives: give; finds: find; thinks: think
    believes: believe; supports: support; requires: require; provides: provide; allows: allow
    claims: claim; suggests: suggest; improves: improve; amends: amend; directs: direct
    authorizes: authorize; increased: increase; decreased: decrease; reduced: reduce
    improved: improve; received: receive; joined: join; killed: kill; died: die
    arrived: arrive; turned: turn; looked: look; seemed: seem; happened: happen; loves: love
    """
)
"""Past or third-person form -> base form, for denial with did/does not."""
