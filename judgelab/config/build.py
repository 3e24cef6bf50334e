"""From a composed config to objects: every mistake becomes one sentence with its config path."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from typing import Any, get_args, get_type_hints

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import ConfigDict, TypeAdapter, ValidationError

from judgelab.config.judges import with_judges
from judgelab.config.secrets import check_secrets
from judgelab.config.settings import Budget, Debug, Frame, Paths
from judgelab.config.targets import located
from judgelab.core.errors import ConfigError, JudgelabError, did_you_mean
from judgelab.core.resources import PROGRAM

AXES = (
    "dataset",
    "agents",
    "evaluation_lm",
    "synopsis",
    "preprocessor",
    "attack",
    "mechanism",
    "study",
    "tracker",
    "scale",
)
WRITER = "writer_lm"
"""A second LM, which writes texts instead of the evaluation LM. It may be absent or null."""

BOUNDS = {
    "greater_than": "must be above {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than": "must be below {lt:g}",
    "less_than_equal": "must be at most {le:g}",
    "finite_number": "must be finite",
    "too_short": "needs at least {min_length}",
}
"""What a broken bound of a setting (``core.bounds``) is called, by pydantic's name for it."""

_HYDRA = ("_target_", "_partial_", "_convert_", "_recursive_", "_args_")

GROUPS: dict[str, type[Any]] = {"paths": Paths, "budget": Budget, "debug": Debug}


def resolved(cfg: DictConfig) -> dict[str, Any]:
    """The config as plain values; judges that it names by options are composed.

    Raises:
        ConfigError: a mandatory value is missing, an interpolation leads nowhere or to a secret,
            or a judge is not what the list of judges says.
    """
    try:
        missing = sorted(OmegaConf.missing_keys(cfg))
        if missing:
            raise ConfigError(f"{missing[0]} is missing: give {missing[0]}=VALUE.")
        plain = OmegaConf.to_container(cfg, resolve=True)
    except OmegaConfBaseException as cause:
        raise ConfigError(f"{cause.full_key or 'config'}: {_first_line(cause)}.") from cause
    assert isinstance(plain, dict)
    check_secrets(plain)
    config = with_judges({str(key): value for key, value in plain.items()})
    check_secrets(config)  # the options of judges may name others
    return config


def frame(config: Mapping[str, Any]) -> Frame:
    """The settings beside the axes, with their types checked.

    Raises:
        ConfigError: an unknown key, or a value of the wrong type.
    """
    for axis in AXES:
        if not isinstance(config.get(axis), Mapping):
            raise ConfigError(f"{axis} is missing: give {axis}=OPTION ({PROGRAM} --help).")
        if config[axis].get("_partial_"):
            raise ConfigError(f"{axis}._partial_: an axis is built whole: leave _partial_ out.")
    rest = {key: value for key, value in config.items() if key not in (*AXES, WRITER)}
    known = [f.name for f in fields(Frame)]
    _unknown_keys("", rest, [*known, *AXES, WRITER])
    given_by_default = {"dry_run", "budget", "trusted_packages", "retry"}
    absent = sorted(set(known) - rest.keys() - given_by_default)
    if absent:
        raise ConfigError(f"{absent[0]} is missing: give {absent[0]}=VALUE.")
    paths = rest["paths"]
    if not isinstance(paths, Mapping) or paths.keys() < {f.name for f in fields(Paths)}:
        raise ConfigError("paths needs a root and a cache: give paths.root=FOLDER.")
    groups = {name: _group(name, rest[name], cls) for name, cls in GROUPS.items() if name in rest}
    _check_types("", {k: v for k, v in rest.items() if k not in GROUPS}, Frame)
    if rest["on_error"] not in ("continue", "stop"):
        raise ConfigError(f"on_error={rest['on_error']!r} must be continue or stop.")
    if rest["seed"] < 0:
        raise ConfigError(f"seed={rest['seed']} must not be negative.")
    if rest["limit"] is not None and rest["limit"] < 1:
        raise ConfigError(f"limit={rest['limit']} must be at least 1, or null for all items.")
    return Frame(**{**rest, **groups})


def _group(name: str, given: Any, cls: type[Any]) -> Any:
    if not isinstance(given, Mapping):
        keys = ", ".join(f"{name}.{f.name}" for f in fields(cls))
        raise ConfigError(f"{name}={given!r} must be a mapping: set {keys}.")
    _unknown_keys(name, given, [f.name for f in fields(cls)])
    _check_types(name, given, cls)
    return cls(**given)


