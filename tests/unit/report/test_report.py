"""The report of one run: numbers, console, figures and the page."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from judgelab.report import console, format
from judgelab.report.format import columns, frame
from judgelab.report.style import image_bytes
from tests.drawings import draw
from tests.unit.report.report_results import HOSTILE, result


def frames(found: dict[str, Any]) -> dict[str, Any]:
    return {table["name"]: frame(table) for table in found["tables"]}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.63245, "0.632"),
        (1234.5, "1234"),
        (0.000566, "0.000566"),
        (1e-9, "<.0001"),
        (-4.43e-12, ">-.0001"),
        (0.99999, "1.000"),
        (0.0, "0.00"),
        (59160, "59,160"),
        (True, "yes"),
        (None, "–"),
        (float("nan"), "–"),
    ],
)
def test_numbers_have_three_digits(value: object, shown: str) -> None:
    assert format.number(value) == shown


def test_the_parts_of_an_estimate_have_the_same_decimals() -> None:
    assert format.estimate(0.63245, 0.58, 0.6849) == "0.632 [0.580, 0.685]"
    assert format.estimate(0.6, 0.0192, 1.569) == "0.60 [0.02, 1.57]"
    assert format.estimate(-0.0000001, -0.02, 0.02) == "0.0000 [-0.0200, 0.0200]"
    assert format.estimate(0.6, None, None) == "0.600"
    assert format.estimate(None, 0.1, 0.2) == "–"


def test_p_values_are_never_zero() -> None:
    shown = [format.p_value(p) for p in (0.0, 0.0004, 0.0241, 1.0, None)]
    assert shown == ["<.001", "<.001", ".024", "1.000", "–"]


def test_columns_merge_the_interval_and_leave_out_what_nobody_knows() -> None:
    rows = [{"value": 0.5, "low": 0.4, "high": 0.6, "p": None, "n": 3, "panel": "clean", "x": None}]
    assert [c.key for c in columns(rows)] == ["value", "n", "panel"]
    assert [c.key for c in columns(rows, ["n", "panel"])] == ["n", "panel", "value"]
    assert columns(rows)[0].cells == ("0.500 [0.400, 0.600]",)


@pytest.mark.parametrize(("width", "most"), [(80, 75), (120, 55)])
def test_the_console_is_plain_narrow_and_about_a_screen(width: int, most: int) -> None:
    folder = Path("a" * 90)
    shown = console.rendered(console.screen(result(31, name=HOSTILE), folder), width)
    lines = shown.splitlines()
    assert "\x1b" not in shown
    assert len(lines) < most
    paths = [line for line in lines if str(folder) in line]
    assert [line.split("/")[-1] for line in paths] == ["report.html", "records"]
    assert all(len(line) <= width for line in lines if line not in paths)
    assert "the agents are synthetic" in shown
    assert "[red]" in shown, "markup in a name is not interpreted"


def points() -> Any:
    names = ("xsum", "samsum"), ("tvd_mi", HOSTILE), ("none", "case_flip", "format")
    keys, known = ("dataset", "group", "attack", "statistic"), {"low": 0.5, "high": 0.7, "n": 12}
    rows = [
        dict(zip(keys, each, strict=True)) | known | {"value": None if "format" in each else 0.6}
        for each in product(*names, ("effect_size", "auc"))
    ]
    return frame({"rows": rows})


def marks(figure: Any) -> int:
    """Points that were really drawn, legends left out."""
    return sum(
        line.get_marker() not in ("None", "", None)
        for axes in figure.axes
        for line in axes.get_lines()
    )


@pytest.mark.parametrize("agents", [3, 31])
@pytest.mark.parametrize("panels", [("clean",), ("clean", "attacked")])
def test_every_known_value_is_drawn_and_no_other(agents: int, panels: tuple[str, ...]) -> None:
    tables = frames(result(agents, panels, name="A name that is long, with 中文 and $x_1$"))
    scores = int(tables["agents"]["value"].notna().sum())
    known = {"discrimination": 3 * len(panels), "agent_scores": scores}
    for name, count in known.items():
        figure = draw(name, tables).figure
        assert marks(figure) == count
        assert image_bytes(figure, "png").startswith(b"\x89PNG")
    assert "n\u00a0=\u00a012 items" in draw("agent_scores", tables).caption


def test_sweep_figures_leave_out_what_is_unscored_and_say_so() -> None:
    figure = draw("auc_under_attack", {"points": points()}).figure
    assert marks(figure) == 8
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert texts == ["format: unscored"] * 4
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["xsum", "samsum"]
