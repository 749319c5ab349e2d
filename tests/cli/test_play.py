"""`mexica-ai play`: whole sessions from standard input, and the session behind it."""

import dataclasses
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mexica_ai as ai
from mexica_ai.analysis.ratings import level_of
from mexica_ai.cli.main import main
from mexica_ai.cli.play import Talk, _piped
from mexica_ai.engines import make_engine, parse_spec
from mexica_ai.engines.native import MctsEngine
from mexica_ai.game import records, registry
from mexica_ai.io.errors import IllegalActionError, MexicaAIError, NotationError, PositionError
from mexica_ai.session import Session, same_deal
from mexica_ai.table.events import seen_turn

EXAMPLES = Path(__file__).parents[2] / "examples"
GAMES = ("coatl", "mexica", "nim", "tzolkin")


@pytest.fixture
def play(tmp_path, monkeypatch, capsys):
    """Run a session; return what it prints. `play.record()` is the record on disk."""
    monkeypatch.chdir(tmp_path)

    def run(lines, *args, code=0):
        Path("kept.json").unlink(missing_ok=True)
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines) + "\n"))
        assert main(["play", *map(str, args), "--record", "kept.json"]) == code
        found = capsys.readouterr()
        return found.out if code == 0 else found.err

    run.record = lambda: json.loads(Path("kept.json").read_text(encoding="utf-8"))
    return run


def session(game="nim", engines=(1,), record=None, **options):
    position = ai.new_game(game, seed=4, **options)
    return Session(position, {seat: make_engine(parse_spec("random"), seed=seat) for seat in engines}, record)


NIM = ("--game", "nim", "--piles", "3,4,5", "--engine", "random")


def test_a_game_by_commands(play):
    Path("others.json").write_text("{}", encoding="utf-8")
    commands = ["help", "legal take 1", "save mine.json", "take 1 1", "board", "show 0", "save others.json"]
    out = play([*commands, "save mine.json", "quit"], *NIM)
    assert "no: 'others.json' exists already; expected a new file" in out
    assert Path("others.json").read_text(encoding="utf-8") == "{}"
    assert "kept.json" in out
    assert "take 1 1   take 1 2   take 1 3" in out
    assert "seat 1 (random): take " in out
    assert "saved in mine.json" in out
    record = play.record()
    assert record == json.loads(Path("mine.json").read_text(encoding="utf-8"))
    assert record["turns"][0] == ["take 1 1"]
    assert (len(record["turns"]), record["engines"]) == (2, ["person", "random"])
    records.replay(record)


def test_a_game_that_ends_before_its_first_turn_is_kept(play):
    play(["quit"], "--game", "mexica", "--players", 4)
    assert (play.record()["turns"], play.record()["start"]["players"]) == ([], 4)
    Path("kept.json").rename("before.json")
    play([], "before.json")  # standard input is at its end
    assert play.record()["start"]["players"] == 4


