"""Variations and comments of a game: the tree, its form in a record, and what is refused."""

import copy
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mexica_ai as ai
from mexica_ai.analysis.annotate import recorded_evaluations, with_evaluations
from mexica_ai.game import variations
from mexica_ai.game.records import check_record, make_record, position_at, replay
from mexica_ai.game.variations import (
    MAX_COMMENT,
    MAX_DEPTH,
    Line,
    add,
    climb,
    comment,
    fit,
    format_path,
    line_at,
    lines_of,
    merge,
    parse_path,
    remove,
    turns_along,
    walk,
    with_lines,
)
from mexica_ai.io.errors import IllegalActionError, MexicaAIError, NotationError
from mexica_ai.session import Session

TURNS = [("a",), ("b",), ("c",)]
lists_of_turns = st.lists(st.sampled_from(TURNS), max_size=6)
mains = lists_of_turns.map(lambda turns: Line(0, tuple(turns)))


@st.composite
def trees(draw):
    """Return a tree that was grown by adding lines and comments."""
    tree = draw(mains)
    for _ in range(draw(st.integers(0, 6))):
        path, line = draw(st.sampled_from(list(walk(tree))))
        number = draw(st.integers(0, line.end))
        tree, path = add(tree, path, number, draw(lists_of_turns))
        number = draw(st.integers(0, line_at(tree, path).end))
        tree = comment(tree, path, number, draw(st.sampled_from(["", "good", "why?"])))
    return tree


def sequences(tree):
    """Return all beginnings of lines of a tree."""
    return {turns_along(tree, path)[:number] for path, line in walk(tree) for number in range(line.end + 1)}


def as_record(tree):
    return with_lines({"turns": list(map(list, tree.turns))}, tree)


@given(trees())
def test_a_tree_is_written_and_read_again(tree):
    record = json.loads(json.dumps(as_record(tree)))
    variations.check_variations(record.get("variations", []), record["turns"], "$.variations")
    assert lines_of(record) == tree


@given(trees(), st.data())
def test_what_is_added_is_there_and_nothing_else_is_new(tree, data):
    path, line = data.draw(st.sampled_from(list(walk(tree))))
    number, turns = data.draw(st.integers(0, line.end)), tuple(data.draw(lists_of_turns))
    grown, end = add(tree, path, number, turns)
    begin = turns_along(tree, path)[:number]
    assert turns_along(grown, end)[: number + len(turns)] == begin + turns
    new = {begin + turns[:count] for count in range(len(turns) + 1)}
    assert sequences(grown) == sequences(tree) | new
    assert grown.turns == tree.turns
    # A line that was put in before others changes the paths of those, but not of the line that it leaves.
    assert add(grown, climb(tree, path, number), number, turns)[0] == grown
    variations.check_variations(as_record(grown).get("variations", []), as_record(grown)["turns"], "$")


@given(trees(), trees())
def test_a_merged_tree_has_the_lines_and_comments_of_both(tree, other):
    both = merge(tree, other)
    assert sequences(both) == sequences(tree) | sequences(other)
    assert merge(both, other) == both == merge(both, tree)
    assert merge(tree, tree) == tree
    texts = " ".join(text for _, line in walk(both) for text in (line.comment, *line.comments))
    for _, line in walk(other):
        assert all(text in texts for text in (line.comment, *line.comments))
    variations.check_variations(as_record(both).get("variations", []), as_record(both)["turns"], "$")


@given(trees(), st.data())
def test_removing_takes_what_comes_after_a_place_and_nothing_else(tree, data):
    if not tree.variations:
        return
    path, line = data.draw(st.sampled_from(list(walk(tree))[1:]))
    number = data.draw(st.integers(0, line.end))
    gone = turns_along(tree, path)[: max(number, line.at) + 1]
    left = remove(tree, path, number)
    if number > line.at:  # what leaves the line at the place goes, too
        after = {turns for turns in sequences(tree) if turns[:number] == gone[:number] and len(turns) > number}
    else:
        after = {turns for turns in sequences(tree) if turns[: len(gone)] == gone}
    assert sequences(left) == sequences(tree) - after
    variations.check_variations(as_record(left).get("variations", []), as_record(left)["turns"], "$")


@given(trees(), lists_of_turns)
def test_a_tree_fits_a_game_that_goes_another_way(tree, turns):
    turns = tuple(turns)
    fitted = fit(tree, turns)
    assert fitted.turns == turns
    assert fit(tree, tree.turns) == tree
    common = 0
    while common < min(len(turns), len(tree.turns)) and turns[common] == tree.turns[common]:
        common += 1
    expected = {turns[:count] for count in range(len(turns) + 1)}
    for path, _ in walk(tree):
        if path and tree.variations[path[0]].at <= common:
            along = turns_along(tree, path)
            expected |= {along[:count] for count in range(len(along) + 1)}
    assert sequences(fitted) == expected


