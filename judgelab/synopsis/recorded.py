"""The synopsis that came with the data."""

from __future__ import annotations

from typing import ClassVar

from judgelab.core.step import Unchanged


class RecordedSynopsis(Unchanged):
    """Leaves ``Item.synopsis`` as the dataset filled it (abstract, categories, keywords)."""

    axis: ClassVar[str] = "synopsis"
    name: ClassVar[str] = "recorded"
