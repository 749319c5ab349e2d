"""Learning a game on the page, over HTTP: rules, words for pictures, guided first games, points now and at the end."""

import json
import re
from pathlib import Path

import pytest
from pages import PERSON, PageHere, Process

from mexica_ai.game import registry, teaching
from mexica_ai.game.phrases import phrase

EXAMPLES = Path(__file__).parents[2] / "examples"
GAMES = registry.BUILT_IN


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    process = Process(tmp_path_factory.mktemp("lessons"))
    yield process
    process.close()


def draft(page, now, *actions, status=200, **options):
    data = {"version": now["version"], "actions": [*now["draft"]["actions"], *actions]}
    return page.call("PUT", f"/api/games/{now['id']}/draft", data, status, **options)


def guided(page, game):
    return page.call("POST", "/api/games", {"guide": game}, 201)


def follow(page, now, action):
    """Do an action of a guide as a page does."""
    return page.command(now) if action == now["draft"]["end"] else draft(page, now, action)


# --- rules


@pytest.mark.parametrize("game", GAMES)
def test_the_rules_come_as_sections_in_each_language(page, game):
    english = page.call("GET", f"/api/rules/{game}")
    assert english["title"].startswith(registry.get(game).title)
    names = [section["name"] for section in english["sections"]]
    assert {"aim", "turn", "end", "scoring"} <= set(names)
    for language in english["languages"]:
        rules = page.call("GET", f"/api/rules/{game}?lang={language}")
        assert [section["name"] for section in rules["sections"]] == names
        assert len(rules["legend"]) == len(english["legend"]) >= 2
        words = json.dumps(rules)
        assert not re.search(r"\{#|\*\*|\|", words)
        # Nothing of the text is lost.
        said = [run for section in rules["sections"] for block in section["blocks"]
                for row in block["rows"] for cell in row for run in cell]  # fmt: skip
        letters = re.sub(r"\W", "", "".join([rules["title"], *(one["title"] for one in rules["sections"]), *said]))
        source = re.sub(r"\{#\w+\}|^\d\. |^\|[-| ]+$", "", teaching.rules(game, language), flags=re.MULTILINE)
        assert sorted(letters) == sorted(re.sub(r"\W", "", source))


def test_what_is_not_there_is_said(page):
    assert page.call("GET", "/api/rules/chess", status=404)["reason"] == "NO_RULES"
    assert page.call("GET", "/api/guides/chess", status=404)["reason"] == "NO_GUIDE"
    assert page.call("POST", "/api/games", {"guide": "chess"}, 404)["reason"] == "NO_GUIDE"
    assert page.call("POST", "/api/games", {"guide": "nim", "players": 2}, 400)["reason"] == "UNKNOWN_KEY"
    for wrong in ("../en", "x" * 300, "EN", "%00"):
        assert page.call("GET", f"/api/rules/nim?lang={wrong}")["title"] == "Nim: the rules"
    now = page.new()
    assert page.call("GET", f"/api/games/{now['id']}/sheet", status=422)["reason"] == "NOT_OVER"
    assert page.call("GET", f"/api/games/{now['id']}/at/7/hints", status=404)["reason"] == "NO_TURN"
    assert page.command(now, 422, play_on=True)["reason"] == "NO_GUIDE"


# --- guided first games


@pytest.mark.parametrize("game", GAMES)
def test_a_guide_is_followed_to_its_end(page, game):
    guide = teaching.guide(game)
    words = page.call("GET", f"/api/guides/{game}")
    assert words["intro"]
    assert words["end"]
    now = guided(page, game)
    assert now["guide"] == {"step": 0, "of": len(guide.steps), "done": []}
    assert now["waiting"] == "person"
    for index, step in enumerate(guide.steps):
        assert now["guide"]["step"] == index
        assert words["steps"][index]["do"]
        drawn = "".join(
            page.call("GET", f"/api/games/{now['id']}/at/{now['num_turns']}/all.svg",
                      params={"viewer": guide.seat, "actions": "; ".join(now["draft"]["actions"])})
        )  # fmt: skip
        assert all(f'="{name}"' in drawn for name in words["steps"][index]["look"])
        for action in step.accepts:
            now = follow(page, now, action)
    assert now["guide"] == {"step": len(guide.steps), "of": len(guide.steps), "done": []}
    assert now["waiting"] == ("over" if game == "nim" else "guide")
    (entry,) = [one for one in page.call("GET", "/api/games")["games"] if one["id"] == now["id"]]
    assert entry["guide"] == now["guide"]
    # Then the game goes on as any other.
    if game != "nim":
        now = page.command(now, play_on=True)
        assert now["guide"] is None
        page.await_game(now, lambda one: one["to_move"] == guide.seat or one["is_over"])


