"""Texts as vectors: the mean of an encoder's last hidden states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError, require
from judgelab.scoring.load import Form, load_encoder, load_tokenizer, resolve_device, resolve_dtype
from judgelab.scoring.source import fetch_weights, find


class Embedder:
    """An encoder of the transformers library with mean pooling over a text's tokens.

    Texts longer than the model's positions are cut there; ``batch`` texts go in one pass. Of the
    other arguments, and of what is raised, see ``source.find`` and ``load.load_encoder``.
    """

    def __init__(
        self, model: str, revision: str | None, batch: int, *, owner: str = "evaluation_lm"
    ) -> None:
        require("torch", extra="local")
        source = fetch_weights(model, find(model, revision, owner=owner), owner)
        form = Form(resolve_dtype("auto", source.folder), "none", resolve_device(None))
        self.name, self.batch = source.name, batch
        self._tokenizer = load_tokenizer(source.folder)
        self._model = load_encoder(source.folder, form)
        if self._tokenizer.pad_token is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        if self._tokenizer.pad_token is None:
            raise ConfigError(f"{owner}.model={model!r}: its tokenizer has no token to pad with.")
        positions = getattr(self._model.config, "max_position_embeddings", None)
        self._longest = min(self._tokenizer.model_max_length, positions or 1 << 30)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """[texts, dimensions] vectors of length 1, so that a product is a cosine."""
        import torch

        order = sorted(range(len(texts)), key=lambda i: (len(texts[i]), texts[i]))
        vectors: list[NDArray[np.float64]] = []
        with torch.inference_mode():
            for start in range(0, len(order), self.batch):
                vectors.append(self._pool([texts[i] for i in order[start : start + self.batch]]))
        found = np.concatenate(vectors)
        return np.asarray(found[np.argsort(order)])

    def _pool(self, texts: list[str]) -> NDArray[np.float64]:
        encoded: Any = self._tokenizer(
            texts, padding=True, truncation=True, max_length=self._longest, return_tensors="pt"
        )
        device = self._model.device
        ids, attended = encoded["input_ids"].to(device), encoded["attention_mask"].to(device)
        states = self._model(input_ids=ids, attention_mask=attended).last_hidden_state.double()
        mask = attended.unsqueeze(-1).double()
        mean = (states * mask).sum(1) / mask.sum(1).clamp(min=1)
        norm = mean.norm(dim=-1, keepdim=True).clamp(min=1e-12)
        return np.asarray((mean / norm).cpu().numpy(), dtype=np.float64)
