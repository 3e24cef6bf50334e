"""No preprocessing."""

from __future__ import annotations

from typing import ClassVar

from judgelab.core.step import Unchanged


class Identity(Unchanged):
    """The texts as they are."""

    axis: ClassVar[str] = "preprocessor"
    name: ClassVar[str] = "identity"
