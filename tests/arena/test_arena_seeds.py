"""The seeds of a tournament tell a program nothing, and the same journal goes on with the same seeds."""

import dataclasses
import json
import shlex
import sys

import pytest
from here import Here
from test_arena import game_of, make, played, write

from mexica_ai import NotationError, SearchError, new_game
from mexica_ai.arena.journal import JournalWriter, read_journal
from mexica_ai.arena.runner import run
from mexica_ai.arena.tournament import Tournament, draw_key, reproducible_key, turn_seed

NIM = ["--game", "nim", "--engine", "greedy", "--engine", "random", "--iterations", "1"]
LISTENER = """
import sys, subprocess
command = [sys.executable, "-P", "-m", "mexica_ai", "engine", "--engine", "random"]
engine = subprocess.Popen(command, stdin=subprocess.PIPE)
with open(sys.argv[1], "ab", buffering=0) as file:
    for line in sys.stdin.buffer:
        file.write(line)
        engine.stdin.write(line)
        engine.stdin.flush()
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Return what a program is told in a game of Coatl, by the key of the tournament."""

    def listen(key):
        folder = tmp_path_factory.mktemp("told")
        (folder / "listener.py").write_text(LISTENER)
        path = folder / "lines"
        spec = "cmd:" + shlex.join([sys.executable, str(folder / "listener.py"), str(path)]) + ",time=60"
        record = game_of(make(spec, "random", game="coatl", key=key))
        assert record["termination"] == "finished", record
        return [json.loads(line) for line in path.read_text().splitlines()][1:]

    return {"secret": listen(draw_key()), "public": listen(reproducible_key(7))}


def recover(requests, keys):
    """Return the deal that a program finds by trying the seeds of 50 tournaments, or None."""
    first = requests[0]
    for seed in range(50):
        for key in keys(seed):
            tried = make(game="coatl", seed=seed, key=key)
            deal = new_game("coatl", players=2, seed=tried.deal_seed(0))
            games = tried.block(0)
            if deal.view(0).to_json() == first["position"]:
                return deal
            if any(turn_seed(tried.engine_seed(game, 0), 0) == first["seed"] for game in games):
                return deal
    return None


@pytest.mark.real("processes")
def test_a_program_cannot_find_the_deal_by_trying_seeds(told):
    def keys(seed):
        return None, reproducible_key(seed)

    # The attack works where the seeds are public, so that it proves something where they are not.
    found = recover(told["public"], keys)
    assert found is not None
    assert found.view(0).to_json() == told["public"][0]["position"]
    assert recover(told["secret"], keys) is None
    # Nor by taking its own seed for the tournament's, or for that of the deal.
    for request in told["secret"]:
        seed = request["seed"]
        deals = [new_game("coatl", players=2, seed=each) for each in (seed, seed << 1 & (2**63 - 1), seed ^ 7)]
        deals.append(new_game("coatl", players=2, seed=make(seed=seed, game="coatl", key=None).deal_seed(0)))
        assert all(deal.view(0).to_json() != told["secret"][0]["position"] for deal in deals)


@pytest.mark.real("processes")
def test_a_program_is_told_its_view_its_limits_and_its_seed_alone(told):
    for request in told["secret"]:
        assert set(request) == {"id", "position", "limits", "seed"}
        assert request["position"]["viewer"] == 0
    hands = [seat["hand"] for seat in told["secret"][0]["position"]["seats"]]
    assert set(hands[1]) == {"?"}
    assert "?" not in hands[0]
    seeds = [request["seed"] for request in told["secret"]]
    assert len(set(seeds)) == len(seeds)
    assert [request["id"] for request in told["secret"]] == list(range(1, len(seeds) + 1))


def test_the_check_tells_a_server_a_view_of_a_deal_that_is_not_played(monkeypatch):
    from mexica_ai.arena import play
    from mexica_ai.rpc.client import Client

    asked = []

    def run_search(client, position, *args, **options):
        asked.append((position, options["seed"]))
        raise SearchError("asked", reason="UNAVAILABLE")

    monkeypatch.setattr(Client, "run_search", run_search)
    tournaments = [make("grpc:127.0.0.1:9", "random", game="coatl", key=draw_key()) for _ in range(2)]
    for tournament in tournaments:
        with pytest.raises(SearchError, match="asked"):
            play.check_engines(tournament)
    assert asked[0] == asked[1]
    position, _ = asked[0]
    assert position.viewer == position.to_move
    deals = [new_game("coatl", players=2, seed=tournament.deal_seed(0)) for tournament in tournaments]
    assert all(deal.view(0).to_json() != position.to_json() for deal in deals)


def test_tokens_that_nobody_can_know_are_not_told():
    from mexica_ai.arena import play

    pool = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 3, 4, 5, 6, 7, 8, 9]
    position = new_game("mexica", players=2, seed=1, pool=pool)
    assert position.to_json()["calpulli"]["upcoming"] is not None
    assert play.seen_by(position, 0).to_json()["calpulli"]["upcoming"] is None
    standard = new_game("mexica", players=2, seed=1)
    assert play.seen_by(standard, 0) == standard  # the display determines them


