"""``judgelab pack RUN`` and ``judgelab replay FILE``: whoever has no GPU checks what somebody who
has one found. A pack holds the calls of a finished run, its config, data and result, and no key."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from omegaconf import OmegaConf

from judgelab.calls.cache import CallCache
from judgelab.config import frame
from judgelab.config.build import build
from judgelab.config.targets import names_lm
from judgelab.core.errors import ConfigError, DataError, some
from judgelab.core.estimator import Presentation
from judgelab.core.lm import Capability, EvaluationLM
from judgelab.core.resources import of_yaml
from judgelab.core.terminal import say
from judgelab.engine.context import build_parts
from judgelab.engine.dry_run import count_calls
from judgelab.engine.execution import Invocation
from judgelab.engine.run import carry_out
from judgelab.store.run_dir import RunDir

CALLS, CONFIG, RESULT, DATA = "calls.sqlite", "config.json", "result.json", "data"
END = ".judgelab.zip"


def pack(folder: Path, into: Path | None = None, texts: bool = False) -> Path:
    """Write the pack of a finished run, beside its folder unless ``into`` says where; with
    ``texts`` the dataset's own file goes in, and without whoever replays it needs that file in the
    same place (ConfigError: there is no finished run, or its data are no file of their own;
    DataError: the call cache lacks some of its calls)."""
    run_dir = RunDir(folder)
    if not run_dir.is_done:
        raise ConfigError(f"{folder} holds no finished run: give a folder below outputs/runs.")
    config = of_yaml(run_dir.read_text("config.yaml"))
    source = Path(str((config["dataset"] or {}).get("path") or "")).expanduser()
    if texts and not source.is_file():
        raise ConfigError(
            f"The texts of {folder} are in no single file (dataset.path): pack it without --texts."
        )
    with count_calls(build_parts(config), frame(config)) as (roles, _):
        keys = [key for one in roles.values() for key in one.keys]
        missing = sum(one.total.to_ask for one in roles.values())
    if missing:
        raise DataError(
            f"The call cache {config['paths']['cache']} lacks {missing} of {len(keys)} calls of "
            "this run: pack it where it was made."
        )
    path = into or folder.with_name(f"{folder.name}{END}")
    choices = run_dir.read_json("manifest.json")["choices"]
    packed = dict(config) | {"paths": None, "tracker": None, "choices": choices}
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(path, "w") as zipped:
        whole, part = CallCache(Path(config["paths"]["cache"])), CallCache(Path(place, CALLS))
        with closing(whole), closing(part):
            part.add(whole.get(keys))
        if texts:
            zipped.write(source, f"{DATA}/{source.name}")
        zipped.writestr(CONFIG, json.dumps(_with_stand_ins(packed)))
        zipped.write(Path(place, CALLS), CALLS, zipfile.ZIP_DEFLATED)
        zipped.write(folder / RESULT, RESULT, zipfile.ZIP_DEFLATED)
    say(f"{len(keys)} calls of {folder.name}: {path} ({path.stat().st_size / 1e6:.1f} MB)")
    return path


def _with_stand_ins(node: Any) -> Any:
    """The config with a ``Replayed`` in the place of every LM."""
    if isinstance(node, list):
        return [_with_stand_ins(one) for one in node]
    if not isinstance(node, Mapping):
        return node
    if not names_lm(node, CONFIG):
        return {key: _with_stand_ins(one) for key, one in node.items()}
    lm = build(node, CONFIG)
    return {
        "_target_": f"{Replayed.__module__}.{Replayed.__qualname__}",
        "name": lm.identity,
        "able": sorted(lm.capabilities),
        "shown": vars(lm.presentation),
    }


@dataclass(frozen=True)
class Replayed(EvaluationLM):
    """Speaks for the LM of a packed run; whoever asks it what the pack does not hold is refused
    (DataError: a call is asked that the packed run did not make)."""

    name: str  # the LM's identity, which is part of every key
    able: list[str]  # its capabilities
    shown: Mapping[str, str] = field(default_factory=dict)  # its presentation
    identity = property(lambda self: self.name)
    capabilities = property(lambda self: frozenset(map(Capability, self.able)))
    presentation = property(lambda self: Presentation(**self.shown))

    def logprob(self, *of_call: Any) -> NoReturn:
        """Refused: a call that the pack holds is answered before it comes here."""
        raise DataError(
            f"The pack holds no answer of {self.name.split(' ')[0]} to a call that this run makes: "
            "it was packed by another version of judgelab, or its data differ."
        )

    def chat(self, *of_call: Any) -> NoReturn:
        """Refused as well."""
        self.logprob(*of_call)


def replay(file: Path, root: Path) -> bool:
    """Make a packed run again below ``root``, without its LMs; whether the result is the same
    (ConfigError: the file is no pack)."""
    place = root / file.name.removesuffix(END)
    try:
        with zipfile.ZipFile(file) as zipped:
            names = zipped.namelist()
            config = json.loads(zipped.read(CONFIG))
            packed = zipped.read(RESULT)
            there = here = str(config["dataset"].get("path"))
            data = f"{DATA}/{Path(there).name}"
            place.mkdir(parents=True, exist_ok=True)
            for end in ("-wal", "-shm"):  # of a replay that was killed: it would be played back
                (place / f"{CALLS}{end}").unlink(missing_ok=True)
            for name in (CALLS, *([data] if data in names else ())):  # and nothing else of it
                (place / Path(name).name).write_bytes(zipped.read(name))
    except (OSError, zipfile.BadZipFile, KeyError, ValueError) as cause:
        raise ConfigError(f"{file} is no pack of a run: judgelab pack RUN makes one.") from cause
    if data in names:
        here = config["dataset"]["path"] = str(place / Path(there).name)
    config |= {"paths": {"root": str(place), "cache": str(place / CALLS)}, "force": True}
    config["tracker"] = {"_target_": "judgelab.tracker.none.NoTracker"}
    config |= {"scale": {"_target_": "judgelab.scale.local.Local"}, "retry": None}
    call = Invocation(choices=config.pop("choices"))
    run_dir = carry_out(OmegaConf.create(config), call)
    assert run_dir is not None
    result = (run_dir.path / RESULT).read_bytes().replace(here.encode(), there.encode())
    if result == packed:
        say(f"The same result, byte for byte: {run_dir.path}")
        return True
    old, new = json.loads(packed), json.loads(result)
    for before, now in ((old["summary"], new["summary"]), (old, new)):
        if apart := [key for key in sorted(before | now) if before.get(key) != now.get(key)]:
            say(f"Another result: {some(apart)} differ. {run_dir.path}")
            break
    return False
