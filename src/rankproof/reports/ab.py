"""The A/B as its contract has it: JSON with stable keys, CSV, and traces as JSON lines."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from rankproof.ab import METRICS, AbResult, System
from rankproof.reports.csv import harmless
from rankproof.reports.json import dump
from rankproof.retrieval.pipeline import PipelineRun

SCHEMA_VERSION = 1


def ab_json(found: AbResult) -> str:
    """Both systems, their difference (B − A), and every query in the order of the queries file."""
    systems = {"A": found.first, "B": found.second}
    macro = {name: system.macro() for name, system in systems.items()}
    data = {
        "schema_version": SCHEMA_VERSION,
        "k": found.k,
        "corpus_digest": found.corpus_digest,
        "queries_digest": found.queries_digest,
        "qrels_digest": found.qrels_digest,
        "systems": {
            name: {
                "config_path": system.config_path,
                "config_digest": system.config_digest,
                "metrics": {"macro": macro[name]},
            }
            for name, system in systems.items()
        },
        "delta": {"macro": _minus(macro["B"], macro["A"])},
        "per_query": [_query(qid, found) for qid in found.first.rows],
    }
    return dump(data)


def _query(qid: str, found: AbResult) -> dict[str, Any]:
    one, two = found.first.rows[qid], found.second.rows[qid]
    return {
        "qid": qid,
        "A": {**one.metrics(), "hits": list(one.hits)},
        "B": {**two.metrics(), "hits": list(two.hits)},
        "delta": _minus(two.metrics(), one.metrics()),
    }


def _minus(second: dict[str, float], first: dict[str, float]) -> dict[str, float]:
    # Without a negative zero, which would be written with its sign.
    return {name: second[name] - first[name] + 0.0 for name in METRICS}


def ab_csv(found: AbResult) -> str:
    """One row per query and system; the ids of hits are parted by spaces."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["qid", "system", *METRICS, "hits"])
    for qid in found.first.rows:
        for name, system in (("A", found.first), ("B", found.second)):
            writer.writerow(_csv_row(qid, name, system))
    return out.getvalue()


def _csv_row(qid: str, name: str, system: System) -> list[str]:
    row = system.rows[qid]
    figures = [repr(row.metrics()[metric]) for metric in METRICS]
    return [harmless(qid), name, *figures, harmless(" ".join(row.hits))]


def ab_traces(run: PipelineRun, name: str, *, reason: str, redact: bool, k: int) -> str:
    """One line per query: what each stage returned. The text of the query is left out unless that is asked for."""
    lines = []
    for query, answer in zip(run.queries, run.answers, strict=True):
        data = {
            "schema_version": SCHEMA_VERSION,
            "qid": query.id,
            "system": name,
            "reason": reason,
            "query": "[redacted]" if redact else query.text,
            "stages": [{"stage": step.stage, "doc_ids": list(step.doc_ids[:k])} for step in answer.trail],
            "hits": [{"doc_id": hit.doc_id, "score": hit.score} for hit in answer.hits[:k]],
        }
        lines.append(json.dumps(data, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n")
    return "".join(lines)
