"""How a call can end, and what asks it again: docs/faults.md shows this table."""

from __future__ import annotations

KEPT, RETRY, OPEN = "nothing: it is kept", "`retry=unscored`", "the same command"

ENDINGS = {
    "reply": ("a reply with a text, also one without a label", KEPT),
    "refusal": ("a refusal or a content filter", RETRY),
    "empty": ("an empty reply", RETRY),
    "cut": ("a reply that is cut at the limit of tokens", RETRY),
    "error in 200": ('HTTP 200 with `{"error": ...}` or another body that is no completion', RETRY),
    "malformed": ("a body that is not JSON, or larger or deeper than is reasonable", RETRY),
    "4xx": ("another HTTP 4xx", RETRY),
    "403 later": ("HTTP 403 after the first answer", RETRY),
    "setting": ("HTTP 401, 403, 404 or a redirect before the first answer (exit code 1)", OPEN),
    "outage": ("HTTP 401, 404 or a redirect after the first answer", OPEN),
    "passing": ("HTTP 408, 409, 429 or 5xx that outlasts the retries", OPEN),
    "timeout": ("no answer in `evaluation_lm.limits.timeout`, in all attempts", OPEN),
    "broken": ("a connection that breaks, also within a body, in all attempts", OPEN),
    "unsent": ("not sent: a spent budget, an outage, an interruption", OPEN),
}
"""Kind of ending -> what it is, and what asks such a call again.

What ``retry=unscored`` asks again is settled: the call was paid for, or is refused for good. What
the same command asks again is open, and leaves the run partial.
"""


def table() -> str:
    """The table as docs/faults.md holds it."""
    rows = (f"| {what} | {again} |" for what, again in ENDINGS.values())
    return "\n".join(["| how a call ends | what asks it again |", "|---|---|", *rows])
