from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest

from rankproof.reports.charts import ForestRow, forest_chart, line_chart
from rankproof.reports.figures import Figure, Line, Mark, Series

SVG = "{http://www.w3.org/2000/svg}"
PAYLOAD = "</text><script>alert(1)</script><img src=x onerror=alert(1)>&\"'"
CURVE = Series("keyword", [(10, 0.18), (100, 0.06), (1000, 0.02)])


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(svg: str) -> list[str]:
    return ["".join(one.itertext()) for one in parsed(svg).iter(f"{SVG}text")]


def line_of(*series: Series, **options: object) -> str:
    return line_chart(Figure(series or (CURVE,), "queries", "change", title="A title", **options))  # type: ignore[arg-type]


def forest(*rows: ForestRow, title: str = "Differences") -> str:
    return forest_chart(rows, title=title, x_label="nDCG@10")


EVERYTHING = {
    "line": line_of(
        Series("band", CURVE.points, band=[(0.1, 0.2), (0.05, 0.07), (0.01, 0.03)]),
        Series("steps", CURVE.points, steps=True),
        x_log=True,
        marks=[Mark(100, 0.06, "you are here"), Mark(1000, 0.02)],
        x_lines=[Line(200, "now")],
        y_lines=[Line(0.05, "limit")],
    ),
    "forest": forest(ForestRow("RR", 0.02, -0.01, 0.05, clear=False), ForestRow("AP", -0.1)),
    "empty line": line_of(Series("nothing", [])),
    "empty forest": forest(),
    "payload": line_chart(
        Figure(
            [Series(PAYLOAD, CURVE.points), Series(PAYLOAD, CURVE.points)], PAYLOAD, PAYLOAD, PAYLOAD, PAYLOAD,
            marks=[Mark(10, 0.1, PAYLOAD)], x_lines=[Line(20, PAYLOAD)], y_lines=[Line(0.1, PAYLOAD)],
        )
    ),
    "payload forest": forest(ForestRow(PAYLOAD * 3, 0.1), title=PAYLOAD),
}  # fmt: skip