def test_two_tournaments_differ_and_reproducible_ones_do_not(cli, in_process, tmp_path):
    paths = [tmp_path / f"{number}.jsonl" for number in range(4)]
    for path, extra in zip(paths, ([], [], ["--reproducible"], ["--reproducible"]), strict=True):
        assert cli(*NIM, "--blocks", 2, "--journal", path, *extra) == 0
    games = [[(r["start"], r["turns"], r["seeds"]) for _, r in read_journal(str(path)).games] for path in paths]
    assert games[2] == games[3]
    assert games[0] != games[1]
    assert games[0] != games[2]
    keys = {t.key for path in paths for t, _ in read_journal(str(path)).games}
    assert len(keys) == 3


def test_a_tournament_goes_on_with_its_key(cli, in_process, tmp_path):
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    args = (*NIM, "--blocks", 3, "--resume", "--format", "json")
    assert cli(*args, "--journal", whole) == 0
    lines = whole.read_text().splitlines(keepends=True)
    cut.write_text("".join(lines[:2]) + lines[2][:200])
    assert cli(*args, "--journal", cut) == 0
    assert json.loads(cli.out)["games_counted"] == 6
    games = [read_journal(str(path)).games for path in (whole, cut)]
    assert [(r["start"], r["seeds"], r["turns"]) for _, r in games[0]] == [
        (r["start"], r["seeds"], r["turns"]) for _, r in games[1]
    ]
    # A first line that was torn has no key yet.
    cut.write_text(lines[0][: lines[0].index('"key"') + 20])
    assert cli(*args, "--journal", cut) == 0
    assert len(read_journal(str(cut)).games) == 6


def test_reproducible_is_part_of_the_tournament(cli, in_process, tmp_path):
    path = tmp_path / "games.jsonl"
    assert cli(*NIM, "--blocks", 1, "--journal", path) == 0
    assert cli(*NIM, "--blocks", 2, "--journal", path, "--resume", "--reproducible") == 2
    assert "another tournament: it is not --reproducible, expected the opposite" in cli.err
    path.unlink()
    assert cli(*NIM, "--blocks", 1, "--journal", path, "--reproducible") == 0
    assert cli(*NIM, "--blocks", 2, "--journal", path, "--resume") == 2
    assert "another tournament: it is --reproducible" in cli.err
    assert cli(*NIM, "--blocks", 2, "--journal", path, "--resume", "--reproducible") == 0


def test_a_journal_of_an_early_version_goes_on_as_it_began(cli, in_process, tmp_path):
    path = tmp_path / "games.jsonl"
    assert cli(*NIM, "--blocks", 1, "--journal", path) == 0
    tournament = dataclasses.replace(read_journal(str(path)).games[0][0], key=None)
    assert "key" not in tournament.to_json()
    path.unlink()
    write(path, tournament, 1)
    assert cli(*NIM, "--blocks", 2, "--journal", path, "--resume") == 0
    assert "seeds have no secret key" in cli.err
    journal = read_journal(str(path))
    assert {t.key for t, _ in journal.games} == {None}
    assert [r["start"] for _, r in journal.games][2] == game_of(tournament, block=1)["start"]


def test_a_key_that_is_none_is_refused(tmp_path):
    path, tournament = tmp_path / "games.jsonl", make()
    write(path, tournament, 1)
    path.write_text(path.read_text().replace(tournament.key, "0123"))
    with pytest.raises(NotationError, match=r"tournament\.key: given \"0123\"; expected 32 hexadecimal digits"):
        read_journal(str(path))


def test_games_of_two_tournaments_are_not_resumed_as_one(tmp_path):
    paths, tournament = [tmp_path / f"{number}.jsonl" for number in range(2)], make()
    for path in paths:
        write(path, dataclasses.replace(tournament, key=draw_key()), 1)
    both = "".join(path.read_text() for path in paths)
    paths[0].write_text(both)
    mentions = "has games of 2 tournaments, whose seeds have different keys; expected those of one"
    with pytest.raises(NotationError, match=mentions):
        JournalWriter(str(paths[0]), dataclasses.replace(tournament, key=draw_key()), resume=True)
    assert paths[0].read_text() == both
    assert len(read_journal(str(paths[0])).games) == 4


def test_a_worker_that_tries_again_plays_the_same_game(tmp_path):
    tournament = make("random,iterations=1", "greedy,iterations=1", key=draw_key())
    path = tmp_path / "games.jsonl"
    with JournalWriter(str(path), tournament) as journal:
        first = run(tournament, 2, Here(), journal=journal)
    again = run(Tournament.from_json(first.records[0]["arena"]["tournament"]), 2, Here())
    assert played(again.records) == played(first.records)
    assert [r["turns"] for r in again.records] == [r["turns"] for r in first.records]
    assert tournament.key not in repr(tournament)
