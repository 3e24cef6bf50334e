"""Pages of docs/reference on Python: what ``import judgelab`` gives, and what parts derive from."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import judgelab
from experiments.reference import cell, described, entries, located, part, prose

BASES = {
    "mechanism": "judgelab.mechanism.protocol.Mechanism",
    "evaluation_lm": "judgelab.core.lm.EvaluationLM",
    "study": "judgelab.engine.study.Study",
    "attack": "judgelab.attack.protocol.Attack",
    "agents": "judgelab.agents.Agents",
    "dataset": "judgelab.dataset.Dataset",
    "exam": "judgelab.exam.protocol.Exam",
    "tracker": "judgelab.tracker.protocol.Tracker",
}
"""Axis -> what a class of one's own derives from, or looks like."""


def python() -> str:
    """Every public name of the package, and the classes that its functions give back."""
    return "\n".join(_documented(name, value) for name, value in _public())


def _public() -> Iterator[tuple[str, Any]]:
    before: set[Any] = set()
    public = {name: getattr(judgelab, name) for name in judgelab.__all__ if name[0] != "_"}
    for name, value in sorted(
        public.items(), key=lambda one: (inspect.isclass(one[1]), one[0] != "run")
    ):
        parts = {f"judgelab.{name}": value} | {one.__name__: one for one in _return_classes(value)}
        for title, one in parts.items():
            if one not in before:
                before.add(one)
                yield title, one


def _return_classes(function: Any) -> list[type]:
    """Classes of ours that the return annotation of a function names."""
    if inspect.isclass(function):
        return []
    words = re.findall(r"\w+", str(inspect.signature(function).return_annotation))
    module = importlib.import_module(function.__module__)
    values = [getattr(module, word, None) for word in words]
    return [one for one in values if inspect.isclass(one) and one.__module__.startswith("judgelab")]


def interfaces() -> str:
    """A section for each axis: its interface, with every member."""
    return "\n".join(_documented(axis, located(target)) for axis, target in BASES.items())


def _documented(title: str, value: Any) -> str:
    documentation = inspect.getdoc(value) or ""
    lines = [f"## {title}", ""]
    if inspect.isclass(value):
        lines += [f"`{value.__module__}.{value.__name__}`", ""]
    else:
        lines += ["```python", f"{title}{_signature(value)}", "```", ""]
    lines += [prose(described(documentation)), ""]
    for section, column in (("Args", "argument"), ("Attributes", "attribute")):
        lines_by_name = entries(documentation, section)
        lines += _listed(column, {name: text for name, text in lines_by_name.items() if name})
    for section in ("Returns", "Raises"):
        text = part(documentation, section)
        lines += [f"{section}: {prose(' '.join(text.split()))}", ""] if text else []
    return "\n".join([*lines, *_listed("member", _members(value))])


def _signature(function: Any) -> str:
    """Names and defaults; the types stand in the text."""
    signature = inspect.signature(function)
    empty = inspect.Parameter.empty
    bare = [one.replace(annotation=empty) for one in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _members(value: Any) -> dict[str, str]:
    """Public methods and properties that a class documents, those of its bases included."""
    if not inspect.isclass(value):
        return {}
    texts = {}
    bases = [base for base in reversed(value.__mro__) if base.__module__.startswith("judgelab")]
    for name, member in {k: v for base in bases for k, v in vars(base).items()}.items():
        value_like = isinstance(member, property | cached_property)
        function = member.fget if isinstance(member, property) else member
        function = member.func if isinstance(member, cached_property) else function
        function = getattr(function, "__func__", function)
        text = inspect.getdoc(function) if inspect.isfunction(function) else None
        if text and not name.startswith("_"):
            texts[name if value_like else f"{name}()"] = described(text).split("\n\n")[0]
    return texts


def _listed(column: str, texts: dict[str, str]) -> list[str]:
    rows = [f"- `{name}`: {cell(text)}" for name, text in texts.items() if len(text.split()) > 5]
    plain = [f"`{name}`" for name, text in texts.items() if len(text.split()) <= 5]
    rows += [f"- {', '.join(plain)}: as their names say"] if plain else []
    return [f"{column.capitalize()}s:", "", *rows, ""] if rows else []