def test_a_record_of_another_game_is_not_overwritten(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    game = tmp_path / "game.json"
    dealt = ["--game", "nim", "--piles", "1,2"]
    for text, args, code in (("", dealt, 0), (None, dealt, 2), (None, [str(game)], 0)):
        if text is not None:
            game.write_text(text)
        monkeypatch.setattr(sys, "stdin", io.StringIO("quit\n"))
        assert main(["play", *args, "--record", "game.json"]) == code
    assert "'game.json' exists already; expected a new file" in capsys.readouterr().err
    assert json.loads(game.read_text())["turns"] == []


def test_actions_are_completed_also_after_others(tmp_path):
    table = Talk(session("mexica", engines=()), None, "kept.json")
    assert {"place H6", "place G7", "undo"} <= set(table._words())
    assert table._words("place H6;") == []  # the turn is over
    table._session.play(["place H6"])
    table._session.play(["place G7"])
    assert "walk H5" in table._words("canal B2-C2 ;")
    assert "canal B2-C2" not in table._words("canal B2-C2 ;")
    assert table._words("fly;") == []


def test_what_is_wrong_is_said_and_the_game_goes_on(play):
    lines = ["fly", "take 9 1", "show x", f"show {'1' * 5000}", "save", "undo", "redo", "analyse soon", "take 3 1"]
    out = play([*lines, "quit"], *NIM)
    assert 'no: "fly" is not an action' in out
    assert 'no: "take 9 1" is not legal' in out
    assert "no: show x: expected a number of turns from 0 to 0" in out
    assert " ".join(out.split()).count(": expected a number of turns from 0 to 0") == 2
    assert "no: save: expected the name of a file" in out
    assert "there is nothing to take back" in out
    assert "there is nothing to play again" in out
    assert "no: analyse soon: expected" in out
    assert len(play.record()["turns"]) == 2


def within_a_turn():
    """Return a position of Coatl and an action that does not end the turn of its mover."""
    position, rng = ai.new_game("coatl", seed=4), random.Random(4)
    while True:
        for action in position.legal_actions() if position.to_move is not None else ():
            after = position.copy()
            after.push_action(action)
            if after.is_within_turn:
                return position, action
        if position.is_chance:
            position.draw(rng.randrange(1 << 32))
        else:
            position.push_action(rng.choice(position.legal_actions()))


def test_the_board_hides_what_it_hid_when_an_action_is_taken_back(play):
    position, action = within_a_turn()
    Path("before.json").write_text(json.dumps(position.to_json()))
    out = play([action, "undo", "board", "quit"], "before.json", "--engine", "random")
    board = out.rpartition("> board\n")[2]
    assert str(position.view(position.to_move)) in board
    assert str(position) not in board


@pytest.mark.parametrize(("option", "level"), [(("--level", 3), 3), (("--elo", 1000), level_of("nim", 1000))])
def test_the_record_names_the_level_that_was_played(play, capsys, option, level):
    play(["take 1 2", "take 1 2", "take 1 1", "quit"], "--game", "nim", "--piles", "1,2", *option)  # whichever is left
    assert play.record()["engines"] == ["person", f"mcts,level={level}"]
    assert main(["levels", "nim", "--records", "kept.json", "--json"]) == 0
    assert [row["level"] for row in json.loads(capsys.readouterr().out)["results"]] == [level]


@pytest.mark.parametrize("other", ["{first}\n{first}\n", "{evaluated}\n", "{tagged}", "{moves}"])
def test_a_file_that_has_more_than_the_game_is_not_written_over(tmp_path, monkeypatch, capsys, other):
    monkeypatch.chdir(tmp_path)
    position = ai.new_game("nim", piles=[3, 4])
    position.push(["take 1 1"])
    record = records.make_record(position)
    evaluations = {"time_s": None, "iterations": 5, "seed": 1, "turns": []}
    text = other.format(
        first=json.dumps(record),
        evaluated=json.dumps(record | {"evaluations": evaluations}),
        tagged=json.dumps(record | {"tags": {"event": "club"}}, indent=1),
        moves=ai.format_moves(record),
    )
    Path("games.jsonl").write_text(text)
    monkeypatch.setattr(sys, "stdin", io.StringIO("quit\n"))
    assert main(["play", "games.jsonl", "--record", "games.jsonl"]) == 2
    assert "'games.jsonl' holds more than the record" in capsys.readouterr().err
    assert Path("games.jsonl").read_text() == text


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ("nim.json --players 2", "FILE: expected no options of a new game"),
        ("nim.json --seed 3", "FILE: expected no options of a new game"),
        ("nim.json --piles 1,2", "FILE: expected no options of a new game"),
        ("--last --game coatl", "--last: expected no FILE, no --record and no options of a new game"),
        ("nim.json --engine beam --level 3", "--level: no engine of the game has levels"),
        ("nim.json --person 0,1 --elo 1200", "--elo: no engine of the game has levels"),
    ],
)
def test_options_that_would_change_nothing_are_refused(tmp_path, monkeypatch, capsys, args, words):
    monkeypatch.chdir(tmp_path)
    Path("nim.json").write_text(json.dumps(ai.new_game("nim", piles=[3, 4]).to_json()))
    assert main(["play", *args.split(), *([] if "--last" in args else ["--record", "kept.json"])]) == 2
    assert words in capsys.readouterr().err


