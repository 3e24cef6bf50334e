"""From a composed config to objects: every mistake becomes one sentence with its config path."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Annotated, Any, Literal, get_args, get_type_hints

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from judgelab.config.composing import IF_KNOWN
from judgelab.config.judges import with_judges
from judgelab.config.prompts import with_prompts
from judgelab.config.targets import located, walk
from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError, JudgelabError, did_you_mean
from judgelab.core.resources import PROGRAM

AXES = (
    *("dataset", "agents", "evaluation_lm", "synopsis", "preprocessor", "attack"),
    *("mechanism", "study", "tracker", "scale"),
)
WRITER = "writer_lm"
"""A second LM, which writes texts instead of the evaluation LM. It may be absent or null."""
ROLES = ("agents", "synopsis", "attack", "preprocessor", "critic")
"""Of ``lms``: who writes for one axis instead of the writer; the critic answers in words what the
mechanism asks, instead of the evaluation LM. Each may be absent or null."""


@dataclass(frozen=True)
class Budget:
    """What one run, or all jobs of a sweep, may spend over all executions; None is no bound."""

    max_cost: float | None = None  # in the currency of the price list
    max_calls: int | None = None  # attempts sent, retries included
    prices: str | None = None  # a price list (YAML); None for conf/prices.yaml


@dataclass(frozen=True)
class Paths:
    """Where a run keeps things."""

    root: str  # run directories, sweeps and W&B files lie below it
    cache: str  # the SQLite file of model calls, shared by all runs


@dataclass(frozen=True)
class Frame:
    """What conf/config.yaml holds beside the axes."""

    seed: Annotated[int, Field(ge=0)]  # every random choice derives from it
    limit: Count | None  # use the first so many items; None for all
    force: bool  # run again although a finished run of this config exists
    paths: Paths  # where things are kept
    debug: bool = False  # show where a fault arose, instead of one sentence
    dry_run: bool = False  # only say what would be asked and spent
    budget: Budget = field(default_factory=Budget)  # what a run may spend on paid calls
    # ``unscored`` asks settled calls without a result again; None keeps what came of them
    retry: Literal["unscored"] | None = None
    # whose classes a config may name beside judgelab's
    trusted_packages: list[str] = field(default_factory=list)
    # whose words the prompts are (``config.prompts``)
    prompts: dict[str, Any] = field(default_factory=dict)
    rehearsal: bool = False  # whether stand-ins take part in place of a paper's models and data
    printed: str | None = None  # a file of a paper's own numbers, for the comparison of a sweep


GROUPS: dict[str, type[Any]] = {"paths": Paths, "budget": Budget}
SECRET = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)S?(_|$)", re.IGNORECASE)
"""Environment variables with such names hold secrets."""
STRICT = ConfigDict(strict=True, arbitrary_types_allowed=True)
SHORTEST = 8  # characters: a shorter value is no secret, and may stand in any word


def resolved(cfg: DictConfig) -> dict[str, Any]:
    """The config as plain values; judges that it names by options are composed, and the authors'
    prompts stand where they are chosen (ConfigError: a mandatory value is missing, an interpolation
    leads nowhere or to a secret, or a judge is not what the list of judges says)."""
    try:
        if missing := sorted(OmegaConf.missing_keys(cfg)):
            raise ConfigError(f"{missing[0]} is missing: give {missing[0]}=VALUE.")
        plain = OmegaConf.to_container(cfg, resolve=True)
    except OmegaConfBaseException as cause:
        first = str(cause).strip().splitlines()[0].rstrip(".")
        raise ConfigError(f"{cause.full_key or 'config'}: {first}.") from cause
    assert isinstance(plain, dict)
    _refuse_secrets(plain)
    config = with_prompts(with_judges({str(key): value for key, value in plain.items()}))
    _refuse_secrets(config)  # the options of judges may name others
    # a sweep's file holds the words of its rehearsal under this key, whether it is one or not
    return config | {"rehearsal": config.get("rehearsal") is True}


def _refuse_secrets(config: object) -> None:
    """A config is kept, shown and uploaded, so no secret of the environment may stand in it."""
    suspects = {name: text for name, text in os.environ.items() if SECRET.search(name)}
    secrets = {name: text for name, text in suspects.items() if len(text) >= SHORTEST}
    for (path, value), (name, secret) in product(walk(config), secrets.items()):
        if isinstance(value, str) and secret in value:
            raise ConfigError(
                f"{path} holds the value of the environment variable {name}, and a run keeps and "
                "shows its config: take it out, and where an endpoint needs it give its name "
                f"instead (evaluation_lm.api_key_env={name})."
            )


def frame(config: Mapping[str, Any]) -> Frame:
    """The settings beside the axes, with their types checked (ConfigError: an unknown key, or a
    value of the wrong type)."""
    for axis in AXES:
        if not isinstance(config.get(axis), Mapping):
            raise ConfigError(f"{axis} is missing: give {axis}=OPTION ({PROGRAM} --help).")
    if unknown := sorted((config.get("lms") or {}).keys() - {*ROLES}):
        hint = did_you_mean(unknown[0], ROLES)
        raise ConfigError(f"lms.{unknown[0]} is no role of an LM.{hint}")
    rest = {key: value for key, value in config.items() if key not in (*AXES, WRITER, "lms")}
    for name in GROUPS.keys() & rest.keys():
        if not isinstance(rest[name], Mapping):
            raise ConfigError(f"{name}={rest[name]!r} must be a mapping: set {name}.NAME=VALUE.")
        _check(GROUPS[name], rest[name], name)
        rest[name] = GROUPS[name](**rest[name])
    _check(Frame, rest, "", (*AXES, WRITER))
    return Frame(**rest)


def writer_nodes(config: Mapping[str, Any]) -> dict[str, Any]:
    """Role -> the config node of each LM that writes in place of the evaluation LM."""
    lms = {f"lms.{axis}": node for axis, node in (config.get("lms") or {}).items()}
    return {role: node for role, node in {WRITER: config.get(WRITER), **lms}.items() if node}


def fitting(config: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The config with the values of ``KEY=VALUE?`` where the class they are for takes them; and a
    sentence for each that nothing takes (ConfigError: a class is not there, or not trusted)."""
    sentences = list[str]()

    def fit(value: Any, path: str) -> Any:
        if isinstance(value, list):
            return [fit(one, f"{path}[{k}]") for k, one in enumerate(value)]
        if not isinstance(value, Mapping):
            return value
        keys = [key for key, one in value.items() if isinstance(one, Mapping) and IF_KNOWN in one]
        cls = located(value["_target_"], path) if keys and "_target_" in value else None
        takes = inspect.signature(cls).parameters if cls is not None else ()
        result = {}
        for key, one in value.items():
            where = f"{path}.{key}" if path else str(key)
            if key not in keys:
                result[key] = fit(one, where)
            elif key in takes:
                result[key] = one[IF_KNOWN]
            else:
                name = getattr(cls, "__name__", path)
                why = f"{name} has no {key}" if name else f"{key} is no setting of a class"
                sentences.append(f"{where}={one[IF_KNOWN]}? is without effect: {why}.")
        return result

    return fit(dict(config), ""), sentences


