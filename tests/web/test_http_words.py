"""What pages get for people: turns in words, rounds, names of the seats; and what they must not get."""

import json
import random
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from pages import PERSON, PageHere, Process, engine
from played_games import path_of, records_of

import mexica_ai as ai
from cext.core.baselines.simple import random_turn
from mexica_ai.game import registry
from mexica_ai.games.coatl import facts as coatl_facts
from mexica_ai.games.coatl import words as coatl_words
from mexica_ai.games.tzolkin import facts as tzolkin_facts
from mexica_ai.games.tzolkin import words as tzolkin_words
from mexica_ai.io.errors import NotationError
from mexica_ai.io.names import MAX_NAME, read_name
from mexica_ai.table.events import seen_turn
from mexica_ai.table.seats import Seat, names_of
from mexica_ai.web import commands, starts
from mexica_ai.web.telling import Telling


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    process = Process(tmp_path_factory.mktemp("words"))
    yield process
    process.close()


# --- names


def test_players_have_names_of_their_own():
    level, ana = Seat("engine", 5, None, 1.0), Seat(person="Ana")
    assert names_of([Seat(), level]) == ["Player 1", "Level 5"]
    assert names_of([ana, level, Seat("engine", 4, None, 1.0), Seat()]) == ["Ana", "Level 5", "Level 4", "Player 4"]
    assert names_of([level, ana, level]) == ["Level 5 (1)", "Ana", "Level 5 (2)"]
    assert names_of([level, Seat(person="Level 5 (1)"), level]) == ["Level 5 (2)", "Level 5 (1)", "Level 5 (3)"]
    assert names_of([Seat(person="ana"), ana, Seat(person="Player 4"), Seat()]) == [
        "ana (1)",
        "Ana (2)",
        "Player 4 (1)",
        "Player 4 (2)",
    ]
    assert names_of([Seat(person="first"), Seat("engine", None, "first", 1.0)]) == ["first (1)", "first (2)"]


@pytest.mark.parametrize(
    ("given", "name"), [(None, None), ("", None), ("   ", None), ("  Ana   B. ", "Ana B."), ("x" * MAX_NAME, "x" * 24)]
)
def test_a_name_is_kept_without_needless_blanks(given, name):
    assert read_name(given, "seat") == name


@pytest.mark.parametrize(
    "given", ["x" * 25, "a\nb", "a\tb", "a\x00", "\u202eana", "a\u200bb", "a\u2028", "\ud800", "\ue000"]
)
def test_a_name_that_nobody_could_read_is_refused(given):
    with pytest.raises(NotationError, match=r"^seats\[0\]\.name: given .*; expected a name "):
        read_name(given, "seats[0].name")


def test_names_are_shown_and_survive_a_restart(tmp_path):
    with PageHere(tmp_path) as page:
        made = page.new("nim", seats=[{"kind": "person", "name": "Ana <b>"}, engine(2)])
        assert made["names"] == ["Ana <b>", "Level 2"]
        assert [seat["title"] for seat in made["seats"]] == made["names"]
    with PageHere(tmp_path) as page:
        assert page.game(made)["names"] == made["names"]
        (listed,) = page.call("GET", "/api/games")["games"]
        assert [seat["title"] for seat in listed["seats"]] == made["names"]


@pytest.mark.parametrize("theme", ["page", "light"])
def test_records_and_pictures_have_the_names(page, theme):
    seats = [{"kind": "person", "name": "Ana <b>"}, PERSON, engine(2)]
    path = f"/api/games/{page.new('mexica', players=3, seats=seats)['id']}"
    assert page.call("GET", f"{path}/record")["engines"] == ["Ana <b>", "person", "level 2"]
    picture = page.call("GET", f"{path}/at/0/all.svg?theme={theme}")
    texts = list(ElementTree.fromstring(picture).itertext())
    assert {"Ana <b>", "Player 2", "Level 2"} <= set(texts)
    assert not re.search(r"\bseat \d", picture, re.IGNORECASE)


def test_a_bad_name_is_refused_by_name(page):
    data = {"game": "nim", "seats": [PERSON, {"kind": "person", "name": "\u202eana"}]}
    answer = page.call("POST", "/api/games", data, 400)
    assert "request.seats[1].name" in json.dumps(answer)


