"""Pictures: well-formed, complete, safe, and the same as before."""

import dataclasses
import io
import json
import math
import random
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from played_games import path_of, records_of

import mexica_ai as ai
from mexica_ai.cli.main import main
from mexica_ai.draw import palette, png, shares, svg
from mexica_ai.draw.outline import outline
from mexica_ai.draw.palette import COLORS, Paint
from mexica_ai.draw.search import draw_candidates, draw_growth
from mexica_ai.game import registry
from mexica_ai.game.contract import Picture
from mexica_ai.game.records import position_at
from mexica_ai.io.errors import IllegalActionError, NotationError

ROOT = Path(__file__).parents[2]
EXAMPLES, GOLDENS = ROOT / "examples", ROOT / "tests" / "data" / "pictures"
GAMES = registry.names()
MIDGAMES = {game: EXAMPLES / f"{game}_midgame.json" for game in ("mexica", "coatl", "tzolkin")}
ALLOWED = {
    "svg", "title", "g", "rect", "circle", "ellipse", "path", "text", "pattern",
}  # fmt: skip


def check(picture):
    """The picture is XML of plain elements with finite numbers, and its ids are its own; return its root."""
    root = ET.fromstring(picture)
    assert len(picture) < 150_000
    names = {element.tag.removeprefix("{http://www.w3.org/2000/svg}") for element in root.iter()}
    assert names <= ALLOWED
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"p[0-9a-f]{10}-.+", name) for name in ids)
    assert set(re.findall(r"url\(#([^)]+)\)", picture)) <= set(ids)
    for element in root.iter():
        for key, value in element.attrib.items():
            assert not key.startswith("on")
            assert key != "style"
            assert not re.search(r"\b(?:nan|inf|None)\b", value), (key, value)
            if key in ("x", "y", "width", "height", "cx", "cy", "r", "rx", "font-size"):
                assert math.isfinite(float(value))
            if key in ("width", "height", "r"):
                assert float(value) >= 0
    return root


def play(game, seed, steps, players=2):
    """Return a position of random play in which a seat is to move, or the end."""
    rng = random.Random(seed)
    position = ai.new_game(game, players=players, seed=seed)
    while not position.is_over and (steps > 0 or position.is_chance):
        if position.is_chance:
            position.draw(rng.randrange(1 << 30))
            continue
        by_verb = {}
        for action in position.legal_actions():
            by_verb.setdefault(action.split()[0], []).append(action)
        position.push_action(rng.choice(by_verb[rng.choice(sorted(by_verb))]))
        steps -= 1
    return position


@pytest.mark.parametrize("theme", palette.THEMES)
@pytest.mark.parametrize("game", GAMES)
def test_positions_of_random_play_are_drawn(game, theme):
    for seed, steps in ((1, 0), (2, 25), (3, 80), (4, 10_000)):
        for players in (2, 4) if seed < 3 else (2 + seed % 3,):
            position = play(game, seed, steps, players)
            root = check(position.svg(theme=theme, targets=True, shares=[1 / players] * players))
            targets = [element.get("data-target") for element in root.iter() if element.get("data-target")]
            assert len(set(targets)) == len(targets) > 0
            if theme == "page":
                assert "#" not in re.sub(r"url\(#[^)]*\)|&#39;", "", ET.tostring(root, encoding="unicode"))


@pytest.mark.parametrize("game", GAMES)
def test_turns_are_drawn_with_their_steps(game):
    for seed in range(6):
        position = play(game, seed, 15 * seed)
        if position.to_move is None:
            continue
        turn, start = [], position.copy()
        rng = random.Random(seed)
        while position.state.turn == start.state.turn and not position.is_over and len(turn) < 12:
            turn.append(rng.choice(position.legal_actions()))
            position.push_action(turn[-1])
        before = start.to_json()
        picture = start.svg(turn=turn)
        check(picture)
        assert start.to_json() == before
        for action in turn:
            assert action == "end" or svg.escape(action) in picture


def marked(picture):
    """Return the numbers of the badges of a turn in a picture, and where they are."""
    root = ET.fromstring(picture)
    return {
        number.text: (float(disc.get("cx")), float(disc.get("cy")))
        for group in root.iter("{http://www.w3.org/2000/svg}g")
        if group.get("class") == "turn"
        for badge in group
        if badge.get("class") == "badge"
        for disc, number in [badge]
    }


