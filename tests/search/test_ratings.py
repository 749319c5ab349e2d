"""Strength of levels in Elo, ratings of persons, the next level, and own results."""

import dataclasses
import json
import math
import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mexica_ai as ai
from mexica_ai.analysis import levels, ratings
from mexica_ai.analysis.own_results import (
    MIXED,
    TREND_GAMES,
    OwnResult,
    next_level,
    result_of,
    statistics,
    trend_of,
)
from mexica_ai.analysis.ratings import (
    ANCHOR,
    ASSUMED_STEP,
    MAX_ELO,
    PRIOR_MEAN,
    START,
    TARGET,
    Played,
    chance_to_win,
    describe_level,
    level_of,
    rank_of,
    rate,
    ratings_of,
    recommend,
)
from mexica_ai.analysis.words import say, words
from mexica_ai.cli.main import main
from mexica_ai.engines import make_engine
from mexica_ai.engines.specs import level_spec
from mexica_ai.game import registry
from mexica_ai.game.records import make_record
from mexica_ai.io.errors import NotationError, SearchError

games_played = st.lists(
    st.builds(
        Played, st.lists(st.integers(1, 10), min_size=1, max_size=3).map(tuple), st.sampled_from([0.0, 0.25, 0.5, 1.0])
    ),
    max_size=40,
)


@pytest.mark.parametrize("language", words().languages)
def test_each_level_has_a_name_and_a_sentence(language):
    found = [levels.character_of(level, language) for level in levels.LEVELS]
    assert len({one.name for one in found}) == levels.HIGHEST
    for one in found:
        assert one.name.replace("-", "").isalpha()
        assert one.words.endswith(".")
        assert len(one.words) <= 90


def test_all_languages_have_all_texts_with_the_same_gaps():
    folder = Path(levels.__file__).with_name("texts")
    texts = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")}
    assert {"en", "pt"} <= texts.keys()
    for own in texts.values():
        assert own.keys() == texts["en"].keys()
        for key, text in own.items():
            gaps = [sorted(re.findall(r"{(\w+)", each)) for each in (text, texts["en"][key])]
            assert gaps[0] == gaps[1], key


@pytest.mark.parametrize("game", registry.names())
def test_each_level_is_above_the_one_below(game):
    found = ratings_of(game)
    assert list(found) == list(levels.LEVELS)
    for level in range(2, levels.HIGHEST + 1):
        assert found[level].elo > found[level - 1].elo
        assert found[level].low <= found[level].elo <= found[level].high


def test_what_was_not_measured_is_assumed_and_not_described():
    found = ratings_of("nim")
    assert [found[level].elo - ANCHOR for level in (1, 2, 10)] == [-ASSUMED_STEP, 0, 8 * ASSUMED_STEP]
    assert not any(rating.is_measured for rating in found.values())
    assert {describe_level("nim", level) for level in levels.LEVELS} == {None}


def test_a_measured_rating_is_described_and_stands_for_those_above_that_were_not_measured(monkeypatch):
    entry = {"levels": [{"level": 1, "elo": [880, 800, 950]}, {"level": 2, "elo": [1010, 900, 1100]}]}
    monkeypatch.setattr(ratings, "_measured", lambda: {"nim": entry})
    found = ratings.ratings_of.__wrapped__("nim")
    assert [found[level].elo for level in (1, 2, 3, 4)] == [880, 1010, 1010 + ASSUMED_STEP, 1010 + 2 * ASSUMED_STEP]
    assert [found[level].is_measured for level in (1, 2, 3)] == [True, True, False]
    monkeypatch.setattr(ratings, "ratings_of", lambda game: found)
    text = say(describe_level("nim", 2))
    assert text == "beginner, rated 1010 (900 to 1100), where a player who always takes the best next action has 1000"
    assert "iniciante, com rating 1010" in say(describe_level("nim", 2), "pt")
    assert describe_level("nim", 3) is None


@pytest.mark.parametrize("game", registry.names())
def test_a_rating_chooses_the_nearest_level(game):
    found = ratings_of(game)
    for elo in range(1, 3000, 7):
        level = level_of(game, elo)
        assert abs(found[level].elo - elo) == min(abs(rating.elo - elo) for rating in found.values())
    assert (level_of(game, 1), level_of(game, MAX_ELO)) == (1, levels.HIGHEST)
    assert {level_of(game, round(rating.elo)) for rating in found.values()} == set(levels.LEVELS)
    assert [say(rank_of(level)) for level in (1, 2, 3, 6, 10)] == [
        "beginner",
        "beginner",
        "casual player",
        "club player",
        "expert",
    ]


