"""Scores as trec_eval prints them, so that scripts which read it go on working."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankproof.measures.registry import Measure
from rankproof.scoring.scores import Scores

_PLAIN = {
    "AP": "map", "GMAP": "gm_map", "RR": "recip_rank", "Bpref": "bpref", "GMBpref": "gm_bpref", "nDCG": "ndcg",
    "IPrec11": "11pt_avg", "SetP": "set_P", "SetR": "set_recall", "SetF": "set_F", "SetAP": "set_map",
    "NumQ": "num_q", "NumRet": "num_ret", "NumRel": "num_rel", "NumRelRet": "num_rel_ret",
    "NumNonrelRet": "num_nonrel_judged_ret", "Utility": "utility", "BinG": "binG", "nDCGrel": "ndcg_rel",
}  # fmt: skip
_CUT = {"P": "P", "R": "recall", "nDCG": "ndcg_cut", "AP": "map_cut", "Success": "success"}
_COUNTS = {"NumQ", "NumRet", "NumRel", "NumRelRet", "NumNonrelRet"}
_ONLY_OVERALL = {"NumQ", "GMAP", "GMBpref"}


def scores_trec(scores: Sequence[Scores], *, per_query: bool = False) -> str:
    """Lines of `measure`, padded to 22 characters, query or `all`, and the value with four decimals."""
    return "".join(line for one in scores for line in _lines(one, per_query))


def _lines(scores: Scores, per_query: bool) -> Iterator[str]:
    if per_query:
        for query, values in scores.by_query().items():
            for measure in scores.measures:
                if measure.family not in _ONLY_OVERALL:
                    yield _line(measure, query, values[str(measure)])
    yield f"{'runid':<22}\tall\t{scores.tag or scores.name}\n"
    for measure, value in zip(scores.measures, scores.mean().values(), strict=True):
        yield _line(measure, "all", value)


def _line(measure: Measure, query: str, value: float) -> str:
    shown = f"{value:.0f}" if measure.family in _COUNTS else f"{value:.4f}"
    return f"{trec_name(measure):<22}\t{query}\t{shown}\n"


def trec_name(measure: Measure) -> str:
    """The name of a measure in trec_eval; our own where trec_eval has none."""
    given = dict(measure.parameters)
    k = given.pop("k", None)
    if measure.family == "IPrec" and not given:
        return f"iprec_at_recall_{k:.2f}"
    if measure.family == "Rprec" and set(given) <= {"mult"}:
        return f"Rprec_mult_{given['mult']:.2f}" if "mult" in given else "Rprec"
    if given == {"denominator": "attainable"}:
        if measure.family == "P":
            return f"relative_P_{k}"
        if measure.family == "SetP":
            return "set_relative_P"
    if given:
        return str(measure)
    if k is not None:
        return f"{_CUT[measure.family]}_{k}" if measure.family in _CUT else str(measure)
    return _PLAIN.get(measure.family, str(measure))
