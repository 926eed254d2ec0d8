"""`rankproof gold`: gold sets and those who made them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from rankproof.cli.output import remark, work_progress, write_result
from rankproof.errors import BadInput, NotMeasured, UnknownName, UsageError, count

if TYPE_CHECKING:
    from rankproof.data.corpus import Corpus
    from rankproof.data.gold import GoldSet
    from rankproof.labeling.annotators import Labels
    from rankproof.labeling.merge import Ties, Way

_form = click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
_quiet = click.option("--quiet", is_flag=True, help="No progress and no remarks.")
_listed = click.option(
    "--list", "shown", type=click.IntRange(0), default=20, show_default=True, help="How many to list."
)
_result = click.option("-o", "--output", metavar="FILE", help="Write the result to a file instead of stdout.")


class _Commands(click.Group):
    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] not in self.commands and not args[0].startswith("-"):
            raise UnknownName("command of gold", args[0], self.commands)
        return super().resolve_command(ctx, args)


@click.group(
    "gold", cls=_Commands, invoke_without_command=True, short_help="Check, convert, merge and complete gold sets."
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Check, convert, merge and complete gold sets: queries, and who judged what for them."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@command.command("lint", short_help="Say what is wrong with a gold set.")
@click.argument("gold_file", metavar="GOLD")
@click.argument("corpus", required=False)
@_form
@_result
def lint(gold_file: str, corpus: str | None, form: str, output: str | None) -> None:
    """Say what is wrong with GOLD: queries asked twice, contradictions, nothing relevant, empty texts.

    With CORPUS also: judged documents that it does not have. Ends with exit code 3 if there is a fault.

    \b
    rankproof gold lint gold.csv docs/
    """
    from rankproof.labeling.annotators import read_any_gold
    from rankproof.labeling.lint import lint as find
    from rankproof.reports.gold import lint_json, lint_text

    gold = read_any_gold(gold_file)
    found = find(gold, None if corpus is None else _corpus(corpus))
    write_result((lint_json if form == "json" else lint_text)(gold.source, found), output)
    n = sum(one.is_fault for one in found)
    if n:
        raise BadInput.of(gold.source, f"{count(n, 'fault', 'faults')} in the gold set")


@command.command("convert", short_help="Write a gold set in another format.")
@click.argument("source")
@click.argument("target")
@click.option("--from", "read_as", metavar="FORMAT", help="The format of SOURCE. Default: told by its content.")
@click.option("--to", "write_as", metavar="FORMAT", help="The format of TARGET. Default: told by its ending.")
@_quiet
def convert(source: str, target: str, read_as: str | None, write_as: str | None, quiet: bool) -> None:
    """Write the gold set or judgments in SOURCE as TARGET; what the new format cannot hold is said.

    \b
    rankproof gold convert gold.csv ground-truth.json
    rankproof gold convert ground-truth.json qrels.txt
    """
    from rankproof.labeling.annotators import read_any_gold

    gold = read_any_gold(source, read_as)
    _write_gold(gold, target, quiet, write_as)
    remark(f"{target}: {count(len(gold.qrels), 'judgment', 'judgments')}", quiet)


@command.command("agreement", short_help="Say how far annotators agree.")
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--group-by", "groups_file", metavar="FILE", help="Also per group: a TSV of query and group, or a gold set."
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals.")
@click.option("--resamples", type=int, default=10_000, show_default=True, help="Of the bootstrap over documents.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the resamples.")
@_listed
@_form
@_result
@_quiet
def agreement(
    files: tuple[str, ...], groups_file: str | None, level: float, resamples: int, seed: int, shown: int, form: str,
    output: str | None, quiet: bool,
) -> None:  # fmt: skip
    """Say how far the annotators of FILES agree: journals, folders of them, ground-truth files or judgments.

    Cohen's κ of each pair, plain and weighted, Fleiss' κ and Krippendorff's α of all people, with intervals, and the
    documents that they disagree on.

    \b
    rankproof gold agreement labels/anna.jsonl labels/ben.jsonl
    rankproof gold agreement labels/ --group-by gold.csv
    """
    from rankproof.data.groups import read_groups
    from rankproof.labeling.agreement import find_agreement
    from rankproof.labeling.annotators import read_labels
    from rankproof.reports.gold import agreement_json, agreement_text
    from rankproof.stats.agreement import Bootstrap

    labels = read_labels(files)
    _tell(labels, quiet)
    groups = None if groups_file is None else read_groups(groups_file)
    found = find_agreement(labels, groups=groups, bootstrap=Bootstrap(level, resamples, seed))
    write_result(agreement_json(found) if form == "json" else agreement_text(found, shown=shown), output)


@command.command("merge", short_help="Make one gold set of several annotators' labels.")
@click.argument("files", nargs=-1, required=True)
@click.option("--by", type=click.Choice(["majority", "mean", "adjudicated"]), default="majority", show_default=True)
@click.option(
    "--ties", type=click.Choice(["list", "higher", "lower", "skip"]), default="list", show_default=True,
    help="A document without a majority: listed without a grade, the higher or lower grade, or left out.",
)  # fmt: skip
@click.option("--adjudicator", metavar="FILE", help="With --by adjudicated: labels that override the others.")
@click.option("--with-model", "models", multiple=True, metavar="NAME", help="A model whose labels go in as well.")
@click.option("--queries", metavar="FILE", help="A gold set with the texts and groups, which journals do not have.")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where the gold set is written.")
@_listed
@_form
@_quiet
def merge(
    files: tuple[str, ...], by: str, ties: str, adjudicator: str | None, models: tuple[str, ...], queries: str | None,
    output: str, shown: int, form: str, quiet: bool,
) -> None:  # fmt: skip
    """Make one gold set of the labels in FILES: journals, folders of them, ground-truth files or judgments.

    A ground-truth file (.json) keeps who said what. Annotators who saw different texts under one id are refused.

    \b
    rankproof gold merge labels/ --queries gold.csv -o merged.json
    rankproof gold merge a.json b.json --by adjudicated --adjudicator c.json -o merged.json
    """
    from rankproof.labeling.annotators import read_any_gold, read_labels, with_queries
    from rankproof.labeling.merge import merge as merged
    from rankproof.reports.gold import merge_json, merge_text

    labels = read_labels(files)
    last_word = None
    if adjudicator is not None:
        (last_word,) = _one(read_labels([adjudicator]), adjudicator)
        if last_word.annotator in {one.annotator for one in labels}:
            raise UsageError(f"{last_word.annotator!r} is both annotator and adjudicator; leave out one of the files.")
    _tell([*labels, *([last_word] if last_word else [])], quiet)
    if queries is not None:
        described = read_any_gold(queries)
        labels = with_queries(labels, described)
        last_word = with_queries([last_word], described)[0] if last_word else None
    found = merged(labels, by=cast("Way", by), ties=cast("Ties", ties), adjudicator=last_word, with_models=models)
    _refuse_fractions(found.gold, output)
    _write_gold(found.gold, output, quiet)
    write_result(merge_json(found) if form == "json" else merge_text(found, shown=shown), None)


@command.command("stale", short_help="Say which judgments no longer fit the corpus.")
@click.argument("gold_file", metavar="GOLD")
@click.argument("corpus")
@click.option("--was", metavar="CORPUS", help="The corpus that was judged: tells how much changed, split and merged.")
@click.option("--fix", is_flag=True, help="Write a gold set with the moved documents under their new ids; needs -o.")
@click.option("-o", "--output", metavar="FILE", help="With --fix: where the gold set is written.")
@_listed
@_form
@_quiet
def stale(
    gold_file: str, corpus: str, was: str | None, fix: bool, output: str | None, shown: int, form: str, quiet: bool
) -> None:
    """Say what has become of the judged documents of GOLD in CORPUS: valid, moved, changed, split, merged or gone.

    Ends with exit code 3 if judgments are left that no longer speak of what stands under their id.

    \b
    rankproof gold stale ground-truth.json docs/
    rankproof gold stale gold.csv docs/ --was old-docs/ --fix -o gold-new.csv
    """
    from rankproof.labeling.annotators import read_any_gold
    from rankproof.labeling.stale import find_staleness, fix_moved
    from rankproof.reports.gold import staleness_json, staleness_text

    if fix != (output is not None):
        raise UsageError("--fix goes with -o FILE, where the gold set is written, and the other way round.")
    gold = read_any_gold(gold_file)
    found = find_staleness(gold, _corpus(corpus), was=None if was is None else _corpus(was))
    fixed = fix_moved(gold, found) if fix else None
    if fixed is not None and output is not None:
        _write_gold(fixed.gold, output, quiet)
    text = staleness_json(found, fixed) if form == "json" else staleness_text(found, fixed, shown=shown)
    write_result(text, None)
    left = len(found.stale) - (len(fixed.moved) if fixed is not None else 0)
    if left:
        raise BadInput.of(gold.source, f"{count(left, 'judged document is', 'judged documents are')} stale")


@command.command("next", short_help="Say what to label next.")
@click.argument("gold_file", metavar="GOLD")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "-m", "--measure", default="nDCG@10", show_default=True, metavar="NAME", help="What is to become certain."
)
@click.option("-n", type=click.IntRange(1), default=20, show_default=True, help="How many documents to propose.")
@click.option("--depth", type=click.IntRange(1), help="How deep to look. Default: the measure's cut-off, or 10.")
@click.option(
    "--grades", metavar="G,G…", help="What a document can be given. Default: whole numbers up to the highest."
)
@click.option("--preset", default="default", show_default=True, metavar="NAME", help="The rules for scoring the runs.")
@click.option("--format", "form", type=click.Choice(["text", "json", "tsv"]), default="text", show_default=True)
@_result
@_quiet
def next_up(
    gold_file: str, runs: tuple[str, ...], measure: str, n: int, depth: int | None, grades: str | None, preset: str,
    form: str, output: str | None, quiet: bool,
) -> None:  # fmt: skip
    """Say which unjudged documents of one run, or of two that are compared, are worth labelling next.

    For every completion of the judgments a measure lies between two bounds; documents are ordered by how much a
    judgment brings these together, and with two runs by whether it can change which of them is better.

    \b
    rankproof gold next gold.json bm25.run -m nDCG@10
    rankproof gold next gold.json bm25.run dense.run -m RBP -n 50
    """
    from rankproof.data.run import Run
    from rankproof.labeling.annotators import read_any_gold
    from rankproof.measures.parse import parse_measure
    from rankproof.priorities import Request, find_priorities
    from rankproof.reports.gold import priorities_json, priorities_text
    from rankproof.scoring.rules import preset as rules_of

    gold = read_any_gold(gold_file)
    levels = _levels(grades)
    if levels is None and gold.meta.get("queries") is not None:
        # A file that speaks in words has three grades, whether all of them have been given or not.
        levels = (0.0, 1.0, 2.0)
    request = Request(parse_measure(measure), rules_of(preset), depth, levels, n)
    queries = {query.id: query for query in gold.queries if not query.no_answer}
    names = _names(runs)
    with work_progress("bounds", quiet) as progress:
        found = find_priorities(
            gold.qrels, [Run.read(run) for run in runs], request, queries=list(queries), names=names, progress=progress
        )
    if form == "tsv":
        text = "".join(f"{hole.query_id}\t{hole.doc_id}\n" for hole in found.proposed)
    else:
        text = priorities_json(found) if form == "json" else priorities_text(found, queries)
    write_result(text, output)


@command.command("judge", short_help="Let a model judge, and say how far it agrees with people.")
@click.argument("gold_file", metavar="GOLD")
@click.argument("corpus")
@click.option("--url", required=True, help="The endpoint: …/v1/chat/completions of a server that speaks as OpenAI's.")
@click.option("--model", required=True, metavar="NAME", help="The model; its labels stand under model:NAME.")
@click.option("--prompt", "prompt_file", required=True, metavar="FILE", help="With {query}, {document} and {title}.")
@click.option("--key-env", metavar="NAME", help="The environment variable that holds the key.")
@click.option("--run", "runs", multiple=True, metavar="FILE", help="Also judge the best documents of a run.")
@click.option("--depth", type=click.IntRange(1), default=10, show_default=True, help="With --run: how many of them.")
@click.option(
    "--cache", default=".rankproof/judge", show_default=True, metavar="FOLDER", help="Where answers are kept."
)
@click.option("--no-cache", is_flag=True, help="Ask everything again; keep nothing.")
@click.option("--deadline", type=float, default=60.0, show_default=True, help="Seconds for one request.")
@click.option("--retries", type=click.IntRange(0, 10), default=3, show_default=True, help="Of a request that failed.")
@click.option("--workers", type=click.IntRange(1, 32), default=4, show_default=True, help="Requests at a time.")
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="Where its labels are written, as ground-truth JSON."
)
@_listed
@_form
@_quiet
def judge(
    gold_file: str, corpus: str, prompt_file: str, runs: tuple[str, ...], depth: int, cache: str, no_cache: bool,
    output: str, shown: int, form: str, quiet: bool, model: str, **server: Any,
) -> None:  # fmt: skip
    """Let a model judge the documents that GOLD judges, and those of runs, and say how far it agrees with people.

    Its labels go into a file of their own under the name model:NAME; nothing mixes them with those of people unasked.
    An answer that is no grade is an abstention. A request that fails ends the command with exit code 4.

    \b
    rankproof gold judge gold.json docs/ --url http://localhost:8000/v1/chat/completions \\
      --model my-model --prompt prompt.txt --key-env LLM_KEY -o model.json
    """
    from rankproof.labeling.agreement import find_agreement
    from rankproof.labeling.annotators import labels_of, read_any_gold
    from rankproof.labeling.judge import Prompt, gold_of, questions_of
    from rankproof.labeling.judge import judge as ask
    from rankproof.reports.gold import judged_json, judged_text

    gold, documents = read_any_gold(gold_file), _corpus(corpus)
    prompt = Prompt.read(prompt_file)
    questions, unknown = questions_of(gold, documents, _best_of(runs, depth))
    if unknown:
        remark(f"{count(len(unknown), 'document is', 'documents are')} not in {corpus}: {unknown[0]!r} …", quiet)
    with _completing(model, server) as complete, work_progress(model, quiet) as progress:
        found = ask(
            questions, complete, model=model, prompt=prompt, cache=None if no_cache else Path(cache),
            workers=server["workers"], progress=progress,
        )  # fmt: skip
    _write_gold(gold_of(found), output, quiet, "ground-truth")
    people = labels_of(gold, _reviewer(gold))
    own = labels_of(gold_of(found), found.annotator)
    common = any(doc in people.grades.get(q, {}) for q, row in own.grades.items() for doc in row)
    agreement_found = find_agreement([people, own]) if common else None
    text = judged_json(found, agreement_found) if form == "json" else judged_text(found, agreement_found, shown=shown)
    write_result(text, None)
    failed = found.of("failed")
    if failed:
        raise NotMeasured(
            f"{count(len(failed), 'document', 'documents')} got no answer; the first because: {failed[0].reason}."
            " Run it again: what was answered is kept."
        )


def _corpus(path: str) -> Corpus:
    from rankproof.retrieval.corpora import CorpusFiles, read_documents

    return read_documents(CorpusFiles(path), Path())


def _tell(labels: list[Labels], quiet: bool) -> None:
    for one in labels:
        remark(f"{one.source}: {count(len(one), 'label', 'labels')} of {one.annotator}", quiet)


def _one(labels: list[Labels], path: str) -> list[Labels]:
    if len(labels) != 1:
        raise UsageError(f"{path} holds the labels of {len(labels)} annotators; the last word is one person's.")
    return labels


def _names(paths: tuple[str, ...]) -> list[str]:
    short = [Path(path).name for path in paths]
    return short if len(set(short)) == len(short) else list(paths)


def _levels(text: str | None) -> tuple[float, ...] | None:
    if text is None:
        return None
    try:
        return tuple(sorted({float(part) for part in text.split(",")}))
    except ValueError:
        raise UsageError(f"--grades takes numbers parted by commas, as in 0,1,2; {text!r} is not.") from None


def _refuse_fractions(gold: GoldSet, path: str) -> None:
    from rankproof.data.formats.ground_truth import GRADES

    odd = [grade for row in gold.qrels.to_dict().values() for grade in row.values() if grade not in GRADES.values()]
    if path.endswith(".json") and odd:
        raise UsageError(
            f"A ground-truth file has words for the grades {', '.join(map(str, sorted(GRADES.values())))} and none for"
            f" {odd[0]:g}; write judgments instead (-o merged.tsv)."
        )


def _write_gold(gold: GoldSet, path: str, quiet: bool, write_as: str | None = None) -> None:
    """Write a gold set, or its judgments alone where the format holds no more, and say what is lost."""
    from rankproof.data.formats import writers

    def suits(noun: Any) -> bool:
        every = writers(noun)
        return any(path.endswith(one.suffixes) if write_as is None else one.format == write_as for one in every)

    if suits("gold") or not suits("qrels"):
        gold.write(path, format=write_as)
    else:
        gold.qrels.write(path, format=write_as)
        lost = [what for what, there in _more_than_judgments(gold) if there]
        if lost:
            remark(f"{path}: this format holds judgments alone; {', '.join(lost)} are not in it", quiet)
        return
    if not path.endswith(".json") and _tells_of_results(gold):
        remark(f"{path}: this format does not hold who judged, headers and digests; a .json file does", quiet)


def _more_than_judgments(gold: GoldSet) -> list[tuple[str, bool]]:
    return [
        ("texts", any(query.text for query in gold.queries)),
        ("groups", any(query.group for query in gold.queries)),
        ("notes", any(query.notes for query in gold.queries)),
        ("queries without an answer", any(query.no_answer for query in gold.queries)),
        ("who judged, headers and digests", _tells_of_results(gold)),
    ]


def _tells_of_results(gold: GoldSet) -> bool:
    return any(extra.get("results") for extra in gold.meta.get("queries", {}).values())


def _reviewer(gold: GoldSet) -> str:
    reviewer = gold.meta.get("reviewer")
    return reviewer if isinstance(reviewer, str) and reviewer else "people"


def _best_of(runs: tuple[str, ...], depth: int) -> dict[str, list[str]]:
    """Query → the best documents of each run, ties by id."""
    from rankproof.data.run import Run

    best: dict[str, list[str]] = {}
    for path in runs:
        for query_id, row in Run.read(path).to_dict().items():
            ranked = sorted(row, key=lambda doc: (-row[doc], doc))
            best.setdefault(query_id, []).extend(ranked[:depth])
    return best


@contextmanager
def _completing(model: str, server: dict[str, Any]) -> Iterator[Callable[[str], str]]:
    """A function that asks the server, temperature 0, and gives the text of its answer."""
    from pydantic import ValidationError

    from rankproof.data.json_text import shown
    from rankproof.retrieval.stage import Place
    from rankproof.retrieval.stages.http import Endpoint, json_body
    from rankproof.retrieval.web import Request

    given = {name: server[name] for name in ("url", "key_env", "deadline", "retries")}
    try:
        endpoint = Endpoint.model_validate(given)
    except ValidationError as exc:
        first = exc.errors(include_input=False, include_url=False)[0]
        raise UsageError(f"--{first['loc'][0] if first['loc'] else 'url'}: {first['msg']}") from None
    what = f"The model {model!r}"
    web = endpoint.web(Place(Path()), what=what, key_header=endpoint.key_header, connections=server["workers"])()

    def complete(prompt: str) -> str:
        body = {"model": model, "messages": [{"role": "user", "content": prompt}], "temperature": 0}
        answer = web.fetch_json(Request("POST", endpoint.url, json_body(cast(Any, body)))).value
        try:
            text = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError):
            raise NotMeasured(f"the answer has no choices[0].message.content: {shown(answer)}") from None
        if not isinstance(text, str):
            raise NotMeasured(f"choices[0].message.content is {shown(text)}, not text")
        return text

    try:
        yield complete
    finally:
        web.close()
