"""Read the names of measures as the known tools write them."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from rankproof.errors import UnknownName, UsageError
from rankproof.measures.registry import Family, Measure, all_names, by_alias, make_measure

TREC_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
TREC_RECALLS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)

_NAME = re.compile(
    r"(?P<name>[^()@]+?)\s*(?:\((?P<inner>.*)\))?\s*(?:@\s*(?P<k>[0-9.]+))?(?:-l(?P<level>\d+))?",
    re.DOTALL,
)
_TREC = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_-]*?)[_.](?P<numbers>[0-9.]+(?:,[0-9.]+)*)")

_OFFICIAL = """num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P"""
_ALL_TREC = (
    _OFFICIAL
    + " recall infAP gm_bpref Rprec_mult utility 11pt_avg binG G ndcg ndcg_rel Rndcg ndcg_cut map_cut"
    + " relative_P success set_P set_relative_P set_recall set_map set_F num_nonrel_judged_ret"
)
_SETS = {"official": _OFFICIAL.split(), "all_trec": _ALL_TREC.split()}
_EXPANDED: dict[str, tuple[float, ...]] = {
    "p": TREC_CUTOFFS,
    "recall": TREC_CUTOFFS,
    "ndcg_cut": TREC_CUTOFFS,
    "map_cut": TREC_CUTOFFS,
    "relative_p": TREC_CUTOFFS,
    "success": (1, 5, 10),
    "iprec_at_recall": TREC_RECALLS,
    "rprec_mult": (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0),
}


def parse_measure(text: str | Measure | Family) -> Measure:
    """One measure, from its name in our, trec_eval's, ir_measures' or ranx's way of writing."""
    if isinstance(text, Measure):
        return text
    if isinstance(text, Family):
        return make_measure(text, {})
    found = parse_measures([text])
    if len(found) != 1:
        raise UsageError(f"{text!r} stands for {len(found)} measures; name one of them, such as {found[0]}.")
    return found[0]


def parse_measures(texts: str | Measure | Family | Iterable[str | Measure | Family]) -> tuple[Measure, ...]:
    """Measures in the order given, each once; trec_eval's sets and cut-off lists are spread out."""
    if isinstance(texts, (str, Measure, Family)):
        texts = [texts]
    found: dict[Measure, None] = {}
    for text in texts:
        if isinstance(text, str):
            found.update(dict.fromkeys(_read(text)))
        else:
            found[parse_measure(text)] = None
    if not found:
        raise UsageError("No measure is named; say for example nDCG@10.")
    return tuple(found)


@lru_cache(maxsize=1024)
def _read(text: str) -> tuple[Measure, ...]:
    """The measures that a string names; a name once read keeps its meaning, since no other may take it."""
    return tuple(measure for name in _split(text) for measure in _spread(name))


def _split(text: str) -> list[str]:
    """Names in one string, separated by spaces or commas outside parentheses; trec_eval's `P.5,10` stays whole."""
    names = []
    text = re.sub(r"\s*@\s*", "@", text.strip())
    for part in re.split(r"\s+(?![^()]*\))", text):
        names += [part] if _TREC.fullmatch(part) else re.split(r",(?![^()]*\))", part)
    return [name for name in names if name]


def _spread(text: str) -> list[Measure]:
    if text in _SETS:
        return [one for name in _SETS[text] for one in _spread(name)]
    if text.lower() in _EXPANDED and text != "R":
        return [_trec(text, number) for number in _EXPANDED[text.lower()]]
    match = _NAME.fullmatch(text)
    known = by_alias(match["name"]) if match else None
    if match and known:
        own, fixed = known
        given: dict[str, Any] = {**fixed, **_parameters(own, match["inner"])}
        if match["k"]:
            given["k"] = _number(match["k"])
        if match["level"]:
            given |= _level(own, int(match["level"]))
        return [make_measure(own, given)]
    if (trec := _TREC.fullmatch(text)) and by_alias(trec["name"]):
        return [_trec(trec["name"], _number(number)) for number in trec["numbers"].split(",")]
    raise UnknownName("measure", match["name"] if match else text, all_names())


def _trec(name: str, number: float) -> Measure:
    """trec_eval's way: the number behind the name is the cut-off, or the one parameter that the measure has."""
    known = by_alias(name)
    assert known is not None
    own, fixed = known
    if own.name == "RBP" and number >= 1:
        number = float(f"0.{int(number)}")
    if own.name == "SetF":
        # trec_eval's number is the weight itself, the square of what is called beta.
        number = math.sqrt(number)
    slot = {"Rprec": "mult", "SetF": "beta", "RBP": "p"}.get(own.name, "k")
    return make_measure(own, {**fixed, slot: number})


def _parameters(own: Family, inner: str | None) -> dict[str, Any]:
    if not inner or not inner.strip():
        return {}
    try:
        call = ast.parse(f"f({inner})", mode="eval").body
        assert isinstance(call, ast.Call)
        if call.args:
            raise UsageError(f"Write the parameters of {own.name} with their names, such as {own.name}(rel=2).")
        given = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError) as exc:
        raise UsageError(f"The parameters {inner!r} of {own.name} cannot be read; write them like rel=2.") from exc
    return _foreign(given)


def _foreign(given: dict[str, Any]) -> dict[str, Any]:
    """ir_measures' parameter names in our words."""
    if "dcg" in given:
        word = {"log2": "linear", "exp-log2": "exp"}.get(given["dcg"])
        if word is None:
            raise UnknownName("dcg", str(given["dcg"]), ["log2", "exp-log2"])
        del given["dcg"]
        given["gain"] = word
    if "cutoff" in given:
        given["k"] = given.pop("cutoff")
    return given


def _level(own: Family, level: int) -> dict[str, Any]:
    """ranx's `-l2`: a relevance threshold; where gains are graded, those below it are nothing."""
    if "rel" in own.parameters:
        return {"rel": level}
    return {"gains": dict.fromkeys(range(level), 0)}


def _number(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError as exc:
        raise UsageError(f"{text!r} is not a number for a cut-off.") from exc
