"""``judgelab audit FILE`` and its like: what needs none of Hydra's grammar."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgelab.store.run_dir import RunDir

FILES = "a CSV, TSV, JSON, JSONL or parquet file, or logs of another tool"
MORE = "after -- any setting of a run: -- study.rules.recall=.7 tracker=wandb dry_run=true"
GATE = "exit with 4 on 'do not use', 5 on 'not known yet' (the worst of all judges counts), else 0"


def share(text: str) -> float | str:
    """A number, else as written: the run refuses it in a sentence, and in JSON where asked for."""
    try:
        return float(text)
    except ValueError:
        return text


COLUMNS: Any = {"action": "append", "metavar": "COL"}
SAMPLED: Any = {"choices": ("random", "strata")}
SHARE: Any = {"type": share, "metavar": "SHARE"}
TIMES: Any = {"type": int, "metavar": "N"}
FLAG: Any = {"action": "store_const", "const": True}
OPTIONS: Any = {  # verb -> option: the setting of a run that it is, help, and what argparse takes
    "audit": {
        "--judge": ("dataset.judges", "a column of verdicts", COLUMNS),
        "--human": ("dataset.raters", "a column of labels", COLUMNS),
        "--people": ("dataset.people", "people's labels, joined by id", {"metavar": "FILE"}),
        "--positive": ("dataset.positive", "the label that matters, as pass", {"metavar": "LABEL"}),
        "--minimum": ("study.rules.minimum", "least agreement that you accept, as .8", SHARE),
        "--labels": ("study.sampled", "how the labelled rows were drawn", SAMPLED),
        "--repeats": ("study.repeats", "how often judges are asked, for noise", TIMES),
        "--before": ("study.before", "an earlier audit: what changed since", {"metavar": "RUN"}),
        "--details": ("study.details", "unfold every table of the page", FLAG),
    },
    "screen": {"--agent": ("dataset.columns.agent", "who wrote the text", {"metavar": "COL"})},
}


def parser(name: str = "judgelab") -> argparse.ArgumentParser:
    """Of all verbs; what is a setting of a run stands under its key."""
    top = argparse.ArgumentParser(prog=name, description=__doc__)
    verbs = top.add_subparsers(dest="verb", required=True)
    audit = verbs.add_parser("audit", help="may this judge decide on my data?", epilog=MORE)
    screen = verbs.add_parser("screen", help="what do texts without labels show?", epilog=MORE)
    compare = verbs.add_parser("compare", help="finished runs beside each other")
    pack = verbs.add_parser("pack", help="put a finished run's calls, config and result in a file")
    replay = verbs.add_parser("replay", help="make a packed run again, without its LMs")
    shell = verbs.add_parser("completion", help="print what lets bash or zsh complete words")
    for verb, one in (("audit", audit), ("screen", screen)):
        one.add_argument("file", metavar="FILE", nargs="+", help=FILES)
        for option, (key, meaning, rest) in OPTIONS[verb].items():
            one.add_argument(option, dest=key, help=meaning, **rest)
        one.add_argument("--out", dest="paths.root", metavar="DIR", help="where runs are kept")
    for one in (audit, screen, compare):
        one.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
    compare.add_argument("runs", metavar="RUN", nargs="+", help="folder of a run, or of a sweep")
    audit.add_argument("--gate", action="store_true", help=GATE)
    pack.add_argument("run", type=Path, help="folder of a finished run (outputs/runs/...)")
    pack.add_argument("--out", type=Path, help="the file; beside the run's folder by default")
    pack.add_argument("--texts", action="store_true", help="put the dataset's own file in, too")
    replay.add_argument("file", type=Path, help="what judgelab pack wrote")
    replay.add_argument("--root", type=Path, default=Path("outputs/replays"), help="where")
    by_verb = {"audit": audit, "compare": compare, "screen": screen, "pack": pack, "replay": replay}
    options = {name: re.findall(r"--[a-z]+", one.format_help()) for name, one in by_verb.items()}
    shell.set_defaults(options={name: sorted(set(its)) for name, its in options.items()})
    return top


def _completion(options: Mapping[str, Sequence[str]]) -> str:
    """A function for bash: verbs first, then options; files where neither fits."""
    cases = [f"    {verb}) words='{' '.join(its)}' ;;" for verb, its in options.items()]
    lines = (
        "_judgelab() {",
        "  local words",
        '  case "${COMP_WORDS[1]}" in',
        *cases,
        f"    *) words='{' '.join(options)}' ;;",
        "  esac",
        '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
        "}",
        "complete -o default -F _judgelab judgelab",
    )
    return "\n".join(lines)


def main(words: Sequence[str], name: str) -> None:
    """Do what the words of a command line say; ``name``: of the program, for help."""
    own = list(words[: words.index("--")]) if "--" in words else list(words)
    options = parser(name).parse_args(own)  # before all that is slow to import
    if options.verb == "completion":
        print(_completion(options.options))
        return
    from judgelab.config.launch import guarded

    guarded(partial(_carry_out, options, list(words[len(own) + 1 :])))


def _carry_out(options: argparse.Namespace, more: list[str]) -> None:
    from judgelab.config.launch import sentence

    try:
        if options.verb in ("audit", "screen"):
            _run(options, more)
        elif options.verb == "compare":
            _compare(options)
        else:
            from judgelab.engine import packing

            if options.verb == "pack":
                packing.pack(options.run, options.out, options.texts)
            elif not packing.replay(options.file, options.root):
                sys.exit(1)
    except Exception as cause:
        if vars(options).get("json") and getattr(cause, "run", None) is None:  # no run was printed
            print(json.dumps({"error": sentence(cause, ())}, ensure_ascii=False))
        raise


def _words(options: argparse.Namespace) -> Iterator[str]:
    from judgelab.config.composing import literal

    yield from (f"study={options.verb}", "dataset=table", "tracker=none")
    yield f"dataset.path={literal(options.file if len(options.file) > 1 else options.file[0])}"
    for key, value in vars(options).items():
        if key == "dataset.raters" and value and len(value) == 1:
            key, value = "dataset.columns.human", value[0]
        if key == "study.sampled" and value == "random":
            value = True
        if "." in key and value is not None:
            yield f"{key}={literal(value)}"


def _run(options: argparse.Namespace, more: Sequence[str]) -> None:
    """Carry a run out, and print it; the exit code is the gate's."""
    from hydra.errors import HydraException

    from judgelab.config.composing import composed_call, spelled
    from judgelab.config.launch import sentence
    from judgelab.config.targets import located
    from judgelab.core.errors import ConfigError, PartialRunError
    from judgelab.engine.execution import Invocation
    from judgelab.engine.run import carry_out
    from judgelab.store.run_dir import RunDir

    if any(word.startswith("-") for word in more):
        raise ConfigError("After -- come settings, KEY=VALUE: a sweep is for run.py -m.")
    keys = {word.partition("=")[0] for word in more}
    words = [word for word in _words(options) if word.partition("=")[0] not in keys]
    words += map(spelled, more)
    try:
        cfg, hydra = composed_call(words)
    except HydraException as cause:
        raise ConfigError(sentence(cause, words)) from cause
    trusted = list(cfg.trusted_packages) if "trusted_packages" in keys else []
    call, still = Invocation.of(hydra, quiet=options.json), None
    with redirect_stdout(sys.stderr if options.json else sys.stdout):
        try:
            run_dir = carry_out(cfg, call, trusted)
        except PartialRunError as cause:
            if cause.run is None:
                raise
            run_dir, still = RunDir(cause.run), cause
    if run_dir is None:  # a dry run
        return
    result = run_dir.read_json("result.json")
    code = located(cfg.study["_target_"], "study").gate(result) if vars(options).get("gate") else 0
    if options.json:
        print(json.dumps(for_programs(run_dir, result), ensure_ascii=False, indent=2))
    if still is not None:
        raise still
    sys.exit(code)


