"""The process that trains, and nothing else: the base model with fresh LoRA weights, and its end.

unsloth must be imported before transformers, and replaces the forward methods of its classes for
the whole process: scored there, a model would not be the one that a later run scores. So whatever
trains, by either back end, trains here; the parent scores before and after. ``python -m
judgelab.finetune.child BACKEND`` reads a pickled ``Job`` from stdin and writes events to stdout, a
JSON list of kind and value a line. It ends when its parent does, with whatever it has started:
stdin is closed then.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import sys
import threading
import traceback
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

from judgelab.core.errors import ConfigError, JudgelabError, require
from judgelab.finetune.fit import Job, Send, Training
from judgelab.finetune.settings import WHERE, Settings
from judgelab.scoring.load import Form, at_load, check_gradients, load_model, quantised, quiet
from judgelab.scoring.source import resolve_quantization

BITS = {"none": 16, "nf4": 4, "fp4": 4, "int8": 8}  # of bases that unsloth trains, as stored


def main() -> int:
    """Train what stdin asks for; returns the exit code."""
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")  # the pipe to the parent
    os.dup2(2, 1)  # what libraries print goes to stderr instead

    def send(kind: str, value: Any) -> None:
        print(json.dumps([kind, value]), file=stream, flush=True)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    try:
        if sys.argv[1] == "unsloth":
            _import_unsloth()
        job: Job = pickle.load(sys.stdin.buffer)
        threading.Thread(target=_end_with_the_parent, daemon=True).start()
        send("done", asdict(carry_out(job, send)))
    except JudgelabError as cause:
        send("refused", {"error": type(cause).__name__, "message": str(cause)})
        return 1
    except Exception as cause:
        message = f"{type(cause).__name__}: {cause}"
        send("failed", {"message": message, "traceback": traceback.format_exc()})
        return 1
    return 0


def _end_with_the_parent() -> None:
    while os.read(0, 1):
        pass
    if os.getpgrp() == os.getpid():  # the parent gave it a group of its own
        os.killpg(0, signal.SIGKILL)  # with every process that it has started
    os._exit(1)


def _import_unsloth() -> None:
    os.environ.setdefault("UNSLOTH_DISABLE_STATISTICS", "1")  # it would call home at every load
    try:
        import unsloth  # noqa: F401
    except (ImportError, NotImplementedError) as cause:  # it is not here, or finds no accelerator
        reason = " ".join(str(cause).split())[:300]
        raise ConfigError(
            f"{WHERE}.backend=unsloth: unsloth cannot be imported here ({reason}). Install "
            f"it as constraints-unsloth.txt says, or set {WHERE}.backend=peft."
        ) from cause


def carry_out(job: Job, send: Send) -> Training:
    """Train from the last whole checkpoint, if any, and leave the adapter.

    The adapter is a whole folder or not there at all; it names the base as the user did.
    """
    settings, base, adapter = job.settings, job.base, job.adapter
    form = Form.of(settings.dtype, settings.quantization, settings.device_map, base.folder)
    model = load(settings, base.folder, form, job.backend)
    from judgelab.finetune.train import train  # transformers comes after unsloth

    training = train(model, form, job, send)
    config = model.peft_config["default"]
    config.base_model_name_or_path = settings.model
    config.revision = base.name.rpartition("@")[2] if "@" in base.name else None
    part = adapter.with_name(f".{adapter.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    model.save_pretrained(part, safe_serialization=True, save_embedding_layers=False)
    shutil.rmtree(adapter, ignore_errors=True)
    part.replace(adapter)
    return training


def load(settings: Settings, folder: Path, form: Form, backend: str) -> Any:
    """The model of a folder with LoRA weights from ``settings.seed``; only these are trainable.

    ConfigError where it does not load, has no layers called as ``settings.targets``, or cannot be
    trained in its quantisation here.
    """
    quiet()
    if settings.threads is not None:
        require("torch", extra="local").set_num_threads(settings.threads)
    require("transformers", extra="local").set_seed(settings.seed)
    lora = {  # what peft and unsloth call by the same names
        "r": settings.r,
        "lora_alpha": settings.alpha,
        "lora_dropout": settings.dropout,
        "bias": settings.bias,
        "target_modules": settings.targets,
    }
    build = _by_unsloth if backend == "unsloth" else _by_peft
    try:
        model = build(settings, folder, form, lora)
    except ValueError as cause:
        reason = " ".join(str(cause).split())[:300]
        raise ConfigError(f"{WHERE}.targets or another setting of LoRA: {reason}") from cause
    if quantised(model):
        check_gradients(model, WHERE)
    return model


def _by_peft(settings: Settings, folder: Path, form: Form, lora: dict[str, Any]) -> Any:
    peft = require("peft", extra="local")
    model = load_model(folder, form, None)
    config = peft.LoraConfig(task_type="CAUSAL_LM", **lora)
    with warnings.catch_warnings():  # peft asks transformers for names that it renamed
        warnings.simplefilter("ignore", FutureWarning)
        if quantised(model):
            model = peft.prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
        if settings.gradient_checkpointing:
            model.gradient_checkpointing_enable({"use_reentrant": False})
            model.enable_input_require_grads()
        return peft.get_peft_model(model, config)


def _by_unsloth(settings: Settings, folder: Path, form: Form, lora: dict[str, Any]) -> Any:
    """As in the authors' notebook, by unsloth's interface of 2026.10."""
    torch = require("torch", extra="local")
    library = require("unsloth", extra="unsloth").FastLanguageModel
    quantization = resolve_quantization(settings.quantization, folder)
    if quantization not in BITS:
        raise ConfigError(
            f"{WHERE}.backend=unsloth trains bases in full precision, 4 or 8 bits of bitsandbytes, "
            f"and this one is stored in {quantization}: set {WHERE}.backend=peft."
        )
    common = {
        "max_seq_length": settings.max_seq_length,
        "use_gradient_checkpointing": "unsloth" if settings.gradient_checkpointing else False,
    }
    model, _ = library.from_pretrained(
        model_name=str(folder),
        dtype=getattr(torch, form.dtype),
        load_in_4bit=BITS[quantization] == 4,
        load_in_8bit=BITS[quantization] == 8,
        device_map=form.device_map,
        use_exact_model_name=True,  # it would look for a quantised release of the same name
        **common,
        **at_load(form, folder),
    )
    return library.get_peft_model(model, **lora, **common, random_state=settings.seed)


if __name__ == "__main__":
    sys.exit(main())
