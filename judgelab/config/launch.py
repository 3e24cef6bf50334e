"""What surrounds Hydra: a user's mistake ends in one sentence and exit code 1, not a traceback."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from judgelab.config.composing import composed, literal, spelled
from judgelab.config.targets import VOUCHED, hand_on_trust
from judgelab.core.errors import (
    ChoiceError,
    ConfigError,
    JudgelabError,
    PartialRunError,
    did_you_mean,
)
from judgelab.core.resources import PROGRAM, conf, of_yaml
from judgelab.core.terminal import say
from judgelab.store.disk import disk_fault

FLAGS = {
    "dataset.columns.human": "--human",
    "dataset.raters": "--human",
    "dataset.judges": "--judge",
}
"""Settings that ``judgelab audit`` has options for."""
CHOICE = r"\+?(sweep|experiment)="
UNKNOWN_KEY = r"Could not override '([^']+)'|Key '([^']+)' is not in struct"
NO_MEMORY = r"OutOfMemory|out of memory|not enough memory|allocate memory"
PART = r"""\"[^"]*"|'[^']*'|[^][{},:"'\s](?:[^][{},:"']*[^][{},:"'\s])?"""  # of a list, a mapping
NO_NAME = r"\+?([\w/]+)(@[\w.]+)?=(.*,)?(null|true|false|[\d.]+)(,.*)?"  # an axis, no option


def guarded(main: Callable[[], Any]) -> None:
    """Call a Hydra main; exit with 1 and a sentence on a fault, 130 or 143 when interrupted."""

    def terminated(number: int, frame: object) -> None:
        say("Terminated: the same command continues where this run stopped.", sys.stderr)
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, terminated)
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then raises what happened instead of printing it
    try:
        words = [spelled(word) for word in sys.argv[1:]]
        # first: argparse takes nothing that stands behind an option between overrides
        words.sort(key=lambda word: word not in ("-m", "--multirun"))
        sys.argv[1:] = rehearse(words)
        check_folder(sys.argv[1:])
        hand_on_trust()
        main()
    except KeyboardInterrupt:
        say("Interrupted: the same command continues where this run stopped.", sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # whoever read the output is gone, as head is after ten lines
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more is written
        sys.exit(141)
    except PartialRunError as cause:  # its sentence says so itself
        say(str(cause), sys.stderr)
        sys.exit(cause.exit_code)
    except Exception as cause:
        if any(word.lstrip("+").lower() == "debug=true" for word in sys.argv):
            raise
        say(f"error: {sentence(cause)}", sys.stderr)
        sys.exit(1)


def check_folder(words: Sequence[str]) -> None:
    """Raises ConfigError for ``hydra.run.dir``, into which nothing of a run would be written."""
    if any(word.lstrip("+").startswith("hydra.run.dir=") for word in words):
        raise ConfigError(
            "hydra.run.dir: judgelab names each run's folder itself; paths.root=FOLDER says where "
            "these folders lie."
        )


def rehearse(words: Sequence[str]) -> list[str]:
    """The words, and those of the rehearsal of the sweep or experiment that set no key of theirs,
    if ``rehearsal=true`` asks (ConfigError: neither is chosen, or it has no rehearsal; or several
    sweeps are, of which Hydra would read the axes of the first alone)."""
    choices = dict(word.lstrip("+").split("=", 1) for word in words if re.match(CHOICE, word))
    if "," in (sweep := choices.get("sweep", "null")):
        raise ConfigError(f"sweep={sweep}: one at a time, as every sweep has axes of its own.")
    if not any(word.lstrip("+").lower() == "rehearsal=true" for word in words):
        return list(words)
    axes = [axis for axis in ("sweep", "experiment") if choices.get(axis, "null") != "null"]
    name = f"{axes[0]}={choices[axes[0]]}" if axes else ""
    stand_ins = rehearsal_of(name.replace("=", "/")) if name else None
    if stand_ins is None:
        raise ConfigError(
            f"rehearsal=true: {f'{name} has' if name else 'without sweep=NAME there is'} no "
            "rehearsal; docs/papers/figures.md lists those that have one."
        )
    return _add_missing(words, stand_ins)


def rehearsal_of(option: str) -> list[str] | None:
    """Words that make ``sweep/NAME`` or ``experiment/NAME`` small: its own, and what they leave of
    those of the one that it starts from."""
    axis, _, name = option.partition("/")
    file = conf() / "papers" / axis / f"{name}.yaml"
    if not file.is_file():
        return None
    content = of_yaml(file.read_text(encoding="utf-8"))
    bases = [one for one in content.get("defaults", ()) if isinstance(one, str) and one != "_self_"]
    start = next(filter(None, (rehearsal_of(f"{axis}/{base}") for base in bases)), [])
    own = [spelled(str(word)) for word in content.get("rehearsal", ())]
    return _add_missing(own, start) or None


def _add_missing(words: Sequence[str], more: Sequence[str]) -> list[str]:
    """The words, and those of ``more`` that set no key of theirs."""

    def key(word: str) -> str:
        return word.lstrip("+~").partition("=")[0]

    keys = {key(word) for word in words}
    return [*words, *(word for word in more if key(word) not in keys)]


def sentence(cause: BaseException, words: Sequence[str] | None = None) -> str:
    """One sentence for the user: what is wrong, where, and what to do. ``words``: the overrides
    that were given; None: those of the command line."""
    if isinstance(cause, ChoiceError) and words is None:
        commands = (f"  {what}:\n    {_command(more)}" for what, more in cause.choices.items())
        return "\n".join([cause.sentence, *commands])
    if isinstance(cause, JudgelabError):
        return str(cause)
    if full := disk_fault(cause):
        return full
    if isinstance(cause, MissingConfigException) and "/" in (cause.missing_cfg_file or ""):
        group, _, name = str(cause.missing_cfg_file).rpartition("/")
        return f"{group}={name} does not exist.{did_you_mean(name, list(cause.options or []))}"
    if isinstance(cause, OSError) and cause.filename:
        return (
            f"{cause.filename}: {cause.strerror}. Check paths.root, paths.cache and the files that "
            "the config names."
        )
    if isinstance(cause, OverrideParseException):
        return f"The override {cause.override!r} cannot be read: {_advice(str(cause.override))}."
    text, overrides = " ".join(str(cause).split()), sys.argv[1:] if words is None else words
    if text.startswith("Config group override must be"):  # Hydra does not say which
        matches = (re.fullmatch(NO_NAME, word, re.IGNORECASE) for word in overrides)
        axes = [match[0] for match in matches if match and (conf() / match[1]).is_dir()]
        verb, them = ("name", "the axes") if len(axes) > 1 else ("names", "the axis")
        return (
            f"{' and '.join(axes) or 'An axis'} {verb} no option: give one of those that {PROGRAM} "
            f"--help lists, or leave {them} out."
        )
    if isinstance(cause, HydraException | OmegaConfBaseException):
        if match := re.search(UNKNOWN_KEY, text):
            key = (match[1] or match[2]).removesuffix("@")
            return f"{key} is not a known key.{_near(key, overrides)}"
        if "Ambiguous value" in text:
            return "A value with a comma is a sweep: add -m, or quote the value."
        return f"{text} {' '.join(str(cause.__cause__ or '').split())}".strip()
    return _unexpected(cause, text)


def _advice(word: str) -> str:
    """How to write a word that Hydra cannot read: in quotes, if these help, else what it takes."""
    key, sign, value = word.partition("=")
    parts = PART if value.startswith(("[", "{")) else ".+"  # a list keeps its brackets
    quoted = f"{key}{sign}{re.sub(parts, lambda part: _quoted(part[0]), value)}"
    try:
        OverridesParser.create().parse_override(quoted)
    except HydraException:
        return (
            "write key=value, and quote values with letters other than a to z, ~ or other signs "
            "twice: 'dataset.path=\"~/my file.jsonl\"'; a name before a colon has no letters but "
            "a to z"
        )
    return (
        "a value with letters other than a to z, ~ or other signs wants quotes, and the shell "
        f"quotes around these: {shlex.quote(quoted)}"
    )


def _quoted(part: str) -> str:
    is_plain = re.fullmatch(r"""["'].*["']|[\w ./@%+-]+""", part, re.ASCII)
    return part if is_plain else literal(part)


def _unexpected(cause: BaseException, text: str) -> str:
    """The sentence for a fault that nobody foresaw: the user's own package is at fault where its
    code led there, judgelab where its own lines failed, nobody where the memory ran out; of any
    other it is only known which package it comes from."""
    kind = type(cause)
    frames = (frame.f_globals for frame, _ in traceback.walk_tb(cause.__traceback__))
    modules = [str(names.get("__name__") or "") for names in frames]
    if kind.__module__ != "builtins":  # compiled code raises, and leaves no frame
        modules.append(kind.__module__)
    packages = [module.partition(".")[0] for module in modules]
    place = packages[-1] if packages else ""
    ours = ["judgelab", *re.findall(r"\w+", os.environ.get(VOUCHED, ""))]
    nearest = next((one for one in reversed(packages) if one in ours), "")
    memory = isinstance(cause, MemoryError) or re.search(NO_MEMORY, f"{kind.__name__} {text}")
    fault = nearest if not memory and (nearest != "judgelab" or place == nearest) else ""
    source = f" from {place}" if place and not fault and place not in ours else ""
    return (
        f"Unexpected {kind.__name__}{source}{f': {text}' if text else ''} "
        f"({f'a fault of {fault}; ' if fault else ''}debug=true shows where it arose)"
    )


def _command(more: Sequence[str]) -> str:
    """The command that was given, and these overrides; as options of a verb where it has some."""
    name = "judgelab" if Path(sys.argv[0]).name == "judgelab" else PROGRAM
    words = sys.argv[1:]
    if words[:1] in (["audit"], ["screen"]):
        place = words.index("--") if "--" in words else len(words)
        own, rest = words[:place], words[place + 1 :]
        for word in more:
            key, _, value = word.partition("=")
            names = yaml.safe_load(value)
            if words[0] == "audit" and key in FLAGS and not isinstance(names, dict):
                for one in names if isinstance(names, list) else [names]:
                    own += [FLAGS[key], str(one)]
            else:
                rest = [*rest, word]
        words, more = own, ["--", *rest] if rest else []
    return shlex.join([*name.split(), *words, *more])


def _near(key: str, words: Sequence[str]) -> str:
    """The closest key of the default config: it is composed only now, when something is wrong."""
    groups = [arg for arg in words if re.fullmatch(r"[a-z_]+=[\w]+", arg)]
    try:
        cfg = composed([group for group in groups if not group.startswith(f"{key}=")])
    except Exception:  # several things are wrong at once: then without a hint
        return ""
    node, parent, name = cfg, "", key
    while "." in name and OmegaConf.is_dict(inner := node.get(name.partition(".")[0])):
        node, (step, _, name) = inner, name.partition(".")
        parent += f"{step}."
    options = [str(k) for k in node if k != "_target_"]
    if not options:
        return f" {parent[:-1]} has no settings."
    return did_you_mean(name.partition(".")[0], options).replace("mean '", f"mean '{parent}")
