"""One process, the ordinary case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgelab.scale.protocol import Spread, alone
from judgelab.store.cached_lm import Cached


class Local:
    """This process asks its LM itself. (An LM may still use processes or threads of its own.)"""

    def over(self, node: Mapping[str, Any], lm: Cached) -> Spread:
        """Nothing is spread."""
        return alone

    def close(self) -> None:
        """Nothing to give back."""
