"""Judges that a list names by options: composed as the command line composes, or one sentence."""

from __future__ import annotations

import importlib
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.errors import OverrideParseException
from omegaconf import DictConfig

from judgelab.config import build, resolved
from judgelab.config.launch import check_folder, rehearse, sentence
from judgelab.config.targets import VOUCHED
from judgelab.core.errors import ConfigError
from judgelab.core.resources import conf
from judgelab.store.fingerprint import fingerprint


@cache
def config(*words: str) -> DictConfig:
    return compose("config", overrides=["study=audit", *words])


def composed(*words: str, judges: Path | None = None) -> dict[str, Any]:
    with initialize_config_dir(str(conf()), version_base="1.3"):
        made = deepcopy(config(*words))
        made.study.judges = made.study.judges if judges is None else str(judges)
        return resolved(made)


def judges(folder: Path, text: str, *words: str) -> dict[str, Any]:
    file = folder / "judges.yaml"
    file.write_text(text, encoding="utf-8")
    found: dict[str, Any] = composed(*words, judges=file)["study"]["judges"]
    return found


def test_an_entry_is_what_its_options_hold_on_the_command_line(tmp_path: Path) -> None:
    text = """
- name: mini
  evaluation_lm: gpt4o_mini
  evaluation_lm.limits.timeout: 20
  mechanism.max_tokens: 9
- name: big
  mechanism: pointwise5
  evaluation_lm: openai
  evaluation_lm.model: big
  evaluation_lm.extra_body: {seed: 1}
- {name: rouge, mechanism: rouge_l}
- {name: gem, mechanism: gem}
"""
    found = judges(tmp_path, text, "mechanism=judge", "evaluation_lm=smollm2")
    mini = composed("evaluation_lm=gpt4o_mini", "evaluation_lm.limits.timeout=20")
    assert found["mini"]["evaluation_lm"] == mini["evaluation_lm"]
    by_hand = composed("mechanism=judge", "mechanism.max_tokens=9")
    assert found["mini"]["mechanism"] == by_hand["mechanism"], "settings alone change the run's own"
    assert found["big"]["evaluation_lm"]["extra_body"] == {"seed": 1}
    assert found["big"]["mechanism"] == composed("mechanism=pointwise5")["mechanism"]
    assert "evaluation_lm" not in found["rouge"]
    assert found["gem"]["preprocessor"] == composed("mechanism=gem")["preprocessor"]


def test_judges_compare_texts_where_the_run_asks_nobody(tmp_path: Path) -> None:
    found = judges(tmp_path, "- {name: mini, evaluation_lm: gpt4o_mini}")
    assert found["mini"]["mechanism"] == composed("mechanism=pairwise")["mechanism"]
    found = judges(tmp_path, "- {name: mini, evaluation_lm: gpt4o_mini}", "mechanism=judge")
    assert "mechanism" not in found["mini"], "then it is the run's"


def test_a_run_is_known_by_its_judges_not_by_their_file(tmp_path: Path) -> None:
    def mark(text: str, name: str) -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return fingerprint(composed(judges=tmp_path / name))

    one = mark("- {name: a, evaluation_lm: gpt4o}", "one.yaml")
    assert mark("# said otherwise\n- evaluation_lm: gpt4o\n  name: a", "two.yaml") == one
    assert mark("- {name: a, evaluation_lm: gpt4o_mini}", "one.yaml") != one
    inline = composed("study.judges=[{name: a, evaluation_lm: gpt4o}]")
    assert fingerprint(inline) == one


BAD = {
    "[]": "names no judge",
    "mini: {evaluation_lm: gpt4o}": "is no list of judges: begin each with a dash",
    "- gpt4o": "entry 1: 'gpt4o' is no judge",
    "- {evaluation_lm: gpt4o}": "entry 1: .* is no judge: write - {name",
    "- {name: a}\n- {name: a}": r"entry 2 \(a\): another judge has this name",
    "- {name: a, evaluation_lm: gpt4o_min}": r"entry 1 \(a\): evaluation_lm=gpt4o_min does not "
    r"exist. Did you mean 'gpt4o_mini'",
    "- {name: a, evaluation_lm: {model: x}}": "is no name of an option",
    "- {name: a, evaluationlm: gpt4o}": "evaluationlm is not a known key. Did you mean 'evaluat",
    "- {name: a, dataset.path: x}": "settings of evaluation_lm, mechanism, preprocessor alone",
    "- {name: a, evaluation_lm: openai}": "evaluation_lm.model is missing: add 'evaluation_lm.mod",
    "- {name: a, mechanism.max_tokens: '${nowhere}'}": "nowhere",
    "- {name: a,\n": r"cannot be read as YAML \(.*line 2",
    "- name: a\n  name: b": "duplicate key",
}


@pytest.mark.parametrize("text", BAD)
def test_what_cannot_be_is_said_with_its_place(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=BAD[text]):
        judges(tmp_path, text, "mechanism=pairwise")


def test_a_setting_that_an_option_lacks_is_refused_when_it_is_built(tmp_path: Path) -> None:
    text = "- {name: a, evaluation_lm: gpt4o, evaluation_lm.modle: x}"
    with pytest.raises(ConfigError, match="x.modle is not a known key. Did you mean 'model'"):
        build(judges(tmp_path, text)["a"]["evaluation_lm"], "x")


