"""What an endpoint allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from judgelab.core.bounds import Count, Positive

Seconds = Annotated[float, Field(ge=0)]


@dataclass(frozen=True)
class Limits:
    """What an endpoint allows, and how patient we are. None of it changes an answer."""

    concurrency: Count = 32  # attempts under way at once
    requests_per_minute: Positive | None = None  # None where there is no limit; retries count
    tokens_per_minute: Positive | None = None
    timeout: Positive = 120.0  # seconds until an attempt counts as lost
    retries: Annotated[int, Field(ge=0)] = 6  # attempts after the first
    backoff: Seconds = 0.5  # before the first retry, at most; doubles with each (full jitter)
    longest_wait: Seconds = 60.0  # that such a wait may grow to, Retry-After's too
    breaker: Count | None = (
        10  # calls in a row that use up their attempts, then it stops; None: off
    )
