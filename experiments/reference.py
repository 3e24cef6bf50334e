"""Pages of docs/reference, made from the configs and from the docstrings of their classes.

A page for each axis: what its options are, and by class every setting with its default and what
it means: the comment beside it in the YAML, else what meanings.yaml says of this setting, else what
its class says (under ``Args``, or beside the field), else what meanings.yaml says of that name.
"""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from judgelab.config.composing import read_option

CONF = Path(__file__).resolve().parents[1] / "conf"
PLACES = {"exam": "study.NAME", "finetune": "study.settings"}
"""Axis -> where its settings stand in a config, if not under its own name."""
COMMON = Path(__file__).with_name("meanings.yaml")
"""What settings of many options mean, where an option's own YAML and class do not say."""
OTHERS = {"defaults", "_target_"}
NAMED = 3  # options of one class that a title names; of more it has the class
SHARED = 2  # so many classes have a setting of one meaning: then a page explains it once
LONGEST = 60  # characters of a default that are shown
PAGE = re.compile(r"docs/([\w/]+)\.md")
FIELD = re.compile(r"^    (\w+): [^#\n]+#\s+(.+)$", re.MULTILINE)
SECTION = re.compile(r"^(Args|Raises|Returns|Attributes):$", re.MULTILINE)


@dataclass(frozen=True)
class Setting:
    """One setting of an option."""

    key: str  # as on the command line, without the axis
    default: str  # as in the YAML
    what: str  # what it means; empty where nobody says


@cache
def settings(path: Path) -> list[Setting]:
    """Of a YAML and of the option it starts from, those of nested parts included, in its order."""
    text = path.read_text(encoding="utf-8")
    node = yaml.compose(text)
    if not isinstance(node, yaml.MappingNode):
        return []
    by_key = {one.key: one for base in _bases(path) for one in settings(base)}
    for one in list(_of(node, "", text.splitlines(), by_key)):
        inherited = by_key.get(one.key, one)
        by_key[one.key] = replace(one, what=one.what or inherited.what)
    return list(by_key.values())


def _bases(path: Path) -> list[Path]:
    """Options of the same folder that a YAML starts from."""
    defaults = (yaml.safe_load(path.read_text(encoding="utf-8")) or {}).get("defaults", [])
    files = [path.with_name(f"{one}.yaml") for one in defaults if isinstance(one, str)]
    # no settings of Hydra
    return [base for base in files if base.is_file() and base.parent != CONF]


def _of(
    node: yaml.MappingNode, prefix: str, lines: list[str], keys: Iterable[str]
) -> Iterator[Setting]:
    documented = _arguments(_target(node))
    for name, value in node.value:
        if name.value in OTHERS:
            continue
        key = f"{prefix}{name.value}"
        block = isinstance(value, yaml.CollectionNode) and not value.flow_style
        parts = block or any(one.startswith(f"{key}.") for one in keys)  # as in the base
        if isinstance(value, yaml.MappingNode) and (parts or _target(value)):
            yield from _of(value, f"{key}.", lines, keys)
            continue
        mark = name.end_mark if block or getattr(value, "style", None) == ">" else value.end_mark
        comment = _comment(lines[mark.line][mark.column :])
        what = comment or _common().get(key) or documented.get(name.value, "")
        yield Setting(key, _default(value), what)


def _target(node: yaml.MappingNode) -> str | None:
    return next((value.value for name, value in node.value if name.value == "_target_"), None)


def _comment(rest: str) -> str:
    return rest.partition("#")[2].strip()


def _default(value: yaml.Node) -> str:
    if isinstance(value, yaml.ScalarNode):
        return "required" if value.value == "???" else " ".join(value.value.split()) or "null"
    plain = yaml.safe_load(yaml.serialize(value))
    return yaml.safe_dump(plain, default_flow_style=True, sort_keys=False, width=10_000).strip()


def located(target: str) -> Any:
    """The class or function of a dotted name."""
    module, _, name = target.rpartition(".")
    return getattr(importlib.import_module(module), name)


