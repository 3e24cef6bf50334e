"""The base model with fresh LoRA weights, by peft or by unsloth."""

from __future__ import annotations

import importlib.util
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgelab.core.errors import ConfigError, require
from judgelab.finetune.settings import WHERE, Settings
from judgelab.scoring.load import (
    Form,
    at_load,
    check_gradients,
    load_model,
    quantised,
    quiet,
    resolve_device,
    resolve_dtype,
)
from judgelab.scoring.source import ModelSource, fetch_weights, find, resolve_quantization


@dataclass(frozen=True)
class Base:
    """A model to train.

    Attributes:
        model: peft's wrapper around the base; only LoRA weights are trainable.
        backend: peft or unsloth.
        dtype, device: what it computes in, and where.
    """

    model: Any
    backend: str
    dtype: str
    device: str


def source(settings: Settings) -> ModelSource:
    """The base model's folder and exact content, its weights on this machine."""
    found = find(settings.model, settings.revision, settings.hint, owner=WHERE)
    return fetch_weights(settings.model, found, owner=WHERE)


def check(settings: Settings) -> str:
    """The back end that will train; nothing is loaded.

    Raises:
        ConfigError: the back end, or the optimizer, cannot run here.
        MissingExtraError: peft is not installed.
    """
    torch = require("torch", extra="local")
    quiet()
    for package in ("transformers", "peft", "accelerate"):
        require(package, extra="local")
    if settings.optimizer == "adamw_8bit" and not _has("bitsandbytes"):
        raise ConfigError(
            f"{WHERE}.optimizer=adamw_8bit needs bitsandbytes, which is not installed here: "
            f"pip install -e '.[local]', or set {WHERE}.optimizer=adamw_torch."
        )
    able = torch.cuda.is_available() and _has("unsloth")
    if settings.backend == "unsloth" and not able:
        lacking = "a CUDA GPU" if not torch.cuda.is_available() else "the package unsloth"
        raise ConfigError(
            f"{WHERE}.backend=unsloth needs {lacking}, which is not here: set {WHERE}.backend=peft."
        )
    return "unsloth" if able and settings.backend != "peft" else "peft"


def load(settings: Settings, folder: Path, backend: str) -> Base:
    """The model of a folder with LoRA weights from ``settings.seed``.

    Raises:
        ConfigError: the model does not load, has no layers called as ``settings.targets``, or
            cannot be trained in its quantisation here.
    """
    quiet()
    torch = require("torch", extra="local")
    transformers = require("transformers", extra="local")
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    transformers.set_seed(settings.seed)
    form = Form(
        resolve_dtype(settings.dtype, folder),
        settings.quantization,
        resolve_device(settings.device_map),
    )
    build = _by_unsloth if backend == "unsloth" else _by_peft
    try:
        model = build(settings, folder, form)
    except ValueError as cause:
        reason = " ".join(str(cause).split())[:300]
        raise ConfigError(f"{WHERE}.targets or another setting of LoRA: {reason}") from cause
    if quantised(model):
        check_gradients(model, WHERE)
    return Base(model, backend, form.dtype, form.device_map)


def _by_peft(settings: Settings, folder: Path, form: Form) -> Any:
    peft = require("peft", extra="local")
    model = load_model(folder, form, None)
    config = peft.LoraConfig(task_type="CAUSAL_LM", **_lora(settings))
    with warnings.catch_warnings():  # peft asks transformers for names that it renamed
        warnings.simplefilter("ignore", FutureWarning)
        if quantised(model):
            model = peft.prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
        if settings.gradient_checkpointing:
            model.gradient_checkpointing_enable({"use_reentrant": False})
            model.enable_input_require_grads()
        return peft.get_peft_model(model, config)


def _by_unsloth(settings: Settings, folder: Path, form: Form) -> Any:
    """As in the authors' notebook, by unsloth's interface of 2026.10.

    The process must have imported unsloth before transformers (``judgelab.finetune.child``).
    """
    torch = require("torch", extra="local")
    library = require("unsloth", extra="unsloth").FastLanguageModel
    checkpointing = "unsloth" if settings.gradient_checkpointing else False
    bits = _bits(resolve_quantization(settings.quantization, folder))
    model, _ = library.from_pretrained(
        model_name=str(folder),
        max_seq_length=settings.max_seq_length,
        dtype=getattr(torch, form.dtype),
        load_in_4bit=bits == 4,
        load_in_8bit=bits == 8,
        device_map=form.device_map,
        use_exact_model_name=True,  # it would look for a quantised release of the same name
        use_gradient_checkpointing=checkpointing,
        **at_load(form, folder),
    )
    return library.get_peft_model(
        model,
        **_lora(settings),
        use_gradient_checkpointing=checkpointing,
        random_state=settings.seed,
        max_seq_length=settings.max_seq_length,
    )


def _lora(settings: Settings) -> dict[str, Any]:
    """What peft and unsloth call by the same names."""
    return {
        "r": settings.r,
        "lora_alpha": settings.alpha,
        "lora_dropout": settings.dropout,
        "bias": settings.bias,
        "target_modules": settings.targets,
    }


def _bits(quantization: str) -> int:
    """The bits of a base, as unsloth counts them; ConfigError if it cannot train such weights."""
    known = {"none": 16, "nf4": 4, "fp4": 4, "int8": 8}
    if quantization not in known:
        raise ConfigError(
            f"{WHERE}.backend=unsloth trains bases in full precision, 4 or 8 bits of bitsandbytes, "
            f"and this one is stored in {quantization}: set {WHERE}.backend=peft."
        )
    return known[quantization]


def _has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
