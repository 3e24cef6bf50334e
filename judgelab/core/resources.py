"""Where the files lie that are no code: one accessor for a checkout and for an installed wheel."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

PACKAGE = Path(str(files("judgelab")))  # the folder of the package

INSTALLED = (PACKAGE / "conf" / "config.yaml").is_file()
"""Whether this is an installed wheel, which holds the configs, and no checkout."""

PROGRAM = "judgelab" if INSTALLED else "python run.py"
"""What a user types before the overrides: run.py in a checkout, else the console script."""


@cache
def conf() -> Path:
    """The folder of configs, prompts and lists: at the top of a checkout, inside of a wheel."""
    return PACKAGE / "conf" if INSTALLED else PACKAGE.parent / "conf"


def own_conf() -> Path | None:
    """A folder ``conf`` of the working directory that holds options of a user's.

    A folder with a ``config.yaml`` is another program's, or that of judgelab itself.
    """
    own = Path.cwd() / "conf"
    return own if own.is_dir() and not (own / "config.yaml").exists() else None


def own_or_shipped(file: str, folder: Path) -> Path:
    """A user's file by its path, or one of ``folder`` by its bare name.

    A file of that name in the working directory does not hide ours: it is ``./NAME``.
    """
    ours = folder / file
    return ours if Path(file).name == file and ours.is_file() else Path(file).expanduser()


def of_yaml(text: str) -> Any:
    """What a text in YAML holds, by libyaml where it is at hand: ten times as fast."""
    import yaml

    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def words(file: str) -> Any:
    """A word table in YAML, by its path in the package."""
    return of_yaml((PACKAGE / file).read_text(encoding="utf-8"))
