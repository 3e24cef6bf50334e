"""The strategies that agents follow (TVD-MI paper, Tables 7-9), read from YAML."""

from __future__ import annotations

import difflib
import hashlib
import json
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import yaml

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Agent, Panel
from judgelab.core.resources import conf

FOLDER = conf() / "taxonomy"
CATEGORIES = ("Faithful", "Style", "Strategic", "Low Effort", "Other")
_TOP = ("task", "noun", "max_tokens", "prompt_template", "prompt", "agents")


@dataclass(frozen=True)
class Strategy:
    """One way to answer.

    Attributes:
        name: unique within its taxonomy.
        category: as in the paper's table.
        category_released: as in the authors' code; equals ``category`` unless they differ.
        description: what the strategy does.
        prompt: the instruction to an LM, with {noun} for what a source is called.
        reading: the instruction of the note-taking stage, or None where there is none.
        reference: True for the text that a person wrote; it needs no prompt.
    """

    name: str
    category: str
    category_released: str
    description: str
    prompt: str = ""
    reading: str | None = None
    reference: bool = False

    def agent(self, **meta: str) -> Agent:
        """The panel's agent that follows this strategy; ``meta`` is kept with it."""
        known = {"description": self.description, "category_released": self.category_released}
        return Agent(self.name, self.category, self.reference, meta={**known, **meta})


_ENTRY = tuple(field.name for field in fields(Strategy))


@dataclass(frozen=True)
class Taxonomy:
    """The strategies of one task, in the order of the authors' arrays.

    Attributes:
        task: summarization, translation, peer_review, or a user's own word.
        strategies: in order; at most one of them is the reference.
        sha: hash of everything in the file that can change a text.
        noun: what a source is called unless the dataset says otherwise.
        max_tokens: budget of an LM's reply, tokens.
        prompt_template: message layout with {instruction}, {fence} and {text}.
    """

    task: str
    strategies: tuple[Strategy, ...]
    sha: str
    noun: str = "text"
    max_tokens: int = 500
    prompt_template: str = "{instruction}\n\n{fence}\n{text}\n{fence}\n\n{instruction}"


def taxonomy_for(panel: Panel, name_or_path: str | None) -> Taxonomy:
    """The taxonomy that is set, or that of the panel's task.

    Raises:
        ConfigError: none is set, and there is none for the task.
    """
    if name_or_path is None and not (FOLDER / f"{panel.task}.yaml").is_file():
        raise ConfigError(
            f"No strategies are here for the task {panel.task!r} of the dataset, so nobody can "
            "answer its items by rules: read answers that are there already (dataset=table "
            "dataset.path=FILE, which takes agents=recorded), or let an LM write by strategies of "
            "your own (agents=prompted agents.taxonomy=FILE.yaml)."
        )
    return load_taxonomy(name_or_path or panel.task)


def load_taxonomy(name_or_path: str) -> Taxonomy:
    """Read a taxonomy by name (``conf/taxonomy/<name>.yaml``) or by the path of a YAML file.

    Raises:
        ConfigError: there is no such taxonomy; the message lists those there are.
        DataError: the file is not a taxonomy; the message names the entry.
    """
    path = _locate(name_or_path)
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as cause:
        raise DataError(f"The taxonomy {path} is not readable YAML: {cause}") from cause
    if not isinstance(content, Mapping) or not isinstance(content.get("agents"), Sequence):
        raise DataError(f"The taxonomy {path} needs the keys 'task' and 'agents' (a list).")
    _known_keys(content, _TOP, f"The taxonomy {path}")
    shared = str(content.get("prompt", ""))
    strategies = tuple(
        _strategy(entry, f"Entry {number} of the taxonomy {path}", shared)
        for number, entry in enumerate(content["agents"], start=1)
    )
    _distinct(strategies, path)
    dump = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return Taxonomy(
        task=str(content.get("task", path.stem)),
        strategies=strategies,
        sha=hashlib.sha256(dump.encode()).hexdigest()[:16],
        noun=str(content.get("noun", Taxonomy.noun)),
        max_tokens=_positive(content.get("max_tokens", Taxonomy.max_tokens), path),
        prompt_template=_template(content.get("prompt_template", Taxonomy.prompt_template), path),
    )