@cache
def _arguments(target: str | None) -> dict[str, str]:
    """Argument -> what its class says of it, by the field or under ``Args``, as a YAML would."""
    if target is None:
        return {}
    cls, texts = located(target), dict[str, str]()
    for base in reversed(inspect.getmro(cls)):
        if base.__module__.startswith("judgelab."):
            texts |= dict(FIELD.findall(inspect.getsource(base)))
    texts |= entries(inspect.getdoc(cls) or "", "Args")
    return {name: re.sub(r"\bNone\b", "null", text) for name, text in texts.items()}


def part(documentation: str, section: str) -> str:
    """A section of a docstring, such as ``Returns``; empty where there is none."""
    parts = SECTION.split(documentation)
    body = dict(zip(parts[1::2], parts[2::2], strict=True)).get(section, "")
    return textwrap.dedent(body).strip("\n")


def entries(documentation: str, section: str) -> dict[str, str]:
    """Name -> text, of a section such as ``Args`` of a docstring."""
    body = part(documentation, section)
    texts: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", body) if body else []:
        names, _, text = entry.partition(":")
        texts |= {name.strip(): " ".join(text.split()) for name in names.split(",")}
    return texts


def described(documentation: str) -> str:
    """What a docstring says before its sections."""
    return SECTION.split(documentation)[0].strip()


def prose(text: str) -> str:
    """Text of a docstring as Markdown: code in single backticks, no tags, links to pages."""
    parts = re.split(r"(``.*?``)", text, flags=re.DOTALL)
    plain = [part.replace("<", "&lt;").replace("*", "\\*") for part in parts[::2]]
    plain = [PAGE.sub(r"[\1](../\1.md)", part.replace("::\n", ":\n")) for part in plain]
    code = [part[1:-1] for part in parts[1::2]]
    return "".join(a + b for a, b in zip(plain, [*code, ""], strict=True))


def cell(text: str) -> str:
    """The same in a cell of a table, where a bar would end it; none may stand in code there."""
    parts = re.split(r"(`.*?`)", prose(" ".join(text.split())))
    plain = [part.replace("|", "\\|") for part in parts[::2]]
    code = [part.replace("|", "/") for part in parts[1::2]]
    return "".join(a + b for a, b in zip(plain, [*code, ""], strict=True))


def classes(axis: str) -> dict[str, list[Path]]:
    """Dotted name of a class -> the YAMLs that build it, by the name of the class."""
    by_class: dict[str, list[Path]] = {}
    for path in sorted((CONF / axis).glob("*.yaml")):
        target = read_option(path).get("_target_")
        by_class.setdefault(target or "", []).append(path)
    return dict(sorted(by_class.items(), key=lambda one: one[0].rpartition(".")[2].lower()))


def title(axis: str, target: str, paths: Sequence[Path], small: bool = False) -> str:
    """Of a section: the options by name, of many the class; ``AXIS=`` where axes share a page."""
    names = ", ".join(path.stem for path in paths)
    words = names if len(paths) <= NAMED else target.rpartition(".")[2]
    return f"{axis}={words}" if small else words


def anchor(title: str) -> str:
    """What leads to the section of this title."""
    return re.sub(r"[^\w ]", "", title.lower()).replace(" ", "-")


def sections(axis: str, shared: dict[str, str], small: bool = False) -> str:
    """A section for each class: what it is, and its settings; ``small``: one level lower."""
    heads = {title(axis, *one, small): one for one in classes(axis).items() if one[0]}
    return "\n".join(
        _section(axis, name, *heads[name], shared, small) for name in sorted(heads, key=str.lower)
    )


def shared_settings(axes: Iterable[str]) -> dict[str, str]:
    """Setting -> meaning, of those that mean the same in several classes of some axes."""
    uses_of = Counter(
        (key, _meaning(key, by_option.values()))
        for axis in axes
        for target, paths in classes(axis).items()
        if target
        for key, by_option in _settings(paths).items()
    )
    often = [one for one, uses in uses_of.most_common() if uses >= SHARED and one[1]]
    return dict(reversed(often))  # of two meanings the one of more classes


def shared_section(place: str, shared: dict[str, str]) -> list[str]:
    """The settings that many options have, explained once."""
    rows = [f"- `{place}.{key}`: {cell(what)}" for key, what in sorted(shared.items())]
    return ["## Shared settings", "", *rows, ""] if rows else []