def test_a_turn_is_entered_action_by_action_or_at_once(play):
    game = EXAMPLES / "mexica_midgame.json"
    out = play(["teleport C6", "temple 4 B7", "undo", "redo", "temple 2 B7", "end", "quit"], game, "--engine", "random")
    assert "turn so far: teleport C6; temple 2 B7" in out
    assert "it costs 4 action points; seat 0 has 1 and 1 action token" in " ".join(out.split())
    assert play.record()["turns"][0] == ["teleport C6", "temple 2 B7", "end"]
    at_once = play(["teleport C6; temple 2 B7; end", "quit"], game, "--engine", "random")
    assert "seat 1 (random): " in at_once
    assert play.record()["turns"][0] == ["teleport C6", "temple 2 B7", "end"]
    half = play(["teleport C6; temple 4 B7", "quit"], game)
    assert "it costs 4 action points" in " ".join(half.split())
    assert "turn so far" not in half


def test_a_record_goes_on_where_it_ended(play):
    play(["take 1 1", "quit"], *NIM)
    Path("kept.json").rename("before.json")
    before = json.loads(Path("before.json").read_text(encoding="utf-8"))
    out = play(["undo", "take 2 1", "quit"], "before.json", "--engine", "random")
    assert "taken back" in out
    record = play.record()
    assert record["start"] == before["start"]
    assert record["turns"][0] == ["take 2 1"]


def test_comments_and_variations_of_a_record_stay_while_it_goes_on(play):
    position = ai.new_game("nim", piles=[3, 4, 5])
    position.push(["take 1 1"])
    variation = {"at": 0, "turns": [["take 2 2"]], "comments": ["why not?"]}
    record = records.make_record(position, comment="club", comments=["!"], variations=[variation])
    Path("begun.json").write_text(json.dumps(record))
    play(["take 2 1", "quit"], "begun.json", "--engine", "random")
    found = play.record()
    assert (found["comment"], found["comments"][:2], found["variations"]) == ("club", ["!", ""], [variation])
    assert len(found["turns"]) > 1
    ai.replay(found)


def test_hints_and_analyses(play, monkeypatch):
    monkeypatch.setattr("mexica_ai.cli.play.HINT_S", 0.05)
    out = play(["hint", "analyse 0.05", "quit"], *NIM)
    assert "hint: take " in out
    assert "% of the win" in out
    assert "visits" in out


def test_a_hint_of_an_engine_that_tells_no_figures(play, monkeypatch):
    searched = MctsEngine._best_turn

    def best_turn(*args, **options):
        result = searched(*args, **options)
        bare = [dataclasses.replace(each, value=[], expected_scores=[]) for each in result.candidates]
        return dataclasses.replace(result, candidates=bare)

    monkeypatch.setattr("mexica_ai.cli.play.HINT_S", 0.05)
    monkeypatch.setattr(MctsEngine, "_best_turn", best_turn)
    out = play(["hint", "quit"], *NIM)
    assert "hint: take " in out
    assert "% of the win" not in out


def test_a_seat_may_resign(play):
    out = play(["resign", "undo", "resign", "take 1 1", "hint", "quit"], *NIM)
    assert "Seat 0 has resigned." in out
    assert "the game is over; undo" in out
    record = play.record()
    assert (record["termination"], record["winners"]) == ("forfeit", [1])


