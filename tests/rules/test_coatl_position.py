"""Random events and views of `Position`, with Coatl, which has both."""

from collections import Counter
from pathlib import Path

import pytest
from played_games import records_of
from scipy.stats import chisquare

import mexica_ai as ai
from mexica_ai import GameOverError, IllegalActionError, NotationError, Position, PositionError, SearchError
from mexica_ai.games.coatl import facts

EXAMPLES = Path(__file__).parents[2] / "examples"
(RECORD,) = records_of("coatl")
EVENTS = ("deal", "reveal", "refill", "uncover")


def walk():
    """Yield each position of the example game with the turn, or the event, that follows it."""
    position = Position.from_json(RECORD["start"])
    for turn in RECORD["turns"]:
        yield position.copy(), turn
        position.push(turn)
    yield position, None


def before(verb):
    """Return the first position of the example game in which that event is due, and the event."""
    return next((position, turn) for position, turn in walk() if turn[0].split()[0] == verb)


@pytest.fixture
def midgame():
    return ai.load(EXAMPLES / "coatl_midgame.json")


def test_the_example_game_has_every_event():
    assert {turn[0].split()[0] for turn in RECORD["turns"]} >= set(EVENTS)
    assert ai.replay(RECORD).scores == RECORD["scores"]


def test_an_event_is_due_exactly_where_the_record_has_one():
    for position, turn in walk():
        is_event = turn is not None and turn[0].split()[0] in EVENTS
        assert position.is_chance == is_event
        assert (position.to_move is None) == (is_event or turn is None)
        assert position.is_over == (turn is None)
        if is_event:
            assert len(turn) == 1
            assert position.legal_actions() == []
            assert position.winners == []
            assert repr(position) == "<Position of coatl: 2 players, a random event comes next>"
            assert position.to_json()["pending"] == turn[0].split()[0]


@pytest.mark.parametrize("verb", EVENTS)
def test_what_is_drawn_can_be_pushed(verb):
    position, _ = before(verb)
    drawn, pushed = position.copy(), position.copy()
    event = drawn.draw(5)
    assert isinstance(event, list)
    assert event[0].split()[0] == verb
    pushed.push(event)
    assert drawn == pushed
    assert not drawn.is_chance
    again = position.copy()
    assert again.draw(5) == event
    by_action = position.copy()
    by_action.push_action(event[0])
    assert by_action == drawn
    as_text = position.copy()
    as_text.push(event[0])
    assert as_text == drawn
    assert len({tuple(position.copy().draw(seed)) for seed in range(30)}) > 3
    position.copy().draw()  # by a seed of its own


def test_nothing_is_drawn_where_nothing_is_due(midgame):
    for position in (midgame, ai.new_game(), ai.new_game("nim"), ai.replay(RECORD)):
        untouched = position.copy()
        with pytest.raises(SearchError, match="no random event is due") as error:
            position.draw(1)
        assert error.value.reason == "NO_CHANCE"
        assert position == untouched


@pytest.mark.parametrize(
    ("verb", "text", "words"),
    [
        ("deal", "take body RG", r'"take body RG" cannot happen here; expected .*, such as "deal P\d\d"'),
        ("deal", "reveal P00", r'such as "deal P\d\d"'),
        ("deal", "draw deck", "cannot happen here"),
        ("reveal", "reveal P00 P01 P02 P03 P04 P05", r'such as "reveal P'),
        ("refill", "refill heads YY", r'such as "refill '),
        ("uncover", "uncover T00", r'such as "uncover T'),
    ],
)
def test_what_cannot_happen_is_refused(verb, text, words):
    position, _ = before(verb)
    if verb == "uncover":
        text = f"uncover {next(pile['top'] for pile in position.to_json()['piles'] if pile['top'])}"
    untouched = position.copy()
    with pytest.raises(IllegalActionError, match=words) as error:
        position.push([text])
    assert error.value.action_index == 0
    assert error.value.path == "turn[0]"
    assert position == untouched


def test_a_card_that_lies_elsewhere_is_not_dealt():
    position, event = before("deal")
    for card in position.to_json()["display"]:
        if card > "P04":  # of the others there are two
            with pytest.raises(IllegalActionError):
                position.push([f"deal {card}"])
    position.push(event)


