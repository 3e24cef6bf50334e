"""Which folder of a clone of the authors' repository holds which domain and attack."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from experiments.peer_prediction.domain import task_of
from judgelab.core.errors import DataError

FOLDERS = {
    "log": ("log_individual_examples", "peer_prediction_example_*.json"),
    "tvd_mi": ("tvd_mi_individual_examples", "tvd_mi_example_*.json"),
    "judge_with_context": ("llm_context_individual_examples", "judge_with_context_example_*.json"),
    "judge_without_context": (
        "llm_without_context_individual_examples",
        "judge_without_context_example_*.json",
    ),
}
"""Run -> its folder and the names of its files, one per item."""

_ATTACKED = re.compile(r"^(?P<run>.+_\d{8}_\d{6})_(?P<attack>.+)_transformed_results$")
_FILLER = re.compile(r"results|config|translation|\d+")
ALIASES = {
    "mt14": "wmt14",
    "dailycnn": "cnn_dailymail",
    "cnndm": "cnn_dailymail",
    "opus_books": "opus",
    "iclr": "peer_review",
    "iclr2023": "peer_review",
    "iclr_reviews": "peer_review",
    "iclr_peer_review": "peer_review",
}
"""Name of a folder or of a dataset -> the domain's key."""

_RUNS = {"summarization_gpt_4o_mini_20250708_012535": "reddit_tifu"}
"""The run that the authors attacked; used only where a clone lacks every other hint."""

_OF_RUN = re.compile(r"(_validation|_mi_gppm|_tvd_mi|_judge_with(out)?_context)+$")
"""How the summary files of a run end, after its name."""


@dataclass(frozen=True)
class Record:
    """One file of one item."""

    path: Path  # the file
    id: int  # item id (``example_idx``)
    names: tuple[str, ...]  # agents in the order of the file's arrays (``condition_keys``)
    values: Mapping[str, Any]  # everything in it


@dataclass(frozen=True)
class Folder:
    """One folder under ``eval_results/``: a domain, clean or attacked."""

    root: Path
    path: Path
    domain: str
    attack: str | None

    def files(self, run: str) -> list[Path]:
        """The per-item files of one run, sorted by name."""
        folder, pattern = FOLDERS[run]
        return sorted((self.path / folder).glob(pattern))

    @cached_property
    def prompted(self) -> list[Mapping[str, Any]]:
        """The first file of the critic and of each judge: their prompts name the task."""
        return [_first_json(self.files(run)) for run in FOLDERS if run != "log"]

    @property
    def task(self) -> str:
        """The task as those prompts name it; empty where none is kept."""
        return _first(self.prompted, "task_description")

    def records(self, run: str) -> list[Record]:
        """The files of one run, in order of item id; no two of them may be of one item."""
        by_item: dict[int, Record] = {}
        for path in self.files(run):
            values = load_json(path)
            names = field_of(values, "condition_keys", path)
            item = field_of(values, "example_idx", path)
            if not isinstance(item, int) or not isinstance(names, list):
                raise DataError(f"{path}: example_idx must be a number and condition_keys a list.")
            if item in by_item:
                raise DataError(
                    f"{path} and {by_item[item].path} both claim item {item}: keep one of them."
                )
            by_item[item] = Record(path, item, tuple(map(str, names)), values)
        return [by_item[item] for item in sorted(by_item)]


def folders(root: Path) -> dict[tuple[str, str | None], Folder]:
    """(domain, attack or None) -> every folder with recorded scores; clean runs first."""
    clean: dict[str, Folder] = {}
    attacked = []
    for path in _result_folders(root):
        if match := _ATTACKED.match(path.name):
            attacked.append((path, match["run"], match["attack"]))
            continue
        name = _domain_name(path.name)
        # Two runs of one domain in one clone: the second keeps its folder's full name.
        name = path.name if name in clean else name
        clean[name] = Folder(root, path, name, None)
    result: dict[tuple[str, str | None], Folder] = {(name, None): clean[name] for name in clean}
    for path, run, attack in attacked:
        name = _attacked_domain(Folder(root, path, run, attack), clean.values())
        result[name, attack] = Folder(root, path, name, attack)
    return result