def _locate(name_or_path: str) -> Path:
    path = Path(name_or_path)
    if path.suffix in {".yaml", ".yml"} or path.parent != Path():
        if path.is_file():
            return path
        raise ConfigError(f"There is no taxonomy file {name_or_path}: check agents.taxonomy.")
    known = sorted(file.stem for file in FOLDER.glob("*.yaml"))
    if name_or_path in known:
        return FOLDER / f"{name_or_path}.yaml"
    raise ConfigError(
        f"There is no taxonomy {name_or_path!r}{_did_you_mean(name_or_path, known)}: set "
        f"agents.taxonomy to one of {', '.join(known)}, or to the path of a YAML file."
    )


def _strategy(entry: object, where: str, shared_prompt: str) -> Strategy:
    if not isinstance(entry, Mapping):
        raise DataError(f"{where} is not a mapping of {', '.join(_ENTRY)}.")
    if isinstance(entry.get("name"), str):
        where = f"{where} ({entry['name']!r})"
    _known_keys(entry, _ENTRY, where)
    reference = entry.get("reference", False)
    if not isinstance(reference, bool):
        raise DataError(f"{where}: 'reference' must be true or false, not {reference!r}.")
    prompt = entry.get("prompt", "" if reference else shared_prompt)
    required = ("name", "category", "description")
    for key, value in [*((k, entry.get(k)) for k in required), ("prompt", prompt)]:
        if not isinstance(value, str) or not (value.strip() or (key == "prompt" and reference)):
            raise DataError(f"{where} needs a text under {key!r}, but has {value!r}.")
    category, released = entry["category"], entry.get("category_released", entry["category"])
    for key, value in (("category", category), ("category_released", released)):
        if value not in CATEGORIES:
            raise DataError(
                f"{where} has the {key} {value!r}{_did_you_mean(str(value), CATEGORIES)}: "
                f"use one of {', '.join(CATEGORIES)}."
            )
    reading = entry.get("reading")
    if reading is not None and (not isinstance(reading, str) or not reading.strip()):
        raise DataError(f"{where} needs a text under 'reading', or no such key.")
    return Strategy(
        entry["name"], category, released, entry["description"], prompt, reading, reference
    )


def _distinct(strategies: Sequence[Strategy], path: Path) -> None:
    counts = Counter(strategy.name for strategy in strategies)
    repeated = sorted(name for name, n in counts.items() if n > 1)
    if repeated:
        raise DataError(f"The taxonomy {path} has {', '.join(repeated)} more than once.")
    if not strategies:
        raise DataError(f"The taxonomy {path} lists no agents.")


def _positive(value: object, path: Path) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise DataError(f"The taxonomy {path} needs a whole max_tokens above 0, not {value!r}.")
    return value


def _template(value: object, path: Path) -> str:
    """A message layout; anything but its own three fields would fail in the middle of a run."""
    try:
        found = {name for _, name, _, _ in string.Formatter().parse(str(value))} - {None}
    except ValueError:
        found = set()
    if not {"instruction", "text"} <= found <= {"instruction", "text", "fence"}:
        raise DataError(
            f"The prompt_template of the taxonomy {path} must hold {{instruction}} and {{text}}, "
            "may hold {fence}, and no other field."
        )
    return str(value)


def _known_keys(mapping: Mapping[object, object], known: Sequence[str], where: str) -> None:
    for key in mapping:
        if key not in known:
            raise DataError(
                f"{where} has the unknown key {key!r}{_did_you_mean(str(key), known)}: "
                f"the keys are {', '.join(known)}."
            )


def _did_you_mean(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