@pytest.mark.parametrize(
    ("path", "turn", "numbers"),
    [
        (path_of("coatl"), 14, range(1, 12)),
        (path_of("tzolkin_marks"), 17, (1, 3, 4, 5)),
        (path_of("tzolkin_marks"), 38, (1, 2, 3, 5)),
    ],
)
def test_each_step_has_a_mark_of_its_own(path, turn, numbers):
    record = json.loads(path.read_text(encoding="utf-8"))
    found = marked(position_at(record, turn).svg(turn=record["turns"][turn]))
    assert set(found) >= {str(number) for number in numbers}
    assert len(set(found.values())) == len(found)


def test_pieces_are_marked_where_later_ones_have_moved_them():
    record = records_of("coatl")[0]
    found = marked(position_at(record, 14).svg(turn=record["turns"][14]))
    # start body R; add 1 left R (twice); add 1 right G (twice): from left to right 4, 3, 1, 6, 7
    order = sorted(("1", "3", "4", "6", "7"), key=lambda number: found[number])
    assert order == ["4", "3", "1", "6", "7"]


@pytest.mark.parametrize("game", ["coatl", "mexica", "tzolkin"])
def test_the_winners_are_named(game):
    position = play(game, 5, 100_000, 3)
    assert position.is_over
    picture = position.svg()
    note = ">wins<" if len(position.winners) == 1 else ">shares the win<"
    assert picture.count(note) == len(position.winners)
    assert ">wins<" not in ai.load(MIDGAMES[game]).svg()


@pytest.mark.parametrize(("game", "clock"), [("coatl", "round"), ("mexica", "round"), ("tzolkin", "day")])
def test_the_title_of_a_turn_has_the_round_in_which_it_was_played(game, clock):
    record = records_of(game)[0]
    turned = 0
    for index, turn in enumerate(record["turns"][:24]):
        before, after = position_at(record, index), position_at(record, index + 1)
        fields = before.to_json()
        if before.is_chance or fields["phase"] in ("keep", "placement"):
            continue
        title = re.search("<title>(.*?)</title>", before.svg(turn=turn))[1]
        assert f", {clock} {fields[clock]}, turn of seat {fields['to_move']}: " in title
        turned += fields[clock] != after.to_json()[clock]
    assert turned


@pytest.mark.parametrize("game", ["coatl", "mexica"])
def test_the_picture_of_the_last_turn_names_its_seat_if_that_wins(game):
    for seed in range(20):
        position = play(game, seed, 100_000, 3)
        turn, winners = position.history[-1], position.winners
        for _ in turn:
            position.pop()
        if position.to_move in winners:
            break
    assert position.to_move in winners
    note = ">wins<" if len(winners) == 1 else ">shares the win<"
    assert position.svg(turn=turn).count(note) == len(winners)


def test_what_a_scoring_of_mexica_would_bring_now():
    position = play("mexica", 11, 60, 3)
    while position.to_json()["period"] == 1:
        gains = re.findall(r">\+([0-9]+) now<", position.svg(parts=["panel"]))
        scores = position.scores
        position.push("end")
    assert [str(new - old) for new, old in zip(position.scores, scores, strict=True)] == gains


def test_the_style_sheet_colours_what_the_page_shows():
    sheet = palette.style_sheet()
    names = set()
    for game in GAMES:
        for position in (ai.new_game(game, seed=1), play(game, 2, 60, 4)):
            names |= set(re.findall(r"(?:fill|stroke)-[a-zA-Z0-9]+(?=[ \"])", position.svg(theme="page")))
    assert len(names) > 20
    # A rule would win over the pattern of a striped district, which is an attribute.
    assert ".fill-none:not([fill]) { fill: none; }" in sheet
    names -= {"fill-none"}
    assert all(f".{name} {{" in sheet for name in names if not name.startswith("stroke-width"))


def test_a_turn_that_is_not_legal_is_refused():
    with pytest.raises(IllegalActionError):
        ai.load(MIDGAMES["mexica"]).svg(turn="walk A1")


