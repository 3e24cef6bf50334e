"""A run or an audit from Python: words of a command line or keywords, and data in memory."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from judgelab.config import AXES, WRITER, Frame
from judgelab.config.composing import composed, composed_call, literal, spelled
from judgelab.config.launch import rehearse, sentence
from judgelab.core.errors import ConfigError, DataError, JudgelabError, did_you_mean
from judgelab.dataset.files import cell_text
from judgelab.engine.execution import Invocation
from judgelab.engine.run import carry_out
from judgelab.python.results import RunResult
from judgelab.store.private import private_folder

if TYPE_CHECKING:
    from pandas import DataFrame

Judges = str | os.PathLike[str] | Sequence[Mapping[str, Any]]
"""The path of a judges.yaml, or entries as it holds them."""

GROUPS = {axis: axis for axis in AXES} | {WRITER: f"evaluation_lm@{WRITER}"}
"""Keyword that chooses an option -> the word of the command line."""

ONE = (
    "judgelab.run makes one run: call it once for each value and judgelab.compare the results. A "
    "comma that belongs to a value is quoted: \"key='a,b'\"."
)


def run(
    *words: str,
    data: DataFrame | str | os.PathLike[str] | None = None,
    judges: Judges | None = None,
    **settings: Any,
) -> RunResult | None:
    """Make a run, or find it finished: that of ``python run.py WORDS``.

    It has the same config, fingerprint and folder as on the command line, and is continued by
    either. W&B is left out unless ``tracker`` is named, and what was found is returned, not
    printed. Loops of a notebook and other programs' Hydra do not matter.

    Args:
        words: overrides, one or several in a string: ``"mechanism=mi attack=case_flip"``.
        data: a long table (docs/datasets.md: dataset=table), or the path of one; for another
            dataset's own format the path, with ``dataset="jsonl"`` or so.
        judges: who is asked (study=audit, qualification, discernment): the path of a judges.yaml,
            or a list of entries as it holds them. Columns of the table, each with one judge's
            verdicts, are ``dataset__judges``.
        settings: the same as words: options of an axis (``mechanism="mi"``), settings of the run,
            the study or the dataset by their own names (``limit=8``, ``definition="paper"``),
            deeper ones with two underscores (``evaluation_lm__model="NAME"``).

    Returns:
        What was found; None with ``dry_run=True``, which prints calls and costs.

    Raises:
        PartialRunError: calls are open; the same call asks these alone, and ``judgelab.load``
            reads the ``run`` that the error names.
        JudgelabError: a fault of the config, the data or the LM, in the one sentence of the
            command line.
    """
    cfg, call, trusted = _composed(words, data, judges, settings)
    try:
        with _faults_in_words():
            run_dir = carry_out(cfg, call, trusted)
    except DataError as cause:  # of a frame, which lies where its user never wrote
        if data is None or isinstance(data, str | os.PathLike):
            raise
        raise DataError(str(cause).replace(repr(cfg.dataset.path), "The frame")) from cause
    return None if run_dir is None else RunResult.read(run_dir.path)


def audit(
    data: DataFrame | str | os.PathLike[str], judges: Judges | None = None, **settings: Any
) -> RunResult | None:
    """May these judges decide on single texts, and are their averages right? ``run`` with
    ``study="audit"``: ``result.verdicts`` says it of each judge, ``result.verdict`` in sentences.
    """
    return run(data=data, judges=judges, study="audit", **settings)


def _composed(
    words: Sequence[str], data: Any, judges: Judges | None, settings: Mapping[str, Any]
) -> tuple[DictConfig, Invocation, list[str]]:
    """The config, who called for it, and the packages that the caller trusts."""
    options = {k: v for k, v in settings.items() if k in GROUPS and isinstance(v, str)}
    choices = [f"{GROUPS[key]}={literal(option)}" for key, option in options.items()]
    overrides = rehearse([*_words(words), *choices])
    keys = {word.lstrip("+~").partition("=")[0] for word in overrides}
    usual = {"tracker": "none"} | ({} if data is None else {"dataset": "table"})
    overrides += [f"{key}={option}" for key, option in usual.items() if key not in keys]
    with _faults_in_words(overrides):
        cfg = composed(overrides)
        rest = {key: value for key, value in settings.items() if key not in options}
        places = {_key(key, cfg): value for key, value in rest.items()}
        overrides += [f"{place}={literal(value)}" for place, value in places.items()]
        if judges is not None and "judges" not in list(cfg.study):
            raise ConfigError(
                f"study={_study(cfg)} asks no judges of its own: leave judges out, or choose "
                "study=audit, qualification or discernment."
            )
        if isinstance(judges, str | os.PathLike):
            overrides.append(f"study.judges={literal(os.fspath(judges))}")
        if data is not None:
            base = composed(overrides) if "paths" in places else cfg
            root = Path(places.get("paths.root", base.paths.root))  # where a frame is kept
            overrides += _data(data, base, root, overrides)
        cfg, hydra = composed_call(overrides)
        if hydra.mode == RunMode.MULTIRUN:
            raise ConfigError(ONE)
        call = Invocation.of(hydra, quiet=True)
        if judges is not None and not isinstance(judges, str | os.PathLike):
            OmegaConf.update(cfg, "study.judges", judges, merge=False)
            call = Invocation(None, call.choices, quiet=True)  # no words say that
    trusted = any(word.startswith("trusted_packages=") for word in overrides)
    return cfg, call, list(cfg.trusted_packages) if trusted else []


def _words(texts: Sequence[str]) -> Iterator[str]:
    """One override each, as a shell would take them apart."""
    for text in texts:
        if not isinstance(text, str):
            raise ConfigError(f"judgelab.run takes words such as 'mechanism=mi', not {text!r}.")
        try:
            words = shlex.split(text)
        except ValueError as cause:
            raise ConfigError(f"{text!r}: a quotation mark is not closed.") from cause
        for word in words:
            if word.startswith("-"):
                raise ConfigError(f"{word} is for the command line: {ONE}")
            yield spelled(word)


def _key(name: str, base: Any) -> str:
    """Where a setting stands in the config: of the run, the study, or the dataset."""
    head, *rest = name.replace("__", ".").split(".")
    run = [one.name for one in fields(Frame)]
    places = {"": [*run, *GROUPS] if rest else run}
    places |= {f"{axis}.": list(base[axis]) for axis in ("study", "dataset")}
    for place, settings in places.items():
        if head in settings:
            return ".".join([f"{place}{head}", *rest])
    if head in GROUPS:
        raise ConfigError(
            f'{head} names an option ({head}="NAME"); its settings are {head}__NAME=VALUE.'
        )
    every = {str(key) for keys in places.values() for key in keys if key != "_target_"}
    hint = did_you_mean(head, every | {*GROUPS})
    raise ConfigError(f"{name} is no setting of study={_study(base)}.{hint}")


def _study(config: Any) -> str:
    return str(config.study["_target_"]).split(".")[-2]


def _data(data: Any, base: Any, root: Path, words: Sequence[str]) -> Iterator[str]:
    if "path" not in list(base.dataset):  # a missing value is none to OmegaConf
        raise ConfigError("This dataset reads no data of yours: leave dataset out, or data.")
    if any(word.startswith("dataset.path=") for word in words):
        raise ConfigError("data and dataset.path are given: leave one of them out.")
    yield f"dataset.path={literal(_path_of(data, root))}"
    if "source" in list(base.dataset):
        yield "dataset.source=path"


def _path_of(data: Any, root: Path) -> str:
    """The path of the data; a frame is written below the root, under a name of its content
    (DataError: it is neither, or holds what no table can)."""
    if isinstance(data, str | os.PathLike):
        return os.fspath(data)
    if not callable(getattr(data, "to_parquet", None)):
        raise DataError(f"data must be a pandas DataFrame or a path, not {type(data).__name__}.")
    index_names = [name for name in data.index.names if name is not None]
    if index_names and not set(index_names) & set(data.columns):
        data = data.reset_index()
    data = data.copy(deep=False)
    for k, kind in enumerate(data.dtypes):
        if kind.kind == "O":
            data.isetitem(k, data.iloc[:, k].map(_one_type))
    try:
        table = data.to_parquet(index=False)
    except Exception as cause:  # pyarrow's own errors
        first = str(cause).partition("\n")[0]
        raise DataError(f"The frame cannot be written as a table: {first}.") from cause
    name = hashlib.sha256(table).hexdigest()[:12]
    file = root / "data" / name / "table.parquet"  # a dataset is called as its file is
    if not file.exists():
        private_folder(file.parent)
        part = file.with_suffix(f".{os.getpid()}.{id(table)}.part")  # threads may write the same
        part.write_bytes(table)
        part.replace(file)
    return str(file)


def _one_type(value: Any) -> Any:
    """A cell of a column of many types as text, so that the column has one type."""
    plain = not isinstance(value, str) and not hasattr(value, "__len__")
    return (cell_text(value) or None) if plain else value


@contextmanager
def _faults_in_words(words: Sequence[str] = ()) -> Iterator[None]:
    """Faults of the libraries below as the sentence that the command line would end in."""
    try:
        yield
    except JudgelabError:
        raise
    except (HydraException, OmegaConfBaseException, OSError) as cause:
        if match := re.search(r"Ambiguous value for argument '(.*?)'\n", str(cause)):
            raise ConfigError(f"{match[1]}: {ONE}") from cause
        raise ConfigError(sentence(cause, words)) from cause