def describe(folder: Folder, clean: Folder | None) -> tuple[str, str, Mapping[str, Any]]:
    """(task, task description, generation config) of a folder, from what the clone keeps.

    The validation file of the run, its generation config, and the prompts of critic or judge
    are asked in this order; an attacked folder also asks its clean one. The task of a clone that
    keeps none of them follows from the agents' names.
    """
    places = [folder] if clean is None or clean is folder else [folder, clean]
    sources: list[Mapping[str, Any]] = []
    for each in places:
        sources += [_first_json(sorted(each.path.glob("*_validation.json")))]
        sources += [_first_json(_config_paths(each)), *each.prompted]
    description = _first(sources, "task_description")
    config = next((source for source in sources if "agent_perspectives" in source), {})
    task = _first(sources, "task_type") or _task_in(description) or _task_in(folder.path.name)
    if not task:
        lists: list[list[str]] = [s["condition_keys"] for s in sources if "condition_keys" in s]
        task = task_of(lists[0] if lists else [])
    return task, description, {**config, "data_config": _data_config(sources)}


def run_names(folder: Folder) -> list[str]:
    """Names of the generation run that the folder scores, from its summary files."""
    return sorted({_OF_RUN.sub("", file.stem) for file in folder.path.glob("*.json")})


def load_json(path: Path) -> Any:
    """Parsed content of a JSON file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as cause:
        raise DataError(f"{path} is missing: fetch the release again.") from cause
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as cause:
        raise DataError(
            f"{path} is not readable JSON ({cause}): it may have been cut short; fetch it again."
        ) from cause


def field_of(values: Any, key: str, path: Path) -> Any:
    """One field of a file's JSON object, which must have it."""
    if not isinstance(values, dict) or key not in values:
        raise DataError(f"{path} lacks the field {key!r}: it may have been cut short.")
    return values[key]


def _result_folders(root: Path) -> list[Path]:
    base = root / "eval_results"
    base = base if base.is_dir() else root
    if not base.is_dir():
        return []
    return sorted(
        path
        for path in base.iterdir()
        if path.is_dir() and any((path / folder).is_dir() for folder, _ in FOLDERS.values())
    )


def _domain_name(folder: str) -> str:
    parts = [part for part in folder.lower().split("_") if not _FILLER.fullmatch(part)]
    name = "_".join(parts) or folder
    return ALIASES.get(name, name)


def _attacked_domain(folder: Folder, clean: Iterable[Folder]) -> str:
    """The domain whose clean folder holds the attacked run, or whose task was described so."""
    run = folder.domain
    holding = (each.domain for each in clean if any(each.path.glob(f"{run}*.json")))
    alike = (each.domain for each in clean if folder.task and each.task == folder.task)
    return next(chain(holding, alike), _RUNS.get(run, run))


def _config_paths(folder: Folder) -> list[Path]:
    stem = re.sub(r"_results(_\d+)?$", "", folder.path.name)
    configs = folder.root / "configs"
    names = (stem, stem.removeprefix("iclr_"))
    return [path for path in (configs / f"{name}.json" for name in names) if path.is_file()]


def _first_json(paths: list[Path]) -> Mapping[str, Any]:
    content = load_json(paths[0]) if paths else {}
    return content if isinstance(content, dict) else {}


def _first(sources: list[Mapping[str, Any]], key: str) -> str:
    return next((str(source[key]) for source in sources if source.get(key)), "")


def _data_config(sources: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    for source in sources:
        config = source.get("data_config") or source.get("metadata", {}).get("data_config")
        if config:
            return dict(config)
    return {}


def _task_in(text: str) -> str:
    lowered = text.lower()
    hints = {"translat": "translation", "summar": "summarization", "review": "peer_review"}
    return next((task for hint, task in hints.items() if hint in lowered), "")
