"""What a game says to those who learn it: texts in all languages, hints, the guided game, score sheets."""

import ast
import gzip
import itertools
import json
import random
import re
from pathlib import Path

import pytest
from tzolkin_builder import build

import mexica_ai as ai
from cext.core.baselines.simple import random_turn
from cext.games.mexica.ops import scoring_now
from mexica_ai.draw.svg import TIMES
from mexica_ai.game import registry, teaching
from mexica_ai.game.guide import GuideStep, check_action, matches
from mexica_ai.game.phrases import COMMON, GAP, Phrasebook, phrase, seat_phrase
from mexica_ai.game.score_rows import ScoreRow
from mexica_ai.games.coatl import teaching as coatl_teaching
from mexica_ai.games.tzolkin import sheet
from mexica_ai.io.errors import IllegalActionError

ROOT = Path(__file__).parents[2]
GAMES = registry.BUILT_IN
FOLDERS = {game: ROOT / "mexica_ai" / "games" / game / "texts" for game in GAMES}
TEXTS = {**FOLDERS, "all games": COMMON}
STRIDE = {"coatl": 30, "mexica": 8, "nim": 1, "tzolkin": 8}  # turns between two looks at the hints


def texts(folder, language):
    return json.loads((folder / f"{language}.json").read_text(encoding="utf-8"))


def play(game, players, seed, **options):
    """Play a random game; return its start, the position at its end, and its turns and events."""
    position, rng = ai.new_game(game, players=players, seed=seed, **options), random.Random(seed)
    start = position.copy()
    while not position.is_over:
        if position.is_chance:
            position.draw(rng.getrandbits(60))
        else:
            turn = random_turn(position.state, rng.getrandbits(60))
            position.push([registry.get(game).text.format_action(action) for action in turn])
    return start, position, position.history


# --- texts by language


@pytest.mark.parametrize("name", TEXTS)
def test_each_language_has_the_same_texts_with_the_same_gaps(name):
    english = texts(TEXTS[name], "en")
    languages = sorted(path.stem for path in TEXTS[name].glob("*.json") if path.stem != "guide")
    assert {"en", "pt"} <= set(languages)
    for language in languages:
        other = texts(TEXTS[name], language)
        assert other.keys() ^ english.keys() == set(), f"{language}: texts are missing or superfluous"
        assert list(other) == list(english)
        for key, text in other.items():
            gaps = [{match[0] for match in GAP.findall(each)} for each in (text, english[key])]
            assert gaps[0] == gaps[1], f"{language}: {key} has other gaps"
            assert "{" not in GAP.sub("", text)
            assert text == text.strip() != ""


