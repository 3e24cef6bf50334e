"""docs/reference and the table of figures in docs/papers, made from configs and docstrings.

    python -m experiments.catalogue --write

What an option is, and a command that shows it, stand in the comment at the top of its YAML: its
first sentence, and a line ``# Try: OVERRIDES``. Without a comment the docstring of its class is
taken. Pages are made whole, but for those with marks: there the text between the marks is.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import yaml

from experiments import interfaces, reference
from experiments.results import between
from judgelab.config.launch import rehearsal_of

ROOT = Path(__file__).resolve().parents[1]
CONF, DOCS, SWEEPS = ROOT / "conf", ROOT / "docs", ROOT / "experiments" / "sweeps"
AXES = {
    "study": "a question about judges",
    "mechanism": "what scores texts",
    "attack": "what is done to texts",
    "evaluation_lm": "who scores and judges",
}
"""Axes with a command for each option."""
OTHERS = {
    "agents": "who writes the responses",
    "synopsis": "a short account of an item, on which some mechanisms condition",
    "preprocessor": "what is done to texts before they are scored",
    "exam": "exams of judges, of `study=qualification`",
    "finetune": "settings of `study=finetune`: `finetune@study.settings=NAME`",
    "tracker": "where runs are shown beside their folder",
    "scale": "how many processes or machines answer",
}
"""Small axes, on one page."""
REFRESH = "python -m experiments.catalogue --write"
BEGIN = f"<!-- begin: made by `{REFRESH}` -->"
END = "<!-- end -->"
FIELDS = ("Needs", "Differs", "Try")


@dataclass(frozen=True)
class Option:
    """One option of an axis."""

    axis: str  # the config group
    name: str  # the option
    what: str  # one sentence
    command: str  # what shows it at work


@dataclass(frozen=True)
class Sweep:
    """The multirun behind a figure, or several."""

    name: str  # of its file
    paper: str  # short name
    figures: str  # ``Figure 4``
    what: str  # what they show
    needs: str  # keys, data, GPUs
    differs: str  # from the paper
    command: str  # the multirun
    rehearsal: str | None  # the same, small, without any of the needs; None where there is none


def head(path: Path) -> dict[str, str]:
    """The comment at the top of a YAML: the text under ``""``, and labelled parts by label."""
    parts, label = {"": ""}, ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        text = line.lstrip("# ").strip()
        name, _, rest = text.partition(": ")
        if text.startswith("@package"):
            continue
        if name in FIELDS:
            label, text = name, rest
        parts[label] = f"{parts.get(label, '')} {text}".strip()
    return parts


def options(axis: str) -> list[Option]:
    """Every option of an axis, by name."""
    return [_option(axis, path) for path in sorted((CONF / axis).glob("*.yaml"))]


def sweeps() -> list[Sweep]:
    """Every figure's multirun, by name."""
    return [_sweep(path) for path in sorted((CONF / "papers" / "sweep").glob("*.yaml"))]


def _option(axis: str, path: Path) -> Option:
    comment = head(path)
    what = comment[""] or _documented(path)
    words = comment.get("Try", "").split()
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
    return first.rstrip(".")


def _sweep(path: Path) -> Sweep:
    comment = head(path)
    paper, _, rest = comment[""].partition(", ")
    figures, _, what = rest.partition(": ")
    command = " ".join(["python run.py", f"sweep={path.stem}", *comment.get("Try", "").split()])
    rehearsal = (
        None
        if rehearsal_of(f"sweep/{path.stem}") is None
        else f"python run.py sweep={path.stem} rehearsal=true"
    )
    needs, differs = comment["Needs"].rstrip("."), comment["Differs"].rstrip(".")
    return Sweep(path.stem, paper, figures, what.rstrip("."), needs, differs, command, rehearsal)


def axis_page(axis: str, meaning: str) -> str:
    """Options, each with a command where the axis has them, and their settings by class."""
    shared = reference.shared_settings([axis])
    intro = [
        f"An option by itself: `python run.py {axis}=NAME`; *with* says what else it takes.",
        "",
    ]
    lines = [f"# `{axis}=`: {meaning}", "", *(intro if axis in AXES else []), *_options(axis)]
    lines += reference.shared_section(axis, shared)
    return "\n".join([*lines, reference.sections(axis, shared)])


