"""Any causal language model of the transformers library, on this machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from judgelab.core.bounds import Count
from judgelab.core.errors import require
from judgelab.core.estimator import Presentation
from judgelab.core.lm import Capability, ChatRequest, Reply
from judgelab.core.terminal import say
from judgelab.scoring import load, source
from judgelab.scoring.encode import DATE, LocalLM, Template
from judgelab.scoring.prefix_tree import Job
from judgelab.scoring.source import ModelSource, other_base

if TYPE_CHECKING:
    from judgelab.scoring.engine import Engine

SHORT = 8  # letters of an adapter's hash that tell it from others in a table


@dataclass(eq=False)
class Transformers(LocalLM):
    """log P(y | x) for all pairs, chat, and label probabilities, by one local model.

    Building it loads nothing; the model is found when its identity is asked for, and its weights
    are loaded when the first text is scored. Only safetensors weights are read, and no code of a
    model's repository is run.
    """

    capabilities = frozenset({Capability.LOGPROB, Capability.CHAT, Capability.LABELS})

    model: str
    revision: str | None = None
    adapter: str | None = None
    dtype: load.Dtype = "auto"
    quantization: load.Quantization = "none"
    device_map: str | None = None
    template: Template = "none"
    system: str | None = None
    end_token: bool | None = None
    backend: Literal["auto", "rows", "kv", "tree"] = "auto"
    token_budget: Count | None = None
    tolerance: float | None = None
    max_tokens: Count = 1024
    threads: Count | None = None
    hint: str | None = None

    @property
    def at_hand(self) -> bool:
        """Whether the weights lie here, so that a trial fetches none."""
        return Path(self.model or "").is_dir()

    @property
    def identity(self) -> str:
        """Model and exact content, adapter, precision, and how texts are put to it.

        Raises:
            ConfigError: the model is not to be found.
        """
        folder = self._source.folder
        parts = {
            "model": self._source.name,
            "adapter": "none" if self._adapter is None else self._adapter.name,
            "dtype": load.resolve_dtype(self.dtype, folder),
            "quantization": source.resolve_quantization(self.quantization, folder),
            "chat": "yes" if self.template == "chat" else "no",
            "system": self._system_name,
            "template_date": DATE.isoformat(),
            "end_token": "yes" if self._counts_end else "no",
            "max_tokens": self.max_tokens,
        }
        return "transformers " + " ".join(f"{key}={value}" for key, value in parts.items())

    @property
    def presentation(self) -> Presentation:
        """How texts are put to the model, and in which precision it computes."""
        parts = dict(part.split("=", 1) for part in self.identity.split() if "=" in part)
        folder = Path(self.model).expanduser()
        name = folder.resolve().name if folder.is_dir() else self.model
        if self.adapter is not None:
            content = parts["adapter"].removeprefix("sha256:")[:SHORT]
            name += f" with adapter {Path(self.adapter).name} ({content})"
        return self._present(f"transformers {name}", parts["dtype"], parts["quantization"])

    @property
    def facts(self) -> dict[str, Any]:
        """How scoring went, for the manifest: nothing in it changes an answer."""
        facts: dict[str, Any] = dict.fromkeys(("backend", "backend_reason", "drift"))
        if "_engine" in vars(self):  # it has been asked something
            facts |= {"backend": self._engine.backend, "backend_reason": self._engine.reason}
            facts["drift"] = self._engine.drift and asdict(self._engine.drift)
        return {**facts, "adapter_base": self._other_base}

    def close(self) -> None:
        """Give the weights' memory back."""
        vars(self).pop("_engine", None)

    @property
    def _longest(self) -> float:
        return load.positions(self._engine.model)

    def _scores(self, jobs: Sequence[Job]) -> list[float]:
        return list(self._engine.score(jobs).tolist())

    def _replies(self, prompts: Sequence[str], requests: Sequence[ChatRequest]) -> list[Reply]:
        """Those with labels together, from the labels' probabilities; others one by one."""
        from judgelab.scoring.replies import answer_closed, generate

        engine, words = self._engine, self._tokenizer
        places = [k for k, request in enumerate(requests) if request.labels]
        questions = [prompts[k] for k in places], [requests[k] for k in places]
        answers = answer_closed(engine, words, self._template, *questions)
        replies = dict(zip(places, answers, strict=True))
        return [
            replies.get(k) or generate(engine.model, words, prompt, request, self.max_tokens)
            for k, (prompt, request) in enumerate(zip(prompts, requests, strict=True))
        ]

    @cached_property
    def _engine(self) -> Engine:
        torch = require("torch", extra="local")
        require("transformers", extra="local")
        if self.threads is not None:
            torch.set_num_threads(self.threads)
        folder = source.fetch_weights(self.model, self._source).folder
        if self._other_base is not None:
            say(
                f"warning: the adapter {self.adapter} was {self._other_base}: its scores mean "
                "something only if these are the same weights (a quantised copy is).",
                sys.stderr,
            )
        form = load.Form.of(self.dtype, self.quantization, self.device_map, folder)
        adapter = None if self._adapter is None else self._adapter.folder
        model = load.load_model(folder, form, adapter)
        from judgelab.scoring.engine import Engine

        return Engine(model, self.backend, self.token_budget, self.tolerance)

    @cached_property
    def _source(self) -> ModelSource:
        return source.find(self.model, self.revision, self.hint)

    @cached_property
    def _adapter(self) -> ModelSource | None:
        return None if self.adapter is None else source.find_adapter(self.adapter)

    @cached_property
    def _other_base(self) -> str | None:
        """How the adapter's base is another one; None without an adapter, or where all is well."""
        if self._adapter is None:
            return None
        return other_base(self._adapter.folder, self.model, self._source.name)
