"""A causal LM or an encoder, and its tokenizer, from a folder: safetensors, no foreign code."""

from __future__ import annotations

import logging
import math
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from judgelab.core.errors import ConfigError, require, some
from judgelab.scoring.source import resolve_quantization, stored_quantization

Quantization = Literal["none", "nf4", "int8"]
Dtype = Literal["auto", "float32", "bfloat16", "float16"]
# what transformers and peft raise over files that they cannot use
FAULTS = (OSError, ValueError, TypeError, AttributeError, KeyError, ImportError, RuntimeError)


@dataclass(frozen=True)
class Form:
    """In which form weights are held."""

    dtype: str  # float32, bfloat16 or float16; of the computation, where weights are quantised
    quantization: str  # none (as stored), nf4 (4 bit, double quantisation off) or int8
    device_map: str  # a device, or transformers' ``auto``

    @classmethod
    def of(cls, dtype: str, quantization: str, device_map: str | None, folder: Path) -> Form:
        """From settings, for the model of a folder: None is a GPU if there is one."""
        if device_map is None:
            cuda = require("torch", extra="local").cuda.is_available()
            device_map = "cuda:0" if cuda else "cpu"
        return cls(resolve_dtype(dtype, folder), quantization, device_map)


def resolve_dtype(dtype: str, folder: Path) -> str:
    """``auto`` made concrete: fp32 on a CPU (bf16 has no fast kernel there), else the model's."""
    if dtype != "auto":
        return dtype
    torch = require("torch", extra="local")
    if not torch.cuda.is_available():
        return "float32"
    return str(getattr(_config(folder), "dtype", None) or torch.bfloat16).removeprefix("torch.")


def positions(model: Any) -> float:
    """Tokens that the model's positions hold; infinite where nothing bounds them."""
    text = model.config.get_text_config()
    return getattr(text, "max_position_embeddings", None) or math.inf


def quantised(model: Any) -> bool:
    """Whether weights are held in 4 or 8 bits, asked for or as stored: nothing merges into them."""
    return getattr(model.config, "quantization_config", None) is not None


def load_tokenizer(folder: Path) -> Any:
    """A fast tokenizer (raises ConfigError: there is none in the folder)."""
    library = require("transformers", extra="local")
    try:
        tokenizer = library.AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    except FAULTS as cause:
        raise _unusable(folder, "tokenizer", cause) from cause
    if not tokenizer.is_fast:
        raise ConfigError(f"{folder} has no tokenizer.json (a fast tokenizer): convert it.")
    return tokenizer


def load_model(folder: Path, form: Form, adapter: Path | None) -> Any:
    """The model in evaluation mode, with its adapter merged in where it is not quantised.

    Of the model's own generation settings only the tokens that end and pad a reply are kept: the
    others (penalties, least lengths, ...) would change replies unseen. ConfigError: the folder
    holds no causal LM, lacks weights or stores them in another quantisation than ``form`` asks for;
    or the adapter does not fit it.
    """
    quiet()
    settings = {**_quantization(form, folder), "attn_implementation": "sdpa"}
    model = _load_checked("AutoModelForCausalLM", folder, form, settings)
    for module in model.modules():
        # Where the CPU has AVX-512 BF16, bitsandbytes (0.50) repacks the weights of a 4-bit layer
        # that is evaluated, for a kernel that rounds states and scales to bf16 whatever dtype was
        # asked for (.4 % of the largest output) and has no gradient. So scores would differ by CPU,
        # and training would end in silence at the first layer.
        if hasattr(module, "support_avx512bf16_for_cpu"):
            module.support_avx512bf16_for_cpu = False
    own = model.generation_config  # whatever a reply's own settings leave open is taken from here
    model.generation_config = require("transformers", extra="local").GenerationConfig(
        eos_token_id=own.eos_token_id, pad_token_id=own.pad_token_id
    )
    if adapter is not None:
        model = _adapted(model, adapter)
    return model.eval().requires_grad_(False)


def load_encoder(folder: Path, form: Form) -> Any:
    """A model whose last hidden states are wanted, in evaluation mode."""
    return _load_checked("AutoModel", folder, form, {}).eval().requires_grad_(False)