def others_page() -> str:
    """The small axes."""
    shared = reference.shared_settings(OTHERS)
    lines = ["# Other axes", "", *reference.shared_section("AXIS", shared)]
    for axis, meaning in OTHERS.items():
        lines += [f"## {axis}", "", f"`{axis}=`: {meaning}.", ""]
        lines += [*_options(axis, small=True), reference.sections(axis, shared, small=True)]
    return "\n".join(lines)


def short_page(title: str, sentence: str, body: Callable[[], str]) -> str:
    """A sentence under a title, and what follows from the code."""
    return "\n".join([f"# {title}", "", sentence, "", body()])


SHORT = {
    "settings": (
        "Settings of a run",
        "Set on the command line (`limit=8 tracker=none`), each with its default:",
        reference.run_settings,
    ),
    "python": (
        "Python",
        "The same runs as on the command line, without a second way of making them.",
        interfaces.python,
    ),
    "interfaces": (
        "Interfaces",
        "What a class of your own derives from, by axis: [how to add one](../extending.md).",
        interfaces.interfaces,
    ),
}
"""Page -> its title, its first sentence, and what makes the rest."""


def _options(axis: str, small: bool = False) -> list[str]:
    """The options of an axis; an option links to the settings of its class."""
    at = {
        path.stem: reference.anchor(reference.title(axis, target, paths, small))
        for target, paths in reference.classes(axis).items()
        if target
        for path in paths
    }
    rows = []
    for one in options(axis):
        name = f"[`{one.name}`](#{at[one.name]})" if one.name in at else f"`{one.name}`"
        words = one.command.removeprefix("python run.py ").replace(f"{axis}={one.name}", "")
        more = f"; with `{' '.join(words.split())}`" if words.strip() and axis in AXES else ""
        rows.append(f"- {name}: {reference.cell(one.what)}{more}")
    return [*rows, ""]


def sweeps_table() -> str:
    """A list for each paper, one entry a sweep."""
    papers = dict.fromkeys(one.paper for one in sweeps())
    return "\n".join(line for paper in papers for line in _of(paper))


def _of(paper: str) -> list[str]:
    lines = [f"## {paper}", ""]
    for s in sweeps():
        if s.paper == paper:
            words = s.command.removeprefix("python run.py ")
            small = "; no rehearsal" if s.rehearsal is None else ""
            differs = f"{s.differs[0].upper()}{s.differs[1:]}"
            lines.append(f"- **{s.figures}**: {s.what}. `{words}`{small}. {differs}.")
    return [*lines, ""]


def pages() -> dict[Path, Callable[[], str]]:
    """Page -> what makes it whole."""
    folder = DOCS / "reference"
    axes = {**AXES, "dataset": "items, and what was written about them"}
    return {
        **{folder / f"{axis}.md": partial(axis_page, axis, what) for axis, what in axes.items()},
        folder / "others.md": others_page,
        **{folder / f"{name}.md": partial(short_page, *SHORT[name]) for name in SHORT},
        DOCS / "papers" / "figures.md": sweeps_table,
    }


def page(path: Path) -> str:
    """What a page should say as a whole."""
    text = pages()[path]()
    if path.name == "figures.md":
        return between(path.read_text(encoding="utf-8"), BEGIN, END, text.rstrip())
    return f"<!-- made by `{REFRESH}` -->\n\n{text.rstrip()}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the tables, or say which page is stale."""
    parser = argparse.ArgumentParser(description="The reference and the table of figures.")
    parser.add_argument("--write", action="store_true", help="rewrite them (default: check)")
    write = parser.parse_args(arguments).write
    stale = {path: text for path in pages() if _text_of(path) != (text := page(path))}
    for path, text in stale.items():
        if write:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"{path.relative_to(ROOT)} written")
        else:
            print(f"{path.relative_to(ROOT)} is stale: {REFRESH}", file=sys.stderr)
    return 0 if write else int(bool(stale))


def _text_of(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main())
