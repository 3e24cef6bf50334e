"""judgelab: a laboratory for evaluating evaluators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgelab.core.errors import JudgelabError
    from judgelab.python import audit, compare, load, run

__version__ = "0.1.0"
__all__ = ["JudgelabError", "__version__", "audit", "compare", "load", "run"]


def __getattr__(name: str) -> Any:
    """``judgelab.run`` loads what a run needs; ``import judgelab`` loads nothing."""
    if name in __all__:
        from judgelab import python

        return getattr(python, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Names for completion."""
    return [*globals(), *__all__]
