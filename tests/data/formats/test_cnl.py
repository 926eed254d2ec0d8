"""Stories: what a line is, what a scene is, what its text is, and what is wrong with a file."""

from __future__ import annotations

import gzip
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof.data.corpus import Corpus, Document
from rankproof.data.formats.cnl import IMPLICIT_SCENE, World, parse_cnl
from rankproof.errors import BadInput, NothingToEvaluate, UnknownName
from tests.data.formats.conftest import Save

STORY = """\
// A story
Anna is protagonist
#hint annotations are comments too
"Part One" group begin
  Sc1 group begin
    Sc1 includes character Anna
    Sc1 describes "A storm gathers."   // over the sea
    Sc1 describes "She says \\"go\\"."
  Sc1 group end
  Sc2 group begin
    Anna has trait courage
    Marcus meets Anna at Village
    Anna warns Marcus
  Sc2 group end
"Part One" group end
"""


def texts(story: str) -> dict[str, str]:
    world = parse_cnl(story)
    return {scene.id: scene.text for scene in world.scenes}


def faults(story: str | bytes) -> list[tuple[int | None, str]]:
    with pytest.raises(BadInput) as raised:
        parse_cnl(story, "s.cnl")
    assert {fault.source for fault in raised.value.faults} == {"s.cnl"}
    return [(fault.line, fault.message) for fault in raised.value.faults]


def scene(name: str, *lines: str) -> str:
    return "\n".join([f"{name} group begin", *lines, f"{name} group end"])


def test_a_story_is_its_scenes_in_order() -> None:
    world = parse_cnl(STORY)
    assert world.ordered_ids == ["Sc1", "Sc2"]
    assert world.scene_text("Sc1") == 'A storm gathers.\nShe says "go".'
    assert world.scene_text("Sc2") == "Marcus meets Anna at Village. Anna warns Marcus."
    assert [(one.line, one.within) for one in world.scenes] == [(5, "Part One"), (10, "Part One")]


def test_an_unknown_scene_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"There is no scene called 'Scc2'. Did you mean 'Sc2'"):
        parse_cnl(STORY).scene_text("Scc2")


def test_it_is_a_corpus_whose_documents_are_scenes_without_a_title(save: Save) -> None:
    corpus = Corpus.read(save("a.cnl", scene("Sc1", 'Sc1 describes "Storm."')))
    assert corpus.documents == (Document("Sc1", "Storm.", "", {"line": 1}),)


def test_packed_or_without_suffix_or_with_windows_line_ends_it_is_the_same(save: Save) -> None:
    expected = Corpus.read(save("a.cnl", STORY)).documents
    assert Corpus.read(save("a.cnl.gz", gzip.compress(STORY.encode()))).documents == expected
    assert Corpus.read(save("story", STORY)).documents == expected
    assert Corpus.read(save("b.cnl", b"\xef\xbb\xbf" + STORY.replace("\n", "\r\n").encode())).documents == expected
    assert Corpus.read(save("c.cnl", STORY.replace("\n", "\r"))).documents == expected


def test_a_comment_begins_at_two_slashes_but_not_inside_a_text() -> None:
    story = scene("Sc1", '  // Sc1 describes "no"', 'Sc1 describes "see http://x" // no', "# Anna meets Marcus")
    assert texts(story) == {"Sc1": "see http://x"}
    assert texts(scene("Sc1", "Anna meets Marcus// no")) == {"Sc1": "Anna meets Marcus."}


def test_a_sign_behind_the_first_word_is_no_comment() -> None:
    assert texts(scene("Sc1", "Anna meets Marcus #2")) == {"Sc1": "Anna meets Marcus #2."}


@pytest.mark.parametrize(
    ("written", "meant"),
    [(r'"a \"b\" c"', 'a "b" c'), (r'"a\\"', "a\\"), (r'"a\n"', r"a\n"), ('""', ""), ('"ä // #"', "ä // #")],
)
def test_a_text_in_quotes_is_one_token_with_escaped_quotes(written: str, meant: str) -> None:
    assert texts(scene("Sc1", f"Sc1 describes {written}", "Anna meets Marcus")) == {"Sc1": meant}


