"""Texts as vectors: an encoder's last hidden states, pooled as its folder says, or by token."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError, did_you_mean, require
from judgelab.scoring.load import Form, load_encoder, load_tokenizer, resolve_device, resolve_dtype
from judgelab.scoring.pooling import EncoderHead, read_head, read_input, read_prompts
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
    ``source.find``, ``load.load_encoder`` and ``pooling.read_head``.
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
