"""Layers of 4-bit weights: one way to compute with them, on every CPU."""

from __future__ import annotations

import logging
import sys
from typing import Any

from judgelab.core.errors import ConfigError, require


def quiet() -> None:
    """Only errors of bitsandbytes: it warns of kernels that are not needed, once per layer call."""
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)


def portable(model: Any) -> None:
    """Keep the 4-bit layers on the way that every CPU has.

    Where the CPU has AVX-512 BF16, bitsandbytes (0.50) repacks the weights of a layer that is
    evaluated, for a kernel that rounds states and scales to bf16 whatever dtype was asked for (.4 %
    of the largest output), has no gradient, and cannot hold layers whose width is no multiple of
    64. So scores would differ by CPU, and training would end in silence at the first layer. What
    is given up: with one token at a time that kernel is ten times as fast; with the hundreds that
    scoring computes at once it is half as fast to twice as fast.
    """
    bitsandbytes = sys.modules.get("bitsandbytes")  # loading a model with such layers imports it
    if bitsandbytes is None:
        return
    for module in model.modules():
        if isinstance(module, bitsandbytes.nn.Linear4bit):
            module.support_avx512bf16_for_cpu = False


def check_gradients(model: Any, owner: str) -> None:
    """Refuse to train a model whose quantised layers cut the gradient (torch only warns).

    Args:
        owner: the config path of the settings, for the message.

    Raises:
        ConfigError: this machine's kernel for a layer passes no gradient to what lies below it.
    """
    torch = require("torch", extra="local")
    bitsandbytes = sys.modules.get("bitsandbytes")
    if bitsandbytes is None:
        return
    kinds = (bitsandbytes.nn.Linear4bit, bitsandbytes.nn.Linear8bitLt)
    tried: set[type] = set()
    for name, module in model.named_modules():
        if not isinstance(module, kinds) or type(module) in tried:
            continue
        tried.add(type(module))
        device = module.weight.device
        probe = torch.ones(1, 2, module.in_features, device=device, requires_grad=True)
        found = module(probe)
        if not found.requires_grad:
            raise ConfigError(
                f"{owner}.quantization: the quantised layers of this model ({name}) cannot pass a "
                f"gradient back on {device.type}, so nothing below them would be trained: set "
                f"{owner}.quantization=none with a base that is stored in full, or train on a GPU."
            )
