"""Composing configs while a program runs, with the options that it was started with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.version import VersionBase
from omegaconf import DictConfig, open_dict

from judgelab.core.resources import conf

_ONE = RLock()
"""Hydra's state is that of the process: threads compose one after the other."""


def composed(words: Sequence[str] = ()) -> DictConfig:
    """The config of these words of a command line.

    Raises:
        HydraException: an option or key does not exist.
    """
    return composed_call(words)[0]


def composed_call(words: Sequence[str] = ()) -> tuple[DictConfig, Any]:
    """The same, and Hydra's own node: the options chosen, and the words.

    Raises:
        HydraException: an option or key does not exist.
    """
    with _ONE, _options():
        config = compose("config", overrides=list(words), return_hydra_config=True)
    with open_dict(config):
        return config, config.pop("hydra")


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
