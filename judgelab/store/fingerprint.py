"""What makes two runs the same: the resolved config, the files it names, and our own code."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from hydra.utils import get_object

from judgelab.core.resources import PACKAGE, conf, own_or_shipped
from judgelab.store.run_dir import RunDir

VOLATILE = frozenset(
    {"force", "debug", "dry_run", "budget", "paths", "tracker", "scale"}
    | {"trusted_packages", "retry"}
)
COUNTED = (".py", ".yaml", ".txt", ".jsonl", ".json", ".csv", ".parquet")  # kinds of our files
SEEN_ONLY = ("command", "python", "report", "tracker")  # folders of code that changes no number
NEUTRAL = frozenset({"workers", "limits", "api_key_env", "tokens_per_second"})  # at any depth
PRICES = ("prices.yaml", "judge_prices.yaml")  # of conf: a cost is a number of the run
DATA = ("benchmarks", "criteria", "perturbation", "expert_weights")  # of conf, without options
SCORING = ("pyppmd", "rouge-score", "sacrebleu", "sentencex")  # a release could change a number
RUNS = ("run", "train_run", "before")
FILE_KEYS = frozenset(
    {"path", "file", "people", "taxonomy", "benchmarks", "adapter", "model", "criteria"}
    | {"perturbations", "weights", "run", "train_run", "before", "prices", "system_file", "wording"}
    | {"tokenizer"}
)


def fingerprint(config: Mapping[str, Any]) -> str:
    """Twelve hex digits that change whenever a number of the run could change.

    Values of FILE_KEYS that name a file count by its content (a folder by its files' names, sizes
    and times); so do a paper's printed numbers, the code, the packages that score, and every class
    that the user brings along.
    """
    relevant = {k: v for k, v in config.items() if k not in VOLATILE}
    nodes = {**relevant, "budget": {"prices": (config.get("budget") or {}).get("prices")}}
    numbers = own_or_shipped(config.get("printed") or "", conf() / "papers" / "numbers")
    parts = {
        "config": _without(relevant, NEUTRAL),
        "files": {path: _digest(Path(path).expanduser()) for path in sorted(set(_files(nodes)))},
        "printed": _digest(numbers) if numbers.is_file() else None,
        "own": {name: _digest(source) for name, source in _own_sources(relevant)},
        "code": code_digest(),
        "packages": {name: version_of(name) for name in SCORING},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


@cache
def version_of(package: str) -> str | None:
    """The version that is installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:  # an extra: what needs it does not run
        return None


def code_digest() -> str:
    """Hash of judgelab's sources (but for reports and trackers), samples, prompts, taxonomies.

    The same in a checkout and in a wheel, where ``conf`` lies within the package.
    """
    sha = hashlib.sha256()
    rooms = [path for path in PACKAGE.glob("*") if path.name not in (*SEEN_ONLY, "conf")]
    paths = [path for room in rooms for path in (room, *room.rglob("*.*"))]
    code = [path for path in paths if path.suffix in COUNTED and path.is_file()]
    options = [path for name in ("prompt", "taxonomy", *DATA) for path in (conf() / name).glob("*")]
    options += [conf() / name for name in PRICES if (conf() / name).is_file()]
    files = {f"judgelab/{path.relative_to(PACKAGE)}": path for path in code}
    files |= {f"conf/{path.relative_to(conf())}": path for path in options}
    for name, path in sorted(files.items()):
        sha.update(name.encode() + b"\0" + path.read_bytes())
    return sha.hexdigest()[:12]


def _without(value: Any, keys: frozenset[str]) -> Any:
    if isinstance(value, Mapping):
        return {k: _without(v, keys) for k, v in value.items() if k not in keys}
    return [_without(v, keys) for v in value] if isinstance(value, list) else value


def _entries(node: Any) -> Iterator[tuple[str, Any]]:
    """Every key of a config with its value, at any depth."""
    if isinstance(node, Mapping):
        yield from node.items()
        node = [*node.values()]
    for value in node if isinstance(node, list) else ():
        yield from _entries(value)


def _files(node: Any) -> Iterator[str]:
    for key, value in _entries(node):
        several = value if isinstance(value, list) else [value]
        for one in (one for one in several if key in FILE_KEYS and isinstance(one, str)):
            path = Path(one).expanduser()  # a folder without DONE is no run, and refused later
            if path.exists() and (key not in RUNS or RunDir(path).is_done):
                yield f"{one}/DONE" if key == "before" else one  # checksums of what it held


def _own_sources(node: Any) -> Iterator[tuple[str, Path]]:
    """(class, or what makes one; the file it is written in) of every ``_target_`` that is not ours,
    where that can be known."""
    for key, target in _entries(node):
        if key == "_target_" and isinstance(target, str) and not target.startswith("judgelab."):
            with suppress(
                ImportError, AttributeError, TypeError, ValueError
            ):  # building it says so
                maker = get_object(target)
                file = Path(inspect.getsourcefile(getattr(maker, "__self__", maker)) or "")
                if file.is_file():
                    yield target, file


def _digest(path: Path) -> str:
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    sha = hashlib.sha256()
    for file in sorted(p for p in path.rglob("*") if p.is_file()):
        stat = file.stat()
        sha.update(f"{file.relative_to(path)}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return sha.hexdigest()
