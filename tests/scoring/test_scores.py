from __future__ import annotations

import math

import pytest

import rankproof

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
RUN = {"q1": {"a": 1.0}, "q2": {"x": 2.0, "b": 1.0}, "q3": {"x": 1.0}}


def scores(*measures: str) -> rankproof.Scores:
    return rankproof.evaluate(QRELS, RUN, measures)


def test_one_measure_and_many_come_as_the_same_type() -> None:
    one, many = rankproof.evaluate(QRELS, RUN, "RR"), rankproof.evaluate(QRELS, RUN, ["RR", "AP"])
    assert type(one) is type(many)
    assert one.mean() == {"RR": 0.5}
    assert many.mean() == {"RR": 0.5, "AP": 0.5}


def test_by_query_holds_every_judged_query() -> None:
    assert scores("RR").by_query() == {"q1": {"RR": 1.0}, "q2": {"RR": 0.5}, "q3": {"RR": 0.0}}


def test_by_group_averages_within_groups_and_keeps_the_ungrouped_last() -> None:
    found = scores("RR").by_group({"q1": "easy", "q2": "easy"})
    assert found == {"easy": {"RR": 0.75}, "(no group)": {"RR": 0.0}}
    assert list(found) == ["easy", "(no group)"]
    assert scores("RR").group_sizes({"q1": "easy", "q2": "easy"}) == {"easy": 2, "(no group)": 1}


def test_counts_are_summed_and_gmap_is_a_geometric_mean() -> None:
    mean = scores("NumRet", "GMAP").mean()
    assert mean["NumRet"] == 4.0
    assert mean["GMAP"] == pytest.approx(math.exp((math.log(1) + math.log(0.5) + math.log(0.00001)) / 3))


def test_frames_have_one_row_per_query() -> None:
    found = scores("RR", "P@1")
    rows = {"query_id": ["q1", "q2", "q3"], "RR": [1.0, 0.5, 0.0], "P@1": [1.0, 0.0, 0.0]}
    assert found.to_pandas().to_dict("list") == rows
    assert found.to_polars().to_dict(as_series=False) == rows
    assert found.to_arrow().to_pydict() == rows


def test_scores_are_an_arrow_stream() -> None:
    import polars

    assert polars.DataFrame(scores("RR")).get_column("RR").to_list() == [1.0, 0.5, 0.0]


def test_the_notebook_view_escapes_what_it_shows() -> None:
    run = rankproof.Run.of(RUN, name="<script>")
    text = rankproof.evaluate(QRELS, run, "RR")._repr_html_()
    assert "&lt;script&gt;" in text
    assert "<script>" not in text
    assert "0.5000" in text
    assert "3 of 3 judged queries scored" in text


def test_the_values_of_one_measure_can_be_had_by_any_of_its_names() -> None:
    assert scores("RR", "AP").of("recip_rank").tolist() == [1.0, 0.5, 0.0]
    with pytest.raises(rankproof.UnknownName):
        scores("RR").of("AP")
