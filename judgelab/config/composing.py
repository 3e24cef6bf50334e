"""Where Hydra looks for options; composing configs while a program runs, and writing them as the
words of a command line."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.types import Quote, QuotedString
from hydra.core.plugins import Plugins
from hydra.plugins.search_path_plugin import SearchPathPlugin
from hydra.version import VersionBase
from omegaconf import DictConfig, OmegaConf, open_dict

from judgelab.core.resources import conf, own_conf

_PLAIN = re.compile(r"[A-Za-z_./][\w./@%+-]*", re.ASCII)
_NOT_STRINGS = frozenset({"true", "false", "null", "inf", "nan"})
IF_KNOWN = "if_known"
"""Key of a value that counts only where the class takes it: ``attack.by=lm?``."""
_IF_KNOWN_WORD = re.compile(r"(\w+(?:\.\w+)+)=([^\s,{}\[\]]+)\?")
_ONE = RLock()
"""Hydra's state is that of the process: threads compose one after the other."""


class OwnFolders(SearchPathPlugin):
    """Adds ``conf/papers`` and the user's own options (``own_conf``; not beside ``--config-dir``)
    after ours: they add options, and replace none."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """See SearchPathPlugin; other programs' search paths are not touched."""
        places = [str(entry.path).removeprefix("file://") for entry in search_path.get_path()]
        if not any(Path(place).resolve() == conf().resolve() for place in places):
            return
        search_path.append("judgelab", f"file://{conf() / 'papers'}")
        other_folder = any(word.startswith(("--config-dir", "-cd")) for word in sys.argv[1:])
        if (own := own_conf()) and not other_folder:
            search_path.append("working directory", f"file://{own}")


def register() -> None:
    """Tell Hydra; once, however often it is called."""
    if OwnFolders not in Plugins.instance().discover(SearchPathPlugin):
        Plugins.instance().register(OwnFolders)


def composed(words: Sequence[str] = ()) -> DictConfig:
    """The config of these words of a command line (HydraException: an option or key does not
    exist)."""
    return composed_call(words)[0]


def composed_call(words: Sequence[str] = ()) -> tuple[DictConfig, Any]:
    """The same, and Hydra's own node: the options chosen, and the words (HydraException: an option
    or key does not exist)."""
    with _ONE, _options():
        config = compose("config", overrides=list(words), return_hydra_config=True)
    with open_dict(config):
        return config, config.pop("hydra")


def read_option(file: Path) -> dict[str, Any]:
    """What an option's YAML holds, laid over the options of its folder that it starts from."""
    node = OmegaConf.load(file)
    defaults = node.pop("defaults", []) if isinstance(node, DictConfig) else []
    bases = [file.with_name(f"{one}.yaml") for one in defaults if isinstance(one, str)]
    starts = [read_option(base) for base in bases if base.is_file()]  # not _self_
    option: Any = OmegaConf.to_container(OmegaConf.merge(*starts, node))
    return dict(option)


@contextmanager
def _options() -> Iterator[None]:
    """Within the block Hydra looks where our options lie: in a run under way, where it looked."""
    hydra = GlobalHydra.instance()
    if hydra.is_initialized():
        places = hydra.config_loader().get_search_path().get_path()
        if any(Path(str(one.path).removeprefix("file://")) == conf() for one in places):
            yield
            return
    before, base = hydra.hydra, VersionBase.instance().getbase()  # another program's
    hydra.clear()
    try:
        with initialize_config_dir(str(conf()), version_base="1.3"):
            yield
    finally:
        hydra = GlobalHydra.instance()
        hydra.hydra, VersionBase.instance().version_base = before, base


def spelled(word: str) -> str:
    """A word of the command line as Hydra takes it: ``attack.by=lm?``."""
    match = _IF_KNOWN_WORD.fullmatch(word)
    return word if match is None else f"++{match[1]}={{{IF_KNOWN}:{match[2]}}}"


def as_typed(word: str) -> str:
    """The reverse of ``spelled``: the word as the user gave it."""
    return re.sub(rf"^\+\+([\w.]+)=\{{{IF_KNOWN}:(.+)\}}$", r"\1=\2?", word)


def differences(
    path: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """(key, value) that turn ``before`` into ``after``, which stand at ``path`` of the whole config
    ('' for its root); '++' marks a key that is new."""
    for key, value in after.items():
        name = f"{path}.{key}" if path else str(key)
        if key not in before:
            yield f"++{name}", value
        elif isinstance(value, Mapping) and isinstance(before[key], Mapping):
            yield from differences(name, before[key], value)
        elif value != before[key]:
            yield name, value


def literal(value: Any) -> str:
    """A value as Hydra reads it back, of the same type. Keys of a mapping cannot be quoted: one
    that looks like a number or truth value is read as one."""
    if isinstance(value, Mapping):
        pairs = ((re.sub(r"([\\(){}\[\]:=,\s])", r"\\\1", str(k)), v) for k, v in value.items())
        return "{" + ",".join(f"{key}:{literal(one)}" for key, one in pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(literal(part) for part in value) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # inf, -inf, nan
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _NOT_STRINGS:
        return value
    # Hydra leaves interpolations in quoted strings to OmegaConf, which would resolve them.
    return str(QuotedString(value, Quote.double).with_quotes()).replace("${", "\\${")