def test_what_does_not_fit_a_step_gets_a_word_and_changes_nothing(page):
    now = draft(page, guided(page, "mexica"), "place I7")
    assert (now["guide"]["step"], now["num_turns"]) == (1, 2)
    refused = draft(page, now, "canal A11-A12", status=422)
    assert (refused["reason"], refused["words"][:29]) == ("NOT_THIS_STEP", "Right kind of action, another")
    portuguese = draft(page, now, "canal A11-A12", status=422, headers={"Accept-Language": "pt"})
    assert portuguese["words"].startswith(teaching.say("mexica", phrase("guide.elsewhere"), "pt"))
    assert page.command(now, 422)["words"].startswith("Not yet")
    assert draft(page, now, "canal A1-C9", status=422)["reason"] != "NOT_THIS_STEP"
    assert page.game(now)["version"] == now["version"]
    # A whole turn may be typed, and undone before its end.
    later = draft(page, now, "canal T7-T8", "teleport U7")
    assert later["guide"]["step"] == 3
    back = draft(page, {**later, "draft": {"actions": []}}, "canal T7-T8")
    assert back["guide"]["step"] == 2
    typed = page.command(back, actions=["canal T7-T8", "teleport U7", "found 4 U8", "end"])
    assert (typed["guide"]["step"], typed["to_move"]) == (4, 0)
    assert page.command(typed, takeback=True)["guide"]["step"] == 1


def test_what_is_done_of_a_step_is_pointed_at_no_more(page):
    now = draft(page, guided(page, "tzolkin"), "keep w_yax7 w_uxm1")
    assert now["guide"]["done"] == []
    assert draft(page, now, "place yaxchilan")["guide"]["done"] == ["place:yaxchilan"]
    # The end of the Coatl is needed by the pieces that are still to be added.
    now = guided(page, "coatl")
    for step in teaching.guide("coatl").steps[:8]:
        for action in step.accepts:
            now = follow(page, now, action)
    assert draft(page, now, "add 1 right K")["guide"]["done"] == ["stored:0:body:K"]


def test_a_guide_goes_on_after_a_restart(tmp_path):
    with PageHere(tmp_path) as site:
        now = guided(site, "nim")
        now = follow(site, now, "take 1 1")
        left = site.command(guided(site, "nim"), play_on=True)
    with PageHere(tmp_path) as site:
        again = site.game(now)
        assert (again["guide"], again["waiting"]) == ({"step": 1, "of": 3, "done": []}, "person")
        assert follow(site, again, "take 1 2")["guide"]["step"] == 2
        assert site.game(left)["guide"] is None


def test_a_guide_shows_the_view_of_the_learner(page):
    now = guided(page, "coatl")
    assert page.call("GET", f"/api/games/{now['id']}?viewer=1", status=403)["reason"] == "NOT_A_PERSON"
    path = f"/api/games/{now['id']}/at/0"
    assert page.call("GET", f"{path}/hints?viewer=1", status=403)["reason"] == "NOT_A_PERSON"
    hints = page.call("GET", f"{path}/hints")["hints"]
    assert "hand:0:P09" in hints
    assert not any(name.startswith("hand:1:P") for name in hints)


# --- words and points


def test_words_are_of_the_position_that_is_shown(page):
    now = page.new("mexica", seed=1, seats=[PERSON, PERSON])
    place = now["entries"][0]["targets"][0]
    path = f"/api/games/{now['id']}/at/0"
    before = page.call("GET", f"{path}/hints")["hints"]
    drafted = page.call("GET", f"{path}/hints", params={"actions": now["entries"][0]["action"]})["hints"]
    assert "Pilli of Player 1" in drafted[place]
    assert "Pilli" not in before.get(place, "")
    page.play(now, now["entries"][0]["action"])
    assert page.call("GET", f"{path}/hints?turn=1")["hints"][place] == drafted[place]
    assert page.call("GET", f"{path}/hints?since=1")["hints"][place] == drafted[place]
    assert "Jogador 1" in page.call("GET", f"{path}/hints?lang=pt&turn=1")["hints"][place]


def test_projected_points_are_those_of_a_scoring_now(page):
    text = (EXAMPLES / "mexica_midgame.json").read_text()
    now = page.call("POST", "/api/games", {"text": text}, 201)
    wanted = teaching.projected("mexica", json.loads(text))
    assert page.call("GET", f"/api/games/{now['id']}/at/0/projected") == {"points": wanted}
    assert "projected" not in json.dumps(now)


@pytest.mark.parametrize("game", ["mexica", "coatl", "tzolkin"])
def test_the_sheet_of_a_game_adds_up(page, game):
    over = page.call("POST", "/api/games", {"example": f"{game}_game.jsonl", "record": 1}, 201)
    rows = page.call("GET", f"/api/games/{over['id']}/sheet")["rows"]
    assert [sum(points) for points in zip(*(row["points"] for row in rows), strict=True)] == over["scores"]
    assert all(row["section"] and row["label"] for row in rows)
    other = page.call("GET", f"/api/games/{over['id']}/sheet?lang=pt")["rows"]
    assert [row["points"] for row in other] == [row["points"] for row in rows]
    assert [row["label"] for row in other] != [row["label"] for row in rows]


def test_a_resigned_game_has_a_sheet(page):
    over = page.command(page.new("nim", seats=[PERSON, PERSON]), resign=True)
    assert page.call("GET", f"/api/games/{over['id']}/sheet") == {"rows": []}
