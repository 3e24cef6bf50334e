"""A model over several devices: its second device is simulated, an offloaded layer is real."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra local")
accelerate = pytest.importorskip("accelerate", reason="needs the extra local")

from judgelab.scoring.engine import Engine, tree_refusal  # noqa: E402
from judgelab.scoring.head import Asked, Head  # noqa: E402
from tests.tiny_models import model  # noqa: E402

JOBS = [((5, 6, 7), (8, 9)), ((5, 6, 7), (10,)), ((5, 6, 11, 12), (8, 9, 13))]


class OnMeta(Head):
    """A head on another device than the states; meta tensors have no values to compare."""

    def _logsumexp(self, block: Any) -> Any:
        return block.sum(-1)


def test_states_go_where_the_head_is() -> None:
    head = OnMeta(torch.empty(50, 8, device="meta"), None, columns=20)
    places = (torch.zeros(3, dtype=torch.long) for _ in range(4))
    logprobs = head.logprobs(torch.empty(6, 8), Asked(*places))
    assert (logprobs.device.type, logprobs.shape) == ("meta", (3,))


def test_a_model_with_an_offloaded_part_scores_the_same(tmp_path: Any) -> None:
    whole = model("llama")
    expected = Engine(whole, "rows").score(JOBS)
    parts = {"model.embed_tokens": "cpu", "model.layers.0": "cpu", "model.norm": "disk"}
    rest = {f"model.layers.{k}": "disk" for k in range(1, whole.config.num_hidden_layers)}
    places = parts | rest | {"model.rotary_emb": "cpu", "lm_head": "disk"}
    split = accelerate.dispatch_model(
        copy.deepcopy(whole), places, main_device="cpu", offload_dir=str(tmp_path)
    )
    engine = Engine(split)
    assert np.allclose(engine.score(JOBS), expected, atol=1e-4)
    assert engine.backend != "tree"


@pytest.mark.parametrize(
    ("capability", "refused"), [((7, 5), True), ((7, 0), True), ((8, 0), False)]
)
def test_old_gpus_do_without_flash_attention(
    monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], refused: bool
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    config = SimpleNamespace(get_text_config=lambda: SimpleNamespace())
    half = SimpleNamespace(
        device=torch.device("cuda:0"),
        dtype=torch.float16,
        config=config,
        _supports_attention_backend=True,
    )
    assert ("flash" in (tree_refusal(half) or "")) is refused
    half.dtype = torch.float32
    assert tree_refusal(half) is None