@pytest.mark.parametrize(
    "name",
    ["Sc1", "Scene 1.1", "Ch1.Sc2", "Ch1_Sc2", "Scene_3", "Sc.4", "Sc 5", "scene12", "Part 2 Scene 3", "Ch1/Sc10"],
)
def test_a_group_is_a_scene_by_its_name(name: str) -> None:
    assert parse_cnl(scene(f'"{name}"', "Anna meets Marcus")).ordered_ids == [name]


@pytest.mark.parametrize("name", ["Disc1", "Obscene 3", "Scene", "Sc", "Scene one", "Sc1 b", "Ch1", "Sc1.Beat"])
def test_any_other_name_makes_no_scene(name: str) -> None:
    assert parse_cnl(scene(f'"{name}"', "Anna meets Marcus")).ordered_ids == [IMPLICIT_SCENE]


@pytest.mark.parametrize(
    "line", ["Opening has type scene", "it has type scene", "has type scene", 'x has type "scene"']
)
def test_a_group_is_a_scene_if_it_says_so_inside(line: str) -> None:
    story = scene("Ch1", scene("Opening", "Anna meets Marcus", line))
    assert texts(story) == {"Opening": "Anna meets Marcus."}


def test_a_chapter_may_say_it_of_a_group_in_it() -> None:
    story = scene("Ch1", "Opening has type scene", scene("Opening", "Anna meets Marcus"), "Anna leaves Village")
    assert texts(story) == {"Opening": "Anna meets Marcus."}


@pytest.mark.parametrize("line", ["Opening has type chapter", "Opening has type scene of farewell"])
def test_another_type_makes_no_scene(line: str) -> None:
    assert parse_cnl(scene("Opening", line)).ordered_ids == [IMPLICIT_SCENE]


def test_scenes_are_ordered_depth_first() -> None:
    story = scene("A", scene("Sc3", scene("Sc1", "x is y"), scene("B", scene("Sc9", "x is y"))), scene("Sc2", "x is y"))
    assert parse_cnl(story).ordered_ids == ["Sc3", "Sc1", "Sc9", "Sc2"]


def test_lines_of_a_nested_scene_belong_to_it_only_and_those_of_another_group_to_the_scene_around() -> None:
    inner = scene("Sc2", 'Sc2 describes "Inner."')
    story = scene(
        "Sc1", 'Sc1 describes "Before."', inner, scene("Beat", 'Beat describes "Beat."'), 'x describes "After."'
    )
    assert texts(story) == {"Sc1": "Before.\nBeat.\nAfter.", "Sc2": "Inner."}


def test_a_story_without_scenes_is_one_scene() -> None:
    story = 'Anna is hero\nAnna meets Marcus\nCh1 group begin\nMarcus leaves "the Village"\nCh1 group end\n'
    assert texts(story) == {"Document": "Anna meets Marcus. Marcus leaves the Village."}


def test_what_stands_outside_every_scene_is_in_no_text_and_told() -> None:
    world = parse_cnl('World describes "All."\nAnna meets Marcus\n' + scene("Sc1", "Anna meets Edda"))
    assert (world.ordered_ids, world.scene_text("Sc1"), world.loose) == (["Sc1"], "Anna meets Edda.", (1,))


@pytest.mark.parametrize(
    "line",
    [
        "Anna is protagonist",
        "Anna has trait courage",
        "Sc1 includes character Anna",
        "Anna relates to Marcus as friend",
        "Anna owns sword",
        "Sc1 references @Anna",
        "Sc1 requires mood dark",
        "Sc1 forbids violence",
        "Anna must survive",
        "Sc1 describes",
    ],
)
def test_what_only_is_declared_is_no_event(line: str) -> None:
    assert texts(scene("Sc1", line)) == {"Sc1": ""}


def test_an_event_is_a_sentence_that_ends_once() -> None:
    assert texts(scene("Sc1", 'Anna shouts "Fire!"', "Marcus runs")) == {"Sc1": "Anna shouts Fire! Marcus runs."}


def test_a_description_without_quotes_is_its_words() -> None:
    assert texts(scene("Sc1", "Sc1 describes storm at sea")) == {"Sc1": "storm at sea"}


