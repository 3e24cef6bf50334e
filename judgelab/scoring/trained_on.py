"""What an adapter was trained on, kept beside it, so that a later run can look for itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgelab.core.errors import DataError
from judgelab.core.panel import Panel

LONG = 100
"""Characters from which two equal texts mean the same paper; shorter ones are stock phrases."""

TRAINED_ON = "trained_on.json"
"""The file beside an adapter's weights that holds it."""


@dataclass(frozen=True)
class TrainedOn:
    """The base and the papers behind an adapter; of the texts, hashes alone.

    Attributes:
        papers: ids of the papers that trained, in order; held-out ones are not among them.
        texts: SHA-256 of their sources, synopses and texts of 100 characters or more, as they
            came and as they trained, in lower case and with single spaces; sorted.
    """

    model: str  # the base model, as it was named
    content: str  # its Hub id and commit, or the hash of its folder
    papers: tuple[str, ...]
    texts: tuple[str, ...]

    def overlap(self, panel: Panel) -> list[str]:
        """Ids of the panel's papers that share an id or a longer text with those that trained."""
        ids, texts = set(self.papers), set(self.texts)
        found = {name for text, name in long_texts(panel) if _hash(text) in texts}
        return [item.id for item in panel.items if item.id in ids or item.id in found]

    @property
    def plain(self) -> dict[str, Any]:
        """As the file holds it."""
        base = {"model": self.model, "content": self.content}
        return {"base": base, "papers": list(self.papers), "texts": list(self.texts)}


def training_on(model: str, content: str, train: Panel, loaded: Panel) -> TrainedOn:
    """The record of a training on ``train``, whose papers are in ``loaded`` as they came."""
    ids = {item.id for item in train.items}
    texts = [text for text, _ in long_texts(train)]
    texts += [text for text, name in long_texts(loaded) if name in ids]
    hashes = sorted({_hash(text) for text in texts})
    return TrainedOn(model, content, tuple(item.id for item in train.items), tuple(hashes))


def trained_on(folder: Path) -> TrainedOn | None:
    """What the adapter in a folder was trained on; None if it does not say (others' adapters)."""
    file = folder / TRAINED_ON
    if not file.is_file():
        return None
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        base, papers, texts = found["base"], tuple(found["papers"]), tuple(found["texts"])
        return TrainedOn(str(base["model"]), str(base["content"]), papers, texts)
    except (OSError, ValueError, KeyError, TypeError) as cause:
        raise DataError(
            f"{file} is damaged ({type(cause).__name__}: {cause}): train the adapter again, or "
            "remove the file if you know that no paper to score was trained on."
        ) from cause


def other_base(adapter: Path, model: str, content: str) -> str | None:
    """How the base of an adapter differs from the model it is put on; None where nothing is known.

    Contents are compared where the adapter records one (``TrainedOn``), else names (as peft keeps
    them). A quantised copy of the same weights differs too: that is for the reader to judge.
    """
    record = trained_on(adapter)
    if record is not None:
        known = f"trained on {record.model} ({record.content})"
        return None if record.content == content else f"{known}, put on {model} ({content})"
    try:
        found = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
        base = found.get("base_model_name_or_path")
    except (OSError, ValueError, AttributeError):
        return None  # what is wrong with the file is for peft to say
    if not isinstance(base, str) or base in ("", model, content.partition("@")[0]):
        return None
    if Path(base).expanduser().resolve() == Path(model).expanduser().resolve():
        return None
    return f"trained on {base}, put on {model} ({content})"


def _hash(plain: str) -> str:
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def long_texts(panel: Panel) -> Iterator[tuple[str, str]]:
    """Every longer source, synopsis and text, in lower case with single spaces, and whose it is."""
    for item, row in zip(panel.items, panel.texts, strict=True):
        for text in (item.source, item.synopsis, *row):
            plain = " ".join((text or "").casefold().split())
            if len(plain) >= LONG:
                yield plain, item.id
