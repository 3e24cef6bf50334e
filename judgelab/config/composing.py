"""Composing configs while a program runs, with the options that it was started with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig

from judgelab.core.resources import conf


def composed(words: Sequence[str] = ()) -> DictConfig:
    """The config of these words of a command line.

    Raises:
        HydraException: an option or key does not exist.
    """
    with _options():
        return compose("config", overrides=list(words))


@contextmanager
def _options() -> Iterator[None]:
    """Within the block Hydra looks where our options lie: in a run under way, where it looked."""
    hydra = GlobalHydra.instance()
    if _ours(hydra):
        yield
        return
    before = hydra.hydra  # another program's
    hydra.clear()
    try:
        with initialize_config_dir(str(conf()), version_base="1.3"):
            yield
    finally:
        hydra.hydra = before


def _ours(hydra: GlobalHydra) -> bool:
    if not hydra.is_initialized():
        return False
    places = hydra.config_loader().get_search_path().get_path()
    return any(Path(str(one.path).removeprefix("file://")) == conf() for one in places)