def build(node: Mapping[str, Any], path: str) -> Any:
    """Check every key of a node, then build the class ``_target_``, innermost first; ``path`` is
    where the node stands in the config, for messages; nodes may stand within it at any depth
    (ConfigError: a key or value is wrong, or the target is no class or not trusted; JudgelabError:
    whatever the class itself refuses)."""
    if "_target_" not in node:
        raise ConfigError(f"{path} has no _target_: name the class to build.")
    cls = located(node["_target_"], path)
    arguments = {str(key): value for key, value in node.items() if key != "_target_"}
    _check(cls, arguments, path)
    try:
        return cls(**_build_within(arguments, path))
    except JudgelabError:
        raise
    except (TypeError, ValueError) as cause:
        raise ConfigError(f"{path}: {cause}") from cause


def _build_within(value: Any, path: str) -> Any:
    if isinstance(value, list):
        return [_build_within(one, f"{path}.{place}") for place, one in enumerate(value)]
    if not isinstance(value, Mapping):
        return value
    if "_target_" in value:
        return build(value, path)
    return {key: _build_within(one, f"{path}.{key}") for key, one in value.items()}


def _check(cls: type[Any], node: Mapping[str, Any], path: str, others: Sequence[str] = ()) -> None:
    """Check keys against a class's parameters (``others``: what else a misspelt key may have
    meant), and values against hints and bounds."""
    lead = f"{path}." if path else ""
    try:
        parameters = inspect.signature(cls).parameters
    except (TypeError, ValueError) as cause:  # built in, without a signature
        raise ConfigError(f"{path}._target_: {cls.__name__} cannot be built: {cause}.") from cause
    for key in node:
        if key not in parameters:
            hint = did_you_mean(key, [*parameters, *others])
            raise ConfigError(f"{lead}{key} is not a known key.{hint}")
    for name, one in parameters.items():
        must = one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        if must and name not in node:
            raise ConfigError(f"{lead}{name} is missing: give {lead}{name}=VALUE.")
    owner = cls if hasattr(cls, "__dataclass_fields__") else cls.__init__
    hints = get_type_hints(owner, include_extras=True)
    for key, value in node.items():
        nodes = (one for _, one in walk(value) if isinstance(one, Mapping) and "_target_" in one)
        if key in hints and not any(nodes):
            _check_type(f"{lead}{key}", value, hints[key])


def _check_type(where: str, value: Any, hint: Any) -> None:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(hint, config=STRICT)
    except Exception:  # a type that carries its own pydantic config
        adapter = TypeAdapter(hint)
    try:
        adapter.validate_python(value)
    except ValidationError as cause:
        error = cause.errors()[0]
        inner = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error["loc"])
        if inner and isinstance(value, Mapping | list):
            where, value = where + inner, error["input"]
        null = ", or null" if type(None) in get_args(hint) else ""
        must = f": {error['msg']}".replace(": Input should", " must")
        raise ConfigError(f"{where}={value!r}{must}{null}.") from None
