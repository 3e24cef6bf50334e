"""What follows an encoder in a folder of sentence-transformers: pooling, dense layers, prompts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.core.errors import ConfigError

if TYPE_CHECKING:
    import torch

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
