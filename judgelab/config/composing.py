"""Where Hydra looks for options, and composing configs while a program runs with those."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.plugins.search_path_plugin import SearchPathPlugin
from hydra.version import VersionBase
from omegaconf import DictConfig, OmegaConf, open_dict

from judgelab.core.resources import conf

Files = tuple[tuple[str, int], ...]
"""Path, and when it was changed."""

_ONE = RLock()
"""Hydra's state is that of the process: threads compose one after the other."""


class OwnFolders(SearchPathPlugin):
    """Adds ``conf/papers``, and a folder ``conf`` of the working directory that holds options.

    What the user's folder holds comes after ours: it adds options, and replaces none. A folder with
    a ``config.yaml`` is another program's, one with ``local/default.yaml`` would change settings
    that nobody named: both are left alone, and so is any where ``--config-dir`` names another.
    """

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """See SearchPathPlugin; other programs' search paths are not touched."""
        places = [str(entry.path).removeprefix("file://") for entry in search_path.get_path()]
        if not any(Path(place).resolve() == conf().resolve() for place in places):
            return
        search_path.append("judgelab", f"file://{conf() / 'papers'}")
        own = Path.cwd() / "conf"
        named = any(word.startswith(("--config-dir", "-cd")) for word in sys.argv[1:])
        if own.is_dir() and own.resolve() != conf().resolve() and not named and not _foreign(own):
            search_path.append("working directory", f"file://{own}")


def _foreign(folder: Path) -> bool:
    return any((folder / name).exists() for name in ("config.yaml", "local/default.yaml"))


def register() -> None:
    """Tell Hydra; once, however often it is called."""
    if OwnFolders not in Plugins.instance().discover(SearchPathPlugin):
        Plugins.instance().register(OwnFolders)


def composed(words: Sequence[str] = ()) -> DictConfig:
    """The config of these words of a command line.

    Raises:
        HydraException: an option or key does not exist.
    """
    return composed_call(words)[0]


def composed_call(words: Sequence[str] = ()) -> tuple[DictConfig, Any]:
    """The same, and Hydra's own node: the options chosen, and the words.

    What was composed before is not composed again, which takes a tenth of a second or two, as long
    as no file that Hydra looks at has changed.

    Raises:
        HydraException: an option or key does not exist.
    """
    with _ONE, _options():
        files = _files()
        made = _composed if files is None else _composed_before
        config: DictConfig = pickle.loads(made(tuple(words), str(Path.cwd()), files))
    with open_dict(config):
        return config, config.pop("hydra")


def read_option(file: Path) -> dict[str, Any]:
    """What an option's YAML holds, laid over the options of its folder that it starts from."""
    node = OmegaConf.load(file)
    chosen = node.pop("defaults", []) if isinstance(node, DictConfig) else []
    bases = [file.with_name(f"{one}.yaml") for one in chosen if isinstance(one, str)]
    starts = [read_option(base) for base in bases if base.is_file()]  # not _self_
    found: Any = OmegaConf.to_container(OmegaConf.merge(*starts, node))
    return dict(found)


def with_settings(config: DictConfig, hydra: Any, words: Sequence[str]) -> None:
    """Set ``KEY=VALUE`` of keys that are there, as if these words had been composed with the rest.

    Args:
        config, hydra: as ``composed_call`` returns them.

    Raises:
        HydraException, OmegaConfBaseException: a word is no such setting.
    """
    for one in OverridesParser.create().parse_overrides(list(words)):
        OmegaConf.update(config, one.key_or_group, one.value(), merge=True)
    with open_dict(hydra):
        hydra.overrides.task.extend(words)


def _composed(words: tuple[str, ...], folder: str, files: Files | None) -> bytes:
    """A config as bytes, so that each caller has its own.

    Args:
        folder: the working directory, which Hydra notes.
        files: what Hydra reads.
    """
    return pickle.dumps(compose("config", overrides=list(words), return_hydra_config=True))


_composed_before = lru_cache(maxsize=64)(_composed)


def _files() -> Files | None:
    """Where Hydra looks, and when each file of options there was changed (ns since 1970).

    None where a command line named a folder, which may hold anything.
    """
    looked_at = GlobalHydra.instance().config_loader().get_search_path().get_path()
    places = [str(one.path).removeprefix("file://") for one in looked_at]
    folders = [Path(place) for place in dict.fromkeys(places) if "://" not in place]
    if not {*folders} <= {conf(), conf() / "papers", Path.cwd() / "conf"}:
        return None
    files = (file for folder in folders for file in folder.rglob("*.yaml"))
    return tuple((str(file), file.stat().st_mtime_ns) for file in files)


@contextmanager
def _options() -> Iterator[None]:
    """Within the block Hydra looks where our options lie: in a run under way, where it looked."""
    hydra = GlobalHydra.instance()
    if _ours(hydra):
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


def _ours(hydra: GlobalHydra) -> bool:
    if not hydra.is_initialized():
        return False
    places = hydra.config_loader().get_search_path().get_path()
    return any(Path(str(one.path).removeprefix("file://")) == conf() for one in places)
