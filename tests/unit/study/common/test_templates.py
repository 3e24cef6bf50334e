"""Words of a study of the user's own lie beside it, wherever that is."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgelab.study.common.templates import sentences


def test_a_package_outside_has_templates_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "words.md.j2").write_text("{{ 3 | counted }} were seen.\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert sentences("mine", "words.md.j2") == ["3 items were seen."]
