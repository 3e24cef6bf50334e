"""judgelab: a laboratory for evaluating evaluators."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"
__all__ = ["__version__", "audit"]


def __getattr__(name: str) -> Any:
    """``judgelab.audit`` loads what an audit needs; ``import judgelab`` loads nothing."""
    if name == "audit":
        from judgelab.study.audit.python import audit

        return audit
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
