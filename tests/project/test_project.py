"""rankproof.yaml, from text to pipelines."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rankproof.data.gold import Query
from rankproof.errors import BadInput, NothingToEvaluate, UnknownName, UsageError
from rankproof.project import BadProject, load_project
from rankproof.project.project import ENVIRONMENT, find_project
from rankproof.project.settings import Settings
from rankproof.retrieval.pipeline import Fuse, Named, Pipeline, Runner
from tests.project.conftest import Faults, Load
from tests.project.stages import Calls, Finds, Inner, Lowers, Sorts

DESIGN = """\
gold: gold.csv
corpus: docs/**/*.md
pipelines:
  keyword: {retrieve: {bm25: {k1: 1.2, b: 0.75}}, depth: 20}
  vector:  {retrieve: {dense: {model: minilm}}, depth: 20}
  hybrid:  {fuse: {of: [keyword, vector], by: rrf}}
  rerank:  {from: hybrid, depth: 20, rerank: {cohere: {model: rerank-v4.0-pro, key_env: COHERE_API_KEY}}, top: 5}
  live:    {retrieve: {http: {url: "http://localhost:8080/search?q={query}&limit={k}", hits: "results[*].name"}}}
measures: [MRR, P@1, P@5, nDCG@5]
gate: {floors: {MRR: 0.6}, max_drop: {MRR: 0.01}, groups: {min_size: 5}}
"""


def test_the_example_of_the_design_loads_with_the_real_stages(folder: Path) -> None:
    (folder / "rankproof.yaml").write_text(DESIGN)
    project = load_project(environment={})
    assert list(project.pipelines) == ["keyword", "vector", "hybrid", "rerank", "live"]
    assert project.pipelines["hybrid"] == Pipeline("hybrid", fuse=Fuse(("keyword", "vector"), "rrf"))
    assert [named.name for named in project.pipelines["rerank"].rerank] == ["cohere"]
    assert [str(measure) for measure in project.measures] == ["RR", "P@1", "P@5", "nDCG@5"]
    assert project.gate.floors == {"MRR": 0.6}
    assert project.gate.max_drop["MRR"].absolute == 0.01
    assert project.gate.groups.min_size == 5


def test_a_pipeline_is_what_the_file_says(load: Load) -> None:
    project = load("""\
pipelines:
  a: {retrieve: {finds: {table: {q: {d: 1}}, inner: {weight: 2}, kinds: [x, y]}}, prepare: lowers, depth: 7}
  b: {retrieve: finds}
  c: {retrieve: {finds: }}
  d: {retrieve: {calls: "module:function"}}
  e: {fuse: {of: [a, b], by: weighted, weights: [0.3, 0.7], normalize: z-score}}
  f: {from: e, rerank: [sorts, {sorts: {table: {d: 2}}}], top: 3}
""")
    finds = Finds(table={"q": {"d": 1.0}}, inner=Inner(weight=2.0), kinds=("x", "y"))
    assert project.pipelines == {
        "a": Pipeline("a", retrieve=Named("finds", finds), prepare=(Named("lowers", Lowers()),), depth=7),
        "b": Pipeline("b", retrieve=Named("finds", Finds())),
        "c": Pipeline("c", retrieve=Named("finds", Finds())),
        "d": Pipeline("d", retrieve=Named("calls", Calls(call="module:function"))),
        "e": Pipeline("e", fuse=Fuse(("a", "b"), "weighted", {"weights": [0.3, 0.7], "normalize": "z-score"})),
        "f": Pipeline("f", base="e", rerank=(Named("sorts", Sorts()), Named("sorts", Sorts(table={"d": 2.0}))), top=3),
    }


def test_what_is_not_said_has_a_default(load: Load, folder: Path) -> None:
    project = load("preset: default")
    assert (project.pipelines, project.measures, project.preset.name) == ({}, (), "default")
    assert project.cache == Path(".rankproof")
    assert (project.answers, project.store) == (Path(".rankproof/answers"), Path(".rankproof/store"))
    assert project.saved_runs == Path(".rankproof/runs")
    assert (project.folder, project.file) == (Path(), Path("rankproof.yaml"))
    assert (project.library(), project.metrics, project.identifiers) == (None, None, ())
    with pytest.raises(UsageError, match="names no gold set; add `gold:"):
        project.gold()


def test_nothing_is_kept_without_a_cache(load: Load) -> None:
    project = load("cache: false")
    assert (project.cache, project.answers, project.store, project.saved_runs) == (None, None, None, None)


def test_a_project_runs(load: Load, folder: Path) -> None:
    (folder / "gold.csv").write_text("query,ideal_page,category\nwhat is a,a,x\nwhat is b,b,y\n")
    (folder / "docs").mkdir()
    (folder / "docs" / "a.md").write_text("# A\none\n## Part\ntwo")
    (folder / "docs" / "b.md").write_text("three")
    project = load("""\