@pytest.mark.parametrize("svg", EVERYTHING.values(), ids=EVERYTHING)
def test_a_chart_is_a_picture_with_words_and_without_anything_that_acts(svg: str) -> None:
    root = parsed(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.get("aria-label") == "".join(root.find(f"{SVG}title").itertext())  # type: ignore[union-attr]
    assert root.find(f"{SVG}desc") is not None
    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= {
        "svg", "title", "desc", "style", "rect", "path", "circle", "text",
    }  # fmt: skip
    attributes = {name for one in root.iter() for name in one.attrib}
    assert not {name for name in attributes if name.startswith("on") or "href" in name or name in ("style", "id")}
    assert "url(" not in svg
    assert svg.replace('xmlns="http://www.w3.org/2000/svg"', "").find("http") == -1
    assert "nan" not in svg.lower().replace("xmlns", "")
    assert svg.endswith("</svg>\n")
    assert "\r" not in svg


@pytest.mark.parametrize("svg", EVERYTHING.values(), ids=EVERYTHING)
def test_numbers_have_two_decimals_at_most_and_no_negative_zero(svg: str) -> None:
    numbers = [n for one in parsed(svg).iter() for key in ("x", "y", "cx", "cy", "d") for n in _numbers(one.get(key))]
    assert all(re.fullmatch(r"-?\d+(\.\d{1,2})?", number) for number in numbers)
    assert not {"-0", "-0.0", "-0.00"} & set(numbers)


def _numbers(text: str | None) -> list[str]:
    return re.findall(r"[^MLZ ]+", text or "")


def test_what_a_label_says_is_shown_as_it_stands() -> None:
    assert PAYLOAD in texts(line_of(marks=[Mark(10, 0.1, PAYLOAD)]))


def test_characters_that_xml_forbids_are_replaced() -> None:
    shown = texts(line_of(marks=[Mark(10, 0.1, "a\x00b\x1bc\ud800d\uffffe\ufffef")]))
    assert "a�b�c�d�e�f" in shown


def test_curves_are_told_apart_by_dashes_as_well_as_colour() -> None:
    svg = line_of(*(Series(f"curve {i}", [(0, i), (1, i + 1)]) for i in range(8)))
    looks = [
        (one.get("stroke"), one.get("stroke-dasharray"))
        for one in parsed(svg).iter(f"{SVG}path")
        if one.get("stroke-width") == "2.25"
    ]
    assert len(looks) == 16
    assert len(set(looks)) == 8
    assert len({dashes for _, dashes in looks}) == 4


def test_a_single_curve_needs_no_key() -> None:
    assert "keyword" not in texts(line_of())
    assert "keyword" in texts(line_of(CURVE, Series("vector", CURVE.points)))


def test_colours_change_in_the_dark_and_stay_on_paper() -> None:
    assert "@media screen and (prefers-color-scheme:dark){" in line_of()
    rect = parsed(line_of()).find(f"{SVG}rect")
    assert rect is not None
    assert rect.get("fill") == "#ffffff"


def test_every_colour_on_a_chart_has_one_for_the_dark() -> None:
    for svg in EVERYTHING.values():
        used = {name for one in parsed(svg).iter() for name in one.get("class", "").split()} - {"rankproof"}
        assert all(f".{name}{{" in svg for name in used)


def test_labels_keep_off_each_other() -> None:
    svg = line_of(marks=[Mark(100, 0.06, "first"), Mark(100, 0.06, "second"), Mark(100, 0.06, "third")])
    places = [
        (one.get("x"), one.get("y"), one.get("text-anchor"))
        for one in parsed(svg).iter(f"{SVG}text")
        if one.text in ("first", "second", "third")
    ]
    assert len(set(places)) == 3


def test_a_forest_writes_each_difference_with_its_interval() -> None:
    svg = forest(ForestRow("RR", 0.021, -0.003, 0.045), ForestRow("AP", -0.00001), ForestRow("P@1", math.nan))
    assert {"+0.0210 [−0.0030, +0.0450]", "0.0000", "–", "no difference"} <= set(texts(svg))


def test_a_difference_that_is_not_clear_is_hollow() -> None:
    fills = [
        [one.get("fill") for one in parsed(forest(ForestRow("RR", 0.1, 0.0, 0.2, clear=clear))).iter(f"{SVG}circle")]
        for clear in (True, False)
    ]
    assert fills == [["#0072b2"], ["#ffffff"]]


def test_an_interval_that_is_open_goes_on_to_the_edge() -> None:
    svg = forest(ForestRow("RR", 0.1, -0.1, math.inf))
    assert "+0.1000 [−0.1000, +∞]" in texts(svg)
    assert all(math.isfinite(float(n)) for p in parsed(svg).iter(f"{SVG}path") for n in _numbers(p.get("d")))


def test_a_name_that_is_too_long_is_cut_and_given_in_full_beside() -> None:
    name = "a name of a system that goes on and on and on and on"
    svg = forest(ForestRow(name, 0.1))
    (cut,) = [one for one in parsed(svg).iter(f"{SVG}text") if len(one)]
    assert cut[0].text == name
    assert (cut[0].tail or "").endswith("…")


def test_the_zero_line_stands_where_zero_is() -> None:
    svg = forest(ForestRow("RR", 0.5, -1.0, 1.0))
    line = next(p.get("d") for p in parsed(svg).iter(f"{SVG}path") if p.get("stroke-width") == "1.5")
    ends = next(p.get("d") for p in parsed(svg).iter(f"{SVG}path") if p.get("stroke-width") == "2")
    low, high = (float(end.split()[0]) for end in (ends or "")[1:].split("L"))
    assert float((line or "")[1:].split()[0]) == pytest.approx((low + high) / 2, abs=0.01)


def test_the_same_figure_gives_the_same_bytes() -> None:
    assert line_of(CURVE, x_log=True) == line_of(CURVE, x_log=True)


def test_a_small_chart_in_full() -> None:
    svg = line_of(Series("a", [(0, 0), (1, 1)]))
    assert [one for one in svg.splitlines() if 'stroke-width="2.25"' in one] == [
        '<path d="M47.4 348L696 68" class="stroke-0072b2" stroke="#0072b2" fill="none" stroke-width="2.25" '
        'stroke-linejoin="round"/>'
    ]
