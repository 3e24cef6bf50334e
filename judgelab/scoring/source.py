"""Where weights come from: a model's folder or Hub id, resolved to exact content, and an adapter.

What an adapter was trained on is kept beside it, so that a later run can look for itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Panel
from judgelab.store.network import HubError, hub_folder

DESCRIPTION = ("*.json", "*.jinja", "*.model", "merges.txt", "vocab.txt")
WEIGHTS = "*.safetensors"
MODULES = "[0-9]*_*"  # what sentence-transformers puts after an encoder: 1_Pooling, 2_Dense, ...
TRAINED_ON = "trained_on.json"  # the file beside an adapter's weights that holds a ``TrainedOn``
LONG = 100  # characters from which two equal texts mean the same paper, and are no stock phrase


@dataclass(frozen=True)
class ModelSource:
    """A folder with a model, and this content's name: Hub id and commit, or the files' hash."""

    folder: Path
    name: str


def find(
    model: str, revision: str | None, hint: str | None = None, owner: str = "evaluation_lm"
) -> ModelSource:
    """The folder of a model and what it is called; downloads descriptions, but no weights.

    ConfigError, with the ``hint`` how to get the model and the part of the config that names it,
    its ``owner``: there is no such folder or id, or the Hub is out of reach.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        if revision is not None:
            raise ConfigError(
                f"{owner}.revision={revision!r} is for models on the Hub, and {model!r} is "
                f"a folder: set {owner}.revision=null."
            )
        return ModelSource(folder, f"sha256:{digest(folder)}")
    if model.count("/") > 1 or model.startswith((".", "~", "/")):
        hint = hint or "give a folder with a model, or an id on the Hub"
        raise ConfigError(f"{owner}.model={model!r} is no folder here: {hint}.")
    snapshot = _snapshot(model, revision, DESCRIPTION, owner)
    return ModelSource(snapshot, f"{model}@{snapshot.name}")


def fetch_weights(model: str, source: ModelSource, owner: str = "evaluation_lm") -> ModelSource:
    """The same source with its weights on this machine; ConfigError without safetensors."""
    if not Path(model).expanduser().is_dir():
        _snapshot(model, source.folder.name, (*DESCRIPTION, WEIGHTS), owner)
    if not any(source.folder.glob(WEIGHTS)):
        raise ConfigError(
            f"{owner}.model={model!r} has no safetensors weights, and pickled ones can run "
            "code: convert it (model.save_pretrained), or choose a revision that has them."
        )
    return source


def find_tokenizer(model: str) -> ModelSource:
    """A tokenizer in a folder or on the Hub; weights beside it are no part of its name."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        return ModelSource(folder, f"sha256:{digest(folder, DESCRIPTION)}")
    try:
        return find(model, None)
    except ConfigError as cause:
        raise ConfigError(
            f"A chat template or an end token needs the model's own tokenizer, and {model!r} is "
            "neither a folder nor to be had from the Hugging Face Hub: set evaluation_lm.tokenizer "
            "to a folder or a name there, or evaluation_lm.template=none and "
            "evaluation_lm.end_token=null."
        ) from cause


def digest(folder: Path, patterns: Sequence[str] = (*DESCRIPTION, WEIGHTS)) -> str:
    """Hash of all files in a model folder that can change an answer, an encoder's modules too."""
    total = hashlib.sha256()
    places = [*patterns, *(f"{MODULES}/{pattern}" for pattern in patterns)]
    for file in sorted({file for place in places for file in folder.glob(place)}):
        with file.open("rb") as stream:
            total.update(f"{file.relative_to(folder).as_posix()} ".encode())
            total.update(hashlib.file_digest(stream, "sha256").digest())
    return total.hexdigest()[:16]


def _snapshot(model: str, revision: str | None, patterns: Sequence[str], owner: str) -> Path:
    branch = revision or "main"
    try:
        folder, obstacle = hub_folder(model, branch, patterns, kind="model", extra="local")
    except HubError as cause:
        raise ConfigError(
            f"{owner}.model={model!r} (revision {branch}) is neither a folder nor to be had from "
            f"the Hugging Face Hub: {cause}."
        ) from cause
    index = folder / "model.safetensors.index.json"
    if WEIGHTS in patterns and obstacle and index.is_file():  # the download may have broken off
        parts = json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()
        for part in sorted(set(parts)):
            if not (folder / part).is_file():
                raise ConfigError(
                    f"{owner}.model={model!r}: the cache lacks {part} and {obstacle}."
                )
    return folder


