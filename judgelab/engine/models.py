"""The LMs of a run at work: behind the cache, and with the account of what they were paid."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from judgelab.calls.budget import Ledger, budget_file
from judgelab.calls.cache import CallCache
from judgelab.calls.cached import CachedLM
from judgelab.calls.log import CallLog
from judgelab.calls.meter import Meter, spending
from judgelab.calls.remote import Remote
from judgelab.config import Frame, writer_nodes
from judgelab.core.errors import some
from judgelab.core.lm import EvaluationLM
from judgelab.core.result import Result
from judgelab.engine.context import Context, Parts
from judgelab.engine.sweep import watch_parent
from judgelab.report.progress import Progress
from judgelab.scale.local import Scale
from judgelab.store.run_dir import RunDir

FIRST = "evaluation_lm"


class Models:
    """All LMs of a run, by role: ``evaluation_lm``, ``writer_lm``, ``agents.models.NAME``,
    ``study.judges.NAME``. They share the run's one budget, of which earlier executions spent what
    the files of paid calls in ``folder`` say. The jobs of a ``sweep`` (its folder) share one
    budget, and end with the process that started them."""

    def __init__(self, settings: Frame, folder: Path, sweep: Path | None = None) -> None:
        self._settings, self._folder, self._cache = settings, folder, Path(settings.paths.cache)
        self._in_use: dict[str, CachedLM] = {}
        self._parent = None if sweep is None else watch_parent(sweep)
        if self._parent is not None:
            self._parent.busy = lambda: sum(one.account.under_way for one in self._meters)
        self._ledger = Ledger(None if sweep is None else budget_file(self._cache, sweep))
        self.progress = Progress(lambda: spending(self._meters))
        self.log = CallLog()

    def use(self, role: str, lm: EvaluationLM) -> EvaluationLM:
        """Take an LM into use; returns it as the run is to ask it."""
        meter = None
        if isinstance(lm, Remote):
            file, price = calls_file(role), lm.price(self._settings.budget.prices)
            own = self._ledger, f"{self._folder.name}/{file}", lm.model
            meter = Meter(self._folder / file, price, self._settings.budget, *own)
            if self._parent is not None:
                meter.orphaned = self._parent.gone
            lm.attach(meter, self.progress.tell)
        lm_in_use = CachedLM(lm, CallCache(self._cache), self.progress, self.log, role, meter)
        self._in_use[role] = lm_in_use
        return lm_in_use

    def context(
        self,
        parts: Parts,
        run_dir: RunDir,
        scale: Scale,
        config: Mapping[str, Any],
        draw: Callable[[str, Mapping[str, float]], None],
    ) -> Context:
        """The parts with every LM in use, for the study to run. Workers answer for the evaluation
        LM and for writers; an endpoint that writes asks many calls at once by itself, whatever the
        scale."""
        parts, own = parts.with_lms(self.use), self._settings
        spreads = {
            role: scale.over(node, self._in_use[role])
            for role, node in {FIRST: config[FIRST], **writer_nodes(config)}.items()
            if role == FIRST or self._in_use[role].meter is None
        }
        return Context.of(
            parts,
            run_dir=run_dir,
            seed=own.seed,
            limit=own.limit,
            force=own.force,
            tell=self.progress.stage,
            draw=draw,
            spread=spreads[FIRST],
            spreads=spreads,
        )

    @property
    def until(self) -> float | None:
        """When servers want to be asked again (seconds since 1970); None: they do not say."""
        lms = [one.unwrapped for one in self._in_use.values()]
        times = [lm.until for lm in lms if isinstance(lm, Remote) and lm.until is not None]
        return max(times, default=None)

    def ask_again(self, context: Context) -> None:
        """Have settled calls without a result asked once more; to find them, what is kept is."""
        with tempfile.TemporaryDirectory() as place:
            context.study.ask(replace(context, run_dir=RunDir(Path(place))))
        keys = [key for key, what in self.log.unscored_by_key.items() if what.settled]
        for one in self._in_use.values():
            one.ask_again(keys)
        self.log.forget()

    def accounts(self) -> dict[str, Any]:
        """The evaluation LM's account, and the others' under their roles."""
        rest = {role: one.account() for role, one in self._in_use.items() if role != FIRST}
        return self._in_use[FIRST].account() | rest

    def with_answered(self, result: Result) -> Result:
        """The result with a warning where another model answered than was asked for."""
        warnings, changes = list[str](), list[str]()
        for role, one in self._in_use.items():
            model, models = one.meter.model if one.meter else "", one.models
            if not model:
                continue
            if others := {name: n for name, n in models.items() if not alike(model, name)}:
                calls, other = sum(models.values()), sum(others.values())
                share = f"; {other:,} of {calls:,} answers that name one" if calls else ""
                warnings.append(
                    f"{role}: another model answered than {model}, which was asked for: "
                    f"{_name_counts(others)}{share}."
                )
            if len(models) > 1:
                changes.append(f"{role}: answers name several models: {_name_counts(models)}.")
        summary = {**result.summary, **({"model_warning": " ".join(warnings)} if warnings else {})}
        return replace(result, notes=[*warnings, *result.notes, *changes], summary=summary)

    def close(self) -> None:
        """Give everything back."""
        self.progress.close()
        for one in self._in_use.values():
            one.close()
        self._ledger.close()

    @property
    def _meters(self) -> list[Meter]:
        return [one.meter for one in self._in_use.values() if one.meter is not None]


def calls_file(role: str) -> str:
    """The file of a role's paid calls: another one for each role, whatever a model is called."""
    name = role.removeprefix("agents.models.").replace("study.judges.", "judge_")
    return "calls.jsonl" if role == FIRST else f"calls_{quote(name, safe=' ')}.jsonl"


VERSION = re.compile(r"[-@](\d{3,}(-\d+)*|latest|v\d+|(preview|exp)(-\d+)*)")
"""What a name ends with that is a version of the same model: ``-2024-07-18``, ``-0613``."""


def alike(request: str, answer: str) -> bool:
    """Whether both names mean one model: a version, a tag, a path or an organisation may differ."""
    (one, _, tag), (other, _, tail) = (  # of ``meta-llama/Llama-3-8B:free`` llama-3-8b and free
        re.split(r"[/\\]", name.strip().rstrip("/\\").lower())[-1]
        .removesuffix(".gguf")
        .partition(":")
        for name in (request, answer)
    )
    tags, one = {tag, tail} - {"", "latest"}, one.removesuffix("-latest")
    version = VERSION.fullmatch(other.removeprefix(one)) if other.startswith(one) else None
    return len(tags) < 2 and (other == one or version is not None)


def _name_counts(counts: Mapping[str, int]) -> str:
    most_first = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return some([f"{name} ({n:,})" if n else name for name, n in most_first], 5)
