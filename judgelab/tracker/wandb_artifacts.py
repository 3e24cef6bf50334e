"""What W&B keeps as artifacts: a run's files, the data it read, a sweep's report.

An artifact with the same files is the same version, whoever logs it. So the data that two runs read
is one artifact with two users, and a comparison uses the very version that a run made.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judgelab.core.errors import require
from judgelab.core.result import Result, plain

PRIVATE = (
    *("_texts.parquet", "unscored.parquet", "items.html"),
    *("judgments.parquet", "_labels.parquet"),
    *("report.html", "config.yaml"),
)
"""How files end that hold responses, sources or replies; people's names and what each said; the
command line and paths of this machine."""
DATA = (
    *("dataset", "source", "id", "config", "revision", "commit", "split", "file", "content"),
    *("digest", "rows", "agents", "agents_seed"),
)
"""What tells one panel from another, among the facts of a result's provenance."""
MOST_METADATA = 100  # keys that W&B takes


def run_artifact(folder: Path, result: Result, texts: bool) -> Any:
    """The files of a finished run; where it is mirrored is no part of them.

    Args:
        folder: the run directory.
        result: what was found: the first figures become metadata.
        texts: whether responses, whole replies, people's single labels and the command line go
            along.
    """
    told = {k: v for k, v in result.summary.items() if "/" not in k or k == result.primary}
    metadata = dict(list(plain(told).items())[:MOST_METADATA])
    made = _artifact(folder.name, "run", metadata)
    left_out = () if texts else PRIVATE
    for file in sorted(p for p in folder.rglob("*") if p.is_file() and p.name[0] != "."):
        name = file.relative_to(folder).as_posix()
        if name == "manifest.json":
            # paths of this machine stand in the command line
            kept = json.loads(file.read_text(encoding="utf-8")) | {"tracker": None}
            kept = kept if texts else kept | {"overrides": None}
            _write(made, name, kept)
        elif name != "DONE" and not name.endswith(left_out):
            made.add_file(str(file), name=name)
    return made


def without_places(value: Any) -> Any:
    """A config with the last name of each absolute path in its place."""
    if isinstance(value, Mapping):
        return {key: without_places(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_places(inner) for inner in value]
    return Path(value).name if isinstance(value, str) and value.startswith("/") else value


def data_facts(provenance: Mapping[str, Any]) -> dict[str, Any] | None:
    """The data of a run by its hashes and where it lies, without a text; None where unknown."""
    facts: Any = provenance.get("clean")
    if not isinstance(facts, Mapping) or "digest" not in facts:
        return None
    kept = {key: facts[key] for key in DATA if facts.get(key) is not None}
    if "file" in kept:
        kept["file"] = Path(str(kept["file"])).name
    return kept


def data_artifact(provenance: Mapping[str, Any]) -> Any | None:
    """The same as an artifact."""
    kept = data_facts(provenance)
    if kept is None:
        return None
    made = _artifact(f"data-{kept.get('dataset', 'unnamed')}", "dataset", kept)
    _write(made, "dataset.json", kept)
    return made


def report_artifact(folder: Path, name: str) -> Any:
    """The page of a sweep with its figures and tables; nothing of single jobs."""
    made = _artifact(f"comparison-{name}", "report", {})
    found = [*folder.glob("*.html"), *folder.glob("comparison.*"), *folder.glob("*.csv")]
    for file in sorted({*found, *folder.glob("figures/*")}):
        made.add_file(str(file), name=file.relative_to(folder).as_posix())
    return made


def declare_inputs(mirror: Any, inputs: Sequence[Any]) -> None:
    """Say that a W&B run read these artifacts, offline too.

    The public ``use_artifact`` refuses to work offline, though the file of an offline run can hold
    it; a release that lacks what is below it keeps the run, without this lineage.
    """
    for artifact in inputs:
        try:
            mirror._log_artifact(artifact, is_user_created=True, use_after_commit=True)
        except (AttributeError, TypeError):
            return


def _artifact(name: str, kind: str, metadata: Mapping[str, Any]) -> Any:
    wandb = require("wandb", extra="wandb")
    safe = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII).strip("-")[:128]
    return wandb.Artifact(name=safe, type=kind, metadata=dict(metadata))


def _write(artifact: Any, name: str, value: Mapping[str, Any]) -> None:
    with artifact.new_file(name) as file:
        json.dump(value, file, indent=1, sort_keys=True, ensure_ascii=False, default=str)
