"""Who says nothing about the item, who stands apart, and may a ranking be believed? No labels."""

from judgelab.study.screen.study import Screen

__all__ = ["Screen"]
