"""Replies that cost memory, secrets, time or money: each on every call of a short run."""

from __future__ import annotations

from dataclasses import replace

from tests.check_faults.trial import PRICES, Findings, Left, Place, ran
from tests.servers.process import scripted

CANARY = "sk-canary-0123456789"
SHORT, LONGER = (2, 5), (2, 11)  # items, agents: 40 and 220 calls
MEMORY = 800  # MB at most, imports included, whatever a body holds
TIME = 15  # seconds until a run ends that is told to wait for a day
BUDGET = 0.003  # half of what the calls of the panel truly cost
SECRETS = ("key", "key=model", "key=refusal", "400")
WAITS = ("retry_after=86400", "retry_after=inf", "retry_after=nan", "retry_after=date")


def hostile(place: Place) -> Findings:
    """Redirects, bodies without bounds, echoed keys, control characters, waits, odd usage."""
    found = Findings()
    bodies = ("redirect", "big=50x1", "bomb=1000x1")
    for mode in (*bodies, *SECRETS, "control", "control_reply", *WAITS):
        trouble(replace(place, shape=SHORT), found, mode)
    for usage in ("negative", "word", "absent"):
        spending(replace(place, shape=LONGER), found, usage)
    return found


def trouble(place: Place, found: Findings, mode: str) -> None:
    """A short run where each call meets this, and a row about it."""
    root = place.folder / f"hostile_{mode.replace('=', '_')}"
    share = "@.5" if mode in SECRETS else "@1"
    fault = mode.replace("x1", f"{share}x1") if "x1" in mode else f"{mode}{share}xall"
    server_root = root / "server"
    with scripted(server_root, faults=[fault], key=CANARY) as server:
        job = place.job(server.url, timeout=10, retries=1)
        ended = ran(root, job, TIME + 2, OPENAI_API_KEY=CANARY, OPENAI_LOG="debug")
        account = server.account()
    holding = [p.name for p in root.rglob("*") if p.is_file() and server_root not in p.parents
               and CANARY.encode() in p.read_bytes()]  # fmt: skip
    control = sorted({c for c in ended.said if not c.isprintable() and c not in "\n\t"})
    found.rows.append({
        "mode": fault, "exit": ended.code, "requests": account.requests,
        "leaked": account.leaked, "memory MB": ended.megabytes, "files with the key": len(holding),
        "control characters": len(control), "s": round(ended.seconds, 1),
        "unscored": len(Left.below(root).reasons),
    })  # fmt: skip
    found.claim(f"{mode}: nothing follows a redirect", account.leaked == 0)
    found.claim(f"{mode}: at most {MEMORY} MB ({ended.megabytes})", ended.megabytes <= MEMORY)
    found.claim(f"{mode}: the key is in no file {holding[:3] or ''}".strip(), not holding)
    found.claim(f"{mode}: no control characters {control or ''}".strip(), not control)
    found.claim(f"{mode}: a sentence, not a traceback", "Traceback" not in ended.said)
    found.claim(f"{mode}: ends within {TIME} s", ended.seconds <= TIME)


def spending(place: Place, found: Findings, usage: str) -> None:
    """A budget where the server lies about usage."""
    root = place.folder / f"hostile_usage_{usage}"
    with scripted(root / "server", faults=[f"usage={usage}@1"]) as server:
        job = place.job(server.url, f"budget.max_cost={BUDGET}", concurrency=4)
        ended = ran(root, job, TIME + 2)
        account = server.account()
    true, left = account.cost(*PRICES), Left.below(root)
    found.rows.append({"mode": f"usage={usage}, max_cost={BUDGET}", "exit": ended.code,
                       "requests": account.requests, "s": round(ended.seconds, 1),
                       "memory MB": ended.megabytes})  # fmt: skip
    found.claim(f"usage={usage}: true cost {true:.4f} <= {BUDGET} x 1.02", true <= BUDGET * 1.02)
    found.claim(f"usage={usage}: stops at the budget (exit {ended.code})", ended.code in (1, 3))
    found.claim(f"usage={usage}: no negative cost ({left.cost:.4f})", left.cost >= 0)