def for_programs(run_dir: RunDir, result: Mapping[str, Any]) -> dict[str, Any]:
    """A run and its result.json for programs: verdicts, sentences, figures with interval and n, and
    where its page is."""
    from judgelab.core.result import estimate_keys, read_estimate, verdicts

    first: Any = next(iter(result["tables"]), {"name": "rows", "rows": []})
    answer, flat = result.get("answer", []), result["summary"]
    paragraphs = dict[str, str]()
    for heading, text in answer:  # a heading may stand over several
        paragraphs[heading] = "\n".join(filter(None, (paragraphs.get(heading), text)))
    return {
        "sentence": result.get("title") or next((text for _, text in answer), ""),
        "verdicts": verdicts(result),
        "answer": paragraphs,
        "figures": {key: read_estimate(flat, key) for key in estimate_keys(flat)},
        str(first["name"]): first["rows"],
        "notes": result["notes"],
        "partial": result.get("partial"),
        "page": str(run_dir.path / "report.html"),
        "run": str(run_dir.path),
    }


def _compare(options: argparse.Namespace) -> None:
    """Print runs side by side, or a sweep again."""
    from judgelab.python import RunComparison, compare, load
    from judgelab.report import console, sweep

    alone = load(options.runs[0]) if len(options.runs) == 1 else None
    both = alone if isinstance(alone, RunComparison) else compare(options.runs)
    folder = Path(options.runs[0]) if both is alone else None
    if options.json:
        runs = json.loads(both.summary.to_json(orient="records"))
        page = None if folder is None else str(folder / "report.html")
        content = {"runs": runs, "warnings": both.warnings, "page": page}
        print(json.dumps(content, ensure_ascii=False, indent=2))
    else:
        console.page(sweep.screen(sweep.best_first(both.jobs), folder))
