"""Everyday words and what they become in another register."""

from __future__ import annotations

from judgelab.agents.strategies.lexicon.base import Lexicon

FORMAL = Lexicon.parse(
    """
    about: regarding; also: in addition; ask (v): request; asked: requested; asks: requests
    begin (v): commence; began: commenced; big: considerable; but: however; buy (v): purchase
    bought: purchased; can: is able to; child: minor; children: minors; enough: sufficient
    end (v): conclude; ended: concluded; find (v): ascertain; found: ascertained; get (v): obtain
    got: obtained; give (v): provide; gave: provided; go (v): proceed; went: proceeded
    help (v): assist; helped: assisted; house: residence; keep: retain; kept: retained
    know (v): be aware of; let (v): permit; like: such as; live (v): reside; lives: resides
    lived: resided; make (v): produce; as many: as many; how many: how many; many: numerous
    more: additional; need (v): require; needs (v): requires; now: at present; people: individuals
    said: stated; says: states; see (v): observe; saw: observed; seems: appears
    show (v): demonstrate; showed: demonstrated; start (v): commence; started: commenced
    stop (v): cease; stopped: ceased; talk (v): converse; tell (v): inform; told: informed
    think (v): consider; thought: considered; try (v): endeavour; tried: endeavoured
    use (v): employ; used: employed; want (v): desire; wants (v): desires; wanted: desired
    work (n): employment; wrong: incorrect; man: gentleman; woman: lady; boss: superior
    job: position; money: funds; very: most
    """
)
ACADEMIC = Lexicon.parse(
    """
    about: approximately | concerning; also: additionally; because: owing to the fact that
    but: however; children: minors; big: substantial; change (v): alteration; changed: altered
    find (v): identify; found: identified; get (v): obtain; got: obtained; help (v): facilitate
    helped: facilitated; important: salient; as many: as many; how many: how many; many: numerous
    need (v): necessitate; needs (v): necessitates; people: individuals; people's: individuals'
    problem: challenge; problems: challenges; said: contended | maintained
    says: contends | maintains; show (v): indicate; showed: indicated; shows (v): indicates
    start (n): initiation; started: initiated; think (v): postulate; thinks (v): postulates
    thought: postulated; told: informed; use (v): utilise; used: utilised; uses (v): utilises
    want (v): seek; wants (v): seeks; wanted: sought; work (n): research; year: annum
    rise (n): elevation; fall (n): decline; cause: determinant; a lot of: a multitude of
    teacher: educator; teachers: educators; doctor: physician; town: municipality; money: capital
    """
)
CASUAL = Lexicon.parse(
    """
    children: kids; child: kid; man: guy; men: guys; woman: lady; very: super; stated: said
    approximately: like; however: but; because: 'cause; money: cash; people: folks; police: cops
    purchase: buy; purchased: bought; received: got; obtain: get; several: a bunch of
    as many: as many; how many: how many; many: loads of; numerous: tons of; a lot of: tons of
    going to: gonna; want to: wanna; wants to: wanna; work (n): gig; job (n): gig; angry: mad
    annoyed: ticked off; happy: stoked; pleased: chuffed; tired: wiped out; food: grub
    friend: buddy; friends: mates; good: pretty cool; great: awesome; bad: lousy
    difficult: tricky; problem: hiccup; problems: hiccups; decided: figured; leave: take off
    arrived: showed up; discovered: found out; understand: get; think (v): reckon
    thinks (v): reckons; thought: reckoned; yes: yep; no: nope; father: dad; mother: mum
    television: telly; telephone: phone; immediately: right away; perhaps: maybe; extremely: crazy
    something: some stuff
    """
)
BUREAUCRATIC = Lexicon.parse(
    """
    about: with regard to; after: subsequent to; agreed: concurred; asked: submitted a request
    because: by reason of the fact that; before: prior to; began: was initiated; buy (v): procure
    bought: procured; build (v): undertake construction of; changed: amended; children: dependants
    cost (n): expenditure; decided: determined; during: for the duration of; find (v): identify
    found: identified; gave: allocated; got: obtained; help (n): support measures; home: dwelling
    house: dwelling unit; job: post; let (v): authorise; letting: authorising; make (v): effect
    meeting: session; money: budgetary resources; must: is required to; near: in proximity to
    need (n): requirement; needs (n): requirements; now: as of the present date
    parents: legal guardians; people: persons; plan (n): programme; problem: matter for attention
    rules: provisions; said: advised; says: advises; school: educational establishment
    started: commenced; told: notified; under: pursuant to; use (n): utilisation; used: utilised
    want (v): request; wants (v): requests; wanted: requested; work (n): activity
    workers: personnel; drivers: road users; teacher: member of teaching staff; road: carriageway
    bus: public transport service
    """
)
TECHNICAL = Lexicon.parse(
    """
    air: ambient atmosphere; big: large-scale; body: organism; book: printed volume
    bridge: span structure; broke: suffered structural failure; broken: non-functional
    build (v): fabricate; building: structure; built: fabricated; bus: transit vehicle
    car: motor vehicle; child: paediatric subject; children: paediatric subjects; city: urban area
    cold: low-temperature; cook (v): thermally process; eat: ingest; eating: ingesting
    ate: ingested; eyes: ocular organs; fast: high-velocity; fire (n): combustion; food: nutrients
    head (n): cranium; heart: cardiac organ; heat (n): thermal energy; hot: high-temperature
    house: dwelling unit; idea: hypothesis; light (n): optical radiation
    look (v): visually inspect; looked: visually inspected; machine: apparatus
    make (v): synthesise; man: adult male; money: liquid assets; night: nocturnal phase
    number: numerical identifier; patient: clinical subject; patients: clinical subjects
    people: subjects; phone: mobile device; plan (n): protocol; rain: precipitation
    road: carriageway; said: reported; school: educational facility; sea: marine environment
    see (v): detect; saw: detected; sleep (n): dormancy; smell (n): olfactory stimulus
    sound (n): acoustic signal; speed: velocity; start (v): initialise; started: initialised
    stop (v): terminate; stopped: terminated; sun: solar source; test: assay; tests: assays
    text (v): transmit a message to; tree: arboreal specimen; trees: arboreal specimens
    use (v): deploy; used: deployed; walk (v): ambulate; walked: ambulated; water: aqueous medium
    weather: meteorological conditions; wind: airflow; woman: adult female; word (n): lexical item
    write (v): record; wrote: recorded; years: annual cycles
    """
)
POETIC = Lexicon.parse(
    """
    began: dawned; beautiful: fair; bird: winged wanderer; children: little ones
    city: city of stone; cold: frost-touched; dark: shadowed; day: day's bright hour
    death: the long sleep; died: fell silent; dream (n): drifting dream; earth: patient earth
    end (n): dusk; ended: faded; evening: dusk; eyes: lamps of the soul; fire: dancing flame
    garden: green-hearted garden; heart: beating heart; home (n): hearth; house: hearth
    late: in the waning hour; light (n): golden light; long: unending; looked: gazed
    love (n): tender love; money: glittering coin; moon: silver moon; morning: rosy morning
    new: newborn; night: velvet night; ocean: the deep; old: time-worn; rain: weeping rain
    river: winding river; road: winding road; said: sang; says: sings; sea: the deep
    silence: hush; sky: heavens; sleep: slumber; snow: white hush; spoke: murmured
    spring (n): blossoming spring; star: distant star; started: dawned; stone: ancient stone
    sun: golden sun; think (v): muse; told: whispered to; tree: whispering tree
    trees: whispering trees; walk (v): wander; walked: wandered; water: silver water
    went: wandered; wind: wandering wind; winter: white winter; woman: daughter of the earth
    word: echo; words: echoes; work (n): toil; years: turning years
    """
)
EUPHEMISM = Lexicon.parse(
    """
    abandoned: moved on from; accident: mishap; accused: mentioned in connection with
    alone: independent; angry: less than pleased; argued: exchanged views
    arrested: helped with enquiries; attack (n): confrontation; attacked: approached
    bad: less than ideal; banned: discouraged; blood: traces; broke: wore out
    broken: retired from use; burned: warmed; cancelled: reconsidered; cheap: modest
    closed: rested; closure: pause; collapsed: settled; complain: share feedback
    complained: shared feedback; cost (n): investment; crash (n): bump; crashed: came to rest
    crime: lapse; criticised: offered thoughts on; cut (v): trimmed; cuts (n): adjustments
    damage (n): wear; damaged: affected; dangerous: adventurous; dead: departed; death: passing
    deaths: losses; debt: shared obligations; delay (n): extra time; destroyed: transformed
    die: pass on; died: passed away; disaster: setback; drunk: merry
    failed: did not quite succeed; failure: learning experience; fat: well-built; fault: wrinkle
    fight (n): disagreement; fired: let go; guilty: involved; hate: find difficult
    illness: condition; injured: shaken; injury: discomfort; jail: a secure facility
    jammed: paused; killed: lost; lied: was economical with the truth; lost: let slip
    mistake: small oversight; murder: untimely death; never: seldom; not: not quite; old: seasoned
    pain: discomfort; poor: of modest means; prison: a secure facility; problem: opportunity
    problems: opportunities; refused: preferred not to; rejected: set aside; rude: direct
    scandal: misunderstanding; sick: under the weather; split: came apart a little
    stole: borrowed; stolen: mislaid; stupid: hasty; suffered: experienced; terrible: regrettable
    tired: ready for rest; ugly: distinctive; war: conflict; warned: gently reminded
    worst: least favourable; wrong: not entirely right; losing: setting free
    """
)
SENSATIONAL = Lexicon.parse(
    """
    angry: FURIOUS; asked: demanded; bad: horrific; big: gigantic; broke: SMASHED
    change (v): upheaval; changes: upheavals; cost (n): eye-watering cost; crash (n): horror crash
    cut (v): slashed; damage: devastation; decided: vowed; discovered: UNCOVERED; fell: plunged
    found: UNCOVERED; good: incredible; happened: exploded; increase (n): surge
    increased: skyrocketed; large: monstrous; lost: LOST; as many: as many; how many: how many
    many: countless; new: explosive new; problem: nightmare; problems: nightmares; rise (n): surge
    rose: rocketed; said: blasted; says: blasts; small: tiny; surprised: STUNNED
    surprising: jaw-dropping; told: confessed to; turned: spun; warned: SCREAMED; went: raced
    won: TRIUMPHED; wrong: catastrophically wrong; used: unleashed; worried: terrified
    """
)
NEUTRAL = Lexicon.parse(
    """
    admitted: said; angry: dissatisfied; amazing: notable; attacked: criticised; awful: poor
    awesome: good; begged: asked; blasted: criticised; brilliant: good; claimed: said
    crisis: situation; cried: said; crushed: disappointed; demanded: asked for; desperate: in need
    devastated: affected; devastating: serious; disaster: event; dreadful: poor
    exploded: increased; fantastic: good; fled: left; furious: dissatisfied; hate: dislike
    horrible: poor; horror: event; huge: large; insisted: said; miracle: event
    nightmare: difficulty; outrage: disagreement; plunged: fell; rocketed: rose; screamed: said
    shocked: surprised; shocking: unexpected; slammed: criticised; slashed: reduced
    smashed: broke; soared: rose; stunned: surprised; surged: rose; terrible: poor
    terrified: worried; thrilled: pleased; tiny: small; tragedy: event; tragic: serious
    vowed: said; wonderful: good; worst: lowest; best: highest; crashed: collided; stupid: unwise
    """
)
VICTORIAN = Lexicon.parse(
    """
    about: touching; among: amongst; asked: enquired of; beautiful: most comely; because: for
    before: ere; began: did commence; car: carriage; children: young persons; dinner: repast
    evening: eventide; father: dear father; food: victuals; friend: esteemed friend; girl: maiden
    going: journeying; happy: joyous; house: dwelling; letter: epistle; man: gentleman
    money: fortune; mother: dear mother; near: nigh; newspaper: gazette; often: oft; over: o'er
    perhaps: perchance; said: quoth; saw: beheld; see (v): behold; it is: 'tis; it was: 'twas
    today: this very day; told: made known to; train: steam train; very: exceedingly
    while: whilst; woman: lady; yesterday: yesterday last; yes: aye; on: upon; wrote: penned
    """
)
FUTURE = Lexicon.parse(
    """
    asked: pinged; book: data-scroll; books: data-scrolls; bus: maglev pod; car: hover-pod
    city: megacity; computer: quantum mind; country: sector; doctor: med-unit; door: airlock
    earth: Old Terra; evening: dim-cycle; food: nutri-gel; hour: time-unit; house: hab-module
    letter: holo-message; looked: scanned; man: human unit; meeting: holo-conference
    money: credits; morning: lit-cycle; newspaper: holo-feed; night: dark-cycle; paper: smart-film
    people: citizens of the network; president: Prime Coordinator; read: uploaded
    road: transit tube; said: transmitted; saw: scanned; school: learning node
    ship: star-freighter; street: transit tube; think (v): compute; thought: computed
    told: transmitted to; town: habitat; train: maglev; walked: glided; window: view-port
    word: data-packet; words: data-packets; world: planet; write (v): encode; wrote: encoded
    years: solar cycles
    """
)
SIMPLE = Lexicon.parse(
    """
    accommodation: place to stay; agreement: deal; approximately: about; assist: help
    attempt (v): try; beautiful: pretty; children: kids; commence: start; commission: group
    committee: group; company: shop; concerning: about; conference: big talk
    consider: think about; construct: make; country: land; debate: talk; decide: pick
    decided: picked; decision: choice; demand (v): ask for; difficult: hard; discovered: found
    discuss: talk about; discussed: talked about; employed: used; enormous: very big
    establish: make; european: from far; examine: look at; explained: said; explosion: big bang
    extremely: very; father: dad; frequently: a lot; government: leaders; however: but
    immediately: now; important: big; inform: tell; intelligent: smart; large: big; mother: mum
    necessary: needed; numerous: many; observe: see; obtain: get; parliament: big meeting
    permit: let; possible: can be done; president: boss; problem: bad thing; purchase: buy
    receive: get; regulation: rule; regulations: rules; remain: stay; remained: stayed
    report (n): paper; require: need; request (v): ask; resolution: promise
    responsible: in charge; silence: quiet; situation: how things are; speech: talk
    sufficient: enough; terminate: end; therefore: so; umbrella: rain stick; understand: know
    vehicle: car; wealthy: rich
    """
)
AMERICAN = Lexicon.parse(
    """
    autumn: fall; biscuit: cookie; biscuits: cookies; boot (n): trunk; centre: center
    cheque: check; chemist: drugstore; cinema: movie theater; colour: color; colours: colors
    defence: defense; favour: favor; favourite: favorite; flat (n): apartment; flats: apartments
    football: soccer; grey: gray; holiday: vacation; holidays: vacation; honour: honor
    jumper: sweater; labour: labor; lift (n): elevator; lorry: truck; lorries: trucks
    metre: meter; mobile (n): cell phone; mum: mom; neighbour: neighbor; neighbours: neighbors
    organise: organize; organised: organized; pavement: sidewalk; petrol: gas; post (n): mail
    postman: mailman; programme: program; pub: bar; queue: line; realise: realize
    realised: realized; rubbish: trash; shop: store; shops: stores; theatre: theater
    tram: streetcar; travelled: traveled; trousers: pants; underground: subway; pupils: students
    headmaster: principal; railway: railroad; Chancellor: President; schnaps: liquor
    gymnasium: high school; whilst: while; towards: toward; first floor: second floor
    ground floor: first floor; euros: dollars; euro: dollar; coffee and cake: coffee and donuts
    supper: dinner; bread roll: bagel
    """
)