def _section(
    axis: str, title: str, target: str, paths: list[Path], shared: dict[str, str], small: bool
) -> str:
    names = ", ".join(f"`{path.stem}`" for path in paths)
    options = "" if names == f"`{title.rpartition('=')[2]}`" else f"{names}: "
    lines = [f"{'###' if small else '##'} {title}", "", f"{options}`{target}`", ""]
    if len(paths) > 1 or not catalogued(paths[0]):
        lines += [prose(described(inspect.getdoc(located(target)) or "").split("\n\n")[0]), ""]
    return "\n".join([*lines, *_table(PLACES.get(axis, axis), paths, shared)])


def catalogued(path: Path) -> bool:
    """Whether a comment at the top of a YAML says what the option is."""
    top = path.read_text(encoding="utf-8").lstrip("\n").partition("\n")[0]
    return top.startswith("# ") and not top.startswith(("# Try:", "# @package"))


def _settings(paths: list[Path]) -> dict[str, dict[str, Setting]]:
    """Setting -> option -> setting; without names that are the options' own."""
    by_key: dict[str, dict[str, Setting]] = {}
    for path in paths:
        for one in settings(path):
            if (one.key, one.default) != ("name", path.stem):
                by_key.setdefault(one.key, {})[path.stem] = one
    return by_key


def _table(place: str, paths: list[Path], shared: dict[str, str]) -> list[str]:
    """Every setting once; where options differ, the default of each. Shared ones by name."""
    rows, shared_ones, alike = [], [], dict[str, list[str]]()
    for key, by_option in _settings(paths).items():
        parent, _, name = key.rpartition(".")
        if f"{parent}.*" in _common():  # one line for all of them
            alike.setdefault(parent, []).append(f"`{name}`")
            continue
        what, defaults = _meaning(key, by_option.values()), _defaults(by_option, len(paths))
        # a setting of many options by its own name or another one, where that saves words
        alike_in = [key] + list(shared) * (len(what.split()) > 8)
        if like := next((one for one in alike_in if shared.get(one) == what), None):
            default = defaults if len(defaults) <= 50 else "by option"
            shared_ones.append(f"`{key}` ({'' if like == key else f'as `{like}`: '}{default})")
        else:
            rows.append(f"- `{place}.{key}` ({defaults}): {cell(what)}")
    rows += [
        f"- `{place}.{parent}.*`: {cell(_common()[f'{parent}.*'])}: {', '.join(names)}"
        for parent, names in alike.items()
    ]
    lines = [*rows, ""] if rows else []
    if shared_ones:
        lines += [f"[Shared](#shared-settings): {', '.join(shared_ones)}.", ""]
    return lines


def _meaning(key: str, options: Iterable[Setting]) -> str:
    """What most options say of it; else what all settings of that name mean."""
    [(what, _)] = Counter(one.what for one in options if one.what).most_common(1) or [("", 0)]
    words = key.split(".")
    names = [".".join(words[k:]) for k in range(len(words))] + words[:-1]
    return what or next((_common()[name] for name in names if name in _common()), "")


@cache
def _common() -> dict[str, str]:
    return dict(yaml.safe_load(COMMON.read_text(encoding="utf-8")))


def _defaults(by_option: dict[str, Setting], options: int) -> str:
    own = {name: _code(one.default) for name, one in by_option.items()}
    if len(set(own.values())) == 1 and len(own) == options:
        return next(iter(own.values()))
    [(usual, count)] = Counter(own.values()).most_common(1)
    rest = {
        name: one for name, one in own.items() if count == 1 or len(own) < options or one != usual
    }
    each = ", ".join(f"{name}: {default}" for name, default in rest.items())
    if count > 1 and len(own) == options:
        each = f"{usual}; {each}"
    return each if len(each) <= LONGEST else "by option"


def _code(default: str) -> str:
    if default == "required":
        return default
    short = default if len(default) <= LONGEST else f"{default[:LONGEST]} ..."
    mark = "``" if "`" in short else "`"
    return f"{mark}{' ' * (len(mark) - 1)}{short.replace('|', '/')}{' ' * (len(mark) - 1)}{mark}"


def run_settings() -> str:
    """The settings of a run, of ``conf/config.yaml``."""
    rows = [
        f"- `{one.key}` ({_code(one.default)}): {cell(_meaning(one.key, [one]))}"
        for one in settings(CONF / "config.yaml")
    ]
    return "\n".join([*rows, ""])
