"""``prompts=authors``: whose words a run asks by. The releases here are made up; the real clones
are read where JUDGELAB_CLONES names their folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from judgelab.config import build, resolved
from judgelab.config.composing import composed
from judgelab.config.prompts import prompts_table, whose
from judgelab.core.errors import ConfigError
from judgelab.core.lm import Capability
from judgelab.core.prompt import Prompt
from tests.scripted import ScriptedChat

GEM = "task_iclr23/prompt"
CRITIC = '''
def generate_tvd_mi_prompt(task_description: str, response_a: str, response_b: str) -> str:
    """Not the prompt."""
    prompt = f"""Task: {task_description}; {{kept}} of {response_a} and {response_b}?"""
    return prompt
'''


@pytest.fixture
def release(tmp_path: Path) -> Path:
    for name, text in {
        f"{GEM}/gen_review_system.txt": "You are {not a field}.",
        f"{GEM}/gen_review_user.txt": "[Abstract]\n{}\n[First]\n{}\n",
        f"{GEM}/get_review_summary.txt": "List judgments.",
        "evaluation/tvd_mi_peer_prediction.py": CRITIC,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def config(release: Path, *words: str) -> dict[str, Any]:
    return resolved(composed([*words, "prompts=authors", f"prompts.release='{release}'"]))


def built(node: dict[str, Any]) -> Prompt:
    return Prompt(**{key: value for key, value in node.items() if key != "_target_"})


def test_a_chat_lm_gets_the_system_message_in_the_system_turn(release: Path) -> None:
    words = ("mechanism=gem", "dataset=iclr_reviews", "study=validation", "evaluation_lm=smollm2")
    chat = config(release, *words, "evaluation_lm.template=chat")
    assert chat["evaluation_lm"]["system"] == "You are {not a field}."
    filled = built(chat["mechanism"]["prompt"]).text(synopsis="{s}", response="r")
    assert filled == "[Abstract]\n{s}\n[First]\nr"
    raw = config(release, *words)  # no template, no turns: one text
    own = dict(raw["mechanism"]["prompt"])
    own.pop("_target_")
    assert Prompt(**own).text(synopsis="s", response="r").startswith("You are {not a field}.\n\n[A")
    assert raw["evaluation_lm"]["system"] is None
    with pytest.raises(ConfigError, match="one is set already"):
        config(release, *words, "evaluation_lm.template=chat", "evaluation_lm.system=mine")


def test_fine_tuning_has_it_in_its_system_turn_too(release: Path) -> None:
    tuned = config(release, "study=finetune", "dataset=iclr_reviews", "agents=recorded")
    assert tuned["study"]["settings"]["system"] == "You are {not a field}."
    assert tuned["study"]["settings"]["prompt"]["file"].endswith("gen_review_user.txt")


def test_a_prompt_is_read_out_of_a_function_and_never_run(release: Path) -> None:
    asked = config(release, "mechanism=tvd_mi")
    rows = {row["setting"]: row for row in prompts_table(asked)}
    assert rows["mechanism.prompt_labels"]["words"] == "ours"  # the authors ask for reasons first
    able = ScriptedChat(lambda request: None)
    able.capabilities = frozenset({Capability.CHAT, Capability.LABELS})
    assert not build(asked["mechanism"], "mechanism").by_labels(able)
    assert rows["mechanism.prompt"]["words"] == "authors"
    (message,) = built(asked["mechanism"]["prompt"]).messages(task="T", a="{x}", b="B")
    assert message.content == "Task: T; {kept} of {x} and B?"
    assert "tvd_mi_peer_prediction.py:generate_tvd_mi_prompt" in whose(asked)


def test_a_system_message_alone_has_the_text_in_the_users_turn(release: Path) -> None:
    asked = config(release, "preprocessor=judgments", "mechanism=gem", "dataset=iclr_reviews")
    system, user = built(asked["preprocessor"]["prompt"]).messages(
        text="a {review}", subject="The reviewer"
    )
    assert (system.role, system.content) == ("system", "List judgments.")
    assert (user.role, user.content) == ("user", "a {review}")


def test_strategies_of_agents_are_the_authors_too(release: Path) -> None:
    import json

    from judgelab.agents.prompted import _with_wording
    from judgelab.agents.taxonomy import load_taxonomy

    taxonomy = load_taxonomy("summarization")
    names = [one.name for one in taxonomy.strategies if not one.reference]
    held = [{"condition": name, "strategy": f"do {name}", "reading": None} for name in names]
    place = release / "configs" / "xsum_200_config.json"
    place.parent.mkdir()
    place.write_text(json.dumps({"agent_perspectives": held}))
    words = ("agents=prompted", "mechanism=tvd_mi", "evaluation_lm=gpt4o_mini")
    asked = config(release, *words)
    assert asked["agents"]["wording"] == str(place)
    assert "agents=prompted" in whose(config(release, *words, "dataset=cnn_dailymail"))
    assert "agents=prompted" not in whose(asked)
    worded = _with_wording(taxonomy, str(place))
    assert worded.sha != taxonomy.sha
    assert [s.prompt for s in worded.strategies if not s.reference] == [f"do {n}" for n in names]
    place.write_text(json.dumps({"agent_perspectives": held[1:]}))
    with pytest.raises(ConfigError, match=f"no instruction for {names[0]}"):
        _with_wording(taxonomy, str(place))


def test_a_release_without_any_of_the_prompts_is_refused(release: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has none of the prompts that this run asks by"):
        config(release, "mechanism=pairwise", "dataset=nf_cats")
    with pytest.raises(ConfigError, match="is no folder"):
        config(tmp_path / "absent", "mechanism=tvd_mi")


def test_another_version_of_a_file_is_refused(release: Path) -> None:
    place = release / "evaluation/tvd_mi_peer_prediction.py"
    with pytest.raises(ConfigError, match="holds no prompt 'other'"):
        Prompt(str(place), marks={}, part="other")
    with pytest.raises(ConfigError, match="1 times, not 2"):
        Prompt(str(place), marks={"{response_a}": ["a", "b"]}, part="generate_tvd_mi_prompt")
    with pytest.raises(ConfigError, match="0 times, not 1"):
        Prompt(str(place), marks={"{query}": "source"}, part="generate_tvd_mi_prompt")


CLONES = os.environ.get("JUDGELAB_CLONES", "")


@pytest.mark.skipif(not CLONES, reason="JUDGELAB_CLONES names no folder of the papers' clones")
@pytest.mark.parametrize(("clone", "prompts"), [("gem", 7), ("tvd_mi", 3), ("auto_pre", 7)])
def test_every_prompt_of_the_map_is_in_the_real_clone(clone: str, prompts: int) -> None:
    import yaml

    from judgelab.core.resources import conf

    text = (conf() / "prompts" / "authors.yaml").read_text().replace("${prompts.set}", "NFQA")
    root, held = Path(CLONES) / clone, 0
    for ours, place in yaml.safe_load(text)["stand_in"].items():
        place.pop("scored", None)
        paths = {key: root / place[key] for key in ("file", "system_file") if key in place}
        shown = {"text.txt", "source.txt", "synopsis.txt"} & {place["file"]}
        if all(p.is_file() or p.name in shown for p in paths.values()) and len(shown) < len(paths):
            files = {k: path.name if path.name in shown else str(path) for k, path in paths.items()}
            prompt = Prompt(**(place | files))
            assert prompt.fields <= Prompt(ours).fields
            held += 1
    assert held == prompts
