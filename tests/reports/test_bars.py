from __future__ import annotations

import ast
import math
import os
import random
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rankproof.reports.bars import Bar, BarGroup, histogram_chart, interval_bars, share_bar, waterfall_chart

SVG = "{http://www.w3.org/2000/svg}"
PAYLOAD = "</text><script>alert(1)</script><img src=x onerror=alert(1)>&\"'"
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#dedee3"


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(svg: str) -> list[str]:
    return ["".join(one.itertext()) for one in parsed(svg).iter(f"{SVG}text")]


def shapes(svg: str, colour: str) -> list[str]:
    """The data of the paths that are filled with the colour."""
    return [one.get("d") or "" for one in parsed(svg).iter(f"{SVG}path") if one.get("fill") == colour]


def strokes(svg: str, width: str) -> list[str]:
    return [one.get("d") or "" for one in parsed(svg).iter(f"{SVG}path") if one.get("stroke-width") == width]


def described(svg: str) -> str:
    return parsed(svg).findtext(f"{SVG}desc") or ""


def numbers(path: str) -> list[str]:
    return re.findall(r"[^MLHVZ ]+", path)


def intervals(*groups: BarGroup, title: str = "T") -> str:
    return interval_bars(groups, title=title, x_label="nDCG@10")


def waterfall(*differences: float) -> str:
    return waterfall_chart(differences, title="T", y_label="difference")


def histogram(labels: list[str], *series: tuple[str, list[int]]) -> str:
    return histogram_chart(labels, series, title="T", x_label="rank", y_label="queries")


def shares(*parts: tuple[str, int]) -> str:
    return share_bar(parts, title="T")


EVERYTHING = {
    "intervals": intervals(
        BarGroup("nDCG@10", [Bar("bm25", 0.5, 0.4, 0.6), Bar("dense", math.nan, math.nan, math.nan)]),
        BarGroup("RR", [Bar("bm25", -0.2, -math.inf, 0.1), Bar("dense", 0.9, 0.8, math.inf)]),
        BarGroup("nothing", []),
    ),
    "no intervals": intervals(),
    "hundreds of intervals": intervals(
        *(BarGroup(f"g{i}", [Bar(f"s{k}", i / 300) for k in range(7)]) for i in range(300))
    ),
    "waterfall": waterfall(0.3, -0.1, 0.0, math.nan, math.inf),
    "empty waterfall": waterfall(),
    "waterfall of one": waterfall(-1e-9),
    "waterfall without a number": waterfall(math.nan),
    "thousands": waterfall(*(i / 5000 - 0.4 for i in range(5000))),
    "histogram": histogram(["1", "2–5", "not found"], ("bm25", [12, 3, 0]), ("dense", [1, 0, 40000])),
    "empty histogram": histogram([]),
    "histogram of hundreds": histogram([f"rank {i}" for i in range(400)], ("bm25", list(range(400)))),
    "shares": shares(*((f"class {i}", i) for i in range(17))),
    "no shares": shares(),
    "zero shares": shares(("a", 0)),
    "payload intervals": interval_bars(
        [BarGroup(PAYLOAD * 3, [Bar(PAYLOAD, 0.5), Bar(PAYLOAD + "2", 0.6)])], title=PAYLOAD, x_label=PAYLOAD
    ),
    "payload waterfall": waterfall_chart([0.1], title=PAYLOAD, y_label=PAYLOAD, desc=PAYLOAD),
    "payload histogram": histogram_chart(
        [PAYLOAD, PAYLOAD], [(PAYLOAD, [1, 2]), (PAYLOAD, [3, 4])], title=PAYLOAD, x_label=PAYLOAD, y_label=PAYLOAD
    ),
    "payload shares": share_bar([(PAYLOAD * 2, 3), ("a\x00b\x1bc\ud800d\uffffe", 1)], title=PAYLOAD),
}


