"""Texts as vectors: an encoder's last hidden states, pooled as its folder says, or by token."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError, did_you_mean, require
from judgelab.scoring.load import Form, load_encoder, load_tokenizer, resolve_device, resolve_dtype
from judgelab.scoring.source import fetch_weights, find

if TYPE_CHECKING:
    import torch

Vectors = NDArray[np.float64]


class Embedder:
    """An encoder of the transformers library, with the pooling and dense layers of its folder.

    A folder that sentence-transformers wrote says how states are pooled and which layers follow
    (``modules.json``); one without is pooled by the mean over a text's tokens. Texts are cut at the
    folder's ``max_seq_length``, or else the tokenizer's, at most at the model's positions;
    ``batch`` texts go in one pass. Of the other arguments, and of what is raised, see
    ``source.find``, ``load.load_encoder`` and ``read_head``.
    """

    def __init__(
        self, model: str, revision: str | None, batch: int, *, owner: str = "evaluation_lm"
    ) -> None:
        require("torch", extra="local")
        source = fetch_weights(model, find(model, revision, owner=owner), owner)
        form = Form(resolve_dtype("auto", source.folder), "none", resolve_device(None))
        self.name, self.batch = source.name, batch
        self._folder, self._owner = source.folder, owner
        self._tokenizer = load_tokenizer(source.folder)
        self._model = load_encoder(source.folder, form)
        self._head: EncoderHead = read_head(source.folder, f"{owner}.model={model!r}")
        if self._tokenizer.pad_token is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        if self._tokenizer.pad_token is None:
            raise ConfigError(f"{owner}.model={model!r}: its tokenizer has no token to pad with.")
        positions = getattr(self._model.config, "max_position_embeddings", None)
        longest, self._lower = read_input(source.folder)
        self._longest = min(longest or self._tokenizer.model_max_length, positions or 1 << 30)

    def prompt(self, name: str) -> str:
        """The text of a prompt that the encoder's folder names.

        Raises:
            ConfigError: it names no such prompt.
        """
        known = read_prompts(self._folder)
        if name not in known:
            said = f"its prompts are {', '.join(known)}" if known else "it has no prompts"
            hint = did_you_mean(name, list(known))
            raise ConfigError(f"{self._owner}.prompt={name!r}: {said}.{hint}")
        return known[name]

    def embed(self, texts: Sequence[str], prompt: str = "") -> Vectors:
        """[texts, dimensions] vectors of length 1, so that a product is a cosine.

        Args:
            texts: what is embedded.
            prompt: put before each; the folder says whether its tokens count (include_prompt).

        Raises:
            ConfigError: the prompt leaves no room for a text.
        """
        opening = self._length(prompt) if prompt else 0

        def pooled(states: torch.Tensor, attended: torch.Tensor, _: Any) -> Iterator[Vectors]:
            yield from _unit(self._head(states, attended, opening)).cpu().numpy()

        whole = [prompt + text for text in texts]
        return np.array(self._in_batches(whole, pooled), dtype=np.float64)

    def _length(self, prompt: str) -> int:
        """Tokens of a prompt with what opens a text, without the token that ends one."""
        ids = self._tokenizer(self._cased(prompt.strip()))["input_ids"]
        length = len(ids) - (ids[-1] in self._tokenizer.all_special_ids)
        if length + 1 >= self._longest:
            raise ConfigError(
                f"{self._owner}: the prompt {prompt!r} has {length} tokens and {self.name} cuts "
                f"texts at {self._longest}: give a shorter prompt or another model."
            )
        return length

    def _cased(self, text: str) -> str:
        return text.lower() if self._lower else text

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
        found: list[Any] = [None] * len(texts)
        with torch.inference_mode():
            for start in range(0, len(order), self.batch):
                places = order[start : start + self.batch]
                parts = read(*self._states([texts[i] for i in places]))
                for place, part in zip(places, parts, strict=True):
                    found[place] = part
        return found

    def _states(self, texts: list[str]) -> tuple[torch.Tensor, torch.Tensor, Any]:
        encoded: Any = self._tokenizer(
            [self._cased(text) for text in texts],
            padding=True,
            truncation=True,
            max_length=self._longest,
            return_tensors="pt",
            return_special_tokens_mask=True,
        )
        device = self._model.device
        ids, attended = encoded["input_ids"].to(device), encoded["attention_mask"].to(device)
        states = self._model(input_ids=ids, attention_mask=attended).last_hidden_state.double()
        return states, attended, encoded["special_tokens_mask"]


def _unit(vectors: torch.Tensor) -> torch.Tensor:
    scaled: torch.Tensor = vectors / vectors.norm(dim=-1, keepdim=True).clamp(min=1e-12)
    return scaled


ACTIVATIONS = {
    "torch.nn.modules.linear.Identity": "Identity",
    "torch.nn.modules.activation.Tanh": "Tanh",
    "torch.nn.modules.activation.ReLU": "ReLU",
    "torch.nn.modules.activation.GELU": "GELU",
}


@dataclass(frozen=True)
class EncoderHead:
    """From states [texts, tokens, dimensions] and attention [texts, tokens] to vectors.

    Attributes:
        pooling: mean, cls, max or lasttoken.
        layers: dense layers, in order.
        include_prompt: whether the tokens of a prompt count in the mean or the maximum.
    """

    pooling: str = "mean"
    layers: Sequence[Callable[[torch.Tensor], torch.Tensor]] = ()
    include_prompt: bool = True

    def __call__(
        self, states: torch.Tensor, attended: torch.Tensor, prompt: int = 0
    ) -> torch.Tensor:
        """[texts, dimensions] in double precision; the first ``prompt`` tokens are the prompt."""
        if prompt and not self.include_prompt and self.pooling in ("mean", "max"):
            attended = attended * (attended.cumsum(1) > prompt)  # padding may stand on either side
        pooled = _pooled(self.pooling, states, attended)
        for layer in self.layers:
            pooled = layer(pooled)
        return pooled


def read_head(folder: Path, what: str) -> EncoderHead:
    """The head that ``modules.json`` describes; the mean of the tokens without that file.

    Raises:
        ConfigError: there is a kind of module, pooling or activation that is not known here.
    """
    listed = folder / "modules.json"
    if not listed.is_file():
        return EncoderHead()
    pooling, layers, include = "mean", [], True
    for module in _read(listed):
        kind, place = str(module["type"]).rsplit(".", 1)[-1], folder / str(module["path"])
        if kind == "Pooling":
            config = _read(place / "config.json")
            pooling, include = _mode(config, what), bool(config.get("include_prompt", True))
        elif kind == "Dense":
            layers.append(_dense(place, what))
        elif kind not in ("Transformer", "Normalize"):
            raise ConfigError(f"{what}: its module {kind} cannot be used here.")
    return EncoderHead(pooling, tuple(layers), include)


def read_prompts(folder: Path) -> Mapping[str, str]:
    """Name -> text put before what is embedded; empty without any."""
    file = folder / "config_sentence_transformers.json"
    found: Mapping[str, str] = (_read(file).get("prompts") or {}) if file.is_file() else {}
    return found


def read_input(folder: Path) -> tuple[int | None, bool]:
    """Tokens at which texts are cut (None: the folder does not say), and whether to lower case."""
    files = sorted(folder.glob("sentence_*_config.json"))  # _bert_ for all; each its own once
    found = _read(files[0]) if files else {}
    return found.get("max_seq_length"), bool(found.get("do_lower_case"))


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _mode(config: Mapping[str, Any], what: str) -> str:
    """The one pooling of a Pooling module, in its older or newer form of config."""
    if isinstance(config.get("pooling_mode"), str):
        chosen = [config["pooling_mode"]]
    else:
        names = {"mean_tokens": "mean", "cls_token": "cls", "max_tokens": "max"}
        chosen = [
            names.get(key.removeprefix("pooling_mode_"), key)
            for key, on in config.items()
            if key.startswith("pooling_mode_") and on
        ]
    if len(chosen) != 1 or chosen[0] not in ("mean", "cls", "max", "lasttoken"):
        raise ConfigError(f"{what}: its pooling {' and '.join(chosen)} cannot be used here.")
    return str(chosen[0])


def _pooled(pooling: str, states: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
    import torch

    mask = attended.unsqueeze(-1).to(states.dtype)
    if pooling == "mean":
        return (states * mask).sum(1) / mask.sum(1).clamp(min=1)
    if pooling == "max":
        return states.masked_fill(mask == 0, -torch.inf).max(1).values
    # padding may stand on either side
    places = torch.arange(attended.shape[1], device=attended.device)
    seen = torch.where(attended.bool(), places, -1)
    last = seen.max(1).values
    first = torch.where(attended.bool(), places, attended.shape[1]).min(1).values
    return states[torch.arange(len(states)), first if pooling == "cls" else last]


def _dense(folder: Path, what: str) -> Callable[[torch.Tensor], torch.Tensor]:
    import torch
    from safetensors.torch import load_file

    config, file = _read(folder / "config.json"), folder / "model.safetensors"
    named = ACTIVATIONS.get(str(config.get("activation_function")))
    if named is None or not file.is_file():
        lacks = "no safetensors" if named else f"the activation {config.get('activation_function')}"
        raise ConfigError(f"{what}: its dense layer {folder.name} has {lacks}.")
    activation, weights = getattr(torch.nn, named)(), load_file(file)
    weight = weights["linear.weight"].double()
    bias = weights["linear.bias"].double() if "linear.bias" in weights else None

    def layer(vectors: torch.Tensor) -> torch.Tensor:
        on = vectors.device
        moved = torch.nn.functional.linear(
            vectors, weight.to(on), None if bias is None else bias.to(on)
        )
        result: torch.Tensor = activation(moved)
        return result

    return layer
