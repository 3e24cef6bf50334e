"""Texts as vectors: an encoder's last hidden states, pooled as its folder says, or by token."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError, require
from judgelab.scoring.load import Form, load_encoder, load_tokenizer
from judgelab.scoring.source import fetch_weights, find

Vectors = NDArray[np.float64]
OWNER = "mechanism"  # the part of the config that names the encoder
POOL: Mapping[str, Callable[[Vectors], Vectors]] = {
    "mean": lambda states: states.mean(axis=0),
    "cls": lambda states: states[0],
    "lasttoken": lambda states: states[-1],
}
OLDER = {"mean_tokens": "mean", "cls_token": "cls"}  # as older folders call them


class Embedder:
    """An encoder of the transformers library, with the pooling of its folder.

    A folder that sentence-transformers wrote says how states are pooled (``modules.json``); one
    without is pooled by the mean over a text's tokens. Texts are cut at the folder's
    ``max_seq_length``, or else the tokenizer's, at most at the model's positions; ``batch`` texts
    go in one pass. What is raised: see ``source.find``, ``load.load_encoder``, ``read_pooling``.
    """

    def __init__(self, model: str, revision: str | None, batch: int) -> None:
        require("torch", extra="local")
        source = fetch_weights(model, find(model, revision, owner=OWNER), OWNER)
        self.name, self.batch = source.name, batch
        self._tokenizer = load_tokenizer(source.folder)
        self._model = load_encoder(source.folder, Form.of("auto", "none", None, source.folder))
        self._pooling = read_pooling(source.folder, f"{OWNER}.model={model!r}")
        if self._tokenizer.pad_token is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        if self._tokenizer.pad_token is None:
            raise ConfigError(f"{OWNER}.model={model!r}: its tokenizer has no token to pad with.")
        inputs = sorted(source.folder.glob("sentence_*_config.json"))  # _bert_ for all
        limits = _read(inputs[0]) if inputs else {}
        longest = limits.get("max_seq_length") or self._tokenizer.model_max_length
        positions = getattr(self._model.config, "max_position_embeddings", None)
        self._longest, self._lower = min(longest, positions or 1 << 30), limits.get("do_lower_case")

    def embed(self, texts: Sequence[str]) -> Vectors:
        """[texts, dimensions] vectors of length 1, so that a product is a cosine."""
        pooled = {i: POOL[self._pooling](states) for i, states, _ in self._states(texts)}
        return _unit(np.array([pooled[i] for i in range(len(texts))]))

    def tokens(self, texts: Sequence[str]) -> list[tuple[Vectors, NDArray[np.bool_]]]:
        """For each text the vectors of its tokens, of length 1, and which are not special tokens.

        The last hidden states, without the folder's pooling.
        """
        apart = {i: (_unit(states), ~special) for i, states, special in self._states(texts)}
        return [apart[i] for i in range(len(texts))]

    def _states(self, texts: Sequence[str]) -> Iterator[tuple[int, Vectors, NDArray[np.bool_]]]:
        """Index of each text, [tokens, dimensions] its states, and which tokens are special; texts
        of like length go together."""
        import torch

        order = sorted(range(len(texts)), key=lambda i: (len(texts[i]), texts[i]))
        for start in range(0, len(order), self.batch):
            places = order[start : start + self.batch]
            encoded: Any = self._tokenizer(
                [texts[i].lower() if self._lower else texts[i] for i in places],
                padding=True,
                truncation=True,
                max_length=self._longest,
                return_tensors="pt",
                return_special_tokens_mask=True,
            )
            special = encoded.pop("special_tokens_mask").bool().numpy()
            attended, device = encoded["attention_mask"].bool().numpy(), self._model.device
            with torch.inference_mode():
                inputs = {key: encoded[key].to(device) for key in ("input_ids", "attention_mask")}
                states = self._model(**inputs).last_hidden_state.double().cpu().numpy()
            for i, one, there, marks in zip(places, states, attended, special, strict=True):
                yield i, one[there], marks[there]


def _unit(vectors: Vectors) -> Vectors:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(length, 1e-12))


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def read_pooling(folder: Path, what: str) -> str:
    """Pooling (mean, cls or lasttoken) of ``modules.json``, the mean without it; ConfigError where
    it has a kind of module or pooling that is not known here."""
    pooling, listed, start = "mean", folder / "modules.json", "pooling_mode_"
    for module in _read(listed) if listed.is_file() else ():
        kind, place = str(module["type"]).rsplit(".", 1)[-1], folder / str(module["path"])
        if kind not in ("Pooling", "Transformer", "Normalize"):
            raise ConfigError(f"{what}: its module {kind} cannot be used here.")
        if kind == "Pooling":
            config = _read(place / "config.json")
            names = [key.removeprefix(start) for key, on in config.items() if on and start in key]
            if isinstance(config.get("pooling_mode"), str):  # the newer form
                names = [config["pooling_mode"]]
            if not config.get("include_prompt", True):
                names.append("of the tokens behind a prompt")
            pooling = OLDER.get(names[0], names[0]) if len(names) == 1 else ""
            if pooling not in POOL:
                raise ConfigError(f"{what}: its pooling {' and '.join(names)} cannot be used here.")
    return pooling