@pytest.mark.parametrize("elo", [0, MAX_ELO + 1, 1500.0, True, "1500"])
def test_what_is_no_rating_is_refused(elo):
    with pytest.raises(SearchError, match="expected an integer from 1 to 5000"):
        level_of("nim", elo)


def test_searches_and_engines_take_a_rating_in_place_of_a_level():
    position = ai.load("examples/mexica_midgame.json")
    level = 3
    elo = round(ratings_of("mexica")[level].elo)
    by_level = ai.best_turn(position, time_s=20, seed=5, level=level)
    by_elo = ai.best_turn(position, time_s=20, seed=5, elo=elo)
    assert dataclasses.replace(by_elo, seconds=0) == dataclasses.replace(by_level, seconds=0)
    *_, analysed = ai.analyze(position, time_s=20, seed=5, elo=elo)
    assert analysed.turn == by_level.turn
    for spec, defaults in (("mcts", {"elo": elo}), (f"mcts,elo={elo}", {"level": 10}), ("mcts,level=3", {"elo": 1})):
        with make_engine(spec, time=20, **defaults) as engine:
            assert engine.best_turn(position, seed=5).turn == by_level.turn
    assert level_spec("elo=1500") == "mcts,elo=1500"
    with pytest.raises(SearchError, match="elo: given 1500; expected no rating beside level 3"):
        ai.best_turn(position, iterations=1, level=3, elo=1500)
    with pytest.raises(NotationError, match="level and elo are given; expected one of them"):
        make_engine("mcts,level=3,elo=1500")
    with pytest.raises(NotationError, match="elo=0 is not a whole number from 1 to 5000"):
        make_engine("mcts,elo=0")