def test_nothing_is_played_again_after_a_resignation(play):
    args = ("--game", "nim", "--piles", "3,4", "--plies-per-turn", 2, "--person", "0,1")
    out = play(["take 1 1", "undo", "resign", "redo", "undo", "redo", "take 1 1", "quit"], *args)
    assert out.count("there is nothing to play again") == 1
    assert out.count("played again") == 1
    assert play.record()["turns"] == [["take 1 1", "take 1 1"]]


def test_the_end(play):
    out = play(["take 1 1", "undo", "take 1 1", "quit"], "--game", "nim", "--piles", "1")
    assert "The game is over: seat 0 wins." in out
    assert play.record()["termination"] == "finished"


def test_two_persons_with_hidden_hands_have_a_curtain(play):
    out = play(["", "keep", "", "legal", "quit"], "--game", "coatl", "--seed", 4, "--person", "0,1")
    assert out.count("press Enter when nobody else looks") == 2
    first, second = out.split("Seat 1: press Enter")
    hands = [ai.new_game("coatl", seed=4).to_json()["seats"][seat]["hand"] for seat in (0, 1)]
    assert not any(card in first for card in set(hands[1]) - set(hands[0]))
    assert "as seat 1 sees it" in second


def test_at_the_curtain_tab_and_up_tell_nothing(monkeypatch, capsys):
    typed = []

    def prompt(words):
        own = []  # as the history of a prompt

        def read(prompt):
            typed.append((prompt, words(""), list(own)))
            if len(typed) > 3:
                raise EOFError
            own.append("keep" if prompt.endswith("0> ") else "")
            return own[-1]

        return read

    monkeypatch.setattr("mexica_ai.cli.play._prompt", prompt)
    talk = Talk(session("coatl", engines=()), None, "kept.json")
    talk._is_terminal, talk._lines = True, prompt(talk._words)
    talk.play()
    prompts, words, before = zip(*typed, strict=True)
    assert prompts == ("seat 0, Enter> ", "seat 0> ", "seat 1, Enter> ", "seat 1> ")
    assert (words[0], words[2]) == ([], [])
    assert all("keep" in words[index] for index in (1, 3))
    assert not any("keep" in lines for lines in before)


def test_a_line_at_the_curtain_is_the_first_of_the_person(play):
    play(["keep", "keep", "undo", "quit"], "--game", "coatl", "--seed", 4, "--person", "0,1")
    assert play.record()["turns"] == [["keep"]]


def test_what_an_engine_keeps_is_not_told(play):
    for seed in range(1, 20):  # until it keeps something
        out = play(["quit"], "--game", "coatl", "--seed", seed, "--person", "1", "--engine", "greedy")
        assert "seat 0 (greedy): keep\n" in out
        if play.record()["turns"][0][0].startswith("keep P"):
            break
    else:
        pytest.fail("it never kept a prophecy")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["nothing.json"], "nothing.json"),
        (["--person", "7"], "seats from 0 to 3"),
        (["--person", "3"], "seat 3: the game has seats 0 to 1"),
        (["--seat", "0=mcts", "--person", "0"], "seat 0: given to a person and to an engine"),
        (["--seat", "mcts"], "a seat and an engine"),
        (["--engine", "stockfish"], "stockfish"),
        (["--engine", "stockfish", "--person", "0,1"], "stockfish"),
        (["--seat", "1=random", "--seat", "1=greedy"], "--seat: two are for one seat"),
        (["-"], "FILE: given -; expected a file, since standard input is for the turns"),
    ],
)
def test_bad_usage(play, args, words):
    assert words in play([], *args, code=2)


