from __future__ import annotations

import math

import pytest

from rankproof.reports.figures import Figure, Line, Mark, Series
from rankproof.reports.plot import line_plot

RISE = Figure([Series("rise", [(0, 0), (10, 1)])], "x", "y")
FALL = Series("keyword", [(n, 0.56 / math.sqrt(n)) for n in (10, 20, 55, 100, 412, 900)])
POWER = Figure(
    [FALL], "queries", "smallest visible change", x_log=True,
    marks=[Mark(55, 0.0755, "you are here"), Mark(412, 0.0276, "wanted")],
)  # fmt: skip


def drawn(figure: Figure, width: int, height: int, *, ascii: bool = False) -> list[str]:  # noqa: A002
    return line_plot(figure, width=width, height=height, ascii=ascii).splitlines()


def test_a_line_in_braille() -> None:
    assert drawn(RISE, 24, 5) == [
        "y",
        "1.0 ┤               ⢀⡠⠔⠊",
        "    │           ⢀⡠⠔⠊⠁",
        "0.5 ┤       ⢀⡠⠔⠊⠁",
        "    │   ⢀⡠⠔⠊⠁",
        "0.0 ┤⡠⠔⠊⠁",
        "    └┬────────┬────────┬",
        "     0        5       10",
        "                       x",
    ]


def test_the_same_line_in_ascii() -> None:
    assert drawn(RISE, 24, 5, ascii=True) == [
        "y",
        "1.0 +                ***",
        "    |            ****",
        "0.5 +       *****",
        "    |   ****",
        "0.0 +***",
        "    ++--------+--------+",
        "     0        5       10",
        "                       x",
    ]


def test_marks_are_told_apart_and_explained() -> None:
    assert drawn(POWER, 40, 6) == [
        "smallest visible change",
        "0.2 ┤⡀",
        "    │⠈⠑⠢⢄⡀",
        "    │    ⠈⠑⠢⠤⣀⡀",
        "0.1 ┤         ⠈⠉⠒⠢●⣀⡀",
        "    │               ⠈⠉⠒⠒⠢⠤⠤⠤⣀⣀⣀⣀",
        "0.0 ┤                           ⠉◆⠉⠉⠑⠒⠒⠒",
        "    └┬───────┬────────┬────────┬────────",
        "    10      30       100      300",
        "                                 queries",
        " ● you are here",
        " ◆ wanted",
    ]


def test_curves_are_told_apart_without_colour() -> None:
    other = Series("vector", [(x, y / 2) for x, y in FALL.points])
    assert drawn(Figure([FALL, other], "queries", "y", x_log=True), 40, 6) == [
        "y",
        "0.2 ┤⡀",
        "    │⠈⠑⠢⢄⡀",
        "    │    ⠈⠑⠢⠤⣀⡀",
        "0.1 ┤⠂⠠ ⡀⢀    ⠈⠉⠒⠢⠤⣀⡀",
        "    │      ⠁⠐ ⠂⠠ ⡀⢀ ⡈⠉⠒⠒⠢⠤⠤⠤⣀⣀⣀⣀",
        "0.0 ┤                ⠈ ⠁⠈ ⠁⠈ ⠂⠐ ⠋⠙⠉⠋⠱⠒BA",
        "    └┬───────┬────────┬────────┬────────",
        "    10      30       100      300",
        "                                 queries",
        " A ⠤⠤⠤⠤⠤ keyword",
        " B ⠄⠠ ⠄⠠ vector",
    ]


def test_a_step_holds_until_the_next_point() -> None:
    steps = Series("steps", [(0, 4), (2, 2), (4, 0)], steps=True)
    assert drawn(Figure([steps], "x", "y"), 20, 5, ascii=True) == [
        "y",
        "4 +*********",
        "  |        *",
        "2 +        *********",
        "  |                *",
        "0 +                *",
        "  ++-------+-------+",
        "   0       2       4",
        "                   x",
    ]


def test_reference_lines_stand_behind_the_curve() -> None:
    figure = Figure(RISE.series, "x", "y", x_lines=[Line(5, "half")], y_lines=[Line(0.25, "limit")])
    assert drawn(figure, 24, 5, ascii=True) == [
        "y",
        "1.0 +         :      ***",
        "    |         :  ****",
        "0.5 +       *****",
        "    |...****..:.........",
        "0.0 +***      :",
        "    ++--------+--------+",
        "     0        5       10",
        "                       x",
        " .. limit",
        " : half",
    ]


def test_a_gap_is_left_open() -> None:
    gap = Series("gap", [(0, 1), (4, 1), (5, math.nan), (6, 1), (10, 1)])
    assert drawn(Figure([gap], "x", "y"), 24, 3, ascii=True)[2] == "1.0 +********   ********"


def test_marks_with_the_same_label_share_a_sign() -> None:
    figure = Figure(RISE.series, "x", "y", marks=[Mark(0, 0, "end"), Mark(10, 1, "end"), Mark(5, 0.5, "half")])
    lines = drawn(figure, 24, 5)
    assert lines[-2:] == [" ● end", " ◆ half"]
    assert sum(line.count("●") for line in lines) == 3


def test_of_marks_in_one_place_the_first_is_seen() -> None:
    figure = Figure(RISE.series, "x", "y", marks=[Mark(5, 0.5, "first"), Mark(5.01, 0.5, "second")])
    assert "●" in "".join(drawn(figure, 24, 5)[:7])


SHAPES = {
    "rise": RISE,
    "power": POWER,
    "empty": Figure([], "x", "y"),
    "one point": Figure([Series("dot", [(3, 3)])], "x", "y"),
    "many curves": Figure([Series(f"curve {i}", [(0, i), (9, 9 - i)]) for i in range(30)], "x", "y"),
    "long words": Figure(RISE.series, "x" * 90, "y " * 90, marks=[Mark(1, 0.1, "here " * 30)]),
    "great numbers": Figure([Series("great", [(1, -1e6), (1e8, 1e6)])], "x", "y", x_log=True),
}


@pytest.mark.parametrize("width", [20, 40, 72])
@pytest.mark.parametrize("ascii", [False, True])
@pytest.mark.parametrize("name", SHAPES)
def test_no_line_is_wider_than_asked_for(name: str, ascii: bool, width: int) -> None:  # noqa: A002
    text = line_plot(SHAPES[name], width=width, ascii=ascii)
    assert text.endswith("\n")
    assert max(map(len, text.splitlines())) <= width
    assert all(line == line.rstrip() for line in text.splitlines())
    assert text.isascii() or not ascii
    assert text == line_plot(SHAPES[name], width=width, ascii=ascii)


def test_terminal_escapes_in_names_are_not_sent_to_the_terminal() -> None:
    evil = Series("\x1b[31mred\u202e", [(0, 0), (1, 1)])
    text = line_plot(Figure([evil, evil], "\x1b[2J", "\x1b[2J", marks=[Mark(0, 0, "\x1b")]))
    assert "\x1b" not in text
    assert "\u202e" not in text
