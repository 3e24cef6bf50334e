"""The READMEs' tables of options and figures are those of the configs; their commands compose."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from experiments import catalogue
from judgelab.config import frame, resolved
from judgelab.study.lab import build_parts

OPTIONS = [one for axis in catalogue.AXES for one in catalogue.options(axis)]


@pytest.fixture(autouse=True)
def _composer() -> Iterator[None]:
    with initialize_config_dir(str(catalogue.CONF), version_base="1.3"):
        yield


@pytest.mark.parametrize("page", catalogue.pages(), ids=lambda path: str(path.parent.name))
def test_a_page_is_what_the_configs_say(page: Path) -> None:
    said = page.read_text(encoding="utf-8")
    assert said == catalogue.pages()[page], f"stale: {catalogue.REFRESH}"


def test_every_option_is_in_the_table_once() -> None:
    readme = (catalogue.ROOT / "README.md").read_text(encoding="utf-8")
    for axis in catalogue.AXES:
        table = readme.split(f"<code>{axis}</code>")[1].split("</details>")[0]
        listed = re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE)
        assert listed == sorted(path.stem for path in (catalogue.CONF / axis).glob("*.yaml"))


@pytest.mark.parametrize("option", OPTIONS, ids=lambda one: f"{one.axis}={one.name}")
def test_a_command_composes_and_builds(option: catalogue.Option) -> None:
    words = shlex.split(option.command)
    assert words[:3] == ["python", "run.py", f"{option.axis}={option.name}"]
    config = resolved(compose("config", overrides=words[2:]))
    frame(config)
    build_parts(config)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda one: f"{one.axis}={one.name}")
def test_the_line_is_one_short_sentence(option: catalogue.Option) -> None:
    assert 10 <= len(option.what) <= 150
    assert not option.what.endswith(".")


def test_a_yaml_without_a_comment_is_described_by_its_class(tmp_path: Path) -> None:
    bare = tmp_path / "bare.yaml"
    bare.write_text("_target_: judgelab.attack.padding.Padding\nsymbol: Y\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogue, "CONF", tmp_path.parent)
        [made] = catalogue.options(tmp_path.name)
    assert made.what.startswith("Appends a space")
    assert made.command == f"python run.py {tmp_path.name}=bare"


def test_a_stale_page_is_named_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text(f"above\n{catalogue.BEGIN}\nold\n{catalogue.END}\nbelow\n")
    monkeypatch.setattr(catalogue, "ROOT", tmp_path)
    monkeypatch.setattr(catalogue, "SWEEPS", tmp_path)
    assert catalogue.main([]) == 1
    assert catalogue.REFRESH in capsys.readouterr().err
    assert catalogue.main(["--write"]) == 0
    written = (tmp_path / "README.md").read_text()
    assert written.startswith("above") and written.endswith("below\n") and "old" not in written
    assert catalogue.main([]) == 0
