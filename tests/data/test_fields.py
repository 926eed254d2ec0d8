"""Fields are where the careful reader finds them, or the text is left to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.data.faults import Faults
from rankproof.data.fields import split_fields
from rankproof.data.ids import Ids, padded
from rankproof.data.lines import Layout, read_carefully, rows_of_buffer

LAYOUT = Layout(4, query=0, doc=2, value=3, noun="grade", form="query iteration document grade")

lines = st.lists(
    st.sampled_from(["q1 0 d1 1", "q2\t0\td2\t2", " q1  0 d3 -1 ", "", "# q", "q1 0 d4", "q1 0 é 1", "q\r0 d 1", "\r"]),
    max_size=6,
)
texts = st.builds(lambda rows, end: end.join(rows) + "\n", lines, st.sampled_from(["\n", "\r\n", "\r"]))


def fields_of(text: str, columns: int, *wanted: int) -> list[list[str]] | None:
    found = split_fields(padded(text.encode()), columns, wanted)
    if found is None:
        return None
    return [Ids(found.buffer, a, b).strings() for a, b in zip(found.starts, found.ends, strict=True)]


@pytest.mark.parametrize(
    "text", ["q1 0 d1 1\nq2 0 d2 2\n", "q1\t0\td1\t1\r\nq2\t0\td2\t2\r\n", "  q1  0 d1 1 \n\nq2 0\t d2 2\n"]
)
def test_any_white_space_separates(text: str) -> None:
    assert fields_of(text, 4, 0, 2, 3) == [["q1", "q2"], ["d1", "d2"], ["1", "2"]]


@pytest.mark.parametrize(
    "text",
    ["", "\n", "# q 0 d\n", "q1 0 d1\n", "q1 0 d1 1 x\n", "q1 0 é 1\n", "q1 0 d\x01 1\n", "q1 0\nd1 1\n", "q\r0 d 1\n"],
)
def test_what_is_not_plain_is_left_to_the_careful_reader(text: str) -> None:
    assert fields_of(text, 4, 0) is None


def test_a_hash_inside_an_id_is_part_of_it() -> None:
    assert fields_of("q#1 0 #d 1\n", 4, 0, 2) == [["q#1"], ["#d"]]


@given(texts)
def test_both_readers_read_the_same(text: str) -> None:
    fast = rows_of_buffer(padded(text.encode()), LAYOUT)
    faults = Faults("file")
    slow = read_carefully(text.encode(), LAYOUT, faults)
    if fast is None:
        return
    assert len(faults) == 0
    assert fast.queries.strings() == slow.queries.strings()
    assert fast.docs.strings() == slow.docs.strings()
    assert fast.values.tolist() == slow.values.tolist()
    assert slow.lines is not None
    assert slow.lines.tolist() == (list(range(1, len(fast) + 1)) if fast.lines is None else fast.lines.tolist())