@pytest.mark.parametrize("game", GAMES)
def test_every_text_is_used(game):
    english, steps = texts(FOLDERS[game], "en"), [step.name for step in teaching.guide(game).steps]
    said = {f"legend.{name}{end}" for name in registry.get(game).teaching.legend for end in ("", ".words")}
    said |= {"guide.intro", "guide.end", *(f"guide.{step}.{end}" for step in steps for end in ("do", "why", "off"))}
    sources = [path.read_text() for path in FOLDERS[game].parent.glob("*.py")]
    strings = [node for source in sources for node in ast.walk(ast.parse(source))]
    said |= {node.value for node in strings if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    made = [re.escape(ast.unparse(node)[2:-1]) for node in strings if isinstance(node, ast.JoinedStr)]
    patterns = [re.compile(re.sub(r"\\{.*?\\}", r"[\\w.]+", one)) for one in made if "." in one]
    unused = [key for key in english if key not in said and not any(one.fullmatch(key) for one in patterns)]
    assert unused == []


def test_a_third_language_is_a_file(tmp_path):
    (tmp_path / "en.json").write_text('{"a": "{n:step|steps} of {who}", "b": "only English"}')
    (tmp_path / "cs.json").write_text('{"a": "{who}: {n:krok|kroky}"}')
    (tmp_path / "guide.json").write_text("{}")
    book = Phrasebook([COMMON, tmp_path])
    words = phrase("a", n=1, who=[seat_phrase(0), seat_phrase(1)])
    assert book.languages == ("en", "cs")
    assert book.say(words) == "1 step of seat 0, seat 1"
    assert book.say(words, "cs", ["Ana", "Ben"]) == "Ana, Ben: 1 krok"
    assert book.say(phrase("b"), "cs") == "only English"
    assert book.say(phrase("a", n=2, who="me"), "xx") == "2 steps of me"
    assert book.say(phrase("nothing")) == "nothing"
    assert book.say(phrase("a", n=2.5)) == "2.5 steps of {who}"


@pytest.mark.parametrize("game", GAMES)
def test_the_legend_names_signs_and_their_meaning(game):
    for language in teaching.languages(game):
        signs = teaching.legend(game, language)
        assert len(signs) >= 2
        assert len({sign for sign, _ in signs}) == len(signs)
        assert all(len(words) > len("It counts.") for _, words in signs)


# --- hints


def look(position, viewer):
    """Return the marks and targets of a picture, and the hints to it."""
    game = registry.get(position.game)
    fields = (position if viewer is None or game.views is None else position.view(viewer)).to_json()
    drawn = game.picture.draw(fields, theme="page", targets=True, viewer=viewer)
    found = [set(re.findall(f'data-{kind}="([^"]*)"', drawn)) for kind in ("hint", "target")]
    return *found, game.teaching.hints(fields)


@pytest.mark.parametrize("game", GAMES)
def test_marks_and_targets_have_words_and_all_words_have_a_place(game):
    kinds, placed = set(), set()
    for players, seed in ((2, 1), (3, 2), (4, 3)):
        start, _, turns = play(game, players, seed)
        position = start.copy()
        for index, turn in enumerate(turns):
            if index % STRIDE[game] == 0:
                for viewer in (None, position.to_move):
                    marks, targets, hints = look(position, viewer)
                    assert marks <= hints.keys()
                    if game != "mexica":  # whose targets are all spaces
                        empty = {name for name in targets if name.startswith("worker:")}
                        assert targets - empty <= hints.keys()
                    kinds |= {key.partition(":")[0] for key in hints if ":" in key}
                    placed |= {key.partition(":")[0] for key in hints.keys() & (marks | targets) if ":" in key}
                    loose = {key for key in hints if ":" not in key} - marks - targets
                    assert loose == set()
            position.push(turn)
    assert kinds == placed


def test_the_small_numbers_of_mexica_are_explained():
    position = ai.load(ROOT / "examples" / "mexica_midgame.json")
    hints = teaching.hints("mexica", position.to_json(), names=["Ana", "Ben", "Eva"])
    assert "earn 9, the second place 5, the third 3" in hints["B6"]
    assert hints["now:1"] == "If the period were scored now, Ben would earn 9 points more and have 16."
    assert hints["U7"] == "Pilli of Ana."
    assert hints["display:12"].startswith("Token for a district of exactly 12 spaces. The founder earns 6 at once")
    assert hints["H7"].startswith("The middle of the palace")
    assert hints["period"].startswith("Period 1 of 2, round 3.")
    assert hints["B5"] == hints["O6"]
    assert hints["O6"].startswith("Canal: water")
    assert hints["I6"] == "Temple of Eva, level 1: it counts 1 in this district in every scoring still to come."
    assert teaching.hints("mexica", position.to_json(), "pt")["U7"] == "Pilli de jogador 0."


def test_the_cards_of_coatl_are_explained():
    fields = ai.load(ROOT / "examples" / "coatl_midgame.json").to_json()
    hints = teaching.hints("coatl", fields)
    levels = ", ".join(f"{times}{TIMES} gives {times - 1}" for times in range(3, 7))
    assert hints["display:P01"].endswith(f"red pieces anywhere on the Coatl. {levels}.")
    assert "green, black, one or more of any colours, black, green. 1" in hints["display:P45"]
    assert (
        "no red piece, exactly 11 pieces with head and tail. One of the two gives 3 points, both give 7"
        in (hints["pile:T04"])
    )
    assert "(no yellow just before), yellow, yellow, (no yellow just after)" in hints["hand:0:P05"]


def test_a_hidden_card_has_no_words():
    position = ai.load(ROOT / "examples" / "coatl_midgame.json")
    known = {*position.view(0).to_json()["seats"][1]["hand"]}
    hidden = [card for card in position.to_json()["seats"][1]["hand"] if card not in known]
    assert hidden
    hints = teaching.hints("coatl", position.view(0).to_json())
    assert not any(f"hand:1:{card}" in hints for card in hidden)


def test_tiles_of_tzolkin_that_others_kept_unseen_have_hints():
    position = ai.new_game("tzolkin", players=3, seed=7)
    for _ in range(2):
        position.push([position.legal_actions()[0]])
        for viewer in (0, 1, 2, None):
            hints = teaching.hints("tzolkin", position.view(viewer).to_json())
            assert hints["feeding:0"] == "Seat 0 may still move the calendar by two days once."  # as the picture
            assert hints["wealth:0"]


def test_the_tiles_of_tzolkin_are_explained():
    fields = ai.load(ROOT / "examples" / "tzolkin_midgame.json").to_json()
    hints = teaching.hints("tzolkin", fields)
    assert hints["leader:chaac"] == (
        "Who stands highest in Chaac gets 6 points more on day 14 and 2 on day 27; half if several do."
    )
    assert hints["tile:a2_shrine_quetzalcoatl"] == "Shrine: 2 steps up in Quetzalcoatl, 4 points. Cost: 3 gold."
    assert "eats" in hints["day:27"]
    assert hints["day:16"] == "Day 16 of 27. The next food day is day 21."
    assert hints["worker:palenque:8"].startswith("An idle worker")


@pytest.mark.parametrize(
    ("theology", "gear", "space", "words"),
    [
        (0, "tikal", 0, "it only comes home"),
        (0, "tikal", 5, "it uses this action, or a lower one for 1 corn a step back"),
        (0, "tikal", 6, "it uses any action of this gear"),
        (0, "chichen_itza", 0, "it only comes home"),
        (1, "chichen_itza", 0, "it uses action 1"),
        (0, "chichen_itza", 4, "it uses this action, or a lower one"),
        (1, "chichen_itza", 1, "it uses this action, the one ahead by theology, or a lower one"),
        (1, "chichen_itza", 8, "it uses this action, the one ahead by theology, or a lower one"),
        (1, "tikal", 4, "it uses this action, or a lower one"),
        (1, "tikal", 0, "it only comes home"),
        (0, "chichen_itza", 9, "it uses this action"),
        (1, "chichen_itza", 9, "it uses any action of this gear"),
    ],
)
def test_a_worker_of_tzolkin_says_what_it_can_do(theology, gear, space, words):
    seats = {0: {"technologies": {"theology": theology}}}
    fields = build(4, gears={gear: "." * space + "0"}, seats=seats)
    assert f"picked up, {words}" in teaching.hints("tzolkin", fields)[f"worker:{gear}:{space}"]


# --- points


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_score_sheet_adds_up_to_the_scores_of_random_games(game, players):
    for seed in range(2):
        start, end, turns = play(game, players, seed)
        rows = teaching.score_rows(start, turns)
        assert [sum(row.points[seat] for row in rows) for seat in range(players)] == end.scores
        assert all(isinstance(row, ScoreRow) and len(row.points) == players for row in rows)
        assert len({(row.section.key, repr(row.label), repr(row.section)) for row in rows}) == len(rows)
        for language in teaching.languages(game) if seed == 0 else ():
            said = teaching.score_sheet(start, turns, language)
            assert not any("{" in section + label for section, label, _ in said)


def shipped():
    for path in sorted((ROOT / "examples").glob("*_game.jsonl")):
        for number, line in enumerate(path.read_text().splitlines()):
            yield pytest.param(json.loads(line), id=f"{path.stem}-{number}")
    for path in sorted((ROOT / "tests" / "data" / "vectors").glob("*_games.jsonl.gz")):
        for number, line in enumerate(gzip.decompress(path.read_bytes()).splitlines()):
            data = json.loads(line)
            if "start" in data and "turns" in data:
                yield pytest.param(data, id=f"{path.name.partition('.')[0]}-{number}")


@pytest.mark.parametrize("record", list(shipped()))
def test_a_score_sheet_adds_up_to_the_scores_of_a_record(record):
    start = ai.Position.from_json(record["start"])
    rows, end = teaching.score_rows(start, record["turns"]), start.copy()
    for turn in record["turns"]:
        end.push(turn)
    assert [sum(row.points[seat] for row in rows) for seat in range(end.players)] == end.scores


def test_a_score_sheet_of_mexica_names_periods_and_districts():
    line = (ROOT / "examples" / "mexica_game.jsonl").read_text().splitlines()[0]
    record = json.loads(line)
    rows = teaching.score_sheet(ai.Position.from_json(record["start"]), record["turns"])
    assert {section for section, _, _ in rows} == {"Period 1", "Period 2"}
    founded = [label for _, label, _ in rows if label.startswith("founding the district of ")]
    turns = [action.split() for turn in record["turns"] for action in turn if action.startswith("found ")]
    assert founded == [f"founding the district of {size} ({at})" for _, size, at in turns]


def test_the_points_before_the_first_turn_are_a_row():
    position = ai.load(ROOT / "examples" / "mexica_midgame.json")
    assert teaching.score_sheet(position, []) == [("before the first turn here",) * 2 + ([2, 7, 4],)]


def test_wealth_tiles_beyond_the_last_level_of_architecture_are_a_row():
    data = ai.new_game("tzolkin", players=4, seed=7).to_json()
    data["seats"][0]["technologies"]["architecture"] = 2
    start = ai.Position.from_json(data)
    position = start.copy()
    position.push(["keep w_tik1 w_tik5"])
    while position.to_json()["phase"] == "keep":
        position.push(position.legal_actions()[:1])
    assert position.scores == [3, 0, 0, 0]
    (row,) = teaching.score_rows(start, position.history)
    assert row.points == [3, 0, 0, 0]


def test_what_a_food_day_costs_is_three_points_a_worker():
    found = []
    for seed in range(6):
        start, _, turns = play("tzolkin", 2, seed)
        rows = teaching.score_rows(start, turns)
        found += [points for row in rows if row.label.key == "sheet.unfed" for points in row.points]
    assert any(found)
    assert all(points <= 0 and points % 3 == 0 for points in found)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_projected_points_of_mexica_are_a_scoring_by_the_rules(players):
    start, _, turns = play("mexica", players, 5)
    position = start.copy()
    for turn in turns:
        if position.to_json()["phase"] == "play":
            gains = scoring_now(position.state)
            wanted = [score + gain for score, gain in zip(position.scores, gains, strict=True)]
            assert teaching.projected("mexica", position.to_json()) == wanted
        position.push(turn)


def test_projected_points_of_coatl_are_those_of_coatls_that_are_closed_as_they_stand():
    closed = 0
    for seed in range(6):
        start, _, turns = play("coatl", 2, seed)
        moves = teaching.moves_of(start, turns)
        for (action, before, _), (_, _, after) in itertools.pairwise(moves):
            if action.startswith("close ") and before["phase"] == "closing":
                seat, number = before["to_move"], before["closing"] - 1
                own = before["seats"][seat]
                alone = {**own, "coatls": [{**own["coatls"][number], "closed": True}]}
                rules = sum(coatl["closed"] for coatl in after["seats"][seat]["coatls"])
                assert rules
                gain = coatl_teaching.points(alone, closed_only=True, strict_ends=False)
                others = {**own, "coatls": [one for index, one in enumerate(own["coatls"]) if index != number]}
                rest = coatl_teaching.points(others, closed_only=False, strict_ends=False)
                assert teaching.projected("coatl", before)[seat] == gain + rest
                closed += 1
    assert closed


@pytest.mark.parametrize("players", [2, 3, 4])
def test_projected_points_of_tzolkin_are_the_final_scoring_by_the_rules(players):
    for seed in range(3):
        start, end, turns = play("tzolkin", players, seed)
        last = teaching.moves_of(start, turns)[-1]
        fed = json.loads(json.dumps(last.before))
        for own, after in zip(fed["seats"], last.after["seats"], strict=True):
            own["corn"] = after["corn"]  # feeding apart, the end scores what was there
        lost = sheet._unfed(last.before)
        projected = teaching.projected("tzolkin", fed)
        assert [points + less for points, less in zip(projected, lost, strict=True)] == end.scores


@pytest.mark.parametrize("game", GAMES)
def test_after_the_end_the_projected_points_are_the_scores(game):
    _, end, _ = play(game, 3, 9)
    assert teaching.projected(game, end.to_json()) == end.scores


# --- the guided first game


@pytest.mark.parametrize("game", GAMES)
def test_a_guide_is_played_to_its_end_in_each_way_that_it_accepts(game):
    guide = teaching.guide(game)
    ways = [[]]
    for step in guide.steps:
        ways = [[*way, order] for way in ways for order in orders(step)]
    assert game == "nim" or 9 <= len(guide.steps) <= 13
    assert len(ways) < 100
    ends = set()
    for way in ways:
        position = ai.Position.from_json(dict(guide.start))
        for step, actions in zip(guide.steps, way, strict=True):
            assert position.to_move == guide.seat
            marks, targets, _ = look(position, guide.seat)
            assert set(step.look) <= marks | targets
            assert step.look
            done = []
            for action in actions:
                verdict = teaching.check_step(game, step, done, action)
                assert verdict.fits
                assert verdict.is_done == (len(done) + 1 == step.actions)
                position.push_action(action)
                done.append(action)
            for reply in (action for turn in step.replies for action in turn):
                position.push_action(reply)
        ends.add(position.to_compact())
    assert len(ends) >= 1
    assert position.scores[guide.seat] >= max(position.scores)


def orders(step):
    """Return the orders of actions that a step takes; the guides here name their actions in full."""
    assert not any("*" in pattern for pattern in step.accepts)
    if step.in_order:
        return [list(step.accepts)]
    return [list(order) for order in itertools.permutations(step.accepts, step.actions)]


@pytest.mark.parametrize("game", GAMES)
def test_each_step_says_what_to_do_and_why(game):
    for language in teaching.languages(game):
        assert all(len(words) > 40 for words in teaching.guide_frame(game, language))
        for step in teaching.guide(game).steps:
            do, why = teaching.guide_words(game, step.name, language)
            assert len(do) > 10
            assert len(why) > 20
            assert not re.search(r"guide\.", do + why)


def test_what_does_not_fit_a_step_gets_a_friendly_word():
    dig = next(step for step in teaching.guide("mexica").steps if step.name == "dig")
    for action, key in (("end", "not_yet"), ("canal A7-B7", "elsewhere"), ("token", "other")):
        verdict = teaching.check_step("mexica", dig, [], action)
        assert not verdict.fits
        assert not verdict.is_done
        assert verdict.word.key == f"guide.{key}"
        assert len(teaching.say("mexica", verdict.word, "pt")) > 20


def test_a_step_may_have_a_word_of_its_own_an_order_and_patterns():
    step = GuideStep("walk", ("walk *", "temple 2 **"), 2, False, ("A1",), ())
    assert check_action(step, [], "walk A1").fits
    assert check_action(step, ["walk A1"], "temple 2 B2").is_done
    assert not check_action(step, ["walk A1"], "walk A1").fits
    assert check_action(step, [], "token", has_own_word=True).word.key == "guide.walk.off"
    ordered = GuideStep("walk", ("walk A1", "walk A2"), 2, True, ("A1",), ())
    assert not check_action(ordered, [], "walk A2").fits
    assert check_action(ordered, ["walk A1"], "walk A2").is_done
    assert not matches("walk *", "walk")
    assert not matches("walk", "walk A1")
    assert matches("keep **", "keep")


def test_a_guide_never_says_that_an_illegal_action_was_played():
    position = ai.Position.from_json(dict(teaching.guide("coatl").start))
    with pytest.raises(IllegalActionError):
        position.push_action("take head B")


def test_a_game_without_the_part_has_nothing(monkeypatch):
    import dataclasses

    bare = dataclasses.replace(registry.get("nim"), teaching=None)
    monkeypatch.setattr(registry, "get", lambda name: bare)
    position = ai.new_game("nim", seed=1)
    assert teaching.languages("nim") == ()
    assert teaching.rules("nim") is teaching.guide("nim") is teaching.projected("nim", position.to_json()) is None
    assert teaching.legend("nim") == teaching.score_sheet(position, []) == teaching.score_rows(position, []) == []
    assert teaching.hints("nim", position.to_json()) == {}
    assert teaching.guide_words("nim", "even") == teaching.guide_frame("nim") == ("", "")
    assert teaching.say("nim", phrase("guide.other")) == "guide.other"
