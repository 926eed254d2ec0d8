"""The A/B of two configurations, which `rankproof compare --configA … --configB …` runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rankproof.cli.output import remark, stage_progress, write_result
from rankproof.errors import UsageError, count

if TYPE_CHECKING:
    from rankproof.ab import System
    from rankproof.data.corpus import Corpus
    from rankproof.data.gold import Query
    from rankproof.data.qrels import Qrels
    from rankproof.project.dialect import AbConfig
    from rankproof.retrieval.pipeline import PipelineRun, Runner


class AbFiles(NamedTuple):
    """What an A/B is made of."""

    corpus: str | None
    queries: str
    truth: str
    config_a: str
    config_b: str

    @classmethod
    def of(
        cls, corpus: str | None, queries: str | None, truth: str | None, config_a: str | None, config_b: str | None
    ) -> AbFiles:
        """The files, once it is sure that none is missing."""
        given = {"--queries": queries, "--truth": truth, "--configA": config_a, "--configB": config_b}
        missing = [option for option, value in given.items() if value is None]
        if missing or queries is None or truth is None or config_a is None or config_b is None:
            raise UsageError(f"An A/B also needs {' and '.join(missing)}.")
        return cls(corpus, queries, truth, config_a, config_b)


def run_ab(files: AbFiles, k: int, out: str | None, csv_file: str | None, emit_traces: bool, quiet: bool) -> None:
    """Run both configurations, and write the JSON, the CSV and the traces that were asked for."""
    from rankproof.ab import AbResult
    from rankproof.data.corpus import Corpus
    from rankproof.data.gold import GoldSet
    from rankproof.data.qrels import Qrels
    from rankproof.project.dialect import read_ab_config
    from rankproof.reports.ab import ab_csv, ab_json
    from rankproof.retrieval.digest import digest_of_corpus, digest_of_file

    configs = [read_ab_config(path, k) for path in (files.config_a, files.config_b)]
    queries = GoldSet.read(files.queries).queries
    qrels = Qrels.read(files.truth)
    corpus = None if files.corpus is None else Corpus.read(files.corpus)
    remark(f"{count(len(queries), 'query', 'queries')}, {count(len(qrels), 'judgment', 'judgments')}", quiet)
    sides = [_side(config, corpus, queries, qrels, k, quiet) for config in configs]
    corpus_path = None if files.corpus is None else Path(files.corpus)
    found = AbResult(
        k=k,
        corpus_digest=(
            None if corpus is None or corpus_path is None
            else digest_of_file(corpus_path) if corpus_path.is_file() else digest_of_corpus(corpus)
        ),
        queries_digest=digest_of_file(Path(files.queries)),
        qrels_digest=digest_of_file(Path(files.truth)),
        first=sides[0][0],
        second=sides[1][0],
    )  # fmt: skip
    if emit_traces:
        for name, config, (_, run) in zip("AB", configs, sides, strict=True):
            _trace(name, config, run, k, out, quiet)
    if csv_file is not None:
        write_result(ab_csv(found), csv_file)
    write_result(ab_json(found), out)


def _side(
    config: AbConfig, corpus: Corpus | None, queries: tuple[Query, ...], qrels: Qrels, k: int, quiet: bool
) -> tuple[System, PipelineRun]:
    from rankproof.ab import System, ab_rows
    from rankproof.retrieval.digest import digest_of
    from rankproof.retrieval.pipeline import Runner
    from rankproof.retrieval.stage import Library, Place

    library = None if corpus is None else Library(corpus, corpus)
    with stage_progress(quiet) as progress:
        runner: Runner = Runner(config.pipelines, Place(config.folder, library, progress=progress))
        run = runner.run(config.use, queries)
    return System(config.path, digest_of(runner.config(config.use)), ab_rows(run, qrels, k)), run


def _trace(name: str, config: AbConfig, run: PipelineRun, k: int, out: str | None, quiet: bool) -> None:
    from rankproof.reports.ab import ab_traces

    if config.trace_reason is None:
        gates = "perf.enabled, perf.metrics.report_memory, and t2.quality.shadow or t2.quality.enabled"
        remark(f"{config.path}: no traces of {name}; they need {gates}", quiet)
        return
    beside = Path(out).parent if out not in (None, "-") else Path()
    folder = beside / "traces" if config.trace_dir is None else config.folder / config.trace_dir
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"rq_{name}.jsonl"
    write_result(ab_traces(run, name, reason=config.trace_reason, redact=config.redact, k=k), str(path))
    remark(f"traces of {name} are in {path}", quiet)