@pytest.mark.parametrize("svg", EVERYTHING.values(), ids=EVERYTHING)
def test_a_chart_is_a_picture_with_words_and_without_anything_that_acts(svg: str) -> None:
    root = parsed(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.get("aria-label") == root.findtext(f"{SVG}title")
    assert described(svg)
    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= {
        "svg",
        "title",
        "desc",
        "style",
        "rect",
        "path",
        "text",
    }
    attributes = {name for one in root.iter() for name in one.attrib}
    assert not {name for name in attributes if name.startswith("on") or "href" in name or name in ("style", "id")}
    assert "url(" not in svg
    assert "http" not in svg.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert svg.endswith("</svg>\n")
    assert "\r" not in svg


@pytest.mark.parametrize("svg", EVERYTHING.values(), ids=EVERYTHING)
def test_coordinates_have_two_decimals_at_most_and_lie_on_the_paper(svg: str) -> None:
    root = parsed(svg)
    width, height = float(root.get("width") or 0), float(root.get("height") or 0)
    found = [n for one in root.iter() for name in ("x", "y", "d") for n in numbers(one.get(name) or "")]
    assert found
    assert all(re.fullmatch(r"\d+(\.\d{1,2})?", n) for n in found)
    assert max(map(float, found)) <= max(width, height)
    assert all(float(one.get("x") or 0) <= width for one in root.iter(f"{SVG}text"))
    assert all(float(one.get("y") or 0) < height for one in root.iter(f"{SVG}text"))


@pytest.mark.parametrize("svg", EVERYTHING.values(), ids=EVERYTHING)
def test_every_colour_on_a_chart_has_one_for_the_dark(svg: str) -> None:
    used = {name for one in parsed(svg).iter() for name in one.get("class", "").split()} - {"rankproof"}
    assert used
    assert all(f".{name}{{" in svg for name in used)


def test_bars_are_as_long_as_their_values() -> None:
    # The plot goes from 48.8 to 469.2, and the axis from 0 to 1.
    svg = intervals(BarGroup("RR", [Bar("a", 0.5)]), BarGroup("AP", [Bar("a", 1.0)]))
    assert shapes(svg, BLUE) == ["M48.8 51H259V65H48.8Z" + "M48.8 79H469.2V93H48.8Z"]
    assert {"RR", "AP", "0.5000", "1.0000", "nDCG@10"} <= set(texts(svg))


def test_a_whisker_goes_from_the_low_end_to_the_high_end() -> None:
    svg = intervals(BarGroup("RR", [Bar("a", 0.5, 0.25, 1.0)]))
    expected = "M153.9 54V62M153.9 58H469.2M469.2 54V62"
    assert strokes(svg, "1.5") == [expected]
    assert strokes(svg, "4") == [expected]


def test_a_value_stands_beyond_the_bar_and_its_whisker() -> None:
    svg = intervals(BarGroup("RR", [Bar("a", 1.0), Bar("a", 0.5, 0.25, 0.75)]))
    places = {one.text: one.get("x") for one in parsed(svg).iter(f"{SVG}text")}
    assert places["1.0000"] == "475.2"
    assert places["0.5000"] == "370.1"


def test_negative_bars_go_to_the_left_of_zero() -> None:
    # Values beyond both ends take 62.6 and 54.8, so the plot goes from 111.4 to 469.2, and zero is in its middle.
    svg = intervals(BarGroup("RR", [Bar("a", -1.0), Bar("b", 0.5), Bar("b", 1.0)]))
    assert shapes(svg, BLUE)[1:] == ["M111.4 79H290.3V93H111.4Z"]
    assert shapes(svg, ORANGE)[1:] == ["M290.3 96H379.75V110H290.3Z" + "M290.3 113H469.2V127H290.3Z"]
    (words,) = (one for one in parsed(svg).iter(f"{SVG}text") if one.text == "−1.0000")
    assert (words.get("x"), words.get("text-anchor")) == ("105.4", "end")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_no_number_is_a_dash_without_a_bar(value: float) -> None:
    svg = intervals(BarGroup("RR", [Bar("a", value, 0.1, 0.2)]))
    assert "–" in texts(svg)
    assert shapes(svg, BLUE) == []
    assert strokes(svg, "1.5") == []


def test_an_interval_that_is_open_goes_on_to_the_edge() -> None:
    svg = intervals(BarGroup("RR", [Bar("a", 1.0, 0.5, math.inf)]))
    assert strokes(svg, "1.5") == ["M259 54V62M259 58H469.2M469.2 54V62"]


@pytest.mark.parametrize(("low", "high"), [(None, 0.6), (0.4, None), (math.nan, 0.6), (0.4, math.nan)])
def test_half_an_interval_is_none(low: float | None, high: float | None) -> None:
    assert strokes(intervals(BarGroup("RR", [Bar("a", 0.5, low, high)])), "1.5") == []


def test_zeros_have_no_bar_and_an_axis_up_to_one() -> None:
    svg = intervals(BarGroup("RR", [Bar("a", 0.0), Bar("a", -0.0)]))
    assert shapes(svg, BLUE) == []
    assert texts(svg).count("0.0000") == 2
    assert "1.0" in texts(svg)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (12.0, "12"),
        (12.5, "12.5000"),
        (12345.6, "12,346"),
        (-2e6, "−2,000,000"),
        (3e12, "3e+12"),
        (-2.5e-7, "−2.5e−07"),
    ],
)
def test_values_of_any_size_are_written_short(value: float, words: str) -> None:
    assert words in texts(intervals(BarGroup("RR", [Bar("a", value)])))


