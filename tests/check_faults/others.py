"""Damaged caches and odd replies."""

from __future__ import annotations

import logging

from tests import odd_replies
from tests.cache_damage import REFUSED, RIGHT, WRONG, cut, flip, make, trial
from tests.check_faults.trial import Findings, Place


def cache(place: Place) -> Findings:
    """One-bit flips and truncations of a call cache."""
    logging.getLogger("judgelab").setLevel(logging.ERROR)  # each file says that it is damaged
    found, file = Findings(), place.folder / "damaged" / "calls.sqlite"
    truth = make(file)
    for damage, times in ((flip, 40 if place.small else 400), (cut, 20 if place.small else 200)):
        outcomes = trial(file, truth, damage, times, seed=0)
        again = outcomes["rows asked again"]
        found.rows.append({"damage": damage.__name__, "times": times, RIGHT: outcomes[RIGHT],
                           "asked again": again, REFUSED: outcomes[REFUSED]})  # fmt: skip
        found.claim(f"{damage.__name__}: wrong answers served: 0", outcomes[WRONG] == 0)
    return found


def odd(place: Place) -> Findings:
    """5,000 generated replies over the real HTTP client."""
    found, folder, many = Findings(), place.folder / "odd", 200 if place.small else 5000
    folder.mkdir(parents=True)
    came = odd_replies.trial(many, 1, folder)
    for verb in ("chat", "echo", "prompt"):
        for kind in odd_replies.KINDS:
            states = {s: came.counts[verb, kind, s] for s in ("read", "settled", "unsettled")}
            found.rows.append({"verb": verb, "replies": kind, **states})
    found.notes += came.wrong[:50]
    found.claim("none raises, passes for a result or lacks its reason", not came.wrong)
    found.claim(f"{many} replies came", came.counts.total() == many // 4 * 4)
    return found
