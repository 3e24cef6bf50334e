"""Every mistake in a config is one sentence that names the key."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf
from pydantic import Field

from judgelab.config import build, resolved
from judgelab.config.composing import composed, literal
from judgelab.core.bounds import Correlation, Count
from judgelab.core.errors import ConfigError

HERE = "tests.unit.config.test_build"
INNER = f"{HERE}.Inner"


@dataclass(frozen=True)
class Inner:
    size: int = 1
    draws: Count = 2
    shares: Annotated[list[Correlation], Field(min_length=1)] | None = None


@dataclass(frozen=True)
class Outer:
    inner: Inner
    rate: float
    label: str | None = None

    def __post_init__(self) -> None:
        if self.rate < 0:
            raise ValueError("rate must not be negative")


@dataclass(frozen=True)
class Held:
    values: Any


class Broken:
    def __init__(self) -> None:
        raise KeyError("neither")


def node(**values: object) -> dict[str, object]:
    return {"_target_": f"{HERE}.Outer", "inner": {"_target_": INNER}, "rate": 1.0} | values


def test_what_the_class_raises_names_the_inner_node() -> None:
    with pytest.raises(ConfigError, match=r"^x\.values\.a: rate must not be negative"):
        build({"_target_": f"{HERE}.Held", "values": {"a": node(rate=-1.0)}}, "x")
    with pytest.raises(KeyError, match="neither"):  # not a mistake in the config: as it is
        build({"_target_": f"{HERE}.Broken"}, "x")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"_target_": f"{HERE}.INNER"}, f"x._target_='{HERE}.INNER' cannot be built: name a class"),
        ({"rat": 1.0}, "x.rat is not a known key. Did you mean 'rate'?"),
        ({"rate": "fast"}, "x.rate='fast' must be a valid number"),
        ({"rate": -1.0}, "x: rate must not be negative"),
        ({"inner": {"_target_": INNER, "size": "big"}}, "x.inner.size='big'"),
        ({"inner": {"_target_": INNER, "shares": [0.5, 2.0]}}, "shares[1]=2.0 must be less"),
        ({"_target_": "judgelab.no.such.X"}, "cannot be imported"),
    ],
)
def test_mistakes(change: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        build(node(**change), "x")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_absent_is_named() -> None:
    with pytest.raises(ConfigError, match="x.rate is missing: give x.rate=VALUE"):
        build({"_target_": f"{HERE}.Outer", "inner": {"_target_": INNER}}, "x")
    with pytest.raises(ConfigError, match="has no _target_"):
        build({"rate": 1.0}, "x")
    with pytest.raises(ConfigError, match=r"dataset\.path is missing: give dataset\.path=VALUE"):
        resolved(OmegaConf.create({"dataset": {"path": "???"}}))
    with pytest.raises(ConfigError, match="nowhere"):
        resolved(OmegaConf.create({"a": "${nowhere}"}))


def test_a_secret_of_the_environment_stands_in_no_config(monkeypatch: pytest.MonkeyPatch) -> None:
    """An option file with ${oc.env:OPENAI_API_KEY}: the key stood in six files of the run."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-mine")
    for value in ("${oc.env:OPENAI_API_KEY}", "Bearer ${oc.env:OPENAI_API_KEY}"):
        cfg = OmegaConf.create({"tracker": {"tags": ["a", value]}})
        said = r"tracker\.tags\.1 holds .* variable OPENAI_API_KEY, .*api_key_env=OPENAI_API_KEY"
        with pytest.raises(ConfigError, match=said) as refused:
            resolved(cfg)
        assert "sk-secret" not in str(refused.value)
    monkeypatch.setenv("OPENAI_API_KEY", "EMPTY")
    assert resolved(OmegaConf.create({"a": "${oc.env:OPENAI_API_KEY}"}))["a"] == "EMPTY"


def test_a_file_that_has_changed_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "conf" / "mechanism" / "own_one.yaml"
    own.parent.mkdir(parents=True)
    for unit in ("words", "characters"):
        own.write_text(f"_target_: judgelab.mechanism.length.Length\nunit: {unit}\n")
        assert composed(["mechanism=own_one"]).mechanism.unit == unit


@pytest.mark.parametrize(
    "value",
    [True, None, "6", 0.5, "null", "it's {x}, [y].txt", "", [1, "x y", True], {"My Agent": "A"}],
)
def test_values_are_written_as_hydra_reads_them(value: object) -> None:
    read = OverridesParser.create().parse_override(f"++key={literal(value)}").value()
    assert read == value