gold: {path: gold.csv, format: csv}
corpus: {path: docs/**/*.md, chunk: {by: heading, size: 50, overlap: 5}, roll_up: sum}
pipelines:
  a: {retrieve: {finds: {table: {what is a: {"a#part": 1, "a#(start)": 2, "b#(start)": 2.5}}}}}
""")
    place = project.place()
    assert [piece.id for piece in place.corpus] == ["a#(start)", "a#part", "b#(start)"]
    assert place.gold is project.gold()
    assert place.library is project.library()
    assert project.groups() == {"what is a": "x", "what is b": "y"}
    answer = Runner(project.pipelines, place).run("a", [Query("what is a")]).answers[0]
    assert answer.hits == (("a", 3.0), ("b", 2.5))


def test_groups_may_stand_in_a_file_of_their_own(load: Load, folder: Path) -> None:
    (folder / "groups.tsv").write_text("q1\tx\n")
    assert load("groups: groups.tsv").groups() == {"q1": "x"}


def test_nothing_is_read_before_it_is_asked_for(load: Load) -> None:
    project = load("gold: none.csv\ncorpus: none/**/*.md")
    with pytest.raises(BadInput, match=r"none.csv: there is no such file"):
        project.gold()
    with pytest.raises(NothingToEvaluate, match="no file matches"):
        project.library()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gld: x", "1: there is no key 'gld'. Did you mean 'gold'?"),
        ("gold: {pth: x, path: y}", "1: there is no key 'pth' in `gold`. Did you mean 'path'?"),
        ("gold: {format: csv}", "1: `gold` has no `path`"),
        ("gold: {path: x, format: cvs}", "1: There is no gold format called 'cvs'. Did you mean 'csv'?"),
        ("gold: 3", "1: `gold` is 3; a mapping (`key: value`) belongs there"),
        ("corpus: {path: x, roll_up: bets}", "1: `corpus.roll_up` is \"bets\"; 'best', 'sum' or 'mean' belongs there"),
        (
            "corpus:\n  path: x\n  chunk:\n    size: 10\n    overlap: 10",
            "3: `corpus.chunk`: an overlap of 10 words is too much for a size of 10; make it less",
        ),
        ("corpus: {path: x, chunk: {size: '9'}}", '1: `corpus.chunk.size` is "9"; a whole number belongs there'),
        ("corpus: {path: x, chunk: {size: 1.5}}", "1: `corpus.chunk.size` is 1.5; a whole number belongs there"),
        ("measures: [MRR,\n ndgc@10]", "2: There is no measure called 'ndgc'. Did you mean 'nDCG' or 'Rndcg'?"),
        ("measures: []", "1: `measures` is []; something that is not empty belongs there"),
        ("preset: trec_evl", "1: There is no preset called 'trec_evl'. Did you mean 'trec_eval' or 'trec_eval-c'?"),
        ("identifiers:\n- RFC \\d+\n- '('", "3: '(' is no regular expression: missing ), unterminated subpattern at "
         "position 0"),
        ("cache: 3", "1: `cache` is 3; true or false or a text belongs there"),
        ("gate: {floors: {mrrr: 1}}", "1: There is no measure called 'mrrr'. Did you mean 'mrr' or 'RR'?"),
        ("gate: {max_drop: {MRR: {}}}", "1: `gate.max_drop.MRR`: give `absolute` or `relative`, one of the two"),
        ("gate: {max_drop: {MRR: -1}}", "1: `gate.max_drop.MRR` is -1; a number of 0 or more belongs there"),
        ("pipelines: {a: }", "1: `pipelines.a` is empty; a mapping (`key: value`) belongs there"),
        ("pipelines:\n  a: {retrieve: finds,\n      dept: 3}", "3: there is no key 'dept' in `pipelines.a`. "
         "Did you mean 'depth'?"),
        ("pipelines: {a: {retrieve: find}}", "1: There is no retriever called 'find'. Did you mean 'finds'?"),
        ("pipelines: {a: {retrieve: xyz}}", "1: There is no retriever called 'xyz'. Known are broken, calls, finds."),
        ("pipelines: {a: {retrieve: broken}}", "1: The stage 'broken' cannot be loaded: module 'tests.project.stages' "
         "has no attribute 'Gone'."),
        ("pipelines: {a: {retrieve: {finds: {strenght: 1}}}}", "1: there is no key 'strenght' in "
         "`pipelines.a.retrieve.finds`. Did you mean 'strength'?"),
        ("pipelines: {a: {retrieve: {finds: {inner: {wight: 1}}}}}", "1: there is no key 'wight' in "
         "`pipelines.a.retrieve.finds.inner`. Did you mean 'weight'?"),
        ("pipelines: {a: {retrieve: {finds: {strength: '1'}}}}", '1: `pipelines.a.retrieve.finds.strength` is "1"; '
         "a number belongs there"),
        ("pipelines: {a: {retrieve: {finds: {strength: -1}}}}", "1: `pipelines.a.retrieve.finds.strength` is -1; "
         "a number of 0 or more belongs there"),
        ("pipelines: {a: {retrieve: {finds: x}}}", '1: `pipelines.a.retrieve.finds` is "x"; a mapping '
         "(`key: value`) belongs there"),
        ("pipelines: {a: {retrieve: calls}}", "1: `pipelines.a.retrieve` has no `call`"),
        ("pipelines: {a: {retrieve: {finds: , calls: x}}}", '1: `pipelines.a.retrieve` is {"finds": null, "calls": '
         '"x"}; the name of one stage (several are a list, `- name`) belongs there'),
        ("pipelines: {a: {depth: 3}}", "1: `pipelines.a`: a pipeline has one of `retrieve`, `fuse` and `from`; "
         "none of them is given"),
        ("pipelines: {b: {retrieve: finds}, a: {retrieve: finds, from: b}}", "1: `pipelines.a`: a pipeline has one of "
         "`retrieve`, `fuse` and `from`; `retrieve` and `from` are given"),
        ("pipelines: {b: {retrieve: finds}, a: {from: b, prepare: lowers}}", "1: `pipelines.a`: `prepare` goes with "
         "`retrieve`; put it into the pipelines that `from` names"),
        ("pipelines: {keyword: {retrieve: finds}, a: {from: keywrd}}", "1: There is no pipeline called 'keywrd'. "
         "Did you mean 'keyword'?"),
        ("pipelines: {a: {retrieve: finds, depth: 0}}", "1: `pipelines.a.depth` is 0; a number of 1 or more belongs "
         "there"),
        ("pipelines: {a: {retrieve: finds, rerank: [sorts, sort]}}", "1: There is no reranker called 'sort'. "
         "Did you mean 'sorts'?"),
        ("pipelines: {a: {from: a}}", "1: Pipelines take hits from each other in a circle: a → a."),
        ("pipelines:\n  x: {from: a}\n  a: {from: b}\n  b: {fuse: {of: [c, d]}}\n  c: {from: a}\n"
         "  d: {retrieve: finds}",
         "3: Pipelines take hits from each other in a circle: a → b → c → a."),
        ("pipelines: {a: {retrieve: finds}, b: {fuse: {of: [a]}}}", "1: `pipelines.b.fuse.of` is [\"a\"]; a list of 2 "
         "or more belongs there"),
        ("pipelines: {a: {retrieve: finds}, b: {fuse: {of: [a, a]}}}", "1: `fuse` of 'b' names a pipeline twice; use "
         "weights to count one more"),
        ("pipelines: {a: {retrieve: finds}, c: {from: a}, b: {fuse: {of: [a, c], by: rff}}}", "1: There is no method "
         "of fusion called 'rff'. Did you mean 'rrf'?"),
        ("pipelines: {a: {retrieve: finds}, c: {from: a}, b: {fuse: {of: [a, c], weights: [1]}}}", "1: 1 weight for "
         "2 runs: give one weight for each run."),
        ("- a", "1: the file holds no keys; `rankproof init` writes one to begin with"),
        ("measures: MRR\nretrieval_metrics: {enabled_metrics: mrr}", "1: `measures` and `retrieval_metrics` both say "
         "what is measured; keep one of them"),
    ],
)  # fmt: skip
def test_a_fault_is_a_sentence_with_its_line_and_the_way_out(faults: Faults, text: str, expected: str) -> None:
    assert faults(text) == [f"rankproof.yaml:{expected}"]


def test_all_faults_are_told_at_once_in_the_order_of_the_file(faults: Faults) -> None:
    told = faults(
        "gld: x\nmeasures: [x]\npreset: y\npipelines:\n  a: {retrieve: finds, dept: 1}\n  b: {retrieve: find}\n"
    )
    assert [line.split(":")[1] for line in told] == ["1", "2", "3", "5", "6"]


def test_no_more_than_twenty_faults_are_spelled_out(faults: Faults) -> None:
    told = faults("pipelines:\n" + "".join(f"  p{i}: {{retrieve: nothing}}\n" for i in range(25)))
    assert len(told) == 21
    assert told[-1] == "… and 5 more"


@pytest.mark.parametrize("cache", ["../elsewhere", "/tmp/elsewhere", "a/../../b"])
def test_nothing_is_written_outside_the_project(faults: Faults, cache: str) -> None:
    assert faults(f"cache: {cache}") == [
        f"rankproof.yaml:1: `cache` is {cache!r}, a folder outside the project; name one inside it, or set "
        "RANKPROOF_CACHE"
    ]


def test_a_link_out_of_the_project_is_outside(
    faults: Faults, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (folder / "link").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    assert "a folder outside the project" in faults("cache: link/x")[0]


def test_what_is_read_may_lie_outside_the_project(fake_stages: None, tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.md").write_text("words")
    (tmp_path / "eval").mkdir()
    (tmp_path / "eval" / "rankproof.yaml").write_text("corpus: ../pages/*.md")
    library = load_project(tmp_path / "eval", environment={}).library()
    assert library is not None
    assert [document.id for document in library.documents] == ["a"]


def test_the_command_line_counts_before_the_environment_and_that_before_the_file(load: Load) -> None:
    text = "gold: file.csv\npreset: wiki\nmeasures: [MRR]\ncache: c\ngroups: g.tsv"
    environment = dict.fromkeys(ENVIRONMENT, "") | {"RANKPROOF_GOLD": "env.csv", "RANKPROOF_PRESET": "labels"}
    project = load(text, environment=environment, preset="spec", gold=None)
    assert project.settings.gold is not None
    assert project.settings.gold.path == "env.csv"
    assert project.preset.name == "spec"
    assert [str(one) for one in project.measures] == ["RR"]
    assert project.cache == Path("c")


def test_each_variable_stands_in_for_its_key(load: Load, tmp_path: Path) -> None:
    environment = {
        "RANKPROOF_GOLD": "g.csv",
        "RANKPROOF_CORPUS": "docs",
        "RANKPROOF_GROUPS": "groups.tsv",
        "RANKPROOF_PRESET": "wiki",
        "RANKPROOF_MEASURES": "nDCG@5 RR",
        "RANKPROOF_CACHE": str(tmp_path.parent / "kept"),
    }
    assert environment.keys() == ENVIRONMENT.keys()
    assert set(ENVIRONMENT.values()) <= Settings.model_fields.keys()
    project = load("corpus: {path: x.csv, format: csv, chunk: {by: size}, columns: {id: a}}", environment=environment)
    assert project.settings.gold is not None
    assert project.settings.corpus is not None
    assert (project.settings.gold.path, project.settings.groups, project.preset.name) == ("g.csv", "groups.tsv", "wiki")
    assert [str(one) for one in project.measures] == ["nDCG@5", "RR"]
    # Whoever sets the variable may choose any folder.
    assert project.cache == tmp_path.parent / "kept"
    # The chunks stay as the file has them; its format was that of another file.
    corpus = project.settings.corpus
    assert (corpus.path, corpus.format, corpus.columns) == ("docs", None, None)
    assert corpus.chunk is not None
    assert corpus.chunk.by == "size"


def test_a_variable_may_say_that_nothing_is_kept(load: Load) -> None:
    assert load("cache: c", environment={"RANKPROOF_CACHE": "false"}).cache is None


def test_paths_of_variables_start_from_the_current_folder(fake_stages: None, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "rankproof.yaml").write_text("gold: x.csv")
    (folder / "g.csv").write_text("query,ideal_page\na,b\n")
    project = load_project("sub", environment={"RANKPROOF_GOLD": "g.csv"})
    assert project.settings.gold is not None
    assert project.settings.gold.path == "../g.csv"
    assert len(project.gold()) == 1


def test_a_fault_of_a_variable_names_the_variable(faults: Faults) -> None:
    environment = {"RANKPROOF_PRESET": "trec_evl", "RANKPROOF_MEASURES": "ndgc"}
    assert faults("preset: wiki", environment=environment) == [
        "rankproof.yaml: RANKPROOF_MEASURES: There is no measure called 'ndgc'. Did you mean 'nDCG' or 'Rndcg'?",
        "rankproof.yaml: RANKPROOF_PRESET: There is no preset called 'trec_evl'. Did you mean 'trec_eval' or "
        "'trec_eval-c'?",
    ]


def test_only_known_keys_can_be_given(load: Load) -> None:
    with pytest.raises(UnknownName, match=r"'glod'. Did you mean 'gold'"):
        load("preset: wiki", glod="x")


def test_the_file_is_looked_for_in_the_folders_above(folder: Path) -> None:
    deep = folder / "a" / "b"
    deep.mkdir(parents=True)
    (folder / "rankproof.yaml").write_text("preset: wiki")
    assert find_project(deep) == folder.resolve() / "rankproof.yaml"
    assert find_project(folder / "rankproof.yaml") == folder / "rankproof.yaml"
    assert load_project(deep, environment={}).folder == folder.resolve()


def test_without_a_file_init_is_named(folder: Path) -> None:
    with pytest.raises(
        UsageError, match=r"There is no rankproof.yaml in '\.' or in a folder above it; `rankproof init`"
    ):
        load_project()
    with pytest.raises(UsageError, match="none: there is no such file or folder"):
        load_project("none")


def test_another_ending_is_told(folder: Path) -> None:
    (folder / "rankproof.yml").write_text("preset: wiki")
    with pytest.raises(UsageError, match=r"rankproof.yml is called otherwise than rankproof.yaml; rename it"):
        load_project()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a file that cannot be read")
def test_a_file_that_cannot_be_read_is_told(folder: Path) -> None:
    file = folder / "rankproof.yaml"
    file.write_text("preset: wiki")
    file.chmod(0)
    with pytest.raises(BadProject, match="cannot be read"):
        load_project(environment={})