def _load_checked(auto: str, folder: Path, form: Form, settings: Mapping[str, Any]) -> Any:
    """The model by one of transformers' classes; refused where weights would be drawn at random."""
    torch = require("torch", extra="local")
    library = require("transformers", extra="local")
    try:
        model, report = getattr(library, auto).from_pretrained(
            folder,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are in the report, by name
            dtype=getattr(torch, form.dtype),
            device_map=form.device_map,
            use_safetensors=True,
            trust_remote_code=False,
            **settings,
        )
    except FAULTS as cause:
        kind = "encoder" if auto == "AutoModel" else "causal language model"
        raise _unusable(folder, kind, cause) from cause
    # An encoder's pooler is often left out and not used; tied weights are not among the missing.
    optional = "pooler." if auto == "AutoModel" else ()
    absent = [key for key in report["missing_keys"] if not key.startswith(optional)]
    misshapen = [key for key, *_ in report["mismatched_keys"]]
    if absent or misshapen:
        fault = "lacks" if absent else "has in another shape"
        raise ConfigError(
            f"{folder} does not hold the weights that its config.json describes: it {fault} "
            f"{some(sorted(absent or misshapen), 3)}. Download or save the model again."
        )
    return model


def _config(folder: Path) -> Any:
    library = require("transformers", extra="local")
    try:
        return library.AutoConfig.from_pretrained(folder, trust_remote_code=False)
    except FAULTS as cause:
        raise _unusable(folder, "config.json", cause) from cause


def _quantization(form: Form, folder: Path) -> dict[str, Any]:
    """Arguments for loading; none (not None, which switches it off) where the folder says all."""
    kind = resolve_quantization(form.quantization, folder)
    if kind in ("nf4", "fp4", "int8"):
        require("bitsandbytes", extra="local")
    if kind not in ("nf4", "fp4") or stored_quantization(folder) == "none":
        return at_load(form, folder)
    config = _config(folder)  # stored in 4 bits, it names a dtype of its own to compute in
    if getattr(config, "quantization_config", None) is None:  # it is under text_config alone
        raise ConfigError(f"{folder}/config.json has no quantization_config: save the model anew.")
    config.quantization_config["bnb_4bit_compute_dtype"] = form.dtype
    return {"config": config}


def at_load(form: Form, folder: Path) -> dict[str, Any]:
    """How weights that are stored in full are quantised while they are loaded, as an argument."""
    if form.quantization == "none" or stored_quantization(folder) != "none":
        return {}
    config = require("transformers", extra="local").BitsAndBytesConfig
    if form.quantization == "int8":
        return {"quantization_config": config(load_in_8bit=True)}
    four = {"bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": False}
    dtype = {"bnb_4bit_compute_dtype": form.dtype}
    return {"quantization_config": config(load_in_4bit=True, **four, **dtype)}


def _adapted(model: Any, adapter: Path) -> Any:
    peft = require("peft", extra="local")
    try:
        with warnings.catch_warnings():
            # peft asks transformers for names that it renamed, and only warns of a misfit.
            warnings.simplefilter("ignore", FutureWarning)
            warnings.simplefilter("ignore", UserWarning)
            wrapped = peft.PeftModel.from_pretrained(model, adapter)
            report = wrapped.load_adapter(adapter, wrapped.active_adapter)  # again, for its report
    except FAULTS as cause:
        raise _unusable(adapter, "adapter for this model", cause) from cause
    if keys := sorted(report.missing_keys or report.unexpected_keys):
        fault = "lacks" if report.missing_keys else "has what the model does not know:"
        raise ConfigError(
            f"the adapter {adapter} is not one of this model: it {fault} {some(keys, 3)}. "
            "Give the model that it was trained on, or an adapter of this one."
        )
    # Unmerged, the adapter's layers stay inside the model; the wrapper itself is not needed.
    return wrapped.get_base_model() if quantised(model) else wrapped.merge_and_unload()


def _unusable(folder: Path, what: str, cause: Exception) -> ConfigError:
    reason = " ".join(str(cause).split())[:300]
    return ConfigError(f"{folder} holds no usable {what}: {reason}")


def quiet() -> None:
    """Only errors of bitsandbytes: it warns of kernels that are not needed, once per layer call."""
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)


def check_gradients(model: Any, owner: str) -> None:
    """ConfigError, naming the settings' ``owner`` in the config, where the quantised layers of a
    model cut the gradient (torch only warns)."""
    torch = require("torch", extra="local")
    bitsandbytes = sys.modules.get("bitsandbytes")  # loading a model with such layers imports it
    if bitsandbytes is None:
        return
    kinds = (bitsandbytes.nn.Linear4bit, bitsandbytes.nn.Linear8bitLt)
    layers = {type(m): (name, m) for name, m in model.named_modules() if isinstance(m, kinds)}
    for name, layer in layers.values():
        device = layer.weight.device
        probe = torch.ones(1, 2, layer.in_features, device=device, requires_grad=True)
        if not layer(probe).requires_grad:
            raise ConfigError(
                f"{owner}.quantization: the quantised layers of this model ({name}) cannot pass a "
                f"gradient back on {device.type}, so nothing below them would be trained: set "
                f"{owner}.quantization=none with a base that is stored in full, or train on a GPU."
            )