@given(trees())
def test_a_comment_is_set_where_it_is_asked_for(tree):
    for path, line in walk(tree):
        for number in range(line.end + 1):
            changed = comment(tree, path, number, "new")
            place = path if number == line.at else climb(tree, path, number)
            assert line_at(changed, place).comment_on(number) == "new"
            old = line_at(tree, place).comment_on(number)
            assert comment(changed, path, number, old) == tree


def test_paths_have_names():
    for path, name in (((), ""), ((1,), "2"), ((0, 2), "1.3")):
        assert format_path(path) == name
        assert parse_path(name) == path
    for text in ("0", "1.", ".1", "1,2", "x", "-1", "1" * 9, "\u0661"):
        with pytest.raises(NotationError, match=r"expected a number such as 2 or 2\.1"):
            parse_path(text)


def test_places_that_are_not_there_are_refused():
    tree, path = add(Line(0, (("a",), ("b",))), (), 1, [["c"]])
    assert path == (0,)
    with pytest.raises(NotationError, match=r"there is no line 2; expected one of the 1 variations of the game"):
        line_at(tree, (1,))
    with pytest.raises(NotationError, match=r"there is no line 1\.1; expected one of the 0 variations of line 1"):
        remove(tree, (0, 0))
    with pytest.raises(NotationError, match="given 3; expected 0 to 2"):
        add(tree, (0,), 3, [["a"]])
    with pytest.raises(NotationError, match="expected a variation"):
        remove(tree, ())
    with pytest.raises(NotationError, match="expected 10,000 at most"):
        comment(tree, path, 2, "x" * (MAX_COMMENT + 1))
    assert comment(tree, (), 0, "x" * (MAX_COMMENT + 1)).comment  # as in records


def test_a_tree_is_not_too_deep_and_not_too_large(monkeypatch):
    tree, path = add(Line(0, (("a",),)), (), 0, [["b"], ["b"], ["b"]])
    while len(path) < MAX_DEPTH:
        number = line_at(tree, path).end - 1
        tree, path = add(tree, path, number, [["c", str(number)], ["b"]])
    with pytest.raises(NotationError, match="within 16 others") as caught:
        add(tree, path, line_at(tree, path).end - 1, [["d"]])
    assert caught.value.reason == "TOO_DEEP"
    monkeypatch.setattr(variations, "MAX_TURNS", 10)
    with pytest.raises(NotationError, match="more than 10 turns"):
        add(Line(0), (), 0, [["a"]] * 11)


# --- in records


@pytest.fixture
def record():
    """Return the record of a finished game of nim with variations."""
    position = ai.new_game("nim", piles=[1, 2])
    for turn in (["take 1 2"], ["take 1 1"], ["take 1 2"]):
        position.push(turn)
    tree = lines_of(make_record(position, comment="short", comments=["! good", "", ""]))
    tree, path = add(tree, (), 0, [["take 2 2"], ["take 1 1"]])
    tree = comment(comment(tree, path, 0, "else"), path, 2, "lost")
    tree, _ = add(tree, (), 1, [["take 1 2"], ["take 1 1"]])
    return with_lines(make_record(position), tree)


def test_a_record_has_variations(record):
    assert record["variations"] == [
        {"at": 0, "turns": [["take 2 2"], ["take 1 1"]], "comment": "else", "comments": ["", "lost"]},
        {"at": 1, "turns": [["take 1 2"], ["take 1 1"]]},
    ]
    assert (record["comment"], record["comments"]) == ("short", ["! good", "", ""])
    assert replay(record).winners == replay(json.dumps(record)).winners == [0]
    assert position_at(record, 1, line=(0,)).to_json()["piles"] == [1, 0]
    assert position_at(record, 2, line=(1,)).to_json()["piles"] == [1, 0]
    assert position_at(record, 2).to_json()["piles"] == [0, 1]
    with pytest.raises(NotationError, match="given turn 3; expected 0 to 2, the turns of the line"):
        position_at(record, 3, line=(0,))
    with pytest.raises(NotationError, match="there is no line 3"):
        position_at(record, 0, line=(2,))