def build(node: Mapping[str, Any], path: str) -> Any:
    """Check every key of a node, then hand ``_target_`` over to Hydra, innermost first.

    ``_partial_``, ``_args_`` and ``_recursive_`` mean what they mean to Hydra, whose block list
    holds; containers are plain (as by ``_convert_: all``).

    Args:
        node: a mapping with ``_target_``; nodes may stand within it at any depth.
        path: where it stands in the config, for messages.

    Raises:
        ConfigError: unknown or missing keys, a value of the wrong type, or a target that is no
            class, not trusted (``trust``) or blocked by Hydra.
        JudgelabError: whatever the class itself refuses.
    """
    if "_target_" not in node:
        raise ConfigError(f"{path} has no _target_: name the class to build.")
    cls = located(node["_target_"], path)
    given = {str(key): value for key, value in node.items() if key not in _HYDRA}
    if node.get("_convert_", "all") == "none":
        raise ConfigError(f"{path}._convert_=none: containers are plain here: leave _convert_ out.")
    later, args = bool(node.get("_partial_")), list(node.get("_args_") or ())
    signature = _signature(cls, node["_target_"], path)
    _unknown_keys(path, given, list(signature.parameters))
    bound = _bound(path, signature, args, given, complete=not later)
    plain = {k: v for k, v in bound.items() if not _holds_node(v)}
    _check_types(path, plain, cls if hasattr(cls, "__dataclass_fields__") else cls.__init__)
    if node.get("_recursive_", True):
        given = {key: _built(value, f"{path}.{key}") for key, value in given.items()}
        args = _built(args, f"{path}._args_")
    try:
        # a partial, as Hydra takes a dataclass among keyword arguments for another config
        target = instantiate({"_target_": node["_target_"], "_partial_": True})
        return partial(target, *args, **given) if later else target(*args, **given)
    except InstantiationException as blocked:
        raise ConfigError(f"{path}: {' '.join(str(blocked).split())}") from blocked
    except JudgelabError:
        raise
    except (TypeError, ValueError) as cause:
        raise ConfigError(f"{path}: {cause}") from cause


def _bound(
    path: str, signature: inspect.Signature, args: list[Any], given: dict[str, Any], complete: bool
) -> dict[str, Any]:
    """Values by the names of their parameters, those by place too."""
    try:
        bound = signature.bind_partial(*args, **given).arguments
    except TypeError as cause:
        raise ConfigError(f"{path}: {cause}.") from cause
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    single = {name: one for name, one in signature.parameters.items() if one.kind not in variadic}
    for name, parameter in single.items():
        if complete and parameter.default is inspect.Parameter.empty and name not in bound:
            raise ConfigError(f"{path}.{name} is missing: give {path}.{name}=VALUE.")
    return {name: value for name, value in bound.items() if name in single}


def _built(value: Any, path: str) -> Any:
    """The value with every node in it instantiated."""
    if _is_node(value):
        return build(value, path)
    if isinstance(value, Mapping):
        return {key: _built(one, f"{path}.{key}") for key, one in value.items()}
    if isinstance(value, list):
        return [_built(one, f"{path}.{place}") for place, one in enumerate(value)]
    return value


def _signature(cls: Any, target: str, path: str) -> inspect.Signature:
    try:
        return inspect.signature(cls)
    except (TypeError, ValueError) as cause:  # not callable, or built in without a signature
        raise ConfigError(f"{path}._target_={target!r} cannot be built: name a class.") from cause


def _holds_node(value: object) -> bool:
    if isinstance(value, list):
        return any(map(_holds_node, value))
    held = isinstance(value, Mapping) and any(map(_holds_node, value.values()))
    return held or _is_node(value)


def _is_node(value: object) -> bool:
    return isinstance(value, Mapping) and "_target_" in value


def _unknown_keys(path: str, given: Mapping[str, Any], known: list[str]) -> None:
    for key in given:
        if key not in known:
            where = f"{path}.{key}" if path else key
            raise ConfigError(f"{where} is not a known key.{did_you_mean(key, known)}")


def _check_types(path: str, values: Mapping[str, Any], owner: Any) -> None:
    """Values against the hints of a class or function, and the bounds that they carry."""
    hints = get_type_hints(owner, include_extras=True)
    for key, value in values.items():
        if key not in hints:
            continue
        try:
            config = ConfigDict(strict=True, arbitrary_types_allowed=True)
            _adapter(hints[key], config).validate_python(value)
        except ValidationError as cause:
            error = cause.errors()[0]
            inner = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error["loc"])
            where = f"{path}.{key}" if path else key
            bound = BOUNDS.get(error["type"])
            if bound is not None:
                if isinstance(value, Mapping | list) and inner:
                    where, value = where + inner, error["input"]
                said = bound.format(**error.get("ctx", {}))
                null = ", or null" if type(None) in get_args(hints[key]) else ""
                raise ConfigError(f"{where}={value!r} {said}{null}.") from None
            name = _type_name(get_type_hints(owner)[key])
            raise ConfigError(
                f"{where}={value!r} has the wrong type: {error['msg']} "
                f"(expected {name}{', at ' + inner if inner else ''})."
            ) from None


def _adapter(hint: Any, config: ConfigDict) -> TypeAdapter[Any]:
    try:
        return TypeAdapter(hint, config=config)
    except Exception:  # a type that carries its own pydantic config
        return TypeAdapter(hint)


def _type_name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")


def _first_line(cause: BaseException) -> str:
    return str(cause).strip().splitlines()[0].rstrip(".")
