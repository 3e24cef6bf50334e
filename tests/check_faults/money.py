"""Rates and budgets, as the server sees them."""

from __future__ import annotations

import subprocess

from judgelab.core.lm import ChatRequest, Message
from judgelab.endpoint.limits import Limits
from judgelab.evaluation_lm.openai import OpenAI
from tests.check_faults.trial import PRICES, Findings, Left, Place, start
from tests.servers.process import scripted

PER_MINUTE = 6000
STRAY = {0.0: 0.95, 0.05: 0.90, 0.2: 0.75}  # share of stray 429s -> least share of the rate
ABOVE = 1.05  # of the declared rate
MAX_COST = 0.05
OVERSHOOT = 1.02


def rates(place: Place) -> Findings:
    """The declared rate with stray 429s, and of two jobs that run beside each other."""
    found, calls = Findings(), 300 if place.small else 1000
    for share, least in STRAY.items():
        folder = place.folder / f"rate_{share:g}"
        requests = [ChatRequest((Message("user", f"judge {k}"),)) for k in range(calls)]
        limits = Limits(concurrency=64, requests_per_minute=PER_MINUTE, backoff=0.2, retries=8)
        with scripted(folder, faults=[f"429@{share}/requests"]) as server:
            lm = OpenAI("m", server.url, limits)
            replies = lm.chat(requests)
            lm.close()
            account = server.account()
        part = account.rate() / PER_MINUTE
        found.rows.append(_row(f"{100 * share:g} % stray 429s", account.requests, part))
        found.claim(f"{100 * share:g} % stray 429s: {part:.0%} of the rate, at least {least:.0%}",
                    least <= part <= ABOVE)  # fmt: skip
        found.claim("and every call is answered", all(reply.text for reply in replies))
    two_jobs(place, found)
    return found


def two_jobs(place: Place, found: Findings) -> None:
    """Two runs with one cache beside each other, each of which declares the whole rate."""
    root = place.folder / "two_jobs"
    with scripted(root / "server") as server:
        limit = f"evaluation_lm.limits.requests_per_minute={PER_MINUTE}"
        job = [
            word
            for word in place.job(server.url, limit, shape=(2, 16))
            if word != "mechanism=judge"
        ]
        jobs = [start(root, [*job, f"mechanism={name}"], root / f"{name}.txt")
                for name in ("judge", "tvd_mi")]  # fmt: skip
        codes = [_wait(one) for one in jobs]
        account = server.account()
    most = account.most(10) / 10 * 60 / PER_MINUTE
    found.rows.append(_row("two jobs at once", account.requests, most))
    found.claim(f"two jobs: {most:.0%} of one rate in the busiest 10 s, at most {ABOVE:.0%}",
                most <= ABOVE)  # fmt: skip
    found.claim("and both end well", codes == [0, 0])


def overshoot(place: Place) -> Findings:
    """Replies 20 times as long as asked at concurrency 32: the true cost against max_cost."""
    found = Findings()
    for fault in ("long=20@1", "long=20@.1", "usage=negative@.5", "cut@.5xall"):
        root = place.folder / f"overshoot_{fault.replace('=', '_').replace('@', '_')}"
        with scripted(root / "server", faults=[fault], delay=0.05) as server:
            ended = place.run(root, [*place.job(server.url), f"budget.max_cost={MAX_COST}"])
            account = server.account()
        true, left = account.cost(*PRICES), Left.below(root)
        found.rows.append({
            "fault": fault, "exit": ended.code, "requests": account.requests,
            "cost server": f"{true:.4f}", "cost meter": f"{left.cost:.4f} + {left.perhaps:.4f}",
            "of max_cost": f"{true / MAX_COST:.1%}",
        })  # fmt: skip
        found.claim(f"{fault}: true cost {true:.4f} <= {MAX_COST} x {OVERSHOOT}",
                    true <= MAX_COST * OVERSHOOT)  # fmt: skip
        found.claim(f"{fault}: exit {ended.code} is 0, 1 or 3", ended.code in (0, 1, 3))
    return found


def _row(what: str, requests: int, part: float) -> dict[str, object]:
    return {"trial": what, "requests": requests, "of the declared rate": f"{part:.0%}"}


def _wait(job: subprocess.Popen[bytes]) -> int:
    return job.wait(timeout=120)
