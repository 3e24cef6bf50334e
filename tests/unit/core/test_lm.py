"""What LMs, agents and studies have for nothing, and what they must bring."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from judgelab.calls.cache import CallCache
from judgelab.calls.cached import CachedLM, CountingLM
from judgelab.config import resolved
from judgelab.config.composing import composed
from judgelab.core.errors import CapabilityError, ConfigError
from judgelab.core.lm import Capability, ChatRequest, EvaluationLM
from judgelab.core.panel import rng_for
from judgelab.core.prompt import Prompt
from judgelab.engine.context import Context, build_parts
from judgelab.engine.study import Study
from judgelab.evaluation_lm.transformers import Transformers
from tests.scripted import NOBODY, panel_of


class Speaks(EvaluationLM):
    """Has the two things that nobody can guess, and something to say."""

    identity = "speaks 1"
    capabilities = frozenset({Capability.CHAT})
    adapter = "a/folder"


class Bare:
    """As an LM looks, without its base."""

    identity, capabilities = "bare 1", frozenset({Capability.LOGPROB})


@dataclass(frozen=True)
class Judged(Study):
    judges: dict[str, EvaluationLM] | None = field(default_factory=dict)

    def ask(self, context: Context) -> None: ...

    def run(self, context: Context) -> Any: ...


def test_what_an_lm_does_not_say_has_a_default_and_wrappers_pass_it_on(tmp_path: Path) -> None:
    lm = Speaks()
    cached = CachedLM(lm, CallCache(tmp_path / "c.sqlite"))
    for one in (lm, cached, CountingLM(cached)):
        assert one.unwrapped is lm and one.adapter == "a/folder"
        assert one.facts == {}
    with pytest.raises(CapabilityError, match="speaks gives no log-probabilities"):
        lm.logprob(["x"], ["y"], [(0, 0)])
    with pytest.raises(CapabilityError, match="answers no messages"):
        lm.chat([ChatRequest(())])
    cached.close()


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("evaluation_lm", "Bare must derive from judgelab.core.lm.EvaluationLM"),
        ("study", "Bare must derive from judgelab.engine.study.Study"),
    ],
)
def test_a_class_without_its_base_is_refused_by_name(target: str, said: str) -> None:
    config = resolved(composed([])) | {target: {"_target_": f"{__name__}.Bare"}}
    with pytest.raises(ConfigError, match=said):
        build_parts(config)


def test_putting_a_cache_around_an_lm_asks_it_nothing(tmp_path: Path) -> None:
    """Its identity looks for the weights: an absent model is told when it is needed, not before."""
    CachedLM(Transformers(str(tmp_path / "absent")), CallCache(tmp_path / "c.sqlite")).cache.close()


def test_judges_are_never_asked_past_cache_and_budget() -> None:
    assert Judged().with_lms(lambda name, lm: lm) == Judged()
    with pytest.raises(ConfigError, match="Judged has judges, but no with_lms"):
        Judged({"one": NOBODY}).with_lms(lambda name, lm: lm)


def test_seed_salt_item_and_agent_each_change_the_stream() -> None:
    base = rng_for(0, "s", "i", "a").random()
    others = [
        rng_for(*key).random()
        for key in ((1, "s", "i", "a"), (0, "t", "i", "a"), (0, "s", "j", "a"), (0, "s", "i", "b"))
    ]
    assert base not in others
    assert rng_for(0, "s", "i", "a").random() == base


def test_digest_sees_texts_names_and_absence() -> None:
    panels = [panel_of([[text, text]]) for text in ("p", "p", "other", None, "")]
    first, again, *others = [panel.digest for panel in panels]
    assert first == again and len({first, *others}) == 4


def test_a_file_in_the_working_directory_hides_no_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Prompt("judge.txt").identity
    monkeypatch.chdir(tmp_path)
    for name in ("judge.txt", "mine.txt"):
        Path(name).write_text("Other words: {source}")
    assert Prompt("judge.txt").identity == before
    assert Prompt("judge.txt").shipped
    for own in ("./judge.txt", str(tmp_path / "judge.txt"), "mine.txt"):
        assert Prompt(own).template == "Other words: {source}"
        assert not Prompt(own).shipped
    with pytest.raises(ConfigError, match=r"'none\.txt' cannot be read"):
        Prompt("none.txt")
