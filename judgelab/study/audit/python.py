"""An audit from Python: the run of the command line, and what it found as tables."""

from __future__ import annotations

import hashlib
import html
import io
import os
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.errors import HydraException
from omegaconf import OmegaConf

from judgelab.config import AXES, Frame
from judgelab.config.composing import composed
from judgelab.config.launch import sentence
from judgelab.config.overrides import written
from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.dataset.cells import cell_text
from judgelab.engine.invocation import Invocation
from judgelab.engine.run import carry_out
from judgelab.report.tables import frame as as_frame
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from pandas import DataFrame

Judges = (
    str
    | os.PathLike[str]
    | Sequence[str]
    | Sequence[Mapping[str, Any]]
    | Mapping[str, Mapping[str, Any]]
)


@dataclass(frozen=True)
class AuditReport:
    """What an audit found.

    Attributes:
        summary: flat name -> number or word.
        tables: name -> table of the page.
        notes: sentences that a reader must see.
        path: folder of the run: report.html, records, result.json.
    """

    summary: Mapping[str, Any]
    tables: Mapping[str, DataFrame]
    notes: Sequence[str]
    path: Path

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> AuditReport:
        """Of a finished run."""
        path = Path(folder)
        result = RunDir(path).read_json("result.json")
        tables = {table["name"]: as_frame(table) for table in result["tables"]}
        return cls(result["summary"], tables, tuple(result["notes"]), path)

    @property
    def verdicts(self) -> dict[str, str]:
        """Judge -> trust, trust after correction, do not trust, or cannot say yet."""
        table = self.tables["verdicts"]
        return dict(zip(table["judge"], table["verdict"], strict=True))

    def __repr__(self) -> str:
        said = "\n".join(f"  {name}: {word}" for name, word in self.verdicts.items())
        return f"Audit of {len(self.verdicts)} judges\n{said}\n  page: {self.path / 'report.html'}"

    def _repr_html_(self) -> str:
        """The page, for notebooks; in a frame of its own, as it brings its style along."""
        page = self.path / "report.html"
        text = html.escape(page.read_text(encoding="utf-8"))
        return f'<iframe srcdoc="{text}" style="width:100%;height:800px;border:0"></iframe>'


def audit(
    data: DataFrame | str | os.PathLike[str], judges: Judges | None = None, **settings: Any
) -> AuditReport | None:
    """Can I trust these judges on my data, why, and what do I need? As ``study=audit``.

    Args:
        data: a long table (docs/datasets.md: dataset=table), or a path to one; of other datasets
            the path, with ``dataset="jsonl"`` or so.
        judges: who is asked: a list of entries as in judges.yaml, its path, or name -> entry; None:
            those that the data hold verdicts of. Names in a list are columns of the table, each
            with one judge's verdicts: ``dataset.judges``.
        settings: of the study (``parts=["gate"]``, ``rules={"minimum": 0.7}``), the dataset
            (``columns=...``) and the run (``seed=1``, ``budget={"max_cost": 5}``); options of an
            axis by name (``mechanism="pairwise"``). Deeper ones with two underscores:
            ``evaluation_lm__model="NAME"``.

    Returns:
        What was found; None with ``dry_run=True``, which prints calls and costs.

    Raises:
        JudgelabError: as on the command line, one sentence.
    """
    if isinstance(judges, list | tuple):
        if names := [one for one in judges if isinstance(one, str)]:
            settings["dataset__judges"] = names
        judges = [one for one in judges if not isinstance(one, str)] or None
    options = {axis: settings.pop(axis) for axis in AXES if isinstance(settings.get(axis), str)}
    options = {"dataset": "table", "tracker": "none"} | options | {"study": "audit"}
    try:
        base = composed([f"{axis}={written(option)}" for axis, option in options.items()])
        words = [f"{_key(key, base)}={written(value)}" for key, value in settings.items()]
        words += [f"{axis}={written(option)}" for axis, option in options.items()]
        root = composed([word for word in words if word.startswith("paths.")]).paths.root
        path = _path(data, Path(root))
        words.append(f"dataset.path={written(path)}")
        cfg = composed(words)
    except HydraException as cause:
        raise ConfigError(sentence(cause)) from cause
    if judges is not None:
        OmegaConf.update(cfg, "study.judges", _entries(judges))
    if cfg.dry_run:
        carry_out(cfg, Invocation())
        return None
    try:
        with redirect_stdout(io.StringIO()):  # the report says it
            run = carry_out(cfg, Invocation())
    except DataError as cause:
        if isinstance(data, str | os.PathLike):
            raise
        raise DataError(str(cause).replace(repr(path), "The frame")) from cause
    assert run is not None
    return AuditReport.read(run.path)


def _key(name: str, base: Any) -> str:
    """Where a setting stands in the config: of the run, the study, or the dataset."""
    head, *rest = name.replace("__", ".").split(".")
    run = [one.name for one in fields(Frame)]
    places = {"": run, "study.": list(base.study), "dataset.": list(base.dataset)}
    for place, known in places.items():
        if head in known or (place == "" and head in AXES and rest):
            return ".".join([f"{place}{head}", *rest])
    if head in AXES:
        raise ConfigError(
            f'{head} names an option ({head}="NAME"); its settings are {head}__NAME=VALUE.'
        )
    deep = [f"{key}__{head}" for key in base.study if head in _names(base.study[key])]
    every = {str(key) for keys in places.values() for key in keys if key != "_target_"}
    known = deep if len(deep) == 1 else sorted({*every, *AXES})
    hint = f" Did you mean {deep[0]!r}?" if len(deep) == 1 else did_you_mean(head, known)
    raise ConfigError(f"{name} is no setting of an audit.{hint}")


def _names(value: Any) -> Sequence[str]:
    return list(value) if isinstance(value, Mapping) else []


def _entries(judges: Judges) -> Any:
    if isinstance(judges, str | os.PathLike):
        return os.fspath(judges)
    if isinstance(judges, Mapping):
        return [{"name": name, **entry} for name, entry in judges.items()]
    if not isinstance(judges, Sequence):
        return judges  # it is no list, which whoever reads it says
    return [dict(entry) if isinstance(entry, Mapping) else entry for entry in judges]


def _cell(value: Any) -> Any:
    """A cell of a column of many types as text, so that the column has one type."""
    plain = not isinstance(value, str) and not hasattr(value, "__len__")
    return (cell_text(value) or None) if plain else value


def _path(data: Any, root: Path) -> str:
    """The path of the data; a frame is written below the root, under a name of its content.

    Raises:
        DataError: it is neither, or a column mixes texts and numbers.
    """
    if isinstance(data, str | os.PathLike):
        return os.fspath(data)
    if not callable(getattr(data, "to_parquet", None)):
        raise DataError(f"audit() needs a pandas DataFrame or a path, not {type(data).__name__}.")
    named = [name for name in data.index.names if name is not None]
    if named and not set(named) & set(data.columns):
        data = data.reset_index()
    data = data.copy(deep=False)
    for k, kind in enumerate(data.dtypes):
        if kind.kind == "O":
            data.isetitem(k, data.iloc[:, k].map(_cell))
    held = io.BytesIO()
    try:
        data.to_parquet(held, index=False)
    except Exception as cause:  # pyarrow's own errors
        first = str(cause).partition("\n")[0]
        raise DataError(f"The frame cannot be written as a table: {first}.") from cause
    file = root / "data" / f"audit-{hashlib.sha256(held.getvalue()).hexdigest()[:12]}.parquet"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(held.getvalue())
        part.replace(file)
    return str(file)
