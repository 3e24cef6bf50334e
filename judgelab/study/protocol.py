"""The seam of the study axis."""

from __future__ import annotations

from typing import Protocol

from judgelab.result import Result
from judgelab.study.lab import Lab


class Study(Protocol):
    """What a run does with its parts."""

    def run(self, lab: Lab) -> Result:
        """Everything that ends up in result.json; all model traffic goes through the lab's LM."""
        ...