def test_each_name_keeps_its_colour_in_every_group() -> None:
    svg = intervals(
        BarGroup("RR", [Bar("a", 0.1), Bar("b", 0.2)]),
        BarGroup("AP", [Bar("b", 0.3), Bar("c", 0.4), Bar("a", 0.5)]),
    )
    # The first shape of a colour is the sample in the key, and the second holds all bars of the name.
    assert [len(shapes(svg, colour)) for colour in (BLUE, ORANGE, GREEN)] == [2, 2, 2]
    assert [shapes(svg, colour)[1].count("Z") for colour in (BLUE, ORANGE, GREEN)] == [2, 2, 1]


def test_one_name_needs_no_key() -> None:
    assert "bm25" not in texts(intervals(BarGroup("RR", [Bar("bm25", 0.1)])))
    assert "bm25" in texts(intervals(BarGroup("RR", [Bar("bm25", 0.1), Bar("dense", 0.1)])))


def test_fifteen_names_have_fifteen_looks() -> None:
    svg = intervals(BarGroup("RR", [Bar(f"s{i}", 0.5) for i in range(15)]))
    looks = [
        (one.get("fill"), one.get("fill-opacity"))
        for one in parsed(svg).iter(f"{SVG}path")
        if one.get("fill") != "none"
    ]
    assert len(looks) == 30
    assert len(set(looks)) == 15


def test_a_long_label_is_wrapped_beside_several_bars_and_cut_beside_one() -> None:
    label = "recall of the first hundred documents"
    bars = [Bar("a", 0.1), Bar("b", 0.2), Bar("c", 0.3)]
    assert {"recall of the first", "hundred documents"} <= set(texts(intervals(BarGroup(label, bars))))
    (cut,) = (one for one in parsed(intervals(BarGroup(label, bars[:1]))).iter(f"{SVG}text") if len(one))
    assert cut[0].text == label
    assert cut[0].tail == "recall of the first h…"


def test_intervals_are_told_to_those_who_do_not_see_them() -> None:
    svg = intervals(BarGroup("RR", [Bar("a", 0.5, 0.25, 0.75), Bar("b", math.nan)]), BarGroup("AP", []))
    assert described(svg) == "RR: a 0.5000 [0.2500, 0.7500], b –; AP: –"
    assert described(interval_bars([], title="T", x_label="", desc="In words.")) == "In words."


def test_hundreds_of_groups_stand_one_below_the_other() -> None:
    svg = EVERYTHING["hundreds of intervals"]
    ys = [float(one.get("y") or 0) for one in parsed(svg).iter(f"{SVG}text") if re.fullmatch(r"g\d+", one.text or "")]
    assert len(ys) == 300
    assert {round(later - before, 2) for before, later in pairwise(ys)} == {130.0}


def test_gains_come_first_and_losses_last() -> None:
    # The plot goes from 55.2 to 524 and from 100 to 320; the axis from -1 to 1; a query takes 44, gaps 4.4 of it.
    svg = waterfall(0.5, -1.0, 0.0, 1.0)
    assert shapes(svg, BLUE)[1:] == ["M59.6 100H94.8V210H59.6Z" + "M103.6 155H138.8V210H103.6Z"]
    assert shapes(svg, GREY)[1:] == ["M143.2 207H187.2V213H143.2Z"]
    assert shapes(svg, ORANGE)[1:] == ["M191.6 210H226.8V320H191.6Z"]
    assert strokes(svg, "1.25") == ["M55.2 210L524 210"]


def test_a_waterfall_says_how_many_are_better_the_same_and_worse() -> None:
    svg = waterfall(0.5, -1.0, 0.0, 1.0, math.nan, -math.inf)
    assert {"2 better", "1 same", "1 worse"} <= set(texts(svg))
    assert "4 queries, from the greatest gain to the greatest loss; 2 not measured" in " ".join(texts(svg))
    assert described(svg) == "difference: 2 better, 1 same, 1 worse; 2 not measured; from 1.0000 to −1.0000"


def test_thin_bars_become_one_shape() -> None:
    svg = waterfall(*[1.0] * 500, *[-1.0] * 500)
    assert shapes(svg, BLUE)[1:] == ["M55.2 210V100H289.6V210Z"]
    assert shapes(svg, ORANGE)[1:] == ["M289.6 210V320H524V210Z"]


