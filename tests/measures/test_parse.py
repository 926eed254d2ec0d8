from __future__ import annotations

import pytest

import rankproof

SPELLINGS = {
    # ours and ir_measures'
    "nDCG@10": "nDCG@10",
    "P(rel=2)@5": "P(rel=2)@5",
    "AP": "AP",
    "RR@10": "RR@10",
    "Success@5": "Success@5",
    "RBP(p=0.8)": "RBP(p=0.8)",
    "nDCG(dcg='exp-log2')@10": "nDCG(gain='exp')@10",
    "nDCG(dcg='log2')@10": "nDCG(gain='linear')@10",
    "nDCG(judged_only=True)@10": "nDCG(judged_only=True)@10",
    "Judged@10": "Judged@10",
    "Bpref": "Bpref",
    "IPrec@0.1": "IPrec@0.1",
    # trec_eval's
    "ndcg_cut_10": "nDCG@10",
    "ndcg_cut.10": "nDCG@10",
    "ndcg": "nDCG",
    "recip_rank": "RR",
    "map": "AP",
    "map_cut_5": "AP@5",
    "P_10": "P@10",
    "recall_100": "R@100",
    "success_1": "Success@1",
    "Rprec": "Rprec",
    "bpref": "Bpref",
    "gm_map": "GMAP",
    "iprec_at_recall_0.10": "IPrec@0.1",
    "11pt_avg": "IPrec11",
    "relative_P_5": "P(denominator='attainable')@5",
    "num_rel_ret": "NumRelRet",
    "set_F": "SetF",
    "set_F_4.0": "SetF(beta=2.0)",
    "Rprec_mult_0.20": "Rprec(mult=0.2)",
    # ranx's
    "ndcg@10": "nDCG@10",
    "ndcg_burges@10": "nDCG(gain='exp')@10",
    "hit_rate@5": "Success@5",
    "mrr@10": "RR@10",
    "precision@5": "P@5",
    "recall@5": "R@5",
    "r-precision": "Rprec",
    "rbp.95": "RBP(p=0.95)",
    "f1@10": "F@10",
    "precision@5-l2": "P(rel=2)@5",
    "ndcg@5-l2": "nDCG(gains={0:0,1:0})@5",
    "hits@5": "NumRelRet@5",
    # the seeds'
    "hit@3": "Success@3",
    "mrr": "RR",
    "map@10": "AP@10",
    # case and blanks mean nothing
    "NDCG@10": "nDCG@10",
    "MrR": "RR",
    " nDCG @ 10 ": "nDCG@10",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_names_of_all_tools_are_read(spelling: str) -> None:
    assert str(rankproof.parse_measure(spelling)) == SPELLINGS[spelling]


@pytest.mark.parametrize(
    "spelling, message",
    [
        ("ndgc@10", "There is no measure called 'ndgc'. Did you mean 'nDCG'"),
        ("nDCG(gian='exp')@10", "There is no parameter of nDCG called 'gian'. Did you mean 'gain'"),
        ("nDCG(gain='cubic')", "There is no gain of nDCG called 'cubic'."),
        ("AP(denominator='k')", "There is no denominator of AP called 'k'."),
        ("P(denominator='found')@5", "There is no denominator of P called 'found'."),
        ("RBP(gain='exp')", "There is no gain of RBP called 'exp'."),
        ("P@0", "The cut-off of P is a rank, 1 or more, not 0."),
        ("P@2.5", "The cut-off of P is a rank, 1 or more, not 2.5."),
        ("Judged", "Judged needs a cut-off: write Judged@10."),
        ("Bpref@5", "Bpref has no cut-off"),
        ("nDCG(3)@5", "Write the parameters of nDCG with their names"),
        ("nDCG(gain=)@5", "cannot be read"),
        ("P", "stands for 9 measures"),
        ("", "No measure is named"),
    ],
)
def test_a_wrong_name_is_answered_with_the_way_out(spelling: str, message: str) -> None:
    with pytest.raises(rankproof.UsageError) as caught:
        rankproof.parse_measure(spelling)
    assert message in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_list_may_be_one_string_and_names_each_measure_once() -> None:
    found = rankproof.parse_measures("nDCG@10, AP map P.5,10 nDCG(gains={0:0, 1:5})@3")
    assert [str(m) for m in found] == ["nDCG@10", "AP", "P@5", "P@10", "nDCG(gains={0:0,1:5})@3"]


def test_the_sets_of_trec_eval_are_spread_out_in_its_order() -> None:
    names = [str(m) for m in rankproof.parse_measures("official")]
    assert names[:6] == ["NumQ", "NumRet", "NumRel", "NumRelRet", "AP", "GMAP"]
    assert names[-1] == "P@1000"
    assert len(names) == 9 + 11 + 9


def test_a_family_takes_parameters_and_a_cutoff_like_a_value() -> None:
    from rankproof.measures.ndcg import ndcg

    assert str(ndcg @ 10) == "nDCG@10"
    assert str(ndcg(gain="exp") @ 5) == "nDCG(gain='exp')@5"
    assert ndcg @ 10 == rankproof.parse_measure("ndcg_cut_10")
