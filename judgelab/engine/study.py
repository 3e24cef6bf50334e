"""The seam of the study axis."""

from __future__ import annotations

from typing import Protocol

from judgelab.core.result import Result
from judgelab.engine.context import Lab


class Study(Protocol):
    """A question about a mechanism, answered in tables and figures."""

    def ask(self, lab: Lab) -> None:
        """Put every question to the LMs that ``run`` would put, and nothing more.

        A dry run counts them so; what they would be answered is not known to it.
        """
        ...

    def run(self, lab: Lab) -> Result:
        """Everything that ends up in result.json; all model traffic goes through the lab's LMs."""
        ...