def test_steps_of_thin_bars_are_as_wide_as_their_queries() -> None:
    # 200 queries of 2.344 each: 50 at 1, 100 at a half, 50 at -1.
    svg = waterfall(*[1.0] * 50, *[0.5] * 100, *[-1.0] * 50)
    assert shapes(svg, BLUE)[1:] == ["M55.2 210V100H172.4V155H406.8V210Z"]
    assert shapes(svg, ORANGE)[1:] == ["M406.8 210V320H524V210Z"]


def test_the_least_gain_can_be_seen() -> None:
    svg = waterfall(1.0, 1e-12, -1.0)
    assert "M103.6 209.5H138.8V210H103.6Z" in shapes(svg, BLUE)[1]


def test_equal_queries_draw_no_bars() -> None:
    svg = waterfall(0.0, 0.0, -0.0)
    assert {"0 better", "3 same", "0 worse"} <= set(texts(svg))
    assert (len(shapes(svg, BLUE)), len(shapes(svg, ORANGE))) == (1, 1)
    assert strokes(svg, "1.25") == ["M55.2 210L524 210"]


def test_gains_alone_stand_on_the_bottom() -> None:
    svg = waterfall(*[0.3] * 3)
    assert strokes(svg, "1.25") == ["M47.4 320L524 320"]
    assert shapes(svg, BLUE)[1].startswith("M51.8 100H87V320H51.8Z")
    assert len(shapes(svg, ORANGE)) == 1


@pytest.mark.parametrize("n", [1000, 5000, 50000])
@pytest.mark.parametrize("power", [1, 3, 9])
def test_a_waterfall_of_thousands_stays_small(n: int, power: int) -> None:
    chance = random.Random(7)
    assert len(waterfall(*(chance.uniform(-1, 1) ** power for _ in range(n))).encode()) < 20_000


def test_a_waterfall_without_numbers_says_so() -> None:
    assert "There is nothing to show." in texts(waterfall())
    assert "2 not measured." in texts(waterfall(math.nan, math.nan))


def test_columns_are_as_high_as_their_counts() -> None:
    # The plot goes from 31.8 to 524 and from 72 to 292; the axis from 0 to 4.
    svg = histogram(["a", "b"], ("s", [4, 2]))
    assert shapes(svg, BLUE) == ["M132.85 72H176.85V292H132.85Z" + "M378.95 182H422.95V292H378.95Z"]
    places = {
        one.text: (one.get("x"), one.get("y")) for one in parsed(svg).iter(f"{SVG}text") if one.get("font-size") == "11"
    }
    assert places == {"4": ("154.85", "68"), "2": ("400.95", "178")}


def test_columns_of_several_series_stand_side_by_side() -> None:
    # A key takes 28 more above; each of the two takes 44 around the middle, 39.6 of it filled.
    svg = histogram(["a"], ("s", [4]), ("t", [1]))
    assert shapes(svg, BLUE)[1:] == ["M236.1 100H275.7V320H236.1Z"]
    assert shapes(svg, ORANGE)[1:] == ["M280.1 265H319.7V320H280.1Z"]


@pytest.mark.parametrize(
    ("most", "ticks"), [(0, ["0", "1"]), (1, ["0", "1"]), (2, ["0", "1", "2"]), (30, ["0", "10", "20", "30"])]
)
def test_the_ticks_of_counts_are_whole_numbers(most: int, ticks: list[str]) -> None:
    svg = histogram(["a"], ("s", [most]))
    found = [
        one.text for one in parsed(svg).iter(f"{SVG}text") if one.get("text-anchor") == "end" and one.text != "rank"
    ]
    assert found == ticks


def test_a_count_of_zero_has_no_column() -> None:
    svg = histogram(["a", "b"], ("s", [0, 0]))
    assert shapes(svg, BLUE) == []
    assert [one.text for one in parsed(svg).iter(f"{SVG}text") if one.get("font-size") == "11"] == ["0", "0"]


def test_the_least_count_can_be_seen() -> None:
    svg = histogram(["a", "b"], ("s", [1, 40000]))
    assert numbers(shapes(svg, BLUE)[0])[1:4:2] == ["291.5", "292"]


def test_counts_are_left_out_where_columns_are_thin() -> None:
    svg = histogram([str(i) for i in range(60)], ("s", [5, 1000] * 30))
    assert [one.text for one in parsed(svg).iter(f"{SVG}text") if one.get("font-size") == "11"] == ["5"] * 30


