"""Lines are read the same way by the fast and by the careful reader."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.data.faults import Faults
from rankproof.data.lines import Layout, decode_text, mostly_columns, read_carefully, read_rows, text_lines
from rankproof.errors import BadInput

TABS = Layout(3, query=0, doc=1, value=2, noun="grade", form="query TAB document TAB grade", separator=b"\t")
SPACES = Layout(3, query=0, doc=1, value=2, noun="grade", form="query document grade")

rows = st.lists(
    st.sampled_from(
        ["q1\td1\t1", "q2\td2\t0.5", "q\t\td\t1", "\tq\td\t1", "q\td\t1\t", "q 1\td\t1", "q\td", "", "#", "q\x0b\td\t1"]
    ),
    max_size=5,
)
texts = st.builds(
    lambda lines, end, last: (end.join(lines) + last).encode(),
    rows, st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["", "\n", "\t"]),
)  # fmt: skip


@pytest.mark.parametrize("layout", [TABS, SPACES])
@given(text=texts)
def test_the_fast_reader_reads_what_the_careful_one_does(layout: Layout, text: bytes) -> None:
    faults, careful_faults = Faults("file"), Faults("file")
    fast, careful = read_rows(text, layout, faults), read_carefully(text, layout, careful_faults)
    assert faults.found == careful_faults.found
    assert fast.queries.strings() == careful.queries.strings()
    assert fast.docs.strings() == careful.docs.strings()
    assert fast.values.tolist() == careful.values.tolist()
    numbers = list(range(1, len(fast) + 1)) if fast.lines is None else fast.lines.tolist()
    assert careful.lines is not None
    assert numbers == careful.lines.tolist()


@pytest.mark.parametrize("text", [b"q\td\t1\n\nq\te\t1\n", b"q\td\t1\n# c\nq\te\t1\n"])
def test_lines_are_counted_from_the_line_given(text: bytes) -> None:
    lines = read_rows(text, TABS, Faults("file"), first_line=5).lines
    assert lines is not None
    assert lines.tolist() == [5, 7]


@pytest.mark.parametrize(
    ("head", "columns", "separator", "is_so"),
    [
        (b"a b c\na b c\nd", 3, None, True),
        (b"a b c\n", 3, None, True),
        (b"# x\n\na b c\na\na b c\n", 3, None, True),
        (b"a b\na b\na b c\na b\n", 3, None, False),
        (b"a b\tc\n", 2, b"\t", True),
        (b"# only\n", 1, None, False),
        (b"", 1, None, False),
    ],
)
def test_a_file_is_of_the_kind_of_most_of_its_lines(
    head: bytes, columns: int, separator: bytes | None, is_so: bool
) -> None:
    assert mostly_columns(head, columns, separator) is is_so


def test_lines_that_are_no_text_are_faults() -> None:
    faults = Faults("file")
    assert list(text_lines(b"# x\na\n\xff\nb\x01\rc", faults)) == [(2, "a"), (5, "c")]
    assert [str(fault) for fault in faults.found] == [
        "file:3: byte 0xff is not valid UTF-8; save the file as UTF-8",
        "file:4: the line has the control character b'\\x01'; is this a binary or a UTF-16 file?",
    ]


def test_a_text_is_decoded_as_a_whole() -> None:
    assert decode_text("é\r\n#".encode(), "file") == "é\r\n#"
    with pytest.raises(BadInput, match=r"file:8: byte 0xff"):
        decode_text(b"a\n\xff", "file", first_line=7)
