"""Texts as vectors: an encoder's last hidden states, pooled as its folder says, or by token."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError, require
from judgelab.scoring.load import Form, load_encoder, load_tokenizer
from judgelab.scoring.source import fetch_weights, find

if TYPE_CHECKING:
    import torch

Vectors = NDArray[np.float64]
OWNER = "mechanism"  # the part of the config that names the encoder
POOLINGS = {
    **{"mean_tokens": "mean", "cls_token": "cls"},  # as older folders call them
    **{"mean": "mean", "cls": "cls", "lasttoken": "lasttoken"},
}


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
        told = _read(inputs[0]) if inputs else {}
        longest = told.get("max_seq_length") or self._tokenizer.model_max_length
        positions = getattr(self._model.config, "max_position_embeddings", None)
        self._longest, self._lower = min(longest, positions or 1 << 30), told.get("do_lower_case")

    def embed(self, texts: Sequence[str]) -> Vectors:
        """[texts, dimensions] vectors of length 1, so that a product is a cosine."""

        def pooled(states: torch.Tensor, attended: torch.Tensor, _: Any) -> Iterator[Vectors]:
            yield from _unit(pool(self._pooling, states, attended)).cpu().numpy()

        return np.array(self._in_batches(texts, pooled), np.float64)

    def tokens(self, texts: Sequence[str]) -> list[tuple[Vectors, NDArray[np.bool_]]]:
        """For each text the vectors of its tokens, of length 1, and which are not special tokens.

        The last hidden states, without the folder's pooling.
        """

        def apart(
            states: torch.Tensor, attended: torch.Tensor, special: Any
        ) -> Iterator[tuple[Vectors, NDArray[np.bool_]]]:
            for one, mask, marks in zip(_unit(states), attended.bool(), special, strict=True):
                yield one[mask].cpu().numpy(), ~marks.bool()[mask.cpu()].numpy()

        return self._in_batches(texts, apart)

    def _in_batches(self, texts: Sequence[str], read: Callable[..., Iterator[Any]]) -> list[Any]:
        """What ``read`` makes of states, attention and special tokens; texts of like length go
        together."""
        import torch

        order = sorted(range(len(texts)), key=lambda i: (len(texts[i]), texts[i]))
        parts: dict[int, Any] = {}
        with torch.inference_mode():
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
                ids, attended = (
                    encoded[key].to(self._model.device) for key in ("input_ids", "attention_mask")
                )
                states = self._model(input_ids=ids, attention_mask=attended).last_hidden_state
                read_off = read(states.double(), attended, encoded["special_tokens_mask"])
                parts |= zip(places, read_off, strict=True)
        return [parts[i] for i in range(len(texts))]


def _unit(vectors: torch.Tensor) -> torch.Tensor:
    scaled: torch.Tensor = vectors / vectors.norm(dim=-1, keepdim=True).clamp(min=1e-12)
    return scaled


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def read_pooling(folder: Path, what: str) -> str:
    """Pooling (mean, cls or lasttoken) of ``modules.json``; the mean without it.

    Raises:
        ConfigError: there is a kind of module or pooling that is not known here.
    """
    pooling, listed = "mean", folder / "modules.json"
    for module in _read(listed) if listed.is_file() else ():
        kind, place = str(module["type"]).rsplit(".", 1)[-1], folder / str(module["path"])
        if kind == "Pooling":
            pooling = _pooling(_read(place / "config.json"), what)
        elif kind not in ("Transformer", "Normalize"):
            raise ConfigError(f"{what}: its module {kind} cannot be used here.")
    return pooling


def _pooling(config: dict[str, Any], what: str) -> str:
    """The one pooling of a Pooling module, in its older or newer form of config."""
    start = "pooling_mode_"
    chosen = [key.removeprefix(start) for key, on in config.items() if key.startswith(start) and on]
    if isinstance(config.get("pooling_mode"), str):
        chosen = [config["pooling_mode"]]
    if not config.get("include_prompt", True):
        chosen.append("of the tokens behind a prompt")
    if len(chosen) != 1 or chosen[0] not in POOLINGS:
        raise ConfigError(f"{what}: its pooling {' and '.join(chosen)} cannot be used here.")
    return POOLINGS[chosen[0]]


def pool(pooling: str, states: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
    """[texts, dimensions] of states [texts, tokens, dimensions] and attention [texts, tokens]."""
    import torch

    if pooling == "mean":
        mask = attended.unsqueeze(-1).to(states.dtype)
        return (states * mask).sum(1) / mask.sum(1).clamp(min=1)
    order = torch.arange(1, attended.shape[1] + 1, device=attended.device)
    weight = attended * (order.flip(0) if pooling == "cls" else order)  # padding on either side
    return states[torch.arange(len(states)), weight.argmax(1)]