@pytest.mark.parametrize("game", ["coatl", "tzolkin"])
def test_what_a_seat_does_not_see_is_not_drawn(game):
    position = ai.new_game(game, seed=5) if game == "tzolkin" else ai.load(MIDGAMES[game])
    hidden = json.loads(json.dumps(position.to_json()["seats"][1]["dealt" if game == "tzolkin" else "hand"]))
    shown = position.view(0).to_json()["seats"][1]
    secret = set(hidden) - set(shown["dealt" if game == "tzolkin" else "hand"])
    assert secret
    whole, seen = position.svg(targets=True), position.svg(viewer=0, targets=True)
    if game == "coatl":
        assert all(f"hand:1:{card}" in whole and f"hand:1:{card}" not in seen for card in secret)
    else:
        assert seen.count("hidden") == 4
        assert whole.count("hidden") == 0


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        ({"cause": "third", "seat": 1}, "seat 1 has three Coatls: last turns"),
        ({"cause": "bodies", "last_round": 15}, "no bodies left: ends with round 15"),
    ],
)
def test_who_plays_coatl_sees_that_the_game_ends(ending, words):
    fields = ai.load(MIDGAMES["coatl"]).view(0).to_json() | {"ending": ending}
    draw = registry.get("coatl").picture.draw
    assert f"round 14, as seat 0 sees it, {words}<" in draw(fields, viewer=0)
    assert words not in draw(fields | {"phase": "over"})
    assert words not in draw(fields | {"ending": None}, viewer=0)


def test_the_picture_of_mexica_counts_idle_rounds():
    fields = ai.load(MIDGAMES["mexica"]).to_json()
    draw = registry.get("mexica").picture.draw
    heading = f">period {fields['period']}, round {fields['round']}"
    assert f"{heading}<" in draw(fields | {"idle_rounds": 0})
    assert f"{heading}, 1 idle round<" in draw(fields | {"idle_rounds": 1})


def test_the_parts_of_a_picture():
    position = ai.load(MIDGAMES["mexica"])
    board = check(position.svg(parts=["board"]))
    whole = check(position.svg())
    assert float(board.get("width")) < float(whole.get("width"))
    assert "on display" in position.svg(parts=["panel"])
    assert "on display" not in position.svg(parts=["board"])


def test_faulty_positions_of_an_editor_are_drawn_as_far_as_they_can_be_read():
    parts = registry.get("mexica")
    data = ai.load(MIDGAMES["mexica"]).to_json()
    data["canals"] += ["Z99", "", 7]
    data["temples"] += [{"at": "A1", "seat": 9, "level": "x"}, {"at": None}]
    data["seats"][0]["pilli"] = "nowhere"
    data["calpulli"]["placed"].append({"at": "C9", "size": "many"})
    check(parts.picture.draw(data))
    check(parts.picture.draw({"game": "mexica", "players": 2}))


def test_two_pictures_share_no_ids():
    one = ai.load(MIDGAMES["mexica"]).to_json()
    one["temples"].append({"at": "E7", "seat": 0, "level": 1})
    other = json.loads(json.dumps(one))
    other["seats"][0]["score"] += 1
    pictures = [registry.get("mexica").picture.draw(data) for data in (one, other)]
    ids = [set(re.findall(r' id="([^"]+)"', picture)) for picture in pictures]
    assert ids[0]
    assert ids[1]
    assert not ids[0] & ids[1]


def test_text_is_escaped():
    nasty = "<script>&\"'\x00\ud800</script>"
    root = ET.fromstring(svg.document(10, 10, svg.text(0, 0, nasty, 9), nasty))
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
    turn = shares.Turn(1, 0, [0.5, 0.5], 0.2, nasty, nasty, [0.5, 0.5])
    check(shares.draw_shares([turn], players=2, title=nasty))


def test_numbers_are_short_and_finite():
    assert [svg.number(x) for x in (1.0, -0.001, 2.5, 1 / 3, -7)] == ["1", "0", "2.5", "0.33", "-7"]
    with pytest.raises(ValueError, match="finite"):
        svg.number(math.nan)