def test_labels_below_thin_columns_are_evenly_left_out() -> None:
    svg = histogram([f"r{i}" for i in range(1, 101)], ("s", [1] * 100))
    shown = [int(words[1:]) for words in texts(svg) if re.fullmatch(r"r\d+", words)]
    assert shown == list(range(1, 101, 8))


def test_a_label_below_a_column_is_wrapped_and_then_cut() -> None:
    label = "a label that does not fit below its column whatever one does about it"
    svg = histogram([label, *"bcdef"], ("s", [1] * 6))
    lines = [one for one in parsed(svg).iter(f"{SVG}text") if len(one)]
    assert [one[0].text for one in lines] == [label] * 3
    assert [one[0].tail for one in lines] == ["a label", "that does", "not fit b…"]


def test_a_histogram_is_told_to_those_who_do_not_see_it() -> None:
    assert described(histogram(["1", "2"], ("s", [1, 2000]), ("t", [0, 3]))) == "s: 1 1, 2 2,000; t: 1 0, 2 3"


@pytest.mark.parametrize("svg", [histogram([]), histogram(["a"]), histogram([], ("s", [])), intervals(), shares()])
def test_nothing_to_show_is_said(svg: str) -> None:
    assert "There is nothing to show." in texts(svg)


def test_counts_must_fit_the_labels() -> None:
    with pytest.raises(ValueError, match="shorter"):
        histogram(["a", "b"], ("s", [1]))


def test_shares_are_as_wide_as_their_counts() -> None:
    # The bar goes from 16 to 524.
    svg = shares(("a", 1), ("none", 0), ("b", 3))
    assert shapes(svg, BLUE)[0] == "M16 64H143V92H16Z"
    assert shapes(svg, GREEN)[0] == "M143 64H524V92H143Z"
    assert strokes(svg, "2") == ["M143 64L143 92"]


def test_a_part_of_zero_is_in_the_legend_only() -> None:
    svg = shares(("a", 1), ("none", 0), ("b", 3))
    assert [len(shapes(svg, colour)) for colour in (BLUE, ORANGE, GREEN)] == [2, 1, 2]
    assert texts(svg) == ["T", "25.0%", "75.0%", "a", "1", "25.0%", "none", "0", "0.0%", "b", "3", "75.0%"]


def test_shares_of_nothing_say_so() -> None:
    svg = shares(("a", 0), ("b", 0))
    assert texts(svg) == ["T", "Every count is 0, so there are no shares.", "a", "0", "–", "b", "0", "–"]
    assert shapes(svg, GREY) == ["M16 64H524V92H16Z"]


def test_a_single_part_is_the_whole_bar() -> None:
    svg = shares(("a", 7))
    assert shapes(svg, BLUE)[0] == "M16 64H524V92H16Z"
    assert texts(svg) == ["T", "100.0%", "a", "7", "100.0%"]


@pytest.mark.parametrize(
    ("part", "rest", "words"),
    [
        (1, 9999, "<0.1%"),
        (1, 1999, "0.1%"),
        (1999, 1, ">99.9%"),
        (9999, 1, ">99.9%"),
        (1998, 2, "99.9%"),
        (1, 2, "33.3%"),
    ],
)
def test_a_small_share_is_never_none_and_a_large_one_never_all(part: int, rest: int, words: str) -> None:
    assert described(shares(("a", part), ("b", rest))).startswith(f"a: {part:,} ({words})")


def test_a_percentage_stands_above_a_share_that_is_wide_enough() -> None:
    assert texts(shares(("a", 95), ("b", 5))).count("5.0%") == 1
    assert texts(shares(("a", 90), ("b", 10))).count("10.0%") == 2


def test_what_a_label_says_is_shown_as_it_stands() -> None:
    hostile = "<b onclick='a()'>&amp;\"</b>"
    assert hostile in texts(histogram(["a"], (hostile, [1]), ("t", [1])))
    assert hostile in texts(shares((hostile, 1)))
    assert "a�b�c�d�e" in texts(EVERYTHING["payload shares"])


def test_a_label_as_long_as_a_page_is_cut() -> None:
    svg = share_bar([("word " * 20_000, 1)], title="T")
    (cut,) = (one for one in parsed(svg).iter(f"{SVG}text") if len(one))
    assert len(cut[0].tail or "") < 80


def test_the_same_numbers_give_the_same_bytes_in_another_process() -> None:
    script = "from tests.reports.test_bars import EVERYTHING; print(ascii(EVERYTHING))"
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONHASHSEED": "12345", "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, cwd=root, env=environment)
    assert ast.literal_eval(done.stdout.decode()) == EVERYTHING
