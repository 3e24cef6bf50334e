"""Who may import whom: every import of the package, those for type checkers included."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from experiments import size

PACKAGE = Path(__file__).resolve().parents[2] / "judgelab"
AXES = (
    *("agents", "attack", "dataset", "evaluation_lm", "exam", "finetune", "mechanism"),
    *("preprocessor", "report", "synopsis", "tracker"),
)
FLOORS = (
    ("core",),
    ("stats",),
    ("config", "store"),
    ("calls", "scale", "scoring"),
    AXES,
    ("engine",),
    ("study",),
    ("python",),
    ("command",),
)
FLOOR = {room: height for height, rooms in enumerate(FLOORS) for room in rooms}


FILES = sorted(PACKAGE.rglob("*.py"))
MODULES = {
    ".".join(("judgelab", *part.with_suffix("").parts))
    for file in (one.relative_to(PACKAGE) for one in FILES)
    for part in (file, *list(file.parents)[:-1])
}
# parsed by the one worker that runs these tests
trees = cache(lambda: {f.relative_to(PACKAGE): ast.parse(f.read_text("utf-8")) for f in FILES})


def imports() -> Iterator[tuple[str, str]]:
    """(module that imports, module imported), both of judgelab, wherever in the file it stands."""
    for file, tree in trees().items():
        parts = ("judgelab", *file.with_suffix("").parts)
        own = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        for node in ast.walk(tree):
            names: list[str] = []
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{own} imports relatively"
                names = [_module(f"{node.module}.{alias.name}") for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            yield from ((own, name) for name in names if name.split(".")[0] == "judgelab")


def _module(name: str) -> str:
    """The module that ``from ... import ...`` means: the name itself, or what it is taken from."""
    return name if name in MODULES else name.rpartition(".")[0]


def room(module: str) -> str:
    """The package that a module lies in; empty for judgelab itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] != "__main__" else ""


edges = cache(lambda: sorted(set(imports())))
ROOMS = sorted(p.name for p in PACKAGE.iterdir() if (p / "__init__.py").is_file())


def test_every_room_has_a_floor() -> None:
    assert sorted(FLOOR) == ROOMS
    loose = {p.name for p in PACKAGE.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert not loose, f"modules in no room: {loose}"


@pytest.mark.parametrize("name", ROOMS)
def test_imports_go_down(name: str) -> None:
    upward = [
        (here, there)
        for here, there in edges()
        if room(here) == name and room(there) and FLOOR[room(there)] > FLOOR[name]
    ]
    assert not upward


def test_rooms_do_not_import_each_other_in_a_circle() -> None:
    below: dict[str, set[str]] = {name: set() for name in ROOMS}
    for here, there in edges():
        if room(here) and room(there) and room(here) != room(there):
            below[room(here)].add(room(there))
    while below:
        ground = [name for name, needs in below.items() if not needs & below.keys()]
        assert ground, f"a circle among {sorted(below)}"
        for name in ground:
            del below[name]


def test_no_study_imports_another_and_statistics_nothing_of_ours() -> None:
    for here, there in edges():
        if here.startswith("judgelab.study.") and there.startswith("judgelab.study."):
            mine, other = here.split(".")[2], there.split(".")[2]
            assert other in (mine, "common"), f"{here} imports {there}"
        assert room(here) != "stats" or room(there) == "stats", f"{here} imports {there}"


def test_a_class_name_means_one_thing() -> None:
    homes: dict[str, list[str]] = {}
    for file, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(str(file))
    assert not {name: files for name, files in homes.items() if len(files) > 1}


def test_unit_tests_mirror_the_package() -> None:
    """A folder of tests/unit is one of judgelab/, or that of the experiments."""
    unit = PACKAGE.parent / "tests" / "unit"
    folders = {d.relative_to(unit) for d in unit.rglob("*/") if (d / "__init__.py").is_file()}
    strangers = {d for d in folders if not (PACKAGE / d).is_dir()} - {Path(), Path("experiments")}
    assert not strangers, f"tests/unit has folders that judgelab lacks: {strangers}"
    assert not sorted(unit.glob("test_*.py")), "a unit test lies in the folder of its package"


STUDIES = sorted(file.stem for file in (PACKAGE.parent / "conf" / "study").glob("*.yaml"))
BELOW_STUDIES = ("engine", "report", "tracker")


def words_of(room: str) -> Iterator[tuple[str, str]]:
    """(file, string of its code), docstrings left out."""
    for file, tree in trees().items():
        nodes = list(ast.walk(tree)) if file.parts[0] == room else []
        said = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            value = node.value if isinstance(node, ast.Constant) else None
            if isinstance(value, str) and id(node) not in said:
                yield str(file), value


def compared_keys() -> set[str]:
    """Summary keys by which studies compare their runs, and the statistics in them."""
    found = set()
    for file, tree in trees().items():
        for node in ast.walk(tree) if file.parts[0] == "study" else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Headline":
                key = ast.literal_eval(node.args[0])
                found |= {key, key.rpartition("/")[2]}
    return found - {"verdict"}


@pytest.mark.parametrize("name", BELOW_STUDIES)
def test_no_room_below_knows_a_study_or_a_figure_by_name(name: str) -> None:
    keys = compared_keys()
    assert len(keys) > 10
    named = re.compile(rf"study=({'|'.join(STUDIES)})\b")
    assert not [
        (file, said)
        for file, said in words_of(name)
        if said in {*STUDIES, *keys} or named.search(said)
    ]


BUDGETS = yaml.safe_load(size.BUDGETS.read_text("utf-8"))
measured = cache(lambda: {name: one for name, one, _ in size.rooms()})


def test_no_room_is_over_its_budget() -> None:
    for kind, budgets in BUDGETS.items():
        for room, budget in budgets.items():
            now = getattr(measured()[room], kind)
            assert now <= budget, f"{room} has {now:,} {kind} of {budget:,}: give something up"


ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REQUIRED = {
    r.name: r
    for line in (
        *PROJECT["dependencies"],
        *(x for extra in PROJECT["optional-dependencies"].values() for x in extra),
    )
    if (r := Requirement(line)).name != "judgelab"
}


def test_hydra_is_not_older_than_its_security_release() -> None:
    allowed = REQUIRED["hydra-core"].specifier
    assert not any(allowed.contains(old) for old in ("1.3.0", "1.3.2", "1.3.3"))
    assert allowed.contains("1.3.4")


def test_pinned_releases_are_among_those_required() -> None:
    pins = dict(re.findall(r"(?m)^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text()))
    pinned = {name: pins[name] for name in REQUIRED if name in pins}
    assert {"hydra-core", "torch", "pyppmd"} <= set(pinned)
    for name, version in pinned.items():
        assert REQUIRED[name].specifier.contains(version), name


def test_no_participle_stands_alone_as_a_name() -> None:
    """``found`` does not say what was found."""
    alone = {"found", "said", "made", "held", "told", "given", "kept", "got", "taken", "known"}
    for file, tree in trees().items():
        for node in filter(lambda one: isinstance(one, ast.Name | ast.arg), ast.walk(tree)):
            name = vars(node).get("id") or vars(node)["arg"]
            assert name.strip("_") not in alone, f"{file}: {name}"
