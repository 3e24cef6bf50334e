"""The classes that a config names: of judgelab, or of packages that the user trusts."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from hydra.core.hydra_config import HydraConfig

from judgelab.core.errors import ConfigError

VOUCHED = "JUDGELAB_TRUSTED_PACKAGES"
"""The environment variable by which a command's ``trusted_packages`` reach its worker processes."""
_trusted: ContextVar[tuple[str, ...]] = ContextVar("trusted", default=())


@contextmanager
def trusting(packages: Sequence[str]) -> Iterator[None]:
    """Within the block, classes of these packages are built too."""
    before = _trusted.set((*_trusted.get(), *packages))
    try:
        yield
    finally:
        _trusted.reset(before)


def trusted() -> tuple[str, ...]:
    """The packages that are trusted here and now, beside our own."""
    return _trusted.get()


def named_by_user(configured: Sequence[str], by_caller: Sequence[str]) -> list[str]:
    """``trusted_packages`` of a config, if it was the user who named them: on the command line, or
    as the caller of ``judgelab.run``. A config file that somebody else wrote must not vouch for
    itself (ConfigError: they came with another file, or are no names of packages)."""
    packages = list(dict.fromkeys([*configured, *by_caller]))
    for package in packages:
        if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", package):
            raise ConfigError(
                f"trusted_packages={packages!r}: {package!r} is no name of a package."
            )
    by_words = False
    if HydraConfig.initialized():
        # not by Hydra's account of the words, which a config file may set, as the environment
        handed_on = os.environ.get(VOUCHED) and VOUCHED not in HydraConfig.get().job.env_set
        by_words = bool(handed_on) or any(map(_trusts, sys.argv[1:]))
    if by_words or set(configured) <= {*by_caller}:
        return packages
    raise ConfigError(
        f"trusted_packages={list(configured)!r} came with a config file: if you trust them, name "
        "them on the command line, or in judgelab.run(trusted_packages=[...])."
    )


def hand_on_trust() -> None:
    """Let processes that this command starts know what its own words trust."""
    os.environ[VOUCHED] = " ".join(filter(_trusts, sys.argv[1:]))


def _trusts(word: str) -> bool:
    return word.lstrip("+").startswith("trusted_packages=")


def walk(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every part of a config, itself first, with its path."""
    yield path, value
    pairs: Iterable[tuple[Any, Any]] = enumerate(value) if isinstance(value, list) else ()
    for key, one in value.items() if isinstance(value, Mapping) else pairs:
        yield from walk(one, f"{path}.{key}" if path else str(key))


def check_targets(config: Mapping[str, Any]) -> None:
    """Look at the name of every class in a config, before anything is imported (ConfigError: one is
    of a package that is not trusted)."""
    for path, node in walk(config):
        if isinstance(node, Mapping) and isinstance(target := node.get("_target_"), str):
            _check(target, target, path)


def located(target: Any, path: str) -> type[Any]:
    """The class of that name (ConfigError: it is of a package that is not trusted, cannot be
    imported, or is no class)."""
    if not isinstance(target, str):
        raise ConfigError(f"{path}._target_={target!r} cannot be built: name a class.")
    _check(target, target, path)
    module, _, name = target.rpartition(".")
    try:
        cls = getattr(importlib.import_module(module), name)
    except Exception as cause:  # a module of the user's raises what it likes
        import_fault = isinstance(cause, ImportError | AttributeError | ValueError)
        why = cause if import_fault else f"{type(cause).__name__}: {cause}"
        raise ConfigError(f"{path}._target_={target!r} cannot be imported: {why}.") from cause
    if not isinstance(cls, type):
        raise ConfigError(f"{path}._target_={target!r} cannot be built: name a class.")
    _check(target, f"{cls.__module__}.{cls.__qualname__}", path)
    return cls


def names_lm(node: Any, path: str) -> bool:
    """Whether the class of a config's node is an evaluation LM (ConfigError: as ``located``)."""
    from judgelab.core.lm import EvaluationLM  # numpy: not for --help

    is_target = isinstance(node, Mapping) and "_target_" in node
    return is_target and EvaluationLM in located(node["_target_"], path).__mro__


def _check(target: str, name: str, path: str) -> None:
    """``name``: where the class is written, which its ``target`` need not say."""
    package = name.partition(".")[0]
    if not any(f"{name}.".startswith(f"{one}.") for one in ("judgelab", *_trusted.get())):
        raise ConfigError(
            f"{path}._target_={target!r}: {package} is neither judgelab's nor a package that you "
            f"named. If it is yours, or you trust its code, add 'trusted_packages=[{package}]'."
        )