@pytest.mark.parametrize("command", ["best", "analyze"])
def test_the_command_line_takes_a_rating(command, capsys):
    elo = str(round(ratings_of("mexica")[1].elo))
    options = ["examples/mexica_midgame.json", "--elo", elo, "--time", "20", "--json"]
    assert main([command, *options]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["iterations"] == levels.LEVELS[1].iterations
    assert main([command, *options, "--engine", "greedy"]) == 2
    assert "--elo: the engine greedy has no levels" in capsys.readouterr().err
    assert main([command, *options, "--level", "3"]) == 2
    assert "not allowed with argument" in capsys.readouterr().err


def test_the_chance_to_win_is_elos_with_two_seats():
    assert chance_to_win(400, [0]) == pytest.approx(10 / 11)
    assert chance_to_win(0, [0, 0, 0]) == pytest.approx(1 / 4)


@settings(max_examples=30, deadline=None)
@given(games_played, st.sampled_from(registry.names()))
def test_a_rating_lies_in_its_interval_and_rises_with_wins(games, game):
    rating = rate(games, game)
    assert rating.low <= rating.elo <= rating.high
    assert rating.is_measured == bool(games)
    won = rate([dataclasses.replace(played, share=1.0) for played in games], game)
    assert won.elo >= rating.elo - 1e-6


@settings(max_examples=30, deadline=None)
@given(games_played, st.sampled_from(registry.names()))
def test_a_recommendation_is_near_to_what_was_played(games, game):
    found = recommend(games, game)
    last = games[-ratings.MAX_GAMES :]
    assert found.games == len(last)
    assert 0 < found.chance < 1
    met = [level for played in last for level in played.levels]
    if met:
        assert min(met) - len(last) <= found.level <= max(met) + 1
    assert levels.character_of(found.level).name in say(found.phrase)


def test_a_person_who_wins_goes_up_one_level_at_a_time_and_one_who_loses_goes_down():
    assert recommend([], "mexica").level == START
    assert recommend([Played((2,), 1.0)] * 6, "mexica").level == 3
    assert recommend([Played((5,), 0.0)], "mexica").level == 4
    assert recommend([Played((5,), 0.0)] * 10, "mexica").level == 1
    assert recommend([Played((10,), 1.0)] * 10, "mexica").level == 10
    even = recommend([Played((4,), 1.0), Played((4,), 0.0)] * 10, "mexica")
    assert even.level in (3, 4)
    assert abs(even.chance - TARGET) < 0.2


@pytest.mark.parametrize("strength", [0, 400, 900])
def test_simulated_persons_come_to_levels_that_fit_them(strength):
    """After 30 games at the recommended levels the true chance to win is near the target."""
    draw = random.Random(strength)
    by_level = ratings_of("mexica")
    chances = []
    for _ in range(12):
        games = []
        for _ in range(30):
            level = recommend(games, "mexica").level
            chance = chance_to_win(by_level[1].elo + strength, [by_level[level].elo])
            games.append(Played((level,), float(draw.random() < chance)))
        chances.append(chance_to_win(by_level[1].elo + strength, [by_level[recommend(games, "mexica").level].elo]))
    assert 0.35 < sum(chances) / len(chances) < 0.75


def test_only_the_last_games_count():
    old = [Played((9,), 0.0)] * 50
    new = [Played((3,), 1.0)] * ratings.MAX_GAMES
    assert rate(old + new, "mexica") == rate(new, "mexica")
    assert rate([], "mexica").elo == pytest.approx(ratings_of("mexica")[1].elo + PRIOR_MEAN, abs=1)


def test_a_recommendation_says_how_sure_it_is():
    assert "Begin with level 2, Rabbit." in say(recommend([], "nim").phrase)
    assert "By 1 game only, so it is a guess." in say(recommend([Played((3,), 0.0)], "nim").phrase)
    text = say(recommend([Played((3,), 1.0), Played((3,), 0.0)] * 4, "mexica").phrase)
    assert text.startswith("Next: level 3, Hummingbird. By your last 8 games you win about ")
    assert "palpite" in say(recommend([Played((3,), 0.0)], "nim").phrase, "pt")
    sure = dataclasses.replace(recommend([Played((3,), 1.0)] * 30, "nim"), chance=0.97)
    assert "you win more than 95 % of games" in say(sure.phrase)
    assert "you win less than 5 % of games" in say(dataclasses.replace(sure, chance=0.03).phrase)


@pytest.mark.parametrize(
    ("played", "problem"),
    [
        (Played((), 1.0), r"games\[1\]\.levels: given \(\); expected levels from 1 to 10"),
        (Played((11,), 1.0), r"games\[1\]\.levels: given \(11,\)"),
        (Played((True,), 1.0), r"games\[1\]\.levels"),
        (Played((1,), 1.5), r"games\[1\]\.share: given 1.5; expected a share of the win, 0 to 1"),
        (Played((1,), math.nan), r"games\[1\]\.share"),
    ],
)
def test_what_is_no_game_is_refused(played, problem):
    with pytest.raises(NotationError, match=problem):
        recommend([Played((1,), 0.5), played], "nim")


# --- own results


def own(share=1.0, level=3, game="nim", scores=(30.0, 10.0)):
    return OwnResult(game, 0, (None, level), share, scores, "2026-11-27T10:00:00+00:00")


def test_statistics_are_by_game_and_level():
    mixed = OwnResult("mexica", 1, (4, None, 5), 0.5, (10.0, 10.0, 5.0))
    rows = statistics([own(), own(0.0, scores=(10.0, 30.0)), own(0.5, level=2, scores=()), mixed])
    assert [(row.game, row.level, row.games) for row in rows] == [("mexica", MIXED, 1), ("nim", 2, 1), ("nim", 3, 2)]
    assert [(row.wins, row.shared, row.losses) for row in rows] == [(0, 1, 0), (0, 1, 0), (1, 0, 1)]
    assert rows[0].share_of_points == pytest.approx(0.4)
    assert rows[1].share_of_points is None
    assert (rows[2].share, rows[2].share_of_points) == (0.5, 0.5)
    assert own(scores=(-3.0, 10.0)).share_of_points is None
    assert statistics([]) == []


def test_a_trend_needs_games_and_more_than_chance():
    assert trend_of([0.0, 1.0] * 3) == ""
    assert trend_of([0.0, 1.0] * (TREND_GAMES // 2)) == "steady"
    assert trend_of([0.0] * 6 + [1.0] * 6) == "rising"
    assert trend_of([1.0] * 6 + [0.0] * 6) == "falling"
    assert trend_of([1.0] * 12) == "steady"
    draw = random.Random(3)
    found = [trend_of([float(draw.random() < 0.5) for _ in range(20)]) for _ in range(400)]
    assert found.count("steady") > 0.7 * len(found)


def test_the_next_level_is_by_the_games_against_levels():
    against_person = OwnResult("nim", 0, (None, None), 0.0)
    other = own(0.0, game="mexica")
    assert next_level([own()] * 3 + [against_person, other], "nim") == recommend([Played((3,), 1.0)] * 3, "nim")


def test_the_result_of_a_record():
    position = ai.new_game("nim", piles=[1, 2])
    assert result_of(make_record(position), 0, [None, 3]) is None
    given_up = make_record(position, forfeit={"seat": 0, "reason": "resigned", "detail": ""})
    assert result_of(given_up, 0, [None, 3]) == OwnResult("nim", 0, (None, 3), 0.0)
    for turn in (["take 1 2"], ["take 1 1"], ["take 1 2"]):
        position.push(turn)
    found = result_of(make_record(position), 0, [None, 3], "2026")
    assert found == OwnResult("nim", 0, (None, 3), 1.0, (1, 0), "2026")