@pytest.mark.parametrize("game", [game for game in GAMES if registry.get(game).views is not None])
def test_turns_of_others_show_no_more_than_a_seat_knows(game):
    def hand(position, seat):
        return json.dumps(position.to_json()["seats"][seat])

    hidden = 0
    for seed in range(12):
        played, rng = session(game), random.Random(seed)
        while not played.position.is_over and len(played.position.history) < 60:
            before, drawn = played.position.copy(), played.position.copy()
            turn = drawn.draw(seed) if drawn.is_chance else [rng.choice(before.legal_actions())]
            mover = before.to_json()["to_move"]
            played.position.push(turn, partial=True)
            after = played.position
            assert seen_turn(before, turn, mover) == turn
            (shown,) = seen_turn(before, turn, 1 - mover)
            verb, *operands = turn[0].split()
            # What the mover has and the other seat sees nowhere is not in the text that it gets.
            hands = hand(before, mover) + hand(after, mover) if operands else ""
            secret = [word for word in operands if f'"{word}"' in hands]
            views = json.dumps([each.view(1 - mover).to_json() for each in (before, after)]) if secret else ""
            unseen = [word for word in secret if f'"{word}"' not in views]
            assert not set(unseen) & set(shown.split()), turn
            hidden += shown != turn[0]
            assert shown in (turn[0], verb)
    assert hidden > 0


@pytest.mark.parametrize("game", GAMES)
def test_random_sessions_keep_the_record_true(game, tmp_path):
    rng = random.Random(7)
    path = tmp_path / "game.json"
    played = session(game, record=str(path))
    for _ in range(150):
        position = played.position
        if played.is_over:
            assert played.undo()
        elif position.is_chance:
            played.draw()
        elif position.to_move in played.engines:
            before = position.copy()
            result = played.think(None)
            assert len(seen_turn(before, result.turn, 0)) == len(result.turn)
        else:
            match rng.randrange(12):
                case 0:
                    before = position.copy()
                    if played.undo():
                        taken = played.position.copy()
                        assert taken.to_move == 0 or not taken.history
                        assert played.redo()
                        assert played.position == before
                        assert played.undo()
                        assert played.position == taken
                case 1:
                    played.redo()
                case _:
                    legal = position.legal_actions()
                    with pytest.raises(MexicaAIError):
                        played.play([legal[0], "fly"])
                    assert played.position == position
                    played.play([rng.choice(legal)])
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            assert records.replay(kept).history == kept["turns"] == played.record()["turns"]


@pytest.mark.parametrize("game", GAMES)
def test_the_same_deal_again_has_the_players_on_other_seats(game):
    position = ai.new_game(game, seed=6, players=2 if game == "nim" else 3)
    start = position.copy()
    for _ in range(9):
        if position.is_over:
            break
        random_turn(position, random.Random(1))
    names = ["Ann", "Ben", "Cem"][: position.players]
    again, players = same_deal(position, names)
    assert again == start
    assert again.history == []
    assert players == names[-1:] + names[:-1]
    assert same_deal(position, names, 0)[1] == same_deal(position, names, position.players)[1] == names
    with pytest.raises(NotationError, match=rf"given 1; expected one for each of the {position.players} seats"):
        same_deal(position, ["Ann"])


def random_turn(position, draw):
    if position.is_chance:
        position.draw(draw.randrange(1000))
        return
    position.push_action(draw.choice(position.legal_actions()))
    while position.is_within_turn:
        position.push_action(draw.choice(position.legal_actions()))


def test_a_session_again_has_the_engine_on_the_next_seat_and_the_same_luck():
    first = session("coatl", engines=(1,))
    again = first.again()
    assert list(again.engines) == [0]
    assert again.persons == [1]
    assert again.position == first.position.start
    other = Session(first.position.start, {})
    for one in (first, again, other):
        draw = random.Random(2)
        for _ in range(40):
            if one.position.is_chance:
                one.draw()
            else:
                position = one.position.copy()
                random_turn(position, draw)
                one.push(position.history[-1])
    assert first.position.history == again.position.history != other.position.history


def test_no_action_comes_after_the_end_of_a_turn():
    played = session()
    with pytest.raises(IllegalActionError, match="after the end of the turn"):
        played.play(["take 1 1", "take 1 2"])
    assert not played.position.history


