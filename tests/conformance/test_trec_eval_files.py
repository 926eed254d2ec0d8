"""trec_eval's own test files give, through the command line, the very bytes that trec_eval prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankproof.cli.main import run

FILES = Path(__file__).parents[2].parent / "shared" / "data" / "trec_eval"

pytestmark = pytest.mark.skipif(
    not FILES.is_dir(), reason="trec_eval's test files are not beside the repository (../shared/data/trec_eval)"
)


def printed(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    files = [str(FILES / "qrels.test"), str(FILES / "results.test")]
    code = run(["score", *files, "-m", "all_trec", "--preset", "trec_eval", "--format", "trec", "--quiet", *options])
    assert code == 0
    return capsys.readouterr().out


def test_all_measures_print_as_trec_eval_prints_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys) == (FILES / "expected-all").read_text()


def test_every_query_prints_as_trec_eval_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    expected = (FILES / "expected-per-query").read_text().splitlines(keepends=True)
    # relstring is the start of the ranking spelt out in digits, not a measure.
    assert printed(capsys, "--per-query") == "".join(line for line in expected if not line.startswith("relstring"))
