"""Composing configs while a program runs, with the options that it was started with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

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
    """Within the block Hydra looks where options lie: for a run under way, where it looked."""
    if GlobalHydra.instance().is_initialized():
        yield
    else:
        with initialize_config_dir(str(conf()), version_base="1.3"):
            yield