def test_a_view_cannot_be_played_on():
    with pytest.raises(PositionError, match="view of seat 0"):
        Session(ai.load(EXAMPLES / "coatl_midgame.json").view(0), {})


@pytest.mark.real("processes")
@pytest.mark.slow
def test_a_session_that_is_killed_has_left_its_record(tmp_path):
    command = [sys.executable, "-P", "-m", "mexica_ai", "play", *NIM, "--record", "kept.json"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path) as process:
        process.stdin.write(b"take 1 1\n")
        process.stdin.flush()
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with_turns = tmp_path / "kept.json"
            if with_turns.exists() and len(json.loads(with_turns.read_text())["turns"]) == 2:
                break
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
    records.replay((tmp_path / "kept.json").read_text())


def test_a_piped_line_may_have_as_many_characters_as_the_message_says(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{'x' * 100_000}\n{'y' * 100_001}\n"))
    read = _piped()
    assert read("> ") == "x" * 100_000
    with pytest.raises(NotationError, match="over 100,000 characters"):
        read("> ")


def test_a_line_on_a_terminal_that_is_not_utf_8_is_an_error():
    talk = Talk(session(engines=()), None, "kept.json")
    talk._lines = lambda prompt: b"\xff".decode()  # as `input` does
    with pytest.raises(NotationError, match="standard input: not UTF-8"):
        talk._next("> ")


def test_a_game_without_a_file_is_kept_where_it_litters_no_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def run(lines, *args):
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines) + "\n"))
        code = main(["play", *args])
        found = capsys.readouterr()
        return code, found.out + found.err

    assert run([], "--last") == (
        2,
        f"mexica-ai: error: --last: no unfinished game is kept in '{tmp_path}/state/mexica-ai'\n",
    )
    code, out = run(["take 1 1", "quit"], *NIM)
    assert code == 0
    (kept,) = (tmp_path / "state" / "mexica-ai").iterdir()
    assert str(kept) in out.replace("\n", "")
    assert [path.name for path in tmp_path.iterdir()] == ["state"]
    played = len(json.loads(kept.read_text())["turns"])
    assert played >= 1
    code, out = run([f"show {played}", "quit"], "--last")
    assert code == 0
    assert "no: show" not in out
    assert len(json.loads(kept.read_text())["turns"]) == played
    assert "expected no FILE, no --record" in run([], "--last", "--record", "x")[1]
    (kept.parent / "broken.json").write_text("{")
    code, out = run(["resign", "quit"], "--last")
    assert code == 0
    resigned = kept.read_text()
    assert "forfeit" in json.loads(resigned)
    assert "no unfinished game is kept" in run([], "--last")[1]
    assert kept.read_text() == resigned
    at_once = [run(["quit"], *NIM)[0] for _ in range(5)]  # most of them in one second
    assert at_once == [0] * 5
    games = [path for path in kept.parent.iterdir() if path.name.startswith("nim-")]
    assert len(games) == 6
    with monkeypatch.context() as patch:
        patch.setattr("mexica_ai.cli.play.make_engine", lambda *_, **__: ai.Position.from_compact("bad"))
        assert run([], *NIM)[0] == 2
    assert len(list(kept.parent.glob("nim-*"))) == 6  # an engine that cannot be made leaves no empty file
    view = tmp_path / "view.json"
    view.write_text(json.dumps(ai.new_game("coatl", seed=1).view(0).to_json()))
    assert run([], str(view))[0] == 2
    assert not list(kept.parent.glob("coatl-*"))  # nor does a view
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    code, out = run([], *NIM)
    assert (code, "expected a folder of yours, or --record FILE" in out) == (2, True)
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "expanduser", lambda path: (_ for _ in ()).throw(RuntimeError("no home")))
    assert "expected --record FILE" in run([], *NIM)[1]
