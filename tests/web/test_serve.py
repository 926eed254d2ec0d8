"""`rankproof serve` from the outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

import pytest
from click.testing import CliRunner

from rankproof.cli.serve import command
from rankproof.errors import UsageError
from rankproof.web.server import access_to, bind, is_loopback, usual_port

RUN = """
import sys
from rankproof.cli.main import VERBS, run
VERBS.setdefault("serve", "")
sys.exit(run(sys.argv[1:]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "queries.tsv").write_text("q1\trun it\nq2\tstop it\n")
    documents = [{"id": f"d{i}", "text": f"How to run it, part {i}", "title": f"Part {i}"} for i in range(3)]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(one) + "\n" for one in documents))
    (tmp_path / "a.run").write_text("q1 Q0 d0 1 2 a\nq1 Q0 d1 2 1 a\nq2 Q0 d2 1 1 a\n")
    return tmp_path


def started(folder: Path, *more: str) -> subprocess.Popen[str]:
    files = ["--queries", "queries.tsv", "--corpus", "corpus.jsonl", "--run", "a.run", "--out", "truth.json"]
    return subprocess.Popen(
        [sys.executable, "-c", RUN, "serve", *files, "--annotator", "anna", *more], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip


def address_of(server: subprocess.Popen[str]) -> str:
    assert server.stdout is not None
    return server.stdout.readline().strip()


def read(address: str) -> str:
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    with opener.open(address, timeout=20) as reply:
        text: str = reply.read().decode()
    return text


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_an_address_serves_and_ends_cleanly(folder: Path, ending: signal.Signals) -> None:
    with started(folder) as server:
        address = address_of(server)
        assert address.startswith("http://127.0.0.1:")
        assert "3 documents to judge for 2 queries" in read(address)
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(address.partition("?")[0], timeout=20)
        server.send_signal(ending)
        _, errors = server.communicate(timeout=30)
    assert server.returncode == 0, errors
    assert "Traceback" not in errors
    assert "everything that it called saved is on disk" in errors
    assert not (folder / "labels" / ".anna.jsonl.lock").exists()


def test_a_second_server_on_the_same_journal_is_told_who_has_it(folder: Path) -> None:
    with started(folder) as server:
        address_of(server)
        with started(folder) as second:
            _, errors = second.communicate(timeout=30)
        assert second.returncode == 2
        assert f"is being written by anna (process {server.pid} on" in errors
        with started(folder, "--annotator", "ben") as third:
            assert address_of(third).startswith("http://127.0.0.1:")
            third.send_signal(signal.SIGINT)
            third.communicate(timeout=30)
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=30)


def test_the_port_is_the_same_at_the_next_start(folder: Path) -> None:
    addresses = []
    for _ in range(2):
        with started(folder) as server:
            addresses.append(address_of(server))
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=30)
    (one, _, token), (other, _, other_token) = (address.partition("/?token=") for address in addresses)
    assert one == other
    assert token != other_token


def test_a_project_is_served_with_its_pipelines_and_saved_runs(folder: Path) -> None:
    (folder / "rankproof.yaml").write_text(
        "gold: gold.csv\ncorpus: corpus.jsonl\npipelines:\n  keyword: {retrieve: {bm25: {language: english}}}\n"
    )
    (folder / "gold.csv").write_text("query,ideal_page\nrun it,d0\nstop it,d2\n")
    for arguments, expected in (([], "queries; the labels go to"), (["--runs-only"], "Saved runs")):
        command = [sys.executable, "-c", RUN, "serve", ".", "--annotator", "anna", *arguments]
        with subprocess.Popen(command, cwd=folder, text=True, stdout=-1, stderr=-1) as server:
            assert expected in read(address_of(server))
            server.send_signal(signal.SIGINT)
            _, errors = server.communicate(timeout=30)
        assert server.returncode == 0, errors
    assert (folder / "data" / "labels" / "anna.jsonl").exists()


def test_an_address_beyond_this_machine_takes_a_flag() -> None:
    result = CliRunner().invoke(command, ["--host", "192.0.2.1"])
    assert isinstance(result.exception, UsageError)
    assert "--allow-remote" in str(result.exception)


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.0.0.2", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False),
     ("192.0.2.1", False), ("localhost.evil.example", False), ("", False), ("::ffff:192.0.2.1", False)],
)  # fmt: skip
def test_what_counts_as_this_machine(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "evil.example", "", "127.0.0.1:80"])
def test_an_address_that_names_no_single_one_cannot_be_bound(host: str) -> None:
    with pytest.raises(UsageError):
        bind(host, 0)


def test_a_port_that_is_taken_is_said_or_another_is_found() -> None:
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"Port {port} of 127.0.0.1 cannot be used"):
            bind("127.0.0.1", port)
        with bind("127.0.0.1", port, or_any=True) as other:
            assert other.getsockname()[1] != port


def test_the_names_of_a_server_are_its_address_and_localhost() -> None:
    with bind("127.0.0.1", 0) as opened:
        port = opened.getsockname()[1]
        assert access_to(opened).hosts == {f"127.0.0.1:{port}", f"localhost:{port}"}


def test_ports_differ_between_labels_and_stay_below_those_that_systems_give_out() -> None:
    ports = {usual_port(f"labels {i}") for i in range(100)}
    assert len(ports) > 90
    assert all(20_000 <= port < 32_000 for port in ports)
    assert usual_port("labels") == usual_port("labels")
