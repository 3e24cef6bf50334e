"""Stands in for unsloth where there is no GPU: what it does to a process, without its kernels.

As the real one, it must come before transformers, and replaces the forward method of Llama's
attention for every model of the process. Tests put the folder above it on a child's PYTHONPATH.
What it was asked for goes to the file $FAKE_UNSLOTH_LOG.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

EARLY = [name for name in ("transformers", "peft", "trl", "torch") if name in sys.modules]
if {"transformers", "peft"} & set(EARLY):
    raise ImportError(f"unsloth must be imported before {', '.join(EARLY)}.")

import peft  # noqa: E402
import transformers  # noqa: E402
from transformers.models.llama import modeling_llama  # noqa: E402


def _note(**facts: Any) -> None:
    if "FAKE_UNSLOTH_LOG" in os.environ:
        with Path(os.environ["FAKE_UNSLOTH_LOG"]).open("a", encoding="utf-8") as file:
            print(json.dumps(facts, default=str), file=file)


OWN = modeling_llama.LlamaAttention.forward


def _attention(*states: Any, **more: Any) -> Any:
    """The same; which function a model calls is what tells."""
    return OWN(*states, **more)


modeling_llama.LlamaAttention.forward = _attention
_note(event="imported", early=EARLY, process=os.getpid())


class FastLanguageModel:
    """The two calls of unsloth's interface that train a LoRA adapter."""

    @staticmethod
    def from_pretrained(
        model_name: str,
        max_seq_length: int,
        load_in_4bit: bool,
        load_in_8bit: bool,
        use_gradient_checkpointing: Any,
        use_exact_model_name: bool,
        **kwargs: Any,
    ) -> tuple[Any, Any]:
        """A model and its tokenizer."""
        _note(event="loaded", load_in_4bit=load_in_4bit, load_in_8bit=load_in_8bit)
        model = transformers.AutoModelForCausalLM.from_pretrained(model_name, **kwargs)
        return model, transformers.AutoTokenizer.from_pretrained(model_name)

    @staticmethod
    def get_peft_model(
        model: Any,
        use_gradient_checkpointing: Any,
        random_state: int,
        max_seq_length: int,
        **lora: Any,
    ) -> Any:
        """The model with LoRA weights."""
        for layer in model.modules():  # its kernels are CUDA's; here a CPU must do
            if hasattr(layer, "support_avx512bf16_for_cpu"):
                layer.support_avx512bf16_for_cpu = False
        if getattr(model.config, "quantization_config", None) is not None:
            model = peft.prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
        _note(event="adapted", r=lora["r"], random_state=random_state)
        return peft.get_peft_model(model, peft.LoraConfig(task_type="CAUSAL_LM", **lora))