def stored_quantization(folder: Path) -> str:
    """How a folder's weights are stored: none, nf4, fp4, int8, or the method's name (gptq, ...);
    ConfigError where its config.json is no description of a model."""
    file = folder / "config.json"
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
        text = config.get("text_config") or {}
        settings = config.get("quantization_config") or text.get("quantization_config") or {}
        if settings.get("load_in_4bit"):
            return str(settings.get("bnb_4bit_quant_type", "fp4"))  # the library's own default
        if settings.get("load_in_8bit"):
            return "int8"
        return str(settings.get("quant_method") or "unknown") if settings else "none"
    except FileNotFoundError:
        return "none"  # no model: loading says so
    except (OSError, ValueError, AttributeError, TypeError) as cause:
        raise ConfigError(
            f"{file} describes no model ({cause}): download or save the model again."
        ) from cause


def resolve_quantization(choice: str, folder: Path) -> str:
    """The quantisation of a model in memory: stored, else as asked; ConfigError if they clash."""
    kind = stored_quantization(folder)
    if choice not in ("none", kind) and kind != "none":
        raise ConfigError(
            f"quantization={choice}: the weights of {folder} are stored in {kind}, and cannot be "
            "quantised anew: set quantization=none to take them as stored, or give the model in "
            "full precision."
        )
    return choice if kind == "none" else kind


def find_adapter(path: str) -> ModelSource:
    """A LoRA adapter in a folder; ConfigError where that holds none in safetensors."""
    folder = Path(path).expanduser()
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        if not (folder / name).is_file():
            raise ConfigError(
                f"evaluation_lm.adapter={path!r} has no {name}: give a folder that peft's "
                "save_pretrained wrote."
            )
    return ModelSource(folder, f"sha256:{digest(folder)}")


@dataclass(frozen=True)
class TrainedOn:
    """The base and the papers behind an adapter; of the texts, hashes alone."""

    model: str  # the base as it was named
    content: str  # its Hub id and commit, or its folder's hash
    papers: tuple[str, ...]  # ids of those that trained, in order; held-out ones are not among them
    # SHA-256 of their sources, synopses and texts of 100 characters or more, as they came and as
    # they trained, in lower case and with single spaces; sorted
    texts: tuple[str, ...]

    @classmethod
    def of(cls, model: str, content: str, train: Panel, dataset: Panel) -> TrainedOn:
        """The record of a training on ``train``, whose papers are in ``dataset`` as they came."""
        papers = tuple(item.id for item in train.items)
        texts = {_hash(text) for text, _ in long_texts(train)}
        texts |= {_hash(text) for text, item in long_texts(dataset) if item in papers}
        return cls(model, content, papers, tuple(sorted(texts)))

    def overlap(self, panel: Panel) -> list[str]:
        """Ids of the panel's papers that share an id or a longer text with those that trained."""
        texts = set(self.texts)
        shared = {*self.papers, *(item for text, item in long_texts(panel) if _hash(text) in texts)}
        return [item.id for item in panel.items if item.id in shared]


def trained_on(folder: Path) -> TrainedOn | None:
    """What the adapter in a folder was trained on; None if it does not say (others' adapters)."""
    file = folder / TRAINED_ON
    if not file.is_file():
        return None
    try:
        return TypeAdapter(TrainedOn).validate_json(file.read_bytes())
    except (OSError, ValueError) as cause:
        raise DataError(
            f"{file} is damaged ({type(cause).__name__}): train the adapter again, or "
            "remove the file if you know that no paper to score was trained on."
        ) from cause


def other_base(adapter: Path, model: str, content: str) -> str | None:
    """How the base of an adapter differs from the model it is put on; None where nothing is known.

    Contents are compared where the adapter records one (``TrainedOn``), else names (as peft keeps
    them). A quantised copy of the same weights differs too: that is for the reader to judge.
    """
    if (record := trained_on(adapter)) is not None:
        base, same = f"{record.model} ({record.content})", record.content == content
    else:
        try:
            config = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
            base = config.get("base_model_name_or_path") or ""
            own, other = (Path(name).expanduser().resolve() for name in (base, model))
        except (OSError, ValueError, AttributeError, TypeError):
            return None  # what is wrong with the file is for peft to say
        same = base in ("", content.partition("@")[0]) or own == other
    return None if same else f"trained on {base}, put on {model} ({content})"


def long_texts(panel: Panel) -> Iterator[tuple[str, str]]:
    """Every longer source, synopsis and text, in lower case with single spaces, and whose it is."""
    for item, row in zip(panel.items, panel.texts, strict=True):
        for text in (item.source, item.synopsis, *row):
            plain = " ".join((text or "").casefold().split())
            if len(plain) >= LONG:
                yield plain, item.id


def _hash(plain: str) -> str:
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()
