from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from rankproof.cli import main
from rankproof.cli.main import run
from rankproof.data.gold import GoldSet
from tests.labeling.pools import opened, pool
from tests.retrieval.faulty_server import Asked, Behaviour, closed_port, reply, serving

CANARY = "canary-4711-key"
# Of six documents the two give the same grade to four.
ANNA = "q1 0 a 2\nq1 0 b 0\nq1 0 c 1\nq2 0 a 0\nq2 0 d 2\nq2 0 e 0\n"
BEN = "q1 0 a 2\nq1 0 b 2\nq1 0 c 1\nq2 0 a 0\nq2 0 d 1\nq2 0 e 0\n"
CLEO = "q1 0 a 2\nq1 0 b 0\nq2 0 d 0\n"
GOLD = "query_id,query,ideal_page,category\nq1,how to pay,a,hr\nq2,how to leave,d,it\n"
DOCS = {"a": "Pay by card or by bank transfer.", "b": "Send an invoice.", "c": "Prices.", "d": "Cancel any time."}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(main.VERBS, "gold", "Check, convert, merge and complete gold sets.")
    monkeypatch.chdir(tmp_path)
    for name, text in {"anna.qrels": ANNA, "ben.qrels": BEN, "cleo.qrels": CLEO, "gold.csv": GOLD}.items():
        Path(name).write_text(text)
    Path("docs").mkdir()
    for doc_id, text in DOCS.items():
        Path("docs", f"{doc_id}.md").write_text(text)
    return tmp_path


def test_agreement_of_two_says_what_the_figures_mean(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["gold", "agreement", "anna.qrels", "ben.qrels", "--resamples", "200"]) == 0
    out, err = capfd.readouterr()
    assert out.startswith(
        "anna 6 labels · ben 6 labels\n\nanna and ben: 6 documents in common, the same grade for 66.7%\n"
    )
    # Anna 0 0 0 1 2 2, Ben 0 0 1 1 2 2: by chance 3/6 · 2/6 + 1/6 · 2/6 + 2/6 · 2/6 = 12/36; (2/3 − 1/3) / (2/3).
    assert "chance alone would give the same grade to 33.3%; of what it leaves open, 50.0% is reached" in out
    assert "Cohen's κ                     0.5000" in out
    assert "anna ↓  ben →  0  1  2\n─────────────  ─  ─  ─\n0              2  0  1\n1              0  1  0\n" in out
    assert "2 disagreements, the furthest apart first\n  q1  b: anna 0, ben 2\n  q2  d: anna 2, ben 1\n" in out
    assert "percentiles of 200 resamples of documents, seed 0" in out
    assert "anna.qrels: 6 labels of anna" in err
    for word in ("substantial", "moderate", "almost perfect", "fair"):
        assert word not in out