def test_an_event_comes_alone():
    position, (event,) = before("deal")
    for turn in ([event, "end"], [event, event]):
        with pytest.raises(IllegalActionError, match="comes after the end of the turn") as error:
            position.copy().push(turn)
        assert error.value.reason == "TURN_ALREADY_ENDED"
        assert error.value.action_index == 1
    with pytest.raises(NotationError, match="deal P99"):
        position.copy().push(["deal P99"])


def test_no_turn_goes_on_through_an_event():
    position, turn = next((p, t) for p, t in walk() if t[-1] == "draw deck")
    for further in ("end", "deal P00"):
        with pytest.raises(IllegalActionError) as error:
            position.copy().push([*turn, further])
        assert error.value.reason == "TURN_ALREADY_ENDED"
    position.push(turn)
    assert position.is_chance


def test_no_seat_plays_an_event(midgame):
    for text in ("deal P00", "reveal P00", "refill heads R", "uncover T00"):
        with pytest.raises(IllegalActionError, match=r"is not legal for seat . here.*; expected one of ") as error:
            midgame.push([text])
        assert error.value.reason == "ILLEGAL_ACTION"


def test_a_turn_ends_where_the_seat_hands_over(midgame):
    with pytest.raises(IllegalActionError, match="does not end the turn") as error:
        midgame.push(["add 2 left G"])
    assert error.value.reason == "TURN_NOT_ENDED"
    midgame.push_action("add 2 left G")
    midgame.push("add 2 left Y; end")
    assert midgame.to_move == 1


def test_after_the_end_nothing_happens():
    position = ai.replay(RECORD)
    with pytest.raises(GameOverError):
        position.push("deal P00")
    assert position.winners == RECORD["winners"]


# --- views


def test_a_position_in_which_nothing_is_hidden_has_no_viewer(midgame):
    assert midgame.viewer is None
    for game in ("mexica", "nim"):
        position = ai.new_game(game, seed=1)
        assert position.viewer is None
        assert position.view(1) == position
        assert position.view(1) is not position


def test_a_view_hides_what_the_others_hold(midgame):
    view, full = midgame.view(0).to_json(), midgame.to_json()
    assert view["viewer"] == 0
    assert view["seats"][0] == full["seats"][0]
    assert view["seats"][1]["hand"] == ["P28", "P47", "?", "?", "?"]
    assert view["seats"][1]["temples"] == ["?"]
    assert view["seats"][1]["discarded"] == ["?", "?"]
    rest = {key: value for key, value in view.items() if key not in ("viewer", "seats")}
    assert rest == {key: full[key] for key in rest}
    assert Position.from_json(view) == midgame.view(0)
    assert midgame.viewer is None
    assert midgame.view(0).view(0) == midgame.view(0)
    assert not midgame.view(0).has_one_world


def test_no_view_shows_another(midgame):
    with pytest.raises(PositionError) as error:
        midgame.view(0).view(1)
    assert error.value.reason == "VIEWER_MISMATCH"
    with pytest.raises(PositionError) as error:
        midgame.view(2)
    assert error.value.reason == "OUT_OF_RANGE"


def test_every_position_of_a_game_has_its_views():
    for position, _ in walk():
        for seat in range(position.players):
            view = position.view(seat)
            assert view.viewer == seat
            assert view.to_move == position.to_move
            assert (view.is_chance, view.is_over) == (position.is_chance, position.is_over)
            assert view.scores == position.scores
            assert Position.from_json(view.to_json()) == view
            if position.to_move == seat:
                assert view.legal_actions() == position.legal_actions()


def test_a_seat_plays_in_its_view_as_in_the_full_position():
    for position, turn in walk():
        if position.to_move is not None:
            view = position.view(position.to_move)
            view.push(turn)
            position.push(turn)
            assert view == position.view(view.viewer)


