"""``prompts=authors``: the words of a paper's authors, read from a clone, in the place of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judgelab.core.errors import ConfigError
from judgelab.core.prompt import FOLDER, Prompt

PROMPT = f"{Prompt.__module__}.{Prompt.__qualname__}"
AUTHORS = "authors"
FILES = {"file", "system_file"}  # arguments of ``Prompt``


def with_prompts(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config with the authors' prompts where ours stood, if it says so; a user's own file
    stays. Where an LM continues a text (``scored``) and has a chat template, the authors' system
    message is that of the LM, so that it stands in the system turn (ConfigError:
    ``prompts.release`` is no folder or has none of the prompts; the LM or the fine-tuning has a
    system message already)."""
    settings = config.get("prompts") or {}
    if settings.get("whose", "ours") not in ("ours", AUTHORS):
        raise ConfigError(f"prompts={settings['whose']!r} must be ours or {AUTHORS}.")
    if settings.get("whose") != AUTHORS:
        return dict(config) | ({"prompts": {"whose": "ours"}} if settings else {})
    if "stand_in" not in settings:
        return dict(config)  # of a run: they are in their places
    release = Path(str(settings["release"])).expanduser()
    if not release.is_dir():
        raise ConfigError(f"prompts.release={str(release)!r} is no folder: give a clone.")
    places = {
        name: one
        for name, one in settings["stand_in"].items()
        if all(_file(release, one[key]).is_file() for key in FILES & one.keys())
    }
    replaced: dict[str, Any] = _with_release(dict(config), release, places)
    dataset = (config.get("dataset") or {}).get("name")
    strategies = release / settings["strategies"].get(dataset, "")
    if "wording" in replaced["agents"] and strategies.is_file():
        replaced["agents"] = {**replaced["agents"], "wording": str(strategies)}
    if replaced == config:
        raise ConfigError(
            f"prompts=authors: {release} has none of the prompts that this run asks by: choose "
            "the clone of the paper in question, or prompts=ours."
        )
    return replaced | {"prompts": {"whose": AUTHORS}}  # what they say is in their places now


def _file(release: Path, name: str) -> Path:
    """A file of the clone, or one of ours that only shows a text."""
    return FOLDER / name if (FOLDER / name).is_file() else release / name


Places = Mapping[str, Mapping[str, Any]]
"""Our prompt -> where the authors' stands: ``Prompt``'s arguments, and whether it is scored."""


def _with_release(node: Any, release: Path, places: Places, lm: Any = None) -> Any:
    """The node with all prompts in it that ``places`` names; ``lm`` is who would be asked."""
    if isinstance(node, list):
        return [_with_release(one, release, places, lm) for one in node]
    if not isinstance(node, Mapping):
        return node
    if place := _place(node, places):
        files = {key: str(_file(release, place[key])) for key in FILES & place.keys()}
        return {**node, **{key: value for key, value in place.items() if key != "scored"}, **files}
    lm = node.get("evaluation_lm") or lm  # a judge may have its own
    result = {key: _with_release(value, release, places, lm) for key, value in node.items()}
    for key, value in node.items():
        # of a fine-tuning, and of a mechanism that some LM is asked by
        if "scored" in _place(value, places) and "system" in node:
            result = _with_system(result, key)
        in_chat = key == "mechanism" and (lm or {}).get("template") == "chat"
        if in_chat and "scored" in _place(value.get("prompt"), places):
            lm_node = _with_system({**lm, "prompt": result[key]["prompt"]}, "prompt")
            result[key] = {**result[key], "prompt": lm_node.pop("prompt")}
            result["evaluation_lm"] = lm_node
    return result


def _place(value: Any, places: Places) -> Mapping[str, Any]:
    """Where the authors' prompt stands that replaces this one; empty for what is no such prompt."""
    prompt = isinstance(value, Mapping) and value.get("_target_") == PROMPT
    return places.get(value.get("file"), {}) if prompt else {}


def _with_system(node: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The node that asks by the prompt ``key``, with the prompt's system message as its own."""
    prompt = dict(node[key])
    if node.get("system") is not None:
        raise ConfigError(
            "prompts=authors brings a system message, and one is set already: leave "
            "evaluation_lm.system (in a fine-tuning: study.settings.system) at null."
        )
    system = Prompt(prompt.pop("system_file")).template
    return {**node, key: prompt, "system": system}


def prompts_table(config: Mapping[str, Any]) -> list[dict[str, str]]:
    """One row a prompt in a config (of those for several tasks the dataset's): where it stands,
    whose words it holds, its files and hash."""
    task = str((config.get("dataset") or {}).get("task"))

    def rows(node: Any, path: str) -> Iterator[dict[str, str]]:
        if path == "agents.prompts":
            own = task if task in node else "other"
            node = {own: node[own]} if own in node else {}
        for key, value in node.items() if isinstance(node, Mapping) else enumerate(node):
            where = f"{path}.{key}" if path else str(key)
            if isinstance(value, Mapping) and value.get("_target_") == PROMPT:
                prompt = Prompt(**{name: one for name, one in value.items() if name != "_target_"})
                words = AUTHORS if prompt.marked else "ours" if prompt.shipped else "yours"
                yield {"setting": where, "words": words, "prompt": prompt.identity}
            elif isinstance(value, Mapping | list):
                yield from rows(value, where)

    return list(rows(config, ""))


def whose(config: Mapping[str, Any]) -> str:
    """One sentence: which prompts are the authors', and which are not."""
    rows = prompts_table(config)
    prompts = [f"{row['setting']} ({row['prompt']})" for row in rows if row["words"] == AUTHORS]
    if wording := config["agents"].get("wording"):
        prompts.append(f"agents ({Path(wording).name})")
    rest = [f"{row['setting']} {row['words']}" for row in rows if row["words"] != AUTHORS]
    if "wording" in config["agents"] and not wording:
        rest.append("what agents=prompted are told")
    also = f" The release has none for the others: {', '.join(rest)}." if rest else ""
    return f"The authors' prompts: {', '.join(prompts)}.{also}"
