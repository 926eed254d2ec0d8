"""Every malformed input gets a sentence with its place and an exit code, and nothing is computed."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rankproof
from rankproof.cli.main import run

QRELS = b"q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n"
RUN = b"q1 Q0 a 1 2.5 t\nq1 Q0 b 2 1.5 t\nq2 Q0 c 1 3 t\n"

SCORED = {"q1": {"RR": 1.0}, "q2": {"RR": 1.0}}

HARMLESS = {
    "a byte order mark": (b"\xef\xbb\xbf" + QRELS, b"\xef\xbb\xbf" + RUN),
    "CRLF": (QRELS.replace(b"\n", b"\r\n"), RUN.replace(b"\n", b"\r\n")),
    "lone CR": (QRELS.replace(b"\n", b"\r"), RUN.replace(b"\n", b"\r")),
    "no final newline": (QRELS[:-1], RUN[:-1]),
    "blank lines": (b"\n\n" + QRELS + b"\n", b"\n" + RUN.replace(b"\n", b"\n\n")),
    "comments": (b"# judgments\n" + QRELS, b"# a run\n" + RUN + b"  # the end\n"),
    "tabs": (QRELS.replace(b" ", b"\t"), RUN.replace(b" ", b"\t")),
    "runs of blanks": (QRELS.replace(b" ", b"  \t "), b"  " + RUN.replace(b" ", b"   ")),
    "gzip": (gzip.compress(QRELS), gzip.compress(RUN)),
    "a rank column that contradicts the scores": (QRELS, RUN.replace(b" 1 2.5", b" 99 2.5")),
    "signs and exponents": (QRELS, RUN.replace(b"2.5", b"+2.5e0").replace(b"1.5", b"-.5E-3")),
    "float grades": (QRELS.replace(b"a 1", b"a 1.0"), RUN),
    "negative grades": (QRELS.replace(b"b 0", b"b -1"), RUN),
    "numbers of many digits": (QRELS, RUN.replace(b"2.5", b"2.50000000000000000000000001")),
}


@pytest.mark.parametrize("what", HARMLESS)
def test_what_means_nothing_changes_nothing(what: str, tmp_path: Path) -> None:
    qrels, result = tmp_path / "qrels", tmp_path / "run"
    qrels.write_bytes(HARMLESS[what][0])
    result.write_bytes(HARMLESS[what][1])
    assert rankproof.evaluate(qrels, result, "RR").by_query() == SCORED


def test_a_hash_inside_an_id_belongs_to_the_id(tmp_path: Path) -> None:
    qrels, result = tmp_path / "qrels", tmp_path / "run"
    qrels.write_bytes(b"q#1 0 a#b 1\n")
    result.write_bytes(b"q#1 Q0 a#b 1 2.5 t\n")
    assert rankproof.evaluate(qrels, result, "RR").by_query() == {"q#1": {"RR": 1.0}}


def test_ids_that_only_look_alike_are_different_ids(tmp_path: Path) -> None:
    # The same letter composed and decomposed: two ids, as in every other tool.
    qrels = {"q": {"caf\u00e9": 1}}
    assert rankproof.evaluate(qrels, {"q": {"cafe\u0301": 1.0}}, "RR").mean() == {"RR": 0.0}


def bad_run(line: bytes) -> bytes:
    """A run whose second line is the given one."""
    return b"q1 Q0 a 1 2.5 t\n" + line + b"\nq2 Q0 c 1 3 t\n"


BAD_RUNS = {
    "NaN": (bad_run(b"q1 Q0 b 2 nan t"), "bad.run:2: score 'nan' is not a finite number"),
    "infinity": (bad_run(b"q1 Q0 b 2 -inf t"), "bad.run:2: score '-inf' is not a finite number"),
    "a number beyond all numbers": (bad_run(b"q1 Q0 b 2 1e999 t"), "bad.run:2: score '1e999' is not a finite number"),
    "text": (bad_run(b"q1 Q0 b 2 high t"), "bad.run:2: score 'high' is not a number"),
    "an underscore": (bad_run(b"q1 Q0 b 2 1_0 t"), "bad.run:2: score '1_0' is not a"),
    "a hexadecimal number": (bad_run(b"q1 Q0 b 2 0x1p3 t"), "bad.run:2: score '0x1p3' is not a"),
    "a column too few": (
        bad_run(b"q1 Q0 b 2 1.5"),
        "bad.run:2: 5 columns where 6 belong (query Q0 document rank score tag)",
    ),
    "a column too many": (bad_run(b"q1 Q0 b 2 1.5 t x"), "bad.run:2: 7 columns where 6 belong"),
    "a column that is empty": (bad_run(b"q1 Q0  2 1.5 t"), "bad.run:2: 5 columns where 6 belong"),
    "NUL": (bad_run(b"q1 Q0 b\0 2 1.5 t"), "bad.run:2: the line has a NUL byte"),
    "invalid UTF-8": (bad_run(b"q1 Q0 b\xff 2 1.5 t"), "bad.run:2: byte 0xff is not valid UTF-8"),
    "a document twice, same score": (
        bad_run(b"q1 Q0 a 2 2.5 t"),
        "bad.run:2: document 'a' stands twice for query 'q1' (1 line apart), both times with 2.5; keep one of them",
    ),
    "a document twice, other score": (bad_run(b"q1 Q0 a 2 1.5 t"), "once with 2.5 and once with 1.5; keep one of them"),
}


@pytest.mark.parametrize("what", BAD_RUNS)
def test_a_bad_run_is_refused_with_its_line(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_bytes(QRELS)
    content, message = BAD_RUNS[what]
    Path("bad.run").write_bytes(content)
    assert run(["score", "qrels.txt", "bad.run", "-m", "RR", "-o", "out.txt"]) == 3
    out, err = capfd.readouterr()
    assert message in err
    assert out == ""
    assert not Path("out.txt").exists()
    with pytest.raises(rankproof.BadInput, match=r"bad\.run:2|bad\.run: "):
        rankproof.Run.read("bad.run")


BAD_QRELS = {
    "text": (b"q1 0 a 1\nq1 0 b yes\nq2 0 c 2\n", "bad.txt:2: grade 'yes' is not a number"),
    "a huge grade": (b"q1 0 a 99999999999\n", "grade 1e+11 is beyond ±2^31"),
    "the same judgment twice": (
        b"q1 0 a 1\nq1 0 a 1\n",
        "bad.txt:2: document 'a' stands twice for query 'q1' (first on line 1), both times with 1; keep one of them",
    ),
    "two grades": (b"q1 0 a 1\nq2 0 b 1\nq1 0 a 0\n", "bad.txt:3: document 'a' stands twice for query 'q1'"),
    "a column too many": (b"q1 0 a 1\nq1 0 b 1 x\nq2 0 c 1\n", "bad.txt:2: 5 columns where 4 belong"),
    "NaN": (b"q1 0 a nan\n", "bad.txt:1: grade 'nan' is not a finite number"),
}


@pytest.mark.parametrize("what", BAD_QRELS)
def test_bad_judgments_are_refused_with_their_line(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    content, message = BAD_QRELS[what]
    Path("bad.txt").write_bytes(content)
    Path("good.run").write_bytes(RUN)
    assert run(["score", "bad.txt", "good.run", "-m", "RR"]) == 3
    assert message in capfd.readouterr().err


def test_all_faults_are_told_up_to_twenty_and_the_rest_counted(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    qrels = tmp_path / "bad.txt"
    qrels.write_text("".join(f"q1 0 d{i} yes\n" for i in range(1, 31)))
    assert run(["score", str(qrels), str(qrels), "-m", "RR"]) == 3
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 21
    assert lines[0].endswith("bad.txt:1: grade 'yes' is not a number")
    assert lines[19].endswith("bad.txt:20: grade 'yes' is not a number")
    assert lines[20] == "rankproof: … and 10 more"


def test_faults_of_a_run_beyond_twenty_are_counted_too(tmp_path: Path) -> None:
    path = tmp_path / "bad.run"
    path.write_text("".join(f"q1 Q0 d{i} 1 x t\n" for i in range(1, 31)))
    with pytest.raises(rankproof.BadInput) as caught:
        rankproof.evaluate({"q1": {"d1": 1}}, path, "RR")
    assert (len(caught.value.faults), caught.value.more) == (20, 10)
    assert str(caught.value).endswith("… and 10 more")


def test_a_file_that_stands_twice_in_itself_is_told_in_one_breath(tmp_path: Path) -> None:
    path = tmp_path / "twice.run"
    text = "".join(f"q{q} Q0 d{i} 1 {i} t\n" for q in range(3) for i in range(1000))
    path.write_text(text + text)
    with pytest.raises(rankproof.BadInput) as caught:
        rankproof.evaluate({"q1": {"d1": 1}}, path, "RR")
    assert caught.value.faults[0].line == 3001
    assert caught.value.more == 2980


def test_line_numbers_count_from_the_start_of_a_big_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rankproof.scoring.placement import stream

    monkeypatch.setattr(stream, "_BLOCK", 200)
    path = tmp_path / "bad.run"
    lines = [f"q{i} Q0 d 1 {i} t\n" for i in range(1, 200)]
    lines[149] = "q150 Q0 d 1 x t\n"
    lines[170] = "q171 Q0 d 1 1 t extra\n"
    path.write_text("# remark\n" + "".join(lines))
    with pytest.raises(rankproof.BadInput) as caught:
        rankproof.evaluate({"q1": {"d": 1}}, path, "RR")
    assert [fault.line for fault in caught.value.faults] == [151, 172]


ODD_FILES = {
    "an empty run": (b"", 5, "the file is empty"),
    "a run of remarks": (b"# nothing\n\n", 3, "cannot tell what kind of run file this is"),
    "UTF-16": ("q1 Q0 a 1 2.5 t\n".encode("utf-16"), 3, "UTF-16"),
    "a truncated gzip": (gzip.compress(RUN * 50)[:-20], 3, "the compressed file is damaged or cut short"),
    "a truncated zstd": (b"\x28\xb5\x2f\xfd" + b"\x00" * 10, 3, "the compressed file is damaged or cut short"),
    "something else": (b"hello world\n", 3, "cannot tell what kind of run file this is"),
}


@pytest.mark.parametrize("what", ODD_FILES)
def test_a_file_that_is_no_run_is_told_so(what: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    qrels, odd = tmp_path / "qrels.txt", tmp_path / "odd.run"
    qrels.write_bytes(QRELS)
    content, code, message = ODD_FILES[what]
    odd.write_bytes(content)
    assert run(["score", str(qrels), str(odd), "-m", "RR"]) == code
    assert message in capfd.readouterr().err


def test_a_folder_and_an_unreadable_file_are_told_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    qrels, folder = tmp_path / "qrels.txt", tmp_path / "folder"
    qrels.write_bytes(QRELS)
    folder.mkdir()
    assert run(["score", str(qrels), str(folder), "-m", "RR"]) == 3
    assert "folder" in capfd.readouterr().err


def test_a_pipe_whose_queries_come_again_is_refused_with_the_way_out(tmp_path: Path) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_bytes(QRELS)
    command = [sys.executable, "-m", "rankproof", "score", str(qrels), "-", "-m", "RR"]
    text = b"q1 Q0 a 1 1 t\nq2 Q0 c 1 1 t\nq1 Q0 b 2 2 t\n"
    done = subprocess.run(command, input=text, capture_output=True, check=False)
    assert done.returncode == 3
    assert b"query 'q1' comes again after other queries" in done.stderr
    assert b"sort -s -k1,1" in done.stderr


def test_a_named_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    qrels, fifo = tmp_path / "qrels.txt", tmp_path / "fifo"
    qrels.write_bytes(QRELS)
    os.mkfifo(fifo)
    writer = subprocess.Popen(["/bin/sh", "-c", f"cat > {fifo}"], stdin=subprocess.PIPE)
    command = [sys.executable, "-m", "rankproof", "score", str(qrels), str(fifo), "-m", "RR", "--format", "csv"]
    reader = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    writer.communicate(RUN, timeout=30)
    out, err = reader.communicate(timeout=30)
    assert reader.returncode == 0, err
    assert b"fifo,all,RR,1.0" in out


# --- in memory

BAD_DICTS = {
    "NaN": ({"q1": {"a": float("nan")}}, "query 'q1', document 'a': score nan is not a finite number"),
    "infinity": ({"q1": {"a": 1.0, "b": float("inf")}}, "query 'q1', document 'b': score inf is not a finite number"),
    "text": ({"q1": {"a": "high"}}, "query 'q1', document 'a': score 'high' is not a number"),
    "a number as text": ({"q1": {"a": "1.5"}}, "query 'q1', document 'a': score '1.5' is not a number"),
    "None": ({"q1": {"a": None}}, "score None is not a number"),
    "mixed documents": ({"q1": {"b": 1.0, 7: 2.0}}, "document ids are of mixed types: 'b' is str, 7 is int"),
    "mixed queries": ({"q1": {"a": 1.0}, 2: {"a": 1.0}}, "query ids are of mixed types: 'q1' is str, 2 is int"),
    "a list of documents": ({"q1": ["a"]}, "query 'q1' holds list, not a dict of document to score"),
    "a tuple as id": ({"q1": {("a", 1): 1.0}}, "document id ('a', 1) is of type tuple"),
    "a huge integer": ({"q1": {"a": 10**400}}, "is not a finite number"),
}


@pytest.mark.parametrize("what", BAD_DICTS)
def test_a_bad_dict_is_refused_with_query_and_document(what: str) -> None:
    data, message = BAD_DICTS[what]
    with pytest.raises(rankproof.BadInput) as caught:
        rankproof.evaluate({"q1": {"a": 1}}, data, "RR")
    assert message in str(caught.value)
    assert caught.value.exit_code == 3


def test_a_bad_score_in_a_query_that_nobody_judged_is_refused_too() -> None:
    with pytest.raises(rankproof.BadInput, match="is not a finite number"):
        rankproof.evaluate({"q1": {"a": 1}}, {"q1": {"a": 1.0}, "q2": {"a": float("nan")}}, "RR")


def test_duplicate_tuples_are_refused() -> None:
    with pytest.raises(rankproof.BadInput, match="document 'a' stands twice for query 'q'"):
        rankproof.evaluate({"q": {"a": 1}}, [("q", "a", 1.0), ("q", "a", 2.0)], "RR")


def test_nothing_at_all_is_not_a_score() -> None:
    with pytest.raises(rankproof.NothingToEvaluate):
        rankproof.evaluate({}, {"q": {"a": 1.0}}, "RR")
    with pytest.raises(rankproof.NothingToEvaluate):
        rankproof.evaluate({"q": {"a": 1}}, {}, "RR")
    with pytest.raises(rankproof.NothingToEvaluate):
        rankproof.evaluate({"q": {"a": 1}}, {"q": {}}, "RR")
