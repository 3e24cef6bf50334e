"""Faulty calls and outages: what was sent, paid, settled, unscored, and what it cost."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

from tests.check_faults.trial import PRICES, Ended, Findings, Left, Place, differing, ran
from tests.servers.account import Account
from tests.servers.process import Running, scripted

PASSING = ("429", "500x2", "503x5", "hang=9", "cut", "drop", "retry_after=0.04x2")
LASTING = {  # mode -> the reason that the report gives
    "malformed": "not JSON",
    "html": "not JSON",
    "deep": "nested",
    "choice_null": "not a chat completion",
    "refusal": "refused",
    "filter": "content filter",
    "length": "cut at",
    "empty": "no choice",
    "blank": "empty answer$",
    "unreadable": "none of the labels",
}
READ = ("usage=word", "usage=negative", "usage=huge", "surrogate", "surrogate_header", "model")
"""Odd, but their text is an answer."""
START = (2, 21)  # items, agents
KNOCKS = 400  # 32 at once, four attempts each, and as many again while the breaker waits


def started(
    found: Findings, place: Place, name: str, running: Running, root: Path, job: list[str]
) -> tuple[Ended, Account, Left]:
    """A start of the job, and both accounts so far, of which a line of the table tells."""
    ended = ran(root, job)
    server, left = running.account(), Left.below(root)
    unsettled = place.calls - left.settled if left.unsettled is None else left.unsettled
    line = {
        "start": name,
        "exit": ended.code,
        "sent (meter)": left.sent,
        "arrived": server.requests,
        "paid": server.charged,
        "paid twice": server.charged_again,
        "settled": place.calls - unsettled,
        "unsettled": unsettled,
        "unscored": sum(left.reasons.values()),
        "cost meter": f"{left.cost:.4f} + {left.perhaps:.4f}",
        "cost server": f"{server.cost(*PRICES):.4f}",
        "DONE": left.done,
        "s": round(ended.seconds, 1),
    }
    found.rows.append(line)
    return ended, server, left


def calm(place: Place) -> Path:
    """The root of an undisturbed run of the same job, made once."""
    root = place.folder / "calm_{}_{}".format(*place.size)
    if not (root / "runs").exists():
        with scripted(place.folder / "calm_server") as server:
            ended = ran(root, place.job(server.url))
            assert ended.code == 0, ended.said
    return root


def accounts_agree(found: Findings, server: Account, left: Left) -> None:
    """The meter against the server, and both costs."""
    found.claim("the meter counts every request that arrived", left.sent >= server.requests)
    found.claim("and no others", left.sent == server.requests)
    true = server.cost(*PRICES)
    found.claim(
        "true cost <= the meter's, with what unknown ones may have cost",
        true <= left.cost + left.perhaps + 1e-9,
    )
    found.claim("the meter's known cost is not negative and not above the true one",
                -1e-12 <= left.cost <= true + 1e-9)  # fmt: skip


def faults_that_pass(place: Place) -> Findings:
    """A fifth of the calls meet faults that pass; some outlast the retries of one start."""
    found, root = Findings(), place.folder / "passing"
    with scripted(place.folder / "passing_server", faults=PASSING, share=0.2) as server:
        job = place.job(server.url)
        first, _, before = started(found, place, "first", server, root, job)
        second, account, left = started(found, place, "second", server, root, job)
    open_ = found.rows[0]["unsettled"]
    found.notes += [f"faults met: {dict(account.faults)}", f"reasons: {dict(before.reasons)}"]
    found.claim("the first start leaves open calls and exits with 3", open_ and first.code == 3)
    found.claim("it does not count as finished", found.rows[0]["DONE"] == 0)
    found.claim("it says how many are open", open_ and re.search(rf"\b{open_}\b", first.said))
    settles(found, place, root, second)
    found.claim("no whole answer was paid twice", account.answered == account.calls)
    accounts_agree(found, account, left)
    return found


def settles(found: Findings, place: Place, root: Path, last: Ended) -> None:
    """The last start of a job left nothing open, and what an undisturbed run writes."""
    found.claim("the last start exits with 0", last.code == 0)
    found.claim("0 unsettled after it", found.rows[-1]["unsettled"] == 0)
    differ = differing(root, calm(place))
    found.claim(f"the same bytes as an undisturbed run {differ[:3] or ''}".strip(), not differ)


def faults_that_last(place: Place) -> Findings:
    """A fifth of the calls get replies of no use or odd ones, which asking again would not mend."""
    found, root = Findings(), place.folder / "lasting"
    kinds = [*LASTING, *READ, "429", "500"]
    with scripted(place.folder / "lasting_server", faults=kinds, share=0.2) as server:
        job = place.job(server.url)
        first, account, left = started(found, place, "first", server, root, job)
        second, again, _ = started(found, place, "second", server, root, job)
        asked_again = again.requests - account.requests
    found.notes += [f"faults met: {dict(account.faults)}", f"reasons: {dict(left.reasons)}"]
    found.claim("one start is enough: exit 0", first.code == 0)
    found.claim("the second start asks nothing", second.code == 0 and asked_again == 0)
    found.claim("no call was paid twice", account.charged_again == 0)
    met, told = Counter[str](), Counter[str]()
    for mode, words in LASTING.items():
        met[words] += account.faults[mode]
    for reason, n in left.reasons.items():
        kind = next((words for words in met if re.search(words, reason)), reason)
        told[kind] += n
    found.claim(f"each unscored call has its reason (server {dict(+met)}, run {dict(told)})",
                +met == told)  # fmt: skip
    accounts_agree(found, account, left)
    return found


def outage_within(place: Place) -> Findings:
    """An outage in the middle that heals while the run is on."""
    found, root = Findings(), place.folder / "within"
    middle = {"after": place.calls // 2, "requests": place.calls // 10, "mode": "503"}
    with scripted(place.folder / "within_server", outage=middle) as server:
        job = place.job(server.url)
        for start in range(1, 31):
            ended, account, left = started(found, place, f"{start}.", server, root, job)
            if ended.code != 3:
                break
    settles(found, place, root, ended)
    accounts_agree(found, account, left)
    found.claim("no call was paid twice", account.charged_again == 0)
    return found


def outage_after(place: Place) -> Findings:
    """An outage in the middle that outlasts the run: the same command, once it is over."""
    found, root = Findings(), place.folder / "outage"
    half = place.calls // 2
    with scripted(place.folder / "outage_server", outage={"after": half, "mode": "503"}) as server:
        job = place.job(server.url)
        first, out, _ = started(found, place, "first", server, root, job)
        server.change(outage=None)
        second, account, left = started(found, place, "second", server, root, job)
    knocks = out.requests - half
    found.notes.append(f"requests into the outage: {knocks}")
    found.claim("the first start exits with 3, not finished", (first.code, left.done) == (3, 1))
    found.claim(f"it stops soon ({knocks} requests into the outage, bound {KNOCKS})",
                knocks <= KNOCKS)  # fmt: skip
    settles(found, place, root, second)
    found.claim("no call was paid twice", account.charged_again == 0)
    accounts_agree(found, account, left)
    return found


def outage_from_the_start(place: Place) -> Findings:
    """Nothing is ever answered: by 500s, 400s, silence, or nobody there."""
    found = Findings()
    modes = ("500", "400") if place.small else ("500", "400", "hang=9", "drop", "retry_after=0.1")
    place = place if place.small else replace(place, shape=START)
    for mode in modes:
        root = place.folder / f"start_{mode.split('=')[0]}"
        with scripted(place.folder / f"{root.name}_server", outage={"mode": mode}) as server:
            job = place.job(server.url)
            first, out, _ = started(found, place, f"{mode} always", server, root, job)
            server.change(outage=None)
            job += ["retry=unscored"] if mode == "400" else []
            second, _, _ = started(found, place, "healed", server, root, job)
        found.claim(f"{mode} on every call: exit 1", first.code == 1)
        found.claim(f"{mode}: stops soon ({out.requests} requests)", out.requests <= KNOCKS)
        settles(found, place, root, second)
    root = place.folder / "nobody"
    ended = ran(root, place.job("http://127.0.0.1:9/v1"))
    found.claim(f"nobody there: exit 1 within 30 s ({ended.seconds:.0f} s)",
                ended.code == 1 and ended.seconds < 30)  # fmt: skip
    return found
