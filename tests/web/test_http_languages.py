"""Answers of the page in the language of their request, and what browsers need to install the page."""

import json
import os
import re
import shutil
from pathlib import Path

from pages import NIM, PERSON, engine

import mexica_ai as ai

PACKAGE = Path(ai.__file__).parent


def in_portuguese(site, path, **query):
    return site.call("GET", path, params=query, headers={"Accept-Language": "pt-BR,pt;q=0.9,en;q=0.8"})


def test_answers_are_in_the_language_of_their_request(site):
    made = site.new("mexica", seats=[PERSON, engine()], players=2, seed=5)
    path = f"/api/games/{made['id']}"
    assert made["names"] == ["Player 1", "Level 1"]
    assert made["draft"]["commit"] == "End turn"
    for there in (in_portuguese(site, path), site.game(made, lang="pt")):
        assert there["names"] == ["Jogador 1", "Nível 1"]
        assert there["draft"]["commit"] == "Terminar o turno"
        assert there["entries"] == made["entries"]
    assert site.game(made)["names"] == made["names"]
    why = in_portuguese(site, f"{path}/why", tool="place", targets="A1")
    assert why["reasons"] == [{"tools": ["Colocar o pilli"], "why": "A1 não é um espaço inicial"}]
    tools = {
        tool["name"]: tool["label"]
        for game in in_portuguese(site, "/api/info")["games"]
        if game["name"] == "mexica"
        for tool in game["tools"]
    }
    assert tools["bridge"] == "Ponte"


def test_each_page_of_a_game_is_told_in_its_own_language(site):
    made = site.new("mexica", seats=[PERSON, PERSON], players=2, seed=5)
    with site.stream(game=made["id"], lang="pt") as portuguese, site.stream(game=made["id"]) as english:
        assert next(portuguese)[1]["snapshot"]["names"] == ["Jogador 1", "Jogador 2"]
        assert next(english)[1]["snapshot"]["names"] == ["Player 1", "Player 2"]
        action = made["entries"][0]["action"]
        space = action.split()[1]
        wanted = ((portuguese, f"começou em {space}"), (english, f"started at {space}"))
        drafted = {"version": made["version"], "viewer": None, "actions": [action]}
        drafted = site.call("PUT", f"/api/games/{made['id']}/draft", drafted)
        for stream, words in wanted:
            draft = next(data["snapshot"]["draft"] for name, data in stream if name == "state")
            assert [step["words"] for step in draft["steps"]] == [words]
        site.play(drafted, action)
        for stream, words in wanted:
            told = next(data["snapshot"]["turns"] for name, data in stream if name == "state")
            assert [turn["words"] for turn in told] == [words]


def test_each_page_reads_what_was_searched_in_its_own_language(site):
    made = site.new("mexica", seats=[PERSON, PERSON], players=2, seed=5)
    path = f"/api/games/{made['id']}"
    wanted = {
        "pt": ("começou em ", ("limite de tempo", "decidido"), "O turno seguinte em iterações, "),
        "en": ("started at ", ("time limit", "settled"), "The next turn by iterations, "),
    }
    with site.stream(game=made["id"], lang="pt") as portuguese, site.stream(game=made["id"], lang="en") as english:
        # Time enough for several candidates on a busy machine: `why` tells of the next one.
        site.call("PUT", f"{path}/analysis?lang=pt", {"at": 0, "seconds": 2}, 202)
        for stream, (words, stopped, why) in zip((portuguese, english), wanted.values(), strict=True):
            data = next(data for name, data in stream if name == "analysis" and data["stop_reason"])
            assert all(one["words"].startswith(words) for one in data["candidates"])
            assert data["stop_text"].startswith(stopped)
            assert any(one.startswith(why) for one in data["why"])
    for language, (words, stopped, why) in wanted.items():  # and a page that comes later
        found = site.game(made, lang=language)["analysis"]
        assert found["candidates"][0]["words"].startswith(words)
        assert found["stop_text"].startswith(stopped)
        assert any(one.startswith(why) for one in found["why"])


