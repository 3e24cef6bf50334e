"""kill -9 of the parent of a parallel sweep, again and again."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

from tests.check_faults.trial import Findings, Left, Place, differing, ran
from tests.fresh import Fresh, environment
from tests.servers.process import Running, scripted

KILLS = 20
CONCURRENCY = 4
JOBS = 2
AT_ONCE = JOBS * CONCURRENCY
GRACE = 0.5  # seconds after a kill in which what was on its way may still arrive
LINGER = 10.0  # seconds in which every worker must have ended
WATCH = 1.0  # seconds that the server is watched for after a kill


def kills(place: Place) -> Findings:
    """kill -9 of a parallel sweep's parent, 20 times: nothing pays after it."""
    found, root, wanted = Findings(), place.folder / "kills", 2 if place.small else KILLS
    calm = place.folder / "kills_calm"
    with scripted(place.folder / "kills_calm_server") as server:
        ended = ran(calm, ["-m", *sweep(place, server.url), "hydra/launcher=basic"])
        found.claim("the undisturbed sweep exits with 0", ended.code == 0)
        distinct = server.account().calls
    draw, late, alive, done = random.Random(0), 0, 0, 0
    with scripted(place.folder / "kills_server", delay=0.02) as server:
        cores = ("hydra/launcher=cores", f"hydra.launcher.n_jobs={JOBS}")
        job = ["-m", *sweep(place, server.url), *cores]
        step = distinct // (wanted + 4)
        for k in range(wanted):
            after, left = one_kill(root, job, server, draw.randrange(step // 3, step), k)
            late, alive, done = late + max(after, 0), alive + left, done + (after >= 0)
        seen = server.account()
        server.change(delay=0)
        last = ran(root, job)
        account, left_over = server.account(), Left.below(root)
    found.rows.append({
        "kills": done, "calls": distinct, "requests before the last start": seen.requests,
        "requests in all": account.requests,
        f"arrived > {GRACE} s after a kill": late, f"workers alive after {LINGER:g} s": alive,
        "paid twice": account.charged_again, "exit at last": last.code,
        "sent (meter)": left_over.sent,
    })  # fmt: skip
    differ = differing(root, calm)
    found.claim(f"{wanted} kills hit a sweep at work", done == wanted)
    found.claim("requests after the kill: 0", late == 0)
    found.claim("no worker outlives its parent", alive == 0)
    found.claim("the restarted sweep exits with 0", last.code == 0)
    found.claim("every call was asked", account.calls == distinct)
    found.claim(f"paid twice at most what was in flight ({done} x {AT_ONCE})",
                account.charged_again <= done * AT_ONCE)  # fmt: skip
    found.claim(f"the same bytes as an undisturbed sweep {differ[:3] or ''}".strip(), not differ)
    return found


def sweep(place: Place, url: str) -> list[str]:
    """Two jobs that ask."""
    job = [word for word in place.job(url) if word != "mechanism=judge"]
    job = [word for word in job if "limits.concurrency" not in word]
    return [*job, f"evaluation_lm.limits.concurrency={CONCURRENCY}", "mechanism=judge,tvd_mi"]


def one_kill(
    root: Path, job: list[str], server: Running, requests: int, number: int, grace: float = GRACE
) -> tuple[int, int]:
    """(requests that arrived late, workers alive) after a kill; -1: the sweep ended first."""
    before = server.account().requests if server.log.exists() else 0
    parent = Fresh(job, environment(root), root / f"said_{number}.txt")
    while parent.poll() is None and count(server) < before + requests:
        time.sleep(0.01)
    if parent.poll() is not None:
        return -1, 0
    parent.send_signal(signal.SIGKILL)
    at = time.monotonic()
    parent.wait()
    time.sleep(grace + WATCH / 2)
    late = sum(arrival > at + grace for arrival in server.account().times)
    while (alive := at_work(parent.pid)) and time.monotonic() < at + LINGER:
        time.sleep(0.05)
    for process in alive:
        os.kill(process, signal.SIGKILL)
    return late, len(alive)


def count(server: Running) -> int:
    return server.log.read_bytes().count(b'"seen"') if server.log.exists() else 0


def at_work(session: int) -> list[int]:
    """Processes of a session, those that only clean up left out."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = entry.joinpath("stat").read_text().rpartition(")")[2].split()
            command = entry.joinpath("cmdline").read_bytes()
        except OSError:
            continue
        if int(words[3]) == session and words[0] != "Z" and b"resource_tracker" not in command:
            found.append(int(entry.name))
    return found
