"""The tables of options in README.md and of figures in experiments/sweeps, made from the configs.

    python -m experiments.catalogue --write

What an option is, and a command that shows it, stand in the comment at the top of its YAML: its
first sentence, and a line ``# Try: OVERRIDES``. Without a comment the docstring of its class is
taken. The tables stand between marks, which say so; everything else in a page is left alone.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
CONF, SWEEPS = ROOT / "conf", ROOT / "experiments" / "sweeps"
AXES = {
    "study": "a question about judges",
    "mechanism": "what scores texts",
    "attack": "what is done to texts",
    "evaluation_lm": "who scores and judges",
}
REFRESH = "python -m experiments.catalogue --write"
BEGIN = f"<!-- begin: made by `{REFRESH}` -->"
END = "<!-- end -->"
FIELDS = ("Needs", "Differs", "Try")


@dataclass(frozen=True)
class Option:
    """One option of an axis.

    Attributes:
        axis: the config group.
        name: the option.
        what: one sentence.
        command: what shows it at work.
    """

    axis: str
    name: str
    what: str
    command: str


@dataclass(frozen=True)
class Sweep:
    """The multirun behind a figure, or several.

    Attributes:
        name: of its file.
        paper: short name.
        figures: ``Figure 4``.
        what: what they show.
        needs: keys, data, GPUs.
        differs: from the paper.
        command: the multirun.
        offline: the same without any of the needs; None where there is no stand-in.
    """

    name: str
    paper: str
    figures: str
    what: str
    needs: str
    differs: str
    command: str
    offline: str | None


def head(path: Path) -> dict[str, str]:
    """The comment at the top of a YAML: the text under ``""``, and labelled parts by label."""
    found, label = {"": ""}, ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        text = line.lstrip("# ").strip()
        named, _, rest = text.partition(": ")
        if text.startswith("@package"):
            continue
        if named in FIELDS:
            label, text = named, rest
        found[label] = f"{found.get(label, '')} {text}".strip()
    return found


def options(axis: str) -> list[Option]:
    """Every option of an axis, by name."""
    return [_option(axis, path) for path in sorted((CONF / axis).glob("*.yaml"))]


def sweeps() -> list[Sweep]:
    """Every figure's multirun, by name."""
    return [_sweep(path) for path in sorted((CONF / "papers" / "sweep").glob("*.yaml"))]


def _option(axis: str, path: Path) -> Option:
    said = head(path)
    what = said[""] or _documented(path)
    words = said.get("Try", "").split()
    if not any(word.startswith(f"{axis}=") for word in words):  # some work only within a study
        words = [f"{axis}={path.stem}", *words]
    command = " ".join(["python run.py", *words])
    return Option(axis, path.stem, _sentence(what), command)


def _documented(path: Path) -> str:
    module, _, name = str(yaml.safe_load(path.read_text("utf-8"))["_target_"]).rpartition(".")
    return inspect.getdoc(getattr(importlib.import_module(module), name)) or ""


def _sentence(text: str) -> str:
    """The first one, without its full stop."""
    first = re.split(r"(?<=[.?!)])\s+(?=[A-Z])", " ".join(text.split()))[0]
    return first.rstrip(".").replace("|", "\\|")


def _sweep(path: Path) -> Sweep:
    said = head(path)
    paper, _, rest = said[""].partition(", ")
    figures, _, what = rest.partition(": ")
    command = " ".join(["python run.py", f"sweep={path.stem}", *said.get("Try", "").split()])
    stand_in = next((p for p in _stand_ins() if path.stem.startswith(p)), None)
    offline = None
    if stand_in is not None and not path.stem.endswith("_released"):
        offline = f"python run.py sweep={path.stem} offline={stand_in}"
    needs, differs = said["Needs"].rstrip("."), said["Differs"].rstrip(".")
    return Sweep(path.stem, paper, figures, what.rstrip("."), needs, differs, command, offline)


def _stand_ins() -> list[str]:
    return sorted(path.stem for path in (CONF / "papers" / "offline").glob("*.yaml"))


def options_tables() -> str:
    """One folded table for each axis."""
    return "\n".join(_folded(axis, meaning) for axis, meaning in AXES.items())


def _folded(axis: str, meaning: str) -> str:
    rows = [f"| `{o.name}` | {o.what} | `{o.command}` |" for o in options(axis)]
    lines = [
        f"<details><summary><code>{axis}</code>: {meaning} ({len(rows)} options)</summary>",
        "",
        f"| `{axis}=` | what it is | a command |",
        "|---|---|---|",
        *rows,
        "",
        "</details>",
        "",
    ]
    return "\n".join(lines)


def sweeps_table() -> str:
    """One row a sweep."""
    lines = [
        "| paper | figure | command | needs | at once, offline | what differs here |",
        "|---|---|---|---|---|---|",
    ]
    for s in sweeps():
        offline = "-" if s.offline is None else f"`{s.offline}`"
        lines.append(
            f"| {s.paper} | {s.figures.removeprefix('Figure ').removeprefix('Figures ')}: {s.what} "
            f"| `{s.command}` | {s.needs} | {offline} | {s.differs} |"
        )
    return "\n".join([*lines, ""])


def pages() -> dict[Path, str]:
    """Page -> what it should say as a whole.

    Raises:
        ValueError: a page lacks the marks.
    """
    made = {ROOT / "README.md": options_tables(), SWEEPS / "README.md": sweeps_table()}
    return {path: _between(path, text) for path, text in made.items()}


def _between(path: Path, text: str) -> str:
    page = path.read_text(encoding="utf-8")
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{path.name} lacks the marks {BEGIN!r} and {END!r}.")
    return f"{before}{BEGIN}\n\n{text}\n{END}{after}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the tables, or say which page is stale."""
    parser = argparse.ArgumentParser(description="Tables of options and figures in the READMEs.")
    parser.add_argument("--write", action="store_true", help="rewrite them (default: check)")
    write = parser.parse_args(arguments).write
    stale = {
        path: text for path, text in pages().items() if path.read_text(encoding="utf-8") != text
    }
    for path, text in stale.items():
        if write:
            path.write_text(text, encoding="utf-8")
            print(f"{path.relative_to(ROOT)} written")
        else:
            print(f"{path.relative_to(ROOT)} is stale: {REFRESH}", file=sys.stderr)
    return 0 if write else int(bool(stale))


if __name__ == "__main__":
    sys.exit(main())