def refused(record):
    with pytest.raises(MexicaAIError) as caught:
        replay(record)
    return caught.value


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"at": -1}, r"$.variations[0].at: given -1; expected 0 to 3, ascending"),
        ({"at": 2}, r"$.variations[1].at: given 1; expected 2 to 3, ascending"),
        ({"at": "0"}, r'$.variations[0].at: given "0"; expected an integer'),
        ({"turns": []}, r"$.variations[0].turns: given none; expected one turn at least"),
        ({"turns": [["take 1 2"]]}, r"$.variations[0].turns[0]: given the turn of the line itself; expected another"),
        ({"turns": "x"}, r'$.variations[0].turns: given "x"; expected a list'),
        ({"comments": ["a"]}, r"$.variations[0].comments: has 1 entries; expected one for each of the 2 turns"),
        ({"comment": "x" * 10_001}, r"$.variations[0]: has a longer comment; expected 10,000 characters at most"),
        ({"coment": "x"}, r'$.variations[0].coment: unknown key "coment"; expected only at, turns, comment'),
        ({"turns": [["take 9 1"], ["take 1 1"]]}, r"$.variations[0].turns[0][0]: "),
        ({"turns": [["take 1 1"], ["take 1 1"]]}, r"$.variations[0].turns[1][0]: "),
        (
            {"variations": [{"at": 0, "turns": [["take 1 2"]]}]},
            r"$.variations[0].variations[0].at: given 0; expected 1",
        ),
        (
            {"variations": [{"at": 2, "turns": [["take 1 2"]]}]},
            r"$.variations[0].variations[0].at: given 2; expected 1",
        ),
        ({"variations": [{"at": 1, "turns": [["take 1 2"]]}]}, r"$.variations[0].variations[0].turns[0][0]: "),
    ],
)
def test_what_is_no_variation_is_refused(record, change, problem):
    record["variations"][0].update(change)
    error = refused(record)
    assert str(error).startswith(problem)
    assert error.turn_index is None


def test_two_variations_that_begin_alike_are_refused(record):
    record["variations"][1] = copy.deepcopy(record["variations"][0])
    assert "$.variations[1].turns[0]: another variation begins so" in str(refused(record))


def test_deep_and_large_records_are_refused(record, monkeypatch):
    deep = {"at": 0, "turns": [["take 2 2"], ["take 1 1"]]}
    for at in range(MAX_DEPTH, 0, -1):
        deep = {"at": at - 1, "turns": [["take 1 1"], [f"take 2 {at}"], ["x"]], "variations": [deep | {"at": at}]}
    record["variations"] = [deep]
    error = refused(record)
    assert error.reason == "TOO_DEEP", error
    for _ in range(3000):
        deep = {"at": 0, "turns": [["take 2 2"], ["take 1 1"]], "variations": [deep]}
    record["variations"] = [deep]
    assert isinstance(refused(record), NotationError)
    monkeypatch.setattr(variations, "MAX_TURNS", 1)
    record["variations"] = [{"at": 0, "turns": [["take 2 2"], ["take 1 1"]]}]
    assert refused(record).reason == "TOO_MANY_TURNS"


def test_evaluations_leave_variations_as_they_are(record):
    record |= {"evaluations": {"time_s": None, "iterations": None, "seed": None, "turns": []}}
    annotated = with_evaluations(record, recorded_evaluations(record), iterations=10)
    assert annotated["variations"] == record["variations"]
    check_record(annotated)


def test_a_session_keeps_the_lines_of_turns_that_are_played(record):
    tree = lines_of(record)
    session = Session(position_at(record, 3), {}, lines=tree)
    found = session.record()
    assert {key: found[key] for key in ("comment", "comments", "variations")} == {
        key: record[key] for key in ("comment", "comments", "variations")
    }
    replay(found)
    session.undo()
    session.undo()
    session.undo()
    assert [one["at"] for one in session.record()["variations"]] == [0]
    session.push(["take 2 2"])
    found = session.record()
    assert found["comments"] == ["else"]
    assert found["variations"] == [{"at": 1, "turns": [["take 1 1"]], "comments": ["lost"]}]
    replay(found)


def test_a_record_cannot_be_made_with_an_illegal_variation():
    position = ai.new_game("nim", piles=[1, 2])
    with pytest.raises(IllegalActionError, match=r"record\.variations\[0\]\.turns\[0\]\[0\]"):
        make_record(position, variations=[{"at": 0, "turns": [["take 2 1"]]}])


@pytest.mark.parametrize("game", ["mexica", "coatl", "tzolkin"])
def test_variations_of_real_games_have_random_events_as_turns(game):
    draw = random.Random(5)
    position = ai.new_game(game, seed=5)
    branch = None
    for number in range(30):
        if number == 12:
            branch = position.copy()
        _play_any(position, draw)
    for _ in range(6):
        _play_any(branch, draw)
    tree, path = add(lines_of(make_record(position)), (), 0, branch.history)
    record = json.loads(json.dumps(with_lines(make_record(position), tree)))
    assert replay(record) == position
    assert path == (0,)
    assert position_at(record, 18, line=path) == branch
    assert record["variations"][0]["at"] >= 12


def _play_any(position, draw):
    if position.is_chance:
        position.draw(draw.randrange(1000))
        return
    while True:
        position.push_action(draw.choice(position.legal_actions()))
        if not position.is_within_turn:
            return