def test_keywords_have_any_case_and_a_quoted_word_is_none() -> None:
    assert texts('Sc1 GROUP Begin\nSc1 Describes "Storm."\nSc1 Group END') == {"Sc1": "Storm."}
    assert texts('Anna sees group "begin"') == {"Document": "Anna sees group begin."}


@pytest.mark.parametrize("story", ["", "// nothing\n\n# at all\n"])
def test_a_story_that_says_nothing_has_no_scene(save: Save, story: str) -> None:
    assert parse_cnl(story) == World((), "story")
    with pytest.raises(NothingToEvaluate):
        Corpus.read(save("a.cnl", story))


def test_an_unterminated_string_is_told_with_its_line_and_column() -> None:
    (found,) = faults(scene("Sc1", 'Sc1 describes "A storm'))
    assert found == (
        2,
        r"the text that begins at column 15 has no end; end it on the same line, and write \" for a quote inside it",
    )
    assert faults('Anna says "no\\"')[0][0] == 1


def test_an_end_without_a_begin_is_told_with_what_is_open() -> None:
    assert faults("Sc1 group end") == [(1, "'Sc1' ends here and did not begin; no group is open")]
    assert faults("Sc1 group begin\nSc2 group end\nSc1 group end")[0] == (
        2,
        "'Sc2' ends here and did not begin. Did you mean 'Sc1'?",
    )


def test_an_unclosed_group_is_told_where_it_begins() -> None:
    message = "the group 'Ch1' begins here and does not end; write its end"
    assert faults("\nCh1 group begin\nAnna meets Marcus\n") == [(2, message)]
    assert faults("Sc1 group begin\nCh1 group begin\nSc1 group end\n") == [(2, message)]


def test_two_scenes_of_one_name_are_told_with_both_lines() -> None:
    story = scene("Ch1", scene("Sc1", "a b")) + "\n" + scene("Ch2", scene("Sc1", "a b"))
    assert faults(story) == [
        (7, "two scenes are called 'Sc1' (first on line 2); give each its own name, such as Ch2.Sc1")
    ]


def test_two_groups_of_one_name_that_are_no_scenes_are_fine() -> None:
    assert texts(scene("Sc1", scene("Beat", "a meets b"), scene("Beat", "c meets d"))) == {
        "Sc1": "a meets b. c meets d."
    }


def test_a_name_of_several_words_needs_quotes() -> None:
    (begin, end) = faults("Scene 1 group begin\nScene 1 group end")
    assert begin == (1, 'a name of several words stands in quotes: "Scene 1" group begin')
    assert end[0] == 2


@pytest.mark.parametrize("line", ["group begin", '"" group begin', '" " group end'])
def test_a_group_needs_a_name(line: str) -> None:
    assert faults(line)[0][1].startswith("the group has no name")


def test_a_word_alone_is_no_statement() -> None:
    assert faults("Storm") == [(1, "'Storm' alone says nothing; a line is `Subject verb objects…`")]


def test_everything_that_is_wrong_is_told_at_once() -> None:
    story = b'Sc1 group begin\nAnna says "x\nSc9 group end\nAnna\nbad \xff line\nCh1 group begin\nSc1 group end\n'
    assert sorted(line or 0 for line, _ in faults(story)) == [2, 3, 4, 5, 6]


def test_a_thousand_faults_are_counted() -> None:
    with pytest.raises(BadInput) as raised:
        parse_cnl("Storm\n" * 1000)
    assert (len(raised.value.faults), raised.value.more) == (20, 980)


def test_groups_may_be_nested_deeper_than_python_calls_itself() -> None:
    depth = 20_000
    story = "".join(f"Sc{i} group begin\n" for i in range(depth))
    story += "".join(f"Sc{i} group end\n" for i in reversed(range(depth)))
    assert len(parse_cnl(story)) == depth


PIECES = [
    "Sc1",
    "group",
    "begin",
    "end",
    '"',
    "\\",
    "//",
    "#",
    " ",
    "\n",
    "describes",
    "has type scene",
    "ä",
    "\t",
    "Ch",
]


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_any_text_is_a_story_or_told_to_be_none(pieces: list[str]) -> None:
    with suppress(BadInput):
        world = parse_cnl("".join(pieces))
        assert len(set(world.ordered_ids)) == len(world)