# --- words


def test_turns_come_in_words_with_their_rounds_and_points(page):
    game = page.call("POST", "/api/games", {"text": path_of("mexica").read_text(), "record": 1}, 201)
    turns = game["turns"]
    assert turns[0]["words"] == "started at H8"
    assert [turn["round"] for turn in turns[:4]] == ["Start", "Start", "Round 1", "Round 1"]
    assert turns[8]["words"] == "canals S7 and S8-S9, teleported to T7, founded 7 at U6 (+4), temple 1 at T8"
    assert turns[33]["words"].endswith("period 1 ended (+38, Player 1 +32)")
    assert turns[0]["steps"] == []  # only the newest are told step by step
    assert turns[-1]["steps"] == ["teleported to H8", "took an action token", "the game ended (+73, Player 1 +65)"]


def test_a_turn_that_is_entered_is_told_step_by_step(page):
    game = page.new("tzolkin", seats=[PERSON] * 2, seed=3, open=True)
    for _ in range(2):
        game = page.play(game, game["entries"][0]["action"])
    data = {"version": game["version"], "viewer": None, "actions": ["place tikal", "place tikal"]}
    entered = page.call("PUT", f"/api/games/{game['id']}/draft", data)
    first, second = (step["words"] for step in entered["draft"]["steps"])
    assert re.fullmatch(r"placed on Tikal \d( for \d corn)?", first)
    assert re.fullmatch(r"placed on Tikal \d for \d corn", second)


def test_hidden_cards_are_not_told(page):
    game = page.new("coatl", seats=[PERSON, engine(1)], seed=5)
    assert game["viewer"] == 0
    game = page.play(game, next(one["action"] for one in game["entries"] if one["action"] == "keep"), viewer=0)
    game = page.await_game(game, lambda now: len(now["turns"]) >= 2 and now["waiting"] == "person", viewer=0)
    own, other = game["turns"][:2]
    assert own["words"] == "kept none"
    assert (other["words"], other["text"]) == ("chose prophecies", "keep")
    assert other["steps"] == ["chose prophecies"]


@pytest.mark.parametrize(("game", "seed"), [("coatl", 1), ("coatl", 2), ("tzolkin", 3)])
def test_no_hidden_card_is_told_in_any_turn(game, seed):
    """Of a game at random, to each seat: what it has not seen of a turn stands in none of its words."""
    kind, rng, position = registry.get(game), random.Random(seed), ai.new_game(game, seed=seed, players=2)
    names = _names_of_cards(game)
    positions, turns = [position.copy()], []
    while not position.is_over and len(turns) < 150:
        if position.is_chance:
            turn = position.copy().draw(rng.getrandbits(30))
        else:
            turn = [kind.text.format_action(number) for number in random_turn(position.state, rng.getrandbits(30))]
        position.push(turn)
        positions.append(position.copy())
        turns.append(list(turn))
    num_hidden = num_told = 0
    for viewer in range(2):
        seen = [seen_turn(before, turn, viewer) for before, turn in zip(positions, turns, strict=False)]
        shown = SimpleNamespace(
            kind=kind,
            positions=positions,
            turns=turns,
            seats=[Seat()] * 2,
            is_open=False,
            seen_turns=lambda _, seen=seen: seen,
        )
        for told, turn in zip(Telling().turns(shown, viewer), turns, strict=True):
            known = set(" ".join(told.turn).split())
            hidden = {word for word in " ".join(turn).split() if word in names} - known
            for words in (told.words, *told.steps):
                assert not [name for name in hidden if name in words or names[name] in words], (told, turn)
            num_hidden += len(hidden)
            num_told += sum(names[name] in told.words for name in known if name in names)
    assert num_hidden >= 2  # else nothing was asked
    assert num_told >= 2


def _names_of_cards(game):
    """Return what cards or tiles that can be hidden are called."""
    if game == "coatl":
        return {name: coatl_words.card(name) for name in (*coatl_facts.PROPHECIES, *coatl_facts.TEMPLES)}
    return {name: tzolkin_words.wealth(name) for name in tzolkin_facts.WEALTH}


