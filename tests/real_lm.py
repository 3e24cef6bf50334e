"""The smallest real chat LM, for tests that must not rest on weights made here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

SMOLLM2 = Path(
    os.environ.get("JUDGELAB_SMOLLM2") or Path(__file__).parents[1] / "outputs/models/smollm2"
)
_skip = pytest.mark.skipif(
    not (SMOLLM2 / "config.json").is_file(), reason="no SmolLM2 here: make smollm2"
)


def needs_smollm2(test):  # type: ignore[no-untyped-def]
    """Skipped, with the reason shown, where the model is not at hand."""
    return pytest.mark.real_lm(_skip(test))


@contextmanager
def loaded_once() -> Iterator[None]:
    """A folder is hashed once and its weights are loaded once in each form; so is the oracle asked.

    An adapter is merged into weights, and is loaded with weights of its own.
    """
    from judgelab.scoring import load, source

    load_model, hashed = load.load_model, source.digest
    kept, digests = dict[Any, Any](), dict[Any, str]()

    def loaded(folder: Path, form: Any, adapter: Path | None) -> Any:
        if adapter is not None:
            return load_model(folder, form, adapter)
        if (folder, form) not in kept:
            kept[folder, form] = load_model(folder, form, None)
        return kept[folder, form]

    def digest(folder: Path, *patterns: Any) -> str:
        if (folder, patterns) not in digests:
            digests[folder, patterns] = hashed(folder, *patterns)
        return digests[folder, patterns]

    with pytest.MonkeyPatch.context() as patch, oracle_that_remembers():
        patch.setattr(load, "load_model", loaded)
        patch.setattr(source, "digest", digest)
        yield


@contextmanager
def oracle_that_remembers() -> Iterator[None]:
    """One sequence at a time, each model and batch once: no planted fault reaches it."""
    from judgelab.scoring import engine

    score_rows, kept = engine.score_rows, dict[Any, Any]()

    def remembered(lm: Any, jobs: Any, again: bool = False) -> Any:
        key = (id(lm), tuple(jobs), again)
        if key not in kept:
            kept[key] = (lm, score_rows(lm, jobs, again))  # the model is held: its id stays its own
        return kept[key][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "score_rows", remembered)
        yield
