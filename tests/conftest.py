"""Shared fixtures: where the authors' released data lies."""

from __future__ import annotations

import gc
import os
import pickle
import ssl
from collections.abc import Callable, Generator, Iterator
from dataclasses import astuple, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hydra import version
from hydra._internal import config_loader_impl as hydra_loader
from hydra._internal import defaults_list
from hydra._internal.config_repository import ConfigRepository
from hydra._internal.defaults_list import DefaultsList
from hydra.core.config_store import ConfigStore
from hydra.plugins.config_source import ConfigResult
from omegaconf import OmegaConf, _utils, base

from judgelab.config.targets import trusting
from judgelab.engine import execution
from judgelab.report import style
from judgelab.store import fingerprint
from tests.fresh import ROOT, SKETCH

SLOW = [
    line
    for line in Path(__file__).with_name("slow.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A slow file is not even imported where slow tests are left out: torch alone takes seconds."""
    name = collection_path.relative_to(ROOT / "tests").as_posix()
    return True if "not slow" in config.option.markexpr and name in SLOW else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what slow.txt lists: folders, files and tests of tests/."""
    for item in items:
        name = item.nodeid.removeprefix("tests/").partition("[")[0]
        if any(f"{name}/".startswith((f"{one}/", f"{one}::")) for one in SLOW):
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported is no garbage: looking through it took a tenth of the time, and looking as
    often as by default through the rest a twentieth."""
    gc.disable()
    found = yield
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)
    gc.enable()
    return found


@pytest.fixture(scope="session", autouse=True)
def _own_classes() -> Iterator[None]:
    """Configs of tests name LMs and judges that stand in tests."""
    with trusting(["tests"]):
        yield


@pytest.fixture(scope="session", autouse=True)
def _configs_are_composed_once() -> Iterator[None]:
    """Tests compose some two thousand configs, of the same few hundred files and options.

    A file is parsed once, so is an interpolation. Where all options are ours, Hydra lays the
    options that a command chooses over each other once, those that two commands begin with once
    for both; the keys that the command sets it lays over a copy of that, each time.
    """
    load, list_defaults = OmegaConf.load, hydra_loader.create_defaults_list
    loader, read_option = hydra_loader.ConfigLoaderImpl, ConfigRepository.load_config
    merge, load_option = loader._compose_config_from_defaults_list, loader._load_single_config
    kept, begun = dict[Any, bytes](), set[Any]()

    def once(key: Any, make: Callable[[], Any]) -> Any:
        if key not in kept:
            kept[key] = pickle.dumps(make())
        return pickle.loads(kept[key])

    def load_once(file: Any) -> Any:
        path = Path(file if isinstance(file, str | Path) else file.name)  # Hydra opens it first
        there = path.stat()
        return once((str(path), there.st_mtime_ns, there.st_size), lambda: load(file))

    def places(repo: Any) -> object:
        """Where the options lie; where some are not ours, another value each time."""
        found = [one.path for one in repo.get_sources() if one.scheme() == "file"]
        ours = all(Path(path).is_relative_to(ROOT / "conf") for path in found)
        return tuple(found) if ours else object()

    def read_once(repo: Any, config_path: str) -> Any:
        return once((places(repo), config_path), lambda: read_option(repo, config_path))

    def list_once(repo: Any, overrides_list: Any, **more: Any) -> DefaultsList:
        words = [word for word in overrides_list if not word.is_sweep_override()]
        options = [
            word
            for word in words
            if repo.group_exists(word.key_or_group) and not isinstance(word.value(), dict)
        ]
        key = (places(repo), *more.values(), *(word.input_line for word in options))
        found = once(key, lambda: list_defaults(repo, overrides_list=options, **more))
        return replace(found, config_overrides=[one for one in words if one not in options])

    def option(self: Any, default: Any, repo: Any) -> Any:
        return default if isinstance(default, ConfigResult) else load_option(self, default, repo)

    def merge_once(self: Any, defaults: Any, repo: Any) -> Any:
        key = (places(repo), *map(astuple, defaults))
        starts = [key[:count] for count in range(2, len(key) + 1)]
        met = max((start for start in starts if start in begun), key=len, default=key)
        begun.update(starts)
        for wanted in (met, key):  # as far as a command before went with this one, and all of it
            known = max((start for start in starts if start in kept), key=len, default=key[:1])
            rest = defaults[len(known) - 1 : len(wanted) - 1]
            if rest and known in kept:
                rest = [ConfigResult("", "", pickle.loads(kept[known]), {}), *rest]
            if rest:
                kept[wanted] = pickle.dumps(merge(self, rest, repo))
        return pickle.loads(kept[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OmegaConf, "load", staticmethod(load_once))
        patch.setattr(ConfigRepository, "load_config", read_once)
        patch.setattr(hydra_loader, "create_defaults_list", list_once)
        patch.setattr(loader, "_load_single_config", option)
        patch.setattr(loader, "_compose_config_from_defaults_list", merge_once)
        # each composition copied all that Hydra has stored; it copies what it takes from there
        patch.setattr(ConfigStore, "__deepcopy__", lambda store, _: store, raising=False)
        for module in (base, _utils):
            patch.setattr(module, "parse", cache(base.parse))
        patch.setattr(version, "_get_version", cache(version._get_version))
        # for each file a map of all choices, which interpolated defaults alone read; we have none
        patch.setattr(defaults_list, "_create_interpolation_map", lambda *_: OmegaConf.create())
        # no test speaks TLS within this process; each client of an endpoint read all authorities
        patch.setattr(ssl.SSLContext, "load_verify_locations", lambda *_, **__: None)
        # no test changes our code; a user's run hashes it once
        digest = cache(fingerprint.code_digest)
        for module in (fingerprint, execution):
            patch.setattr(module, "code_digest", digest)
        yield


DRAWN = (*("unit/report", "unit/tracker", "e2e/test_finetune", "e2e/test_items_page.py"),)
"""Where figures are saved as for a user; elsewhere the first of each name that a process draws."""
SAVED: dict[str, Any] = {}


@pytest.fixture(scope="module", autouse=True)
def _figures_are_sketched(request: pytest.FixtureRequest) -> Iterator[None]:
    """A run draws its figures everywhere, but their files took two thirds of a short run's time."""
    own_draw, own_bytes = style.draw, style.image_bytes

    def draw(name: str, *rest: Any) -> style.Drawn:
        drawn = own_draw(name, *rest)
        SAVED.setdefault(name, drawn.figure)
        return drawn

    def image_bytes(figure: Any, kind: str) -> bytes:
        first = any(figure is one for one in SAVED.values())
        return own_bytes(figure, kind) if first else SKETCH[kind]

    with pytest.MonkeyPatch.context() as patch:
        if not request.path.relative_to(ROOT / "tests").as_posix().startswith(DRAWN):
            patch.setattr(style, "draw", draw)
            patch.setattr(style, "image_bytes", image_bytes)
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of released data (never part of the project); skips where it is absent."""
    folder = Path(os.environ.get("JUDGELAB_SHARED", ROOT.parent / "shared")) / "data"
    if not folder.is_dir():
        pytest.skip(
            "no released data: set JUDGELAB_SHARED to a folder with data/peer_prediction, from "
            "github.com/zrobertson466920/llm-peer-prediction (others: experiments/tables.py)"
        )
    return folder
