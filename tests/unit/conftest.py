"""What unit tests share: property tests judge by what they find, not by how busy the machine is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("unit", deadline=None, print_blob=True)
settings.load_profile("unit")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small Llama that chats, as save_pretrained writes it; nobody changes it."""
    from tests.tiny_models import model, tokenizer

    place: Path = tmp_path_factory.mktemp("model") / "llama"
    model("llama_gqa").save_pretrained(place)
    tokenizer().save_pretrained(place)
    return place