def test_points_of_others_in_a_turn_that_is_entered_have_names():
    record = records_of("mexica")[0]
    position = ai.Position.from_json(record["start"])
    for turn in record["turns"][:33]:
        position.push(turn)
    data = {"position": position.to_json(), "seats": [{"kind": "person", "name": "Ana"}, PERSON]}
    game = starts.create(data, names=[], examples={}, find=None)
    game.change(lambda table: commands.enter(table, None, record["turns"][33]))
    assert game.snapshot(None)["draft"]["steps"][-1]["text"].endswith("Ana +32, +38")


def test_a_choice_is_told_anew_when_other_turns_lead_to_it():
    data = {"game": "tzolkin", "seats": [PERSON] * 2, "seed": 3, "open": True}
    game = starts.create(data, names=[], examples={}, find=None)

    def play(*turn):
        game.change(lambda table: commands.play(table, list(turn)))

    for _ in range(2):
        play(game.now.legal_actions()[0])
    play("place tikal", "end")
    assert game.telling.choice(game, 3, ["place tikal", "end"]) == "placed on Tikal 2 for 2 corn"
    game.change(commands.take_back)
    play("place uxmal", "end")
    assert game.telling.choice(game, 3, ["place tikal", "end"]) == "placed on Tikal 1 for 1 corn"


def test_a_turn_that_was_taken_back_and_played_otherwise_is_told_anew(page):
    game = page.new("nim", seats=[PERSON] * 2, options={"piles": [5, 5]})
    game = page.play(game, "take 2 1")
    assert game["turns"][0]["words"] == "took 2 from pile 1"
    game = page.play(page.command(game, takeback=True), "take 3 2")
    assert [turn["words"] for turn in game["turns"]] == ["took 3 from pile 2"]


def test_candidates_and_their_lines_come_in_words_with_their_seats(page):
    game = page.new("mexica", seats=[PERSON] * 2, seed=1)
    for action in (game["entries"][0]["action"], None):
        game = page.play(game, action or game["entries"][0]["action"])
    with page.stream(game=game["id"]) as events:
        data = {"at": 2, "line": [], "draft": [], "seconds": 0.3, "candidates": 3, "viewer": None, "everybody": False}
        page.call("PUT", f"/api/games/{game['id']}/analysis", data, 202)
        found = next(data for event, data in events if event == "analysis" and data["stop_reason"])
    for candidate in found["candidates"]:
        assert candidate["words"]
        assert ";" not in candidate["words"]
        assert [one["seat"] for one in candidate["line_words"]] == [1, 0, 1][: len(candidate["line"])]
        assert all(one["words"] for one in candidate["line_words"])


def test_what_the_engine_would_have_played_is_told_in_words(page):
    game = page.new("nim", seats=[PERSON] * 2, options={"piles": [2, 1]}, open=True)
    game = page.play(page.play(game, "take 1 2"), "take 1 1")
    page.call("PUT", f"/api/games/{game['id']}/annotation", {"seconds": 0.05}, 202)
    done = page.await_game(game, lambda now: now["annotation"]["state"] == "done")
    for note in done["annotation"]["turns"]:
        number, pile = note["choice"][0].split()[1:]
        assert note["choice_words"].startswith(f"took {number} from pile {pile}")


def test_the_last_turn_is_marked_on_the_board_as_it_is_now(page):
    """Of Tzolk'in, whose gears turn after the turn that is marked."""
    game = page.new("tzolkin", seats=[PERSON] * 2, seed=3, open=True)
    for _ in range(2):
        game = page.play(game, game["entries"][0]["action"])
    for _ in range(2):
        game = page.play(game, "place tikal", "end")
    path = f"/api/games/{game['id']}/at"
    now = page.call("GET", f"{path}/4/gears.svg")
    marked = page.call("GET", f"{path}/3/gears.svg", params={"since": 1})
    before = page.call("GET", f"{path}/3/gears.svg", params={"turn": 1})

    def angles(svg):
        return re.findall(r'data-angle="([\d.]+)"', svg)

    assert angles(marked) == angles(now) != angles(before)
    assert 'class="badge"' in marked
    assert 'class="badge"' not in now