def test_agreement_of_three_and_per_group_in_json(capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["gold", "agreement", "anna.qrels", "ben.qrels", "cleo.qrels", "--group-by", "gold.csv"]
    assert run([*arguments, "--resamples", "100", "--format", "json", "--quiet"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    data = json.loads(out)
    assert (data["schema_version"], data["people"], data["n_items"]) == (1, ["anna", "ben", "cleo"], 6)
    assert [(pair["first"], pair["second"]) for pair in data["pairs"]] == [
        ("anna", "ben"),
        ("anna", "cleo"),
        ("ben", "cleo"),
    ]
    assert [one["name"] for one in data["together"]] == [
        "Fleiss' κ",
        "Krippendorff's α, nominal",
        "Krippendorff's α, ordinal",
        "Krippendorff's α, interval",
    ]
    assert list(data["by_group"]) == ["hr", "it"]
    assert data["pairs"][0]["table"] == {
        "grades": [0, 1, 2], "counts": [[2, 0, 1], [0, 1, 0], [0, 1, 1]], "n_items": 6, "n_same": 4
    }  # fmt: skip
    assert data["disagreements"][0] == {
        "query_id": "q1", "doc_id": "b", "grades": {"anna": 0, "ben": 2, "cleo": 0}, "spread": 2
    }  # fmt: skip
    assert run([*arguments, "--resamples", "100"]) == 0
    text = capfd.readouterr().out
    assert "all people together (anna, ben, cleo):" in text
    assert "hr     anna, ben" in text


def test_agreement_reads_journals(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name, grades in {"anna": (2, 0, 1), "ben": (2, 2, 1)}.items():
        with opened(tmp_path, pool(q="abc"), name) as session:
            for grade in grades:
                session.judge(grade)
    assert run(["gold", "agreement", "labels", "--resamples", "100"]) == 0
    out, _ = capfd.readouterr()
    assert "anna and ben: 3 documents in common, the same grade for 66.7%" in out
    assert run(["gold", "merge", "labels", "-o", "merged.json"]) == 0
    assert GoldSet.read("merged.json").qrels.to_dict() == {"q": {"a": 2, "c": 1}}


def test_merge_writes_one_gold_set_and_lists_what_is_undecided(capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["gold", "merge", "anna.qrels", "ben.qrels", "--queries", "gold.csv", "-o", "merged.json"]
    assert run(arguments) == 0
    out, _ = capfd.readouterr()
    assert out.startswith("4 judgments of anna, ben\n  all said the same: 4\n")
    assert "2 documents without a majority: they have no grade; adjudicate them" in out
    assert "  q1  b: anna 0, ben 2\n" in out
    gold = GoldSet.read("merged.json")
    assert [(query.text, query.group) for query in gold.queries] == [("how to pay", "hr"), ("how to leave", "it")]
    assert gold.qrels.to_dict() == {"q1": {"a": 2, "c": 1}, "q2": {"a": 0, "e": 0}}
    assert gold.meta["queries"]["q1"]["results"]["b"] == {"judgments": {"anna": "not-relevant", "ben": "relevant"}}
    assert run([*arguments, "--ties", "higher", "--format", "json"]) == 0
    assert json.loads(capfd.readouterr().out)["how"]["undecided"] == 2
    assert GoldSet.read("merged.json").qrels.to_dict()["q1"]["b"] == 2


def test_merge_takes_the_word_of_an_adjudicator(capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["gold", "merge", "anna.qrels", "ben.qrels", "--by", "adjudicated", "--adjudicator", "cleo.qrels"]
    assert run([*arguments, "-o", "merged.qrels"]) == 0
    out, err = capfd.readouterr()
    assert "adjudicated: 3" in out
    assert "merged.qrels: this format holds judgments alone" in err
    assert Path("merged.qrels").read_text() == "q1 0 a 2\nq1 0 b 0\nq1 0 c 1\nq2 0 a 0\nq2 0 d 0\nq2 0 e 0\n"


def test_a_mean_goes_into_judgments_and_not_into_words(capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["gold", "merge", "anna.qrels", "ben.qrels", "--by", "mean", "--quiet"]
    assert run([*arguments, "-o", "mean.tsv"]) == 0
    assert "q2\td\t1.5\n" in Path("mean.tsv").read_text()
    assert run([*arguments, "-o", "mean.json"]) == 2
    assert "none for 1.5; write judgments instead" in capfd.readouterr().err
    assert not Path("mean.json").exists()


def test_convert_says_what_is_lost(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["gold", "convert", "gold.csv", "gold.json"]) == 0
    assert capfd.readouterr().err == "gold.json: 2 judgments\n"
    assert GoldSet.read("gold.json").queries == GoldSet.read("gold.csv").queries
    assert run(["gold", "convert", "gold.json", "gold.txt"]) == 0
    assert "this format holds judgments alone; texts, groups" in capfd.readouterr().err
    assert Path("gold.txt").read_text() == "q1 0 a 1\nq2 0 d 1\n"
    assert run(["gold", "convert", "gold.txt", "beir.tsv", "--to", "beir", "--quiet"]) == 0
    assert Path("beir.tsv").read_text().startswith("query-id\tcorpus-id\tscore\n")
    assert run(["gold", "convert", "gold.csv", "gold.xyz"]) == 3
    assert "known endings are" in capfd.readouterr().err


def test_lint_ends_with_3_where_there_is_a_fault(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["gold", "lint", "gold.csv", "docs"]) == 0
    assert capfd.readouterr().out.startswith("gold.csv: clean\n  note, group of one: group 'hr' has one query, 'q1'")
    Path("bad.csv").write_text(GOLD + "q3,How  to pay,prices,hr\n")
    assert run(["gold", "lint", "bad.csv", "docs", "--format", "json"]) == 3
    out, err = capfd.readouterr()
    data = json.loads(out)
    assert (data["n_faults"], [one["kind"] for one in data["findings"] if one["fault"]]) == (
        2,
        ["duplicate query", "stale id"],
    )
    assert err == "rankproof: bad.csv: 2 faults in the gold set\n"


def test_stale_without_digests_says_that_only_ids_were_checked(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["gold", "stale", "gold.csv", "docs"]) == 0
    out, _ = capfd.readouterr()
    assert "  present  2  the id is there" in out
    assert "only the id could be checked" in out


def test_stale_finds_what_moved_and_writes_it_on_request(capfd: pytest.CaptureFixture[str]) -> None:
    Path("new").mkdir()
    for name, text in {"pay": DOCS["a"], "d": DOCS["d"] + " Any time at all."}.items():
        Path("new", f"{name}.md").write_text(text)
    assert run(["gold", "stale", "gold.csv", "new", "--was", "docs"]) == 3
    out, err = capfd.readouterr()
    assert "moved:\n  a (q1): the same text under 'pay'\n" in out
    assert "changed:\n  d (q2): 100% of the judged text is still there, 80% of the present text is new\n" in out
    assert err == "rankproof: gold.csv: 2 judged documents are stale\n"
    assert run(["gold", "stale", "gold.csv", "new", "--was", "docs", "--fix", "-o", "fixed.csv"]) == 3
    out, err = capfd.readouterr()
    assert "1 moved document is called by the new id\n  a → pay\n" in out
    assert "1 judged document is stale" in err
    assert GoldSet.read("fixed.csv").qrels.to_dict() == {"q1": {"pay": 1}, "q2": {"d": 1}}
    assert Path("gold.csv").read_text() == GOLD


def test_next_says_what_a_label_is_worth(capfd: pytest.CaptureFixture[str]) -> None:
    Path("first.run").write_text("q1 Q0 a 1 9 t\nq1 Q0 x 2 8 t\nq2 Q0 d 1 9 t\nq2 Q0 y 2 8 t\n")
    assert run(["gold", "next", "gold.csv", "first.run", "-m", "P@2", "-n", "1"]) == 0
    out, _ = capfd.readouterr()
    assert out.startswith(
        "P@2 is 0.5000 over 2 queries.\n2 documents down to rank 2 are unjudged; "
        "whatever grade (0, 1) they get, it lies within [0.5000, 1.0000].\n"
    )
    assert out.splitlines()[5].split() == ["q1", "how", "to", "pay", "x", "2", "0.2500", "0.2500"]
    assert "in the worst case they are 0.2500 apart instead of 0.5000." in out
    assert run(["gold", "next", "gold.csv", "first.run", "-m", "P@2", "--format", "tsv"]) == 0
    assert capfd.readouterr().out == "q1\tx\nq2\ty\n"


def test_next_with_two_runs_says_whether_the_winner_is_open(capfd: pytest.CaptureFixture[str]) -> None:
    Path("first.run").write_text("q1 Q0 a 1 9 t\nq1 Q0 x 2 8 t\nq2 Q0 d 1 9 t\n")
    Path("second.run").write_text("q1 Q0 a 1 9 t\nq1 Q0 z 2 8 t\nq2 Q0 d 1 9 t\n")
    arguments = ["gold", "next", "gold.csv", "first.run", "second.run", "-m", "P@2"]
    assert run(arguments) == 0
    out, _ = capfd.readouterr()
    assert "P@2 of second.run − first.run is 0.0000 over 2 queries." in out
    assert "Either run can turn out to be the better one." in out
    assert run([*arguments, "--format", "json"]) == 0
    data = json.loads(capfd.readouterr().out)
    assert (data["bounds"], data["sign_is_open"], data["after"]["widest"]) == ([-0.25, 0.25], True, 0.0)
    assert [(one["doc_id"], one["ranks"]) for one in data["documents"]] == [("x", [2, None]), ("z", [None, 2])]


def chat(content: object) -> Behaviour:
    """As an OpenAI-compatible server answers."""
    return reply(200, {"id": "x", "choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]})


def by_document(request: Asked) -> Behaviour:
    text = request.json["messages"][0]["content"]
    return chat("relevant" if "Pay" in text else "maybe" if "Cancel" in text else '{"grade": 0}')


JUDGE = ["gold", "judge", "people.json", "docs", "--model", "small", "--prompt", "prompt.txt", "-o", "model.json"]


@pytest.fixture
def people(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("people.qrels").write_text("q1 0 a 2\nq1 0 b 1\nq2 0 d 2\n")
    assert run(["gold", "convert", "people.qrels", "people.json", "--quiet"]) == 0
    Path("prompt.txt").write_text("Query: {query}\nTitle: {title}\n\n{document}\n")
    monkeypatch.setenv("LLM_KEY", CANARY)


@pytest.mark.usefixtures("people")
def test_a_model_judges_and_its_agreement_with_people_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with serving(by_document) as server:
        arguments = [*JUDGE, "--url", f"{server.url}/v1/chat/completions", "--key-env", "LLM_KEY"]
        assert run(arguments) == 0
        out, _ = capfd.readouterr()
        asked = server.requests[0]
        assert (asked.method, asked.target) == ("POST", "/v1/chat/completions")
        assert asked.headers["authorization"] == f"Bearer {CANARY}"
        assert (asked.json["model"], asked.json["temperature"]) == ("small", 0)
        assert len(server.requests) == 3
        assert run([*arguments, "--format", "json"]) == 0
        assert len(server.requests) == 3
    again = json.loads(capfd.readouterr().out)
    assert out.startswith(
        "model:small: 3 documents, 0 from the cache\n  judged: 2\n  abstained: the answer was no grade: 1\n"
    )
    assert "people and model:small: 2 documents in common, the same grade for 50.0%" in out
    assert (again["n_cached"], again["n_abstained"], again["agreement"]["people"]) == (3, 1, ["people"])
    gold = GoldSet.read("model.json")
    assert (gold.meta["reviewer"], gold.qrels.to_dict()) == ("model:small", {"q1": {"a": 2, "b": 0}})


@pytest.mark.usefixtures("people")
def test_its_labels_stay_out_of_a_merge_unless_they_are_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    with serving(by_document) as server:
        assert run([*JUDGE, "--url", server.url, "--quiet"]) == 0
    merge = ["gold", "merge", "people.qrels", "anna.qrels", "model.json", "-o", "merged.json", "--quiet"]
    assert run(merge) == 0
    assert "left out: model:small; the labels of a model go in only if asked for" in capfd.readouterr().out
    assert "model:small" not in Path("merged.json").read_text()
    assert run([*merge, "--with-model", "small"]) == 0
    assert "model:small" in Path("merged.json").read_text()


@pytest.mark.usefixtures("people")
def test_documents_of_a_run_are_judged_too() -> None:
    Path("first.run").write_text("q2 Q0 a 1 9 t\nq2 Q0 b 2 8 t\nq2 Q0 c 3 7 t\n")
    with serving(by_document) as server:
        assert run([*JUDGE, "--url", server.url, "--run", "first.run", "--depth", "2", "--quiet"]) == 0
    assert GoldSet.read("model.json").qrels.to_dict() == {"q1": {"a": 2, "b": 0}, "q2": {"a": 2, "b": 0}}


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (reply(401, {"error": f"wrong key {CANARY}"}), "HTTP 401"),
        (reply(200, "<html>"), "no JSON"),
        (reply(200, {"choices": []}), "no choices[0].message.content"),
        (chat(None), "not text"),
        (reply(200, {"choices": [{"message": {"content": f"relevant {CANARY}"}}]}), "sends the key back"),
    ],
)
def test_a_server_that_fails_is_told_with_exit_4_and_without_the_key(
    behaviour: Behaviour, reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving([behaviour]) as server:
        assert run([*JUDGE, "--url", server.url, "--key-env", "LLM_KEY", "--retries", "0"]) == 4
    out, err = capfd.readouterr()
    assert "failed: no answer: 3" in out
    assert reason in err
    everything = out + err + "".join(path.read_text() for path in Path().rglob("*") if path.is_file())
    assert CANARY not in everything


@pytest.mark.usefixtures("people")
def test_a_server_that_is_not_there_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    assert run([*JUDGE, "--url", f"http://127.0.0.1:{closed_port()}/", "--retries", "0"]) == 4
    assert "cannot connect" in capfd.readouterr().err


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([*JUDGE, "--url", "file:///etc/passwd"], 2, "only http: and https: are"),
        ([*JUDGE, "--url", "http://localhost/", "--key-env", "NO_SUCH_KEY"], 4, "NO_SUCH_KEY, which is not set"),
        (["gold", "agreement", "anna.qrels"], 2, "2 annotators or more, not 1"),
        (["gold", "agreement", "anna.qrels", "none.qrels"], 3, "none.qrels"),
        (["gold", "merge", "anna.qrels", "-o", "x.json"], 2, "2 annotators or more, not 1"),
        (["gold", "merge", "anna.qrels", "ben.qrels"], 2, "--output"),
        (
            ["gold", "merge", "anna.qrels", "ben.qrels", "--with-model", "m", "-o", "x.json"],
            2,
            "no model among the labels",
        ),
        (
            ["gold", "merge", "anna.qrels", "--by", "adjudicated", "--adjudicator", "anna.qrels", "-o", "x.json"],
            2,
            "'anna' is both annotator and adjudicator",
        ),
        (["gold", "stale", "gold.csv", "docs", "--fix"], 2, "--fix goes with -o FILE"),
        (["gold", "stale", "gold.csv", "none"], 3, "none"),
        (["gold", "next", "gold.csv", "none.run"], 3, "none.run"),
        (["gold", "next", "gold.csv", "anna.qrels", "-m", "nDGC@5"], 2, "Did you mean 'nDCG'"),
        (["gold", "next", "gold.csv", "x.run", "--grades", "a"], 2, "parted by commas, as in 0,1,2"),
        (["gold", "mege"], 2, "Did you mean 'merge'"),
    ],
)
def test_a_wrong_call_says_the_way_out(
    arguments: list[str], code: int, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_without_a_command_the_help_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["gold"]) == 0
    assert "agreement  Say how far annotators agree." in capfd.readouterr().out


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_same_labels_give_the_same_bytes_also_with_their_lines_shuffled(
    form: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    many = random.Random(5)
    for name in ("anna", "ben", "cleo"):
        lines = [f"q{q} 0 d{d} {many.randrange(3)}\n" for q in range(20) for d in range(6)]
        Path(f"{name}.qrels").write_text("".join(lines))
    Path("first.run").write_text("".join(f"q{q} Q0 d{d} 1 {d % 7} t\n" for q in range(20) for d in range(12)))
    commands = [
        ["gold", "agreement", "anna.qrels", "ben.qrels", "cleo.qrels", "--resamples", "200", "--format", form],
        ["gold", "merge", "anna.qrels", "ben.qrels", "cleo.qrels", "-o", "merged.tsv", "--format", form],
        ["gold", "next", "anna.qrels", "first.run", "-m", "nDCG@5", "--format", form],
    ]

    def output() -> bytes:
        assert [run([*arguments, "--quiet"]) for arguments in commands] == [0, 0, 0]
        return capfdbinary.readouterr().out

    first = output()
    assert output() == first
    merged = sorted(Path("merged.tsv").read_text().splitlines())
    for name in ("anna.qrels", "ben.qrels", "cleo.qrels", "first.run"):
        lines = Path(name).read_text().splitlines(keepends=True)
        many.shuffle(lines)
        Path(name).write_text("".join(lines))
    assert output() == first
    assert sorted(Path("merged.tsv").read_text().splitlines()) == merged


def test_text_that_would_act_on_a_terminal_does_not(capfd: pytest.CaptureFixture[str]) -> None:
    Path("anna.qrels").write_text("q1 0 \x1b[31ma 2\nq1 0 b 1\n")
    Path("ben.qrels").write_text("q1 0 \x1b[31ma 0\nq1 0 b 1\n")
    assert run(["gold", "agreement", "anna.qrels", "ben.qrels", "--resamples", "10"]) == 0
    assert "\x1b" not in capfd.readouterr().out