def test_several_sweeps_at_once_are_refused() -> None:
    with pytest.raises(ConfigError, match="one at a time"):
        rehearse(["-m", "sweep=gem_figure_4,gem_figure_5"])
    for words in (["dataset.path=sweep=a,b", "sweep=null"], ["-m", "sweep=gem_figure_5"]):
        assert rehearse(words) == words


def test_a_folder_that_nothing_would_be_written_into_is_refused() -> None:
    check_folder(["hydra.sweep.dir=x", "paths.root=hydra.run.dir=x"])
    with pytest.raises(ConfigError, match=r"paths\.root="):
        check_folder(["mechanism=mi", "hydra.run.dir=x"])


def test_a_rehearsal_adds_what_nobody_set() -> None:
    words = ["sweep=tvd_mi_figure_2", "rehearsal=true", "limit=9"]
    added = rehearse(words)
    assert added[:3] == words
    assert "evaluation_lm=compression" in added
    assert "limit=4" not in added
    assert rehearse(words[:1]) == words[:1]
    assert "evaluation_lm=compression" in rehearse([words[0], "rehearsal=True"])
    own, base = (rehearse([f"sweep=dhp_figure_{k}", "rehearsal=true"]) for k in (4, 3))
    assert own[2:] == base[2:]  # Figure 4 starts from Figure 3
    table = rehearse(["sweep=tvd_mi_table_2", "rehearsal=true"])[2:]
    assert "agents.most=2" in table and "agents=rules" in table  # its own, and Figure 2's
    assert "dataset.source=hub" not in table and table.count("~evaluation_lm@lms.critic") == 1
    assert "preprocessor=rules" in rehearse(["experiment=gem_finetune", "rehearsal=true"])


@pytest.mark.parametrize("word", ["", "sweep=auto_pre_figure_3", "experiment=x", "sweep=surprise"])
def test_a_rehearsal_of_nothing_is_refused(word: str) -> None:
    message = f"{word} has" if word else "without sweep=NAME there is"
    with pytest.raises(ConfigError, match=f"{message} no rehearsal"):
        rehearse(["rehearsal=true", *word.split()])


def test_an_unexpected_fault_is_laid_to_whose_code_it_arose_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "surprising.py").write_text("import json\njson.loads('{')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(VOUCHED, "trusted_packages=[surprising]")
    with pytest.raises(ValueError) as own:
        importlib.import_module("surprising")
    assert "a fault of surprising; debug=true" in sentence(own.value)
    with pytest.raises(TypeError) as ours:
        rehearse(5)  # type: ignore[arg-type]
    assert "a fault of judgelab; debug=true" in sentence(ours.value)
    words = ("limit=2", "evaluation_lm@writer_lm=null")
    with pytest.raises(ValueError) as cause:
        composed(*words)
    assert sentence(cause.value, words).startswith("evaluation_lm@writer_lm=null names no option")
    several = sentence(cause.value, ["mechanism=null", "dataset=1.5"])
    assert several.startswith("mechanism=null and dataset=1.5 name no option")


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("dataset.columns.text=réponse", """'dataset.columns.text="réponse"'"""),
        ("dataset.path=~/l'été", """'dataset.path="~/l'"'"'été"'"""),
        ('dataset.raters=[é b, "ü, x", c]', """'dataset.raters=["é b", "ü, x", c]'"""),
        ("dataset.labels={pass: [réussi, 1]}", """'dataset.labels={pass: ["réussi", 1]}'"""),
        ("dataset.labels={réussi: 1}", "a name before a colon has no letters but a to z"),
        ("dataset.path", "write key=value"),
    ],
)
def test_a_setting_that_wants_quotes_is_shown_with_them(word: str, advice: str) -> None:
    with pytest.raises(OverrideParseException) as cause:
        composed(word)
    assert advice in sentence(cause.value)


@pytest.mark.parametrize(
    ("module", "line", "said"),
    [
        ("judgelab.x", "[] + 1", "TypeError: can only concatenate"),
        ("judgelab.x", "raise MemoryError", "MemoryError (debug=true"),
        ("torch.nn", "raise RuntimeError('CUDA out of memory')", "RuntimeError from torch: CUDA"),
        ("torch.nn", "raise ValueError('boom')", "ValueError from torch: boom (debug=true"),
        ("judgelab.x", "import json; json.loads('{')", "JSONDecodeError from json: Expecting"),
        ("x", "raise ValueError('Ambiguous value')", "ValueError from x: Ambiguous value (debug"),
        ("x", "raise OSError(\"Key 'y' is not in struct\")", "OSError from x: Key 'y' is not in"),
    ],
)
def test_a_fault_beneath_judgelab_is_not_laid_to_it(module: str, line: str, said: str) -> None:
    with pytest.raises(Exception) as cause:
        exec(line, {"__name__": module})
    assert sentence(cause.value, ()).startswith(f"Unexpected {said}")
    assert ("a fault of judgelab" in sentence(cause.value)) == (line == "[] + 1")