@pytest.mark.parametrize("seat", [0, 1])
def test_a_view_follows_the_game_as_far_as_its_seat_can_see(seat):
    # Of what the others do unseen a view knows no more than that it was done.
    view = Position.from_json(RECORD["start"]).view(seat)
    followed = 0
    for position, turn in walk():
        if turn is None:
            break
        verb = turn[0].split()[0]
        mover = position.to_json()["to_move"]
        is_unseen = mover != seat and (verb in ("keep", "deal") or any("discard" in a for a in turn))
        if is_unseen:
            position.push(turn)
            view = position.view(seat)
            continue
        view.push(turn)
        position.push(turn)
        assert view == position.view(seat)
        followed += 1
    assert followed > 40
    assert view.is_over


def test_the_legal_actions_of_another_seat_cannot_be_seen(midgame):
    view = midgame.view(1)
    with pytest.raises(PositionError, match="view of seat 1; expected the view of seat 0") as error:
        view.legal_actions()
    assert error.value.reason == "NOT_ITS_VIEW"
    assert error.value.path == "position.viewer"
    with pytest.raises(PositionError) as error:
        ai.best_turn(view, iterations=10)
    assert error.value.reason == "NOT_ITS_VIEW"


def test_what_another_seat_cannot_do_whatever_it_holds(midgame):
    view = midgame.view(1)
    with pytest.raises(IllegalActionError, match="whatever it holds that seat 1 does not see"):
        view.push("take body YY")
    assert view == midgame.view(1)


def test_no_card_of_the_own_hand_is_dealt():
    position, _ = before("deal")
    mover = position.to_json()["to_move"]
    view = position.view(mover)
    own = [card for card in position.to_json()["seats"][mover]["hand"] if card > "P04"]
    for card in own:
        with pytest.raises(IllegalActionError):
            view.copy().push([f"deal {card}"])


def test_what_is_drawn_in_a_view_owes_nothing_to_the_true_cards():
    position, _ = before("deal")
    seat = position.to_json()["to_move"]
    view = position.view(seat)
    drawn = {tuple(view.copy().draw(seed)) for seed in range(300)}
    unseen = {
        f"deal {card}"
        for other in position.to_json()["seats"][1 - seat : 2 - seat]
        for card in set(other["hand"]) - set(other["shown"])
    }
    assert any((event,) in drawn for event in unseen)


def test_each_unseen_card_is_as_likely_to_be_drawn_in_a_view():
    """What is dealt to the hidden hands first, with the same seed, has no influence."""
    position, _ = before("deal")
    view = position.view(position.to_json()["to_move"]).to_json()
    assert "memory" not in view
    seen = Counter([*view["display"], *view["discarded"]])
    for own in view["seats"]:
        seen.update([*own["hand"], *own["discarded"]])
        seen.update(card for coatl in own["coatls"] for card in coatl["prophecies"])
    unseen = Counter(facts.COPIES) - seen
    as_seen, drawn = Position.from_json(view), Counter()
    for seed in range(3000):
        trial = as_seen.copy()
        drawn[trial.draw(seed)[0].split()[1]] += 1
    assert drawn.keys() == unseen.keys()
    expected = [3000 * copies / unseen.total() for copies in unseen.values()]
    assert chisquare([drawn[card] for card in unseen], expected).pvalue > 1e-3


# --- searches


def test_no_search_while_an_event_is_due():
    position, _ = before("deal")
    for place in (position, position.view(0), position.view(1)):
        with pytest.raises(PositionError, match="a random event comes before the next turn") as error:
            ai.best_turn(place, iterations=10)
        assert error.value.reason == "CHANCE_PENDING"


@pytest.mark.parametrize("spec", ["mcts", "uct", "beam", "greedy", "random"])
def test_every_engine_answers_views_of_the_seat_to_move_only(spec, midgame):
    from mexica_ai.engines import make_engine, parse_spec

    limits = ai.Limits(iterations=20)
    due, _ = before("reveal")
    with make_engine(parse_spec(spec)) as engine:
        turn = engine.best_turn(midgame.view(0), limits, seed=1).turn
        midgame.copy().push(turn)
        for place, reason in ((midgame.view(1), "NOT_ITS_VIEW"), (due, "CHANCE_PENDING")):
            with pytest.raises(PositionError) as error:
                engine.best_turn(place, limits, seed=1)
            assert error.value.reason == reason