def test_each_page_reads_an_annotation_in_its_own_language(site):
    review = site.call("POST", "/api/games", {"text": json.dumps(NIM)}, 201)
    told = {}
    with site.stream(game=review["id"], lang="pt") as portuguese, site.stream(game=review["id"], lang="en") as english:
        site.call("PUT", f"/api/games/{review['id']}/annotation?lang=pt", {"seconds": 0.1}, 202)
        for language, stream in (("pt", portuguese), ("en", english)):
            turns = (data["turn"] for name, data in stream if name == "annotation" and "turn" in data)
            told[language] = [next(turns) for _ in NIM["turns"]]
    grades = {language: [one["grade"] for one in turns] for language, turns in told.items()}
    assert grades == {"pt": ["erro grave", "erro grave", ""], "en": ["blunder", "blunder", ""]}
    # It gives away 99.1 % of the win. Seat 1 can answer take 1 2. Better was take 1 2: then it expects ...
    english, portuguese = (told[language][0]["explanation"] for language in ("en", "pt"))
    number = re.search(r"[\d.]+(?= %)", english[0])[0]
    assert portuguese[0].startswith(f"Entrega {number.replace('.', ',')} % da vitória")
    assert portuguese[1].startswith("Seat 1 pode responder com take ")
    assert portuguese[2].startswith("Melhor era take 1 2: então espera ")
    for language, turns in told.items():  # and a page that comes later
        assert site.game(review, lang=language)["annotation"]["turns"] == turns
    record = site.call("GET", f"/api/games/{review['id']}/record?lang=pt")
    assert record["evaluations"]["turns"][0]["explanation"] == english
    # A record is explained in English where it has no explanation, whoever opens it.
    del record["evaluations"]["turns"][0]["explanation"]
    again = site.call("POST", "/api/games?lang=pt", {"text": json.dumps(record)}, 201)
    assert site.game(again, lang="pt")["annotation"]["turns"][0]["explanation"] == portuguese
    assert site.game(again)["annotation"]["turns"][0]["explanation"] == english


def test_pictures_and_boards_are_in_english_but_for_the_names_of_players(site):
    made = site.new("tzolkin", seats=[PERSON, engine()], players=2, seed=5)
    picture = f"/api/games/{made['id']}/at/0/all.svg"
    translated = site.call("GET", picture, headers={"Accept-Language": "pt"})
    assert ">Jogador 1" in translated
    for name, other in zip(site.game(made)["names"], site.game(made, lang="pt")["names"], strict=True):
        translated = translated.replace(other, name)
    assert translated == site.call("GET", picture)
    assert site.game(made, lang="pt")["text"] == site.game(made)["text"]


def test_the_manifest_and_its_icons_are_served_to_those_with_the_session(site):
    answer = site.client.get("/static/manifest.webmanifest")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("application/manifest+json")
    for icon in json.loads(answer.text)["icons"]:
        assert site.client.get(icon["src"]).headers["content-type"].startswith(icon["type"])
    with site.new_client() as stranger:
        assert stranger.get("/static/manifest.webmanifest").status_code == 401


def test_the_shell_names_the_languages_of_its_message_files(site):
    assert site.call("GET", "/").count('<html lang="en" data-languages="pt">') == 1
    assert site.call("GET", "/static/messages/pt.json")["Language"] == "Idioma"


def test_a_third_language_is_nothing_but_files(start, tmp_path):
    copy = tmp_path / "more" / "mexica_ai"
    shutil.copytree(PACKAGE, copy, copy_function=os.symlink, ignore=shutil.ignore_patterns("__pycache__"))
    says = {
        "web/static/messages/es.json": {"Language": "Idioma", "New game": "Juego nuevo"},
        "game/messages/es.json": {"Level {level}": "Nivel {level}"},
        "games/mexica/messages/es.json": {"Bridge": "Puente"},
        "games/mexica/texts/es.json": {"hint.pilli": "Pilli de {seat}."},
        "analysis/texts/es.json": {"level.1.name": "Mariposa"},
    }
    for name, texts in says.items():
        (copy / name).write_text(json.dumps(texts))
    (copy / "games/mexica/texts/rules.es.md").write_text("# Mexica: las reglas\n\n## Objetivo {#aim}\n\nPuntos.\n")
    site = start(environment={"PYTHONPATH": str(copy.parent)})
    assert 'data-languages="es pt"' in site.call("GET", "/")
    assert site.call("GET", "/static/messages/es.json") == says["web/static/messages/es.json"]
    made = site.new("mexica", seats=[PERSON, engine()], players=2, seed=5)
    assert site.game(made, lang="es")["names"] == ["Player 1", "Nivel 1"]
    headers = {"Accept-Language": "es-MX,es;q=0.9"}
    info = {game["name"]: game for game in site.call("GET", "/api/info", headers=headers)["games"]}
    assert {"Puente", "Place the pilli"} <= {tool["label"] for tool in info["mexica"]["tools"]}
    assert info["mexica"]["languages"] == ["en", "es", "pt"]
    assert site.call("GET", "/api/rules/mexica", headers=headers)["title"] == "Mexica: las reglas"
    levels = site.call("GET", "/api/results", headers=headers)["levels"]
    assert levels[0]["name"] == "Mariposa"