def test_outlines_go_round_squares_and_holes():
    assert outline([(0, 0)], 10, 0, 0, 0, 0) == "M0 0Q0 0 0 0L10 0Q10 0 10 0L10 10Q10 10 10 10L0 10Q0 10 0 10Z"
    ring = [(x, y) for x in range(3) for y in range(3) if (x, y) != (1, 1)]
    assert outline(ring, 10, 0, 0, 1, 2).count("Z") == 2
    corners = outline([(0, 0), (1, 1)], 10, 0, 0, 1, 5)
    assert corners.count("Z") == 2  # they touch at a corner only
    grown = [float(number) for number in re.findall(r"-?[0-9.]+", outline([(0, 0)], 10, 0, 0, 2, 0))]
    assert (min(grown), max(grown)) == (-2, 12)


def luminance(color):
    channels = [int(color[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


# Machado, Oliveira, Fernandes 2009: full protanopia, deuteranopia, tritanopia, for linear RGB.
BLINDNESS = np.array(
    [
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ]
)


def lab(color, matrix):
    rgb = np.array([int(color[index : index + 2], 16) / 255 for index in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(matrix @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear
    f = xyz / [0.95047, 1.0, 1.08883]
    f = np.where(f > 0.008856, np.cbrt(f), 7.787 * f + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize(
    ("names", "least"), [(["seat0", "seat1", "seat2", "seat3"], 22), (list("YRKGB"), 30)], ids=["seats", "coatl"]
)
def test_colours_differ_for_the_colour_blind(names, least):
    for matrix in (np.eye(3), *BLINDNESS):
        seen = [lab(COLORS[name][0], matrix) for name in names]
        assert min(np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]) >= least


def test_text_has_contrast():
    for theme in (0, 1):
        for ink, paper, least in (
            ("ink", "paper", 7),
            ("ink", "card", 7),
            ("soft", "paper", 4.5),
            ("soft", "card", 4.5),
            *((f"on{seat}", f"seat{seat}", 4.8) for seat in range(4)),
            ("edge", "card", 4.5),
            *((f"on{letter}", letter, 4.5) for letter in "YRKGB"),
        ):
            assert contrast(COLORS[ink][theme], COLORS[paper][theme]) >= least, (ink, paper, theme)
    with pytest.raises(ValueError, match="theme"):
        Paint("pink")


# ---- goldens


def golden_pictures():
    mexica = ai.load(MIDGAMES["mexica"])
    turn = "canal P7-Q7; canal Q8-Q9; walk T7; walk S7; found 12 O5; temple 2 P5; end"
    yield "mexica_turn", mexica.svg(turn=turn, shares=[0.41, 0.3, 0.29])
    yield "coatl_dark", ai.load(MIDGAMES["coatl"]).svg(viewer=0, theme="dark", targets=True)
    yield "tzolkin_turn", ai.load(MIDGAMES["tzolkin"]).svg(turn="pick palenque 1 1; pick yaxchilan 4 4; end")
    turns = [
        shares.Turn(n, n % 2, [0.5 + 0.03 * n, 0.5 - 0.03 * n], 0.02 * n, f"turn {n}", mark, before)
        for n, mark, before in (
            (1, "", [0.5, 0.5]),
            (2, "", None),
            (3, "?", None),
            (6, "?", [0.6, 0.4]),
            (7, "?", None),
        )
    ]
    yield "shares", shares.draw_shares(turns, players=2)


def test_pictures_are_those_of_the_goldens():
    """`python tests/draw/test_draw.py` writes them anew: look at them before they are committed."""
    for name, picture in golden_pictures():
        assert picture + "\n" == (GOLDENS / f"{name}.svg").read_text(encoding="utf-8"), name


@pytest.mark.real("processes")  # matplotlib may ask a program for fonts
def test_a_png_is_the_golden_one():
    resvg = pytest.importorskip("resvg_py")
    assert resvg
    from matplotlib.image import imread

    found, wanted = imread(io.BytesIO(png.to_png(dict(golden_pictures())["shares"]))), imread(GOLDENS / "shares.png")
    assert found.shape == wanted.shape
    assert np.mean(np.abs(found - wanted) > 0.1) < 0.02
    assert png.to_png(dict(golden_pictures())["shares"], 2.0)[16:24] == bytes(
        [0, 0, *divmod(2 * wanted.shape[1], 256), 0, 0, *divmod(2 * wanted.shape[0], 256)]
    )
    with pytest.raises(ValueError, match="scale"):
        png.to_png("<svg/>", 9)


def test_a_png_needs_a_package_that_the_message_names(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "resvg_py", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'mexica-ai\[png\]'"):
        png.to_png("<svg/>")


# ---- plots and commands


def test_searches_are_drawn():
    position = ai.load(MIDGAMES["mexica"])
    results = [ai.best_turn(position, iterations=count, seed=1) for count in (50, 100)]
    picture = draw_candidates(results[0])
    words = [element.text for element in check(picture).iter("{http://www.w3.org/2000/svg}text")]
    shown = " ".join(words).replace("\N{NO-BREAK SPACE}", " ")
    assert all("; ".join(candidate.turn) in shown for candidate in results[0].candidates)
    assert max(map(len, words)) <= 58
    assert results[0]._repr_svg_() == draw_candidates(results[0])
    check(draw_growth(results, 0, theme="dark"))
    # A search that is over at once is a point of each candidate.
    assert draw_growth(results[:1], 0).count("<circle") == 2 * min(5, len(results[0].candidates))
    # Not every engine tells visits, shares and scores.
    bare = [dataclasses.replace(each, visits=0, value=[], expected_scores=[]) for each in results[1].candidates]
    untold = dataclasses.replace(results[1], candidates=bare)
    check(draw_candidates(untold))
    check(draw_growth([results[0], untold], 0))
    check(draw_growth([untold], 0))
    assert results[0].svg(position) == position.svg(turn=results[0].turn, shares=results[0].value)
    assert position._repr_svg_() == position._repr_html_() == position.svg()
    assert results[0]._repr_html_() == results[0]._repr_svg_()


def test_the_commands_write_pictures(tmp_path, capsys):
    game = str(MIDGAMES["mexica"])
    assert main(["show", game, "--svg", "-", "--play", "walk T7"]) == 0
    assert capsys.readouterr().out == ai.load(game).svg(turn="walk T7") + "\n"
    assert main(["best", game, "--iterations", "30", "--svg", str(tmp_path / "best.svg"), "--theme", "dark"]) == 0
    check((tmp_path / "best.svg").read_text(encoding="utf-8"))
    assert "Best turn of seat 0" in capsys.readouterr().out
    assert main(["analyze", game, "--iterations", "200", "--plot", str(tmp_path / "search.svg")]) == 0
    check((tmp_path / "search.svg").read_text(encoding="utf-8"))
    record, plot = str(EXAMPLES / "mexica_game.jsonl"), str(tmp_path / "shares.svg")
    assert main(["annotate", record, "--iterations", "10", "--turns", "3-5", "--plot", plot]) == 0
    check(Path(plot).read_text(encoding="utf-8"))


def test_the_commands_write_png(tmp_path, capsys):
    pytest.importorskip("resvg_py")
    assert main(["show", str(MIDGAMES["coatl"]), "--png", str(tmp_path / "game.png"), "--scale", "0.5"]) == 0
    assert (tmp_path / "game.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "--play", "walk T7"], "--play: needs --svg or --png"),
        (["show", "--svg", "/no/folder/x.svg"], "there is no folder"),
        (["show", "--png", "x.png", "--scale", "9"], "a number from 0.02 to 8"),
        (["show", "--png", "x.png", "--scale", "0.001"], "a number from 0.02 to 8"),
        (["analyze", "--iterations", "5", "--plot", "x.pdf"], "ends in .svg or .png"),
    ],
)
def test_what_cannot_be_drawn_is_said_at_once(arguments, words, capsys):
    command, *options = arguments
    assert main([command, str(MIDGAMES["mexica"]), *options]) == 2
    assert words in capsys.readouterr().err


def test_a_game_without_pictures_says_so(monkeypatch):
    position = ai.new_game("nim")
    monkeypatch.setattr(position, "_game", dataclasses.replace(registry.get("nim"), picture=Picture()))
    with pytest.raises(NotationError, match="nim: has no pictures"):
        position.svg()


if __name__ == "__main__":
    GOLDENS.mkdir(parents=True, exist_ok=True)
    for name, picture in golden_pictures():
        (GOLDENS / f"{name}.svg").write_text(picture + "\n", encoding="utf-8")
    (GOLDENS / "shares.png").write_bytes(png.to_png(dict(golden_pictures())["shares"]))
