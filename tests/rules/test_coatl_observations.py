"""What a seat of Coatl has observed of cards that it knew and that went out of its sight.

After a discard from a hand, or a renewal of the deck, a card may be known to be in one of two places, or not
to be in a hand. The reference's log of the whole game tells which worlds are possible; those drawn must be
these.
"""

import contextlib
import itertools
import os
import random
from collections import Counter

import pytest
from coatl_builder import believing
from reference.coatl import ALL_PROPHECIES, PROPHECIES
from reference.coatl import State as Reference
from reference.coatl_matching import prophecy_points
from scipy.stats import chisquare
from weighed import Search

from cext.core.baselines.simple import determinize
from cext.core.baselines.uct import UCT
from cext.games.coatl.observations import has_world
from mexica_ai import IllegalActionError, NotationError, PositionError
from mexica_ai.game.position import Position
from mexica_ai.games.coatl import facts, notation
from mexica_ai.games.coatl.shape import MEMORIES
from mexica_ai.rpc import wire

pytestmark = pytest.mark.slow

SCALE = int(os.environ.get("MEXICA_AI_WALKS", "1"))
LEAST_P = 1e-3  # the draws are seeded, so a test passes always or never
UNSEEN = ("discard", "deal", "private")  # entries whose card only their seat knows

# Players who draw, discard and play much, so that the deck runs out again and again.
LEANING = {"draw deck": 8, "draw": 4, "future": 3, "discard": 12, "play": 20, "add": 6, "start": 3, "take": 3,
           "end": 0.4}  # fmt: skip


def choose(rng, legal):
    kinds = sorted({action if action == "draw deck" else action.split()[0] for action in legal})
    kind = rng.choices(kinds, [LEANING.get(kind, 1) for kind in kinds])[0]
    if kind == "draw deck":
        return kind
    return rng.choice([each for each in legal if each.split()[0] == kind and each != "draw deck"])


def advance(rng, reference, state, legal=None):
    """Let something happen, in both games."""
    action = reference.random_event(rng) if reference.pending else choose(rng, legal or reference.legal_actions())
    reference.apply(action)
    state.apply(notation.parse_action(action))


def walk(rng, players):
    """Play a game; yield the state and the reference's wherever something is remembered."""
    reference = Reference.new_game(players, rng)
    state = notation.parse_position(reference.to_json())
    while not reference.is_over:
        legal = reference.legal_actions()
        renewals = sum(word == "renew" for word, *_ in reference.memory)
        # The tokens are spent one after the other, some of them after a renewal.
        is_early = reference.round < 6 + 6 * reference.to_move + 10 * renewals
        if "future" in legal and len(legal) > 1 and is_early:
            legal.remove("future")
        advance(rng, reference, state, legal)
        assert notation.format_position(state) == reference.to_json()
        if reference.memory:
            yield state, reference


# --- whole games

seen = Counter()


def look(rng, state, reference):
    """Draw a world for each seat, and check it."""
    full = reference.to_json()
    assert notation.parse_position(full) == state
    for viewer in range(state.num_players):
        view = notation.view(full, viewer)
        assert view == reference.view(viewer)
        as_seen = notation.parse_position(view)
        assert notation.format_position(as_seen) == view
        assert as_seen.view_hash(viewer) == state.view_hash(viewer)
        seed = rng.getrandbits(60)
        belief = rng.choice([0, 1])
        world = state.copy()
        determinize(world, viewer, seed, weights=believing(), belief=belief)
        world.check()
        drawn = notation.format_position(world)
        assert notation.view(drawn, viewer) == view
        assert world.view_hash(viewer) == state.view_hash(viewer)
        assert reference.consistent(viewer, drawn), (viewer, full)
        # What is remembered of the unseen cards, too, leads to the world, for every seat.
        read = notation.parse_position(drawn)
        assert read == world
        for other in range(state.num_players):
            assert has_world(as_seen if other == viewer else notation.parse_position(notation.view(drawn, other)))
        # Neither the true cards nor those dealt in their place affect the draw.
        for same in (as_seen, read):
            determinize(same, viewer, seed, weights=believing(), belief=belief)
            for other in range(state.num_players):
                assert same.view_hash(other) == world.view_hash(other)
        seen["worlds"] += 1
        seen["other worlds"] += drawn != full
        renewals = sum(word == "renew" for word, *_ in reference.memory)
        seen[f"worlds after {min(renewals, 2)} renewals"] += 1


@pytest.mark.parametrize("players", [2, 3, 4])
def test_worlds_fit_all_that_a_seat_has_seen(players):
    rng = random.Random(f"memory {players}")
    for _ in range(4 * SCALE):
        remembered = Counter()
        for state, reference in walk(rng, players):
            remembered = Counter(word for word, *_ in reference.memory)
            if rng.random() < 0.03:
                look(rng, state, reference)
        seen.update(remembered)
        seen["games with a discard"] += remembered["unsure"] > 0
        seen["games with a renewal"] += remembered["renew"] > 0


@pytest.mark.parametrize("seed", [12, 38])
def test_worlds_fit_after_two_renewals(seed):
    rng = random.Random(seed)
    for number, (state, reference) in enumerate(walk(rng, 4)):
        if sum(word == "renew" for word, *_ in reference.memory) >= 2 and number % 8 == 0:
            look(random.Random(number), state, reference)


def test_everything_has_been_seen():
    if not seen:
        pytest.skip("needs the games of this module")
    assert all(seen[word] for word in MEMORIES), seen
    assert seen["games with a discard"] >= 8, seen
    assert seen["games with a renewal"] >= 5, seen
    assert seen["worlds after 0 renewals"] >= 50, seen
    assert seen["worlds after 1 renewals"] >= 50, seen
    assert seen["worlds after 2 renewals"] >= 12, seen
    assert seen["other worlds"] >= 0.9 * seen["worlds"], seen


# --- uniformity, where all worlds can be listed


@pytest.fixture
def reads_anything(monkeypatch):
    """Lets positions be read in which cards lie on Coatls that they do not fit."""
    monkeypatch.setattr(notation, "check_position", lambda *_: None)


def seat_with(hand=(), shown=(), discarded=()):
    return {"hand": sorted([*hand, *shown]), "shown": sorted(shown), "discarded": sorted(discarded)}


def little(*seats, deck, display, discarded=(), to_move=0):
    """Return a position of four seats with few hidden cards: all others lie on Coatls."""
    seats = [*seats, *(seat_with() for _ in range(4 - len(seats)))]
    lying = [*deck, *display, *discarded]
    lying += [card for seat in seats for card in seat["hand"] + seat["discarded"]]
    rest = sorted((Counter(ALL_PROPHECIES) - Counter(lying)).elements())
    for number, seat in enumerate(seats):
        coatls = []
        for place in range(3):
            color = facts.COLORS[(2 * number + place) % 5]
            closed = place < 2
            coatls.append(
                {"pieces": f"{color}K{color}" if closed else "YYRR", "head": closed, "tail": closed,
                 "prophecies": rest[3 * number + place :: 12], "temple": "", "closed": closed}
            )  # fmt: skip
        seat |= {"stored": {"heads": "", "tails": "", "bodies": ""}, "temples": [], "shown_temples": [],
                 "tokens": ["future"], "coatls": coatls}  # fmt: skip
    return {
        "game": "coatl", "version": 1, "players": 4, "viewer": None,
        "options": {"sacrifice_tokens": True, "strict_ends": False},
        "phase": "turn", "pending": "", "round": 3, "to_move": to_move, "actions_left": 1, "passes": 0,
        "ending": None, "closing": 0,
        "supply": {"heads": "YR", "tails": "KG", "bodies": ["YY", "YR", "RR", "KK", "GG", "BB"]},
        "display": sorted(display), "deck": len(deck), "discarded": sorted(discarded),
        "piles": [{"top": "T13", "below": 6}, {"top": "T14", "below": 7}], "seats": seats,
    }  # fmt: skip


def hidden_places(position, viewer):
    """Yield the places of the others' hidden cards: seat, key, the cards known there."""
    for number, seat in enumerate(position["seats"]):
        if number != viewer:
            yield number, "hand", seat["shown"]
            yield number, "discarded", []


def hidden_cards(position, viewer):
    return tuple(
        tuple(sorted((Counter(position["seats"][number][key]) - Counter(known)).elements()))
        for number, key, known in hidden_places(position, viewer)
    )


def possible_positions(reference, viewer):
    """Return all positions that may be the true one: ways to deal the others' hidden cards."""
    position = reference.to_json()
    places = list(hidden_places(position, viewer))
    true = hidden_cards(position, viewer)

    def deal(number, cards):
        if number == len(places):
            yield ()
            return
        for chosen in set(itertools.combinations(sorted(cards), len(true[number]))):
            for rest in deal(number + 1, list((Counter(cards) - Counter(chosen)).elements())):
                yield (chosen, *rest)

    for world in deal(0, [*reference.deck, *itertools.chain(*true)]):
        dealt = position | {"seats": [dict(seat) for seat in position["seats"]]}
        for (number, key, known), cards in zip(places, world, strict=True):
            dealt["seats"][number][key] = sorted([*known, *cards])
        if reference.consistent(viewer, dealt):
            yield dealt


def assert_uniform(state, reference, viewer, draws=10):
    """Check that exactly the possible worlds are drawn, all as often; return how many there are."""
    worlds = {hidden_cards(dealt, viewer) for dealt in possible_positions(reference, viewer)}
    observed = Counter()
    for seed in range(draws * len(worlds)):
        world = state.copy()
        world.determinize(viewer, seed)
        observed[hidden_cards(notation.format_position(world), viewer)] += 1
    assert set(observed) == worlds
    if len(worlds) > 1:
        assert chisquare([observed[world] for world in worlds]).pvalue > LEAST_P
    return len(worlds)


OPEN = ["P20", "P21", "P22", "P23", "P24", "P25"]
NEXT = ["P30", "P31", "P32", "P33", "P34", "P35"]
BY_HAND = {
    # name: position, what happens, the number of worlds for each seat
    "discard": (
        lambda: little(seat_with(), seat_with(["P07"], ["P05", "P06"]),
                       deck=["P10", "P11", "P12", "P13", *NEXT], display=OPEN, to_move=1),
        ["future", "reveal P30 P31 P32 P33 P34 P35", "discard P05", "draw P30", "end", "reveal P10"],
        # Seat 1 knows its own hand. Two cards are known, one of them may lie apart, and four are not known.
        [12, 1, 12, 12],
    ),
    "two discards": (
        lambda: little(seat_with(["P08"]), seat_with(["P07"], ["P05", "P06"]), deck=["P10", "P11", *NEXT],
                       display=OPEN, to_move=1),
        ["future", "reveal P30 P31 P32 P33 P34 P35", "discard P07", "discard P05", "end"],
        # Two of three lie apart, one of which was not known. Seat 0 sees one card more than seats 2 and 3.
        [9, 3, 36, 36],
    ),
    "both copies discarded": (
        lambda: little(seat_with(["P08"]), seat_with((), ["P00", "P00", "P05"]), deck=["P10", "P11", "P12", *NEXT],
                       display=OPEN, to_move=1),
        ["future", "reveal P30 P31 P32 P33 P34 P35", "discard P00", "discard P00", "discard P05", "end"],
        # The others know what seat 1 has discarded: its whole hand. The hand of seat 0 is one of four cards.
        [1, 4, 4, 4],
    ),
    "renewal": (
        lambda: little(seat_with(), seat_with(["P05"], (), ["P06"]), deck=["P10"], display=OPEN,
                       discarded=["P40", "P41", "P42"]),
        ["draw deck", "deal P10", "draw deck", "deal P41", "end", "draw deck", "deal P06", "end"],
        None,
    ),
    "renewal in a reveal": (
        lambda: little(seat_with(), seat_with(["P05"], (), ["P06"]), deck=["P10"], display=OPEN,
                       discarded=["P40", "P41", "P42"]),
        ["draw P20", "draw P21", "end", "reveal P10 P41", "draw deck", "deal P06", "end",
         "draw deck", "deal P42", "end"],
        None,
    ),
    "discard, then renewal": (
        lambda: little(seat_with(), seat_with(["P07"], ["P05", "P06"]), deck=["P10", *NEXT], display=OPEN,
                       to_move=1),
        ["future", "reveal P30 P31 P32 P33 P34 P35", "discard P05", "end", "draw deck", "deal P10",
         "draw deck", "deal P21", "draw deck", "deal P05", "end"],
        None,
    ),
    "renewal, then discard": (
        lambda: little(seat_with(), seat_with(["P07"], ["P05"]), deck=["P10", "P11", *NEXT[:2]],
                       display=OPEN[:4], discarded=["P40", "P41"], to_move=0),
        ["future", "reveal P10 P11 P20 P21 P30 P31", "end", "draw deck", "deal P40", "end",
         "draw deck", "deal P22", "end", "take body YY", "take body YR",
         "future", "reveal P10 P11 P20 P21 P23 P41", "discard P40", "discard P05", "end",
         "draw deck", "deal P30", "draw deck", "deal P31", "draw deck", "deal P05", "end"],
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.usefixtures("reads_anything")
def test_each_world_is_as_likely(name):
    make, course, expected = BY_HAND[name]
    reference, state = Reference.from_json(make()), notation.parse_position(make())
    for action in course:
        reference.apply(action)
        state.apply(notation.parse_action(action))
    assert notation.format_position(state) == reference.to_json()
    assert reference.memory
    # The reference needs long where much has happened; seats 2 and 3 have seen what seat 0 has.
    numbers = [assert_uniform(state, reference, viewer) for viewer in range(4 if expected else 2)]
    assert max(numbers) > 3
    assert expected is None or numbers == expected


@pytest.mark.parametrize("seed", [1, 3, 6])
@pytest.mark.usefixtures("reads_anything")
def test_each_world_is_as_likely_after_many_renewals(seed):
    """With a small deck it is renewed again and again; of some cards there are two."""
    rng = random.Random(seed)
    cards = [f"P{number:02}" for number in range(5, 18)]
    if seed % 2:
        cards[:4] = ["P00", "P00", "P01", "P01"]
    rng.shuffle(cards)
    position = little(
        seat_with(cards[:1], (), cards[1:2]), seat_with(cards[2:3], cards[3:4]),
        seat_with((), cards[4:5], cards[5:6]),
        deck=cards[6:8], display=cards[8:11], discarded=cards[11:13],
    )  # fmt: skip
    reference, state = Reference.from_json(position), notation.parse_position(position)
    for _ in range(30):
        legal = [each for each in reference.legal_actions()
                 if each.split()[0] in ("draw", "future", "discard", "play", "end", "take")]  # fmt: skip
        if legal or reference.pending:
            advance(rng, reference, state, legal)
    assert notation.format_position(state) == reference.to_json()
    assert sum(word == "renew" for word, *_ in reference.memory) >= 2
    assert sum(assert_uniform(state, reference, viewer) for viewer in range(4)) >= 6


# --- what may happen in a view, where all worlds can be listed


def accepted(view, texts):
    """Return the actions or events that a view takes."""
    found = set()
    for text in texts:
        with contextlib.suppress(IllegalActionError):
            view.copy().push_action(text)
            found.add(text)
    return found


def candidates(rng, reference, worlds):
    """Return what might be done or happen: all that a world allows, and much that none does."""
    texts = set().union(*(world.legal_actions() for world in worlds))
    if not reference.pending:
        faces = sorted(PROPHECIES)
        ends = [f"{kind} {color}" for kind in ("head", "tail", "left") for color in facts.COLORS]
        texts |= {f"{verb} {face}" for verb in ("discard", "play 3") for face in faces}
        return texts | {f"add 3 {end}" for end in ends} | {"pass", "end"}
    if reference.pending == "deal":
        return {f"deal {face}" for face in PROPHECIES}
    hidden = sorted((Counter(ALL_PROPHECIES) - Counter(reference.display)).elements())
    seats = reference.seats
    near = [*reference.deck, *reference.discarded]
    near += [card for seat in seats for card in seat.discarded + seat.hand]
    number = min(6 - len(reference.display), reference._num_drawable())
    for cards, times in ((hidden, 20), (near, 200)):
        texts |= {" ".join(["reveal", *sorted(rng.sample(cards, number))]) for _ in range(times)
                  if number <= len(cards)}  # fmt: skip
    texts |= {world.random_event(rng) for world in worlds for _ in range(3)}
    return texts


def assert_exact(rng, reference):
    """Check that each view takes exactly what some world allows; return how many of each there were."""
    found = Counter()
    for viewer in range(reference.players):
        if viewer == reference.to_move and not reference.pending:
            continue
        worlds = [Reference.from_json(dealt) for dealt in possible_positions(reference, viewer)]
        texts = candidates(rng, reference, worlds)
        if reference.pending:
            allowed = {text for text in texts if any(world.is_possible_event(text) for world in worlds)}
        else:
            allowed = texts & set().union(*(world.legal_actions() for world in worlds))
        assert accepted(Position.from_json(reference.view(viewer)), texts) == allowed
        found.update(text.split()[0] for text in allowed)
        found.update(f"no {text.split()[0]}" for text in texts - allowed)
    return found


@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.usefixtures("reads_anything")
def test_a_view_takes_exactly_what_some_world_allows(name):
    make, course, expected = BY_HAND[name]
    rng = random.Random(name)
    reference = Reference.from_json(make())
    found = Counter()
    for action in course if expected else course[:4]:
        found += assert_exact(rng, reference)
        reference.apply(action)
    found += assert_exact(rng, reference)
    assert any(word.startswith("no ") for word in found)


@pytest.mark.usefixtures("reads_anything")
def test_a_reveal_of_two_alike_from_both_decks():
    """Cards of which there are two may be in the deck, in a hand, discarded unseen and for all to see."""
    position = little(
        seat_with(["P00"], (), ["P01"]), seat_with(["P05"], ["P06"], ["P01", "P02"]),
        deck=["P00", "P02", "P07"], display=["P20", "P21"], discarded=["P03", "P03"],
    )  # fmt: skip
    position |= {"pending": "reveal", "to_move": 1}
    reference = Reference.from_json(position)
    found = assert_exact(random.Random(1), reference)
    assert found["reveal"] > 100
    assert found["no reveal"] > 100


SHOWN = ["P40", "P41", "P42"]  # cards that cannot be played on the Coatl below


def stuck(hidden, deck):
    """Return a position in which seat 1 can only close its third Coatl, if it has a card that fits."""
    position = little(seat_with(), seat_with(hidden, SHOWN), deck=deck, display=OPEN, to_move=1)
    coatl = position["seats"][1]["coatls"][2]
    position["discarded"] = sorted(coatl["prophecies"])
    coatl |= {"pieces": "GYRR", "head": True, "prophecies": []}
    position["seats"][1] |= {"tokens": [], "stored": {"heads": "KGB", "tails": "YRGBB", "bodies": ""}}
    return position


@pytest.mark.usefixtures("reads_anything")
def test_who_passes_has_no_card_that_could_be_played():
    faces = [face for face in PROPHECIES if face not in OPEN + SHOWN]
    fitting = [face for face in faces if any(prophecy_points(face, f"GYRR{tail}") for tail in "YRGB")]
    others = [face for face in faces if face not in fitting]
    found = {}
    for name, unseen in (("all fit", fitting), ("some fit", fitting[:2] + others[:4]), ("none fits", others)):
        reference = Reference.from_json(stuck(unseen[:2], unseen[2:6]))
        found[name] = assert_exact(random.Random(name), reference)
    assert [found[name]["pass"] > 0 for name in found] == [False, True, True]
    assert [found[name]["add"] > 0 for name in found] == [True, True, False]


# --- searches


def remembering(players, seed, *words):
    """Return a state in which a seat may choose, and its position, after all of these have occurred."""
    rng = random.Random(seed)
    while True:
        for state, reference in walk(rng, players):
            remembered = {word for word, *_ in reference.memory}
            if set(words) <= remembered and reference.phase == "turn" and not reference.pending:
                return state, reference.to_json()


@pytest.mark.parametrize("words", [("unsure",), ("renew",), ("unsure", "renew", "play")])
@pytest.mark.parametrize("search_class", [Search, UCT])
def test_a_search_does_not_peek(search_class, words):
    state, position = remembering(3, 1, *words)
    seat = position["to_move"]

    def searched(start):
        search = search_class(start, seed=3)
        search.run(iterations=300)
        return search.result(5) | {"seconds": 0}

    expected = searched(state)
    assert searched(notation.parse_position(notation.view(position, seat))) == expected
    others = []
    for seed in range(4):
        world = state.copy()
        world.determinize(seat, seed)
        assert searched(world) == expected
        others.append(world.hash)
    assert len({state.hash, *others}) > 2


def test_what_is_remembered_is_part_of_the_view():
    state, position = remembering(4, 3, "renew")
    forgetful = {key: value for key, value in position.items() if key != "memory"}
    for seat in range(4):
        assert notation.parse_position(forgetful).view_hash(seat) != state.view_hash(seat)
    assert notation.parse_position(forgetful).hash != state.hash


def test_a_replay_remembers_by_itself():
    rng = random.Random(12)
    reference = Reference.new_game(4, rng)
    position = Position.from_json(reference.to_json())
    while "memory" not in reference.to_json() and not reference.is_over:
        action = reference.random_event(rng) if reference.pending else choose(rng, reference.legal_actions())
        reference.apply(action)
        position.push_action(action)
    assert position.to_json() == reference.to_json()
    assert "memory" in position.to_json()


# --- text forms


@pytest.fixture(scope="module")
def remembered():
    """A position, everything known, in which every word of the memory occurs."""
    return remembering(4, 2, *MEMORIES)[1]


def test_positions_with_a_memory_are_printed_as_they_were_read(remembered):
    for data in (remembered, *(notation.view(remembered, seat) for seat in range(4))):
        assert notation.format_position(notation.parse_position(data)) == data
        message = wire.position_to_message(Position.from_json(data))
        assert wire.position_from_message(message).to_json() == data


def test_a_view_hides_what_its_seat_has_not_seen(remembered):
    for seat in range(4):
        for shown, true in zip(notation.view(remembered, seat)["memory"], remembered["memory"], strict=True):
            word, *rest = true.split()
            is_hidden = word in UNSEEN and rest[0] != str(seat)
            assert shown == (f"{word} {rest[0]} ?" if is_hidden else true)


def test_no_entry_can_be_changed_unnoticed(remembered):
    """Remove or repeat each entry, or change its seat or card: an error unless that can have happened."""
    memory = remembered["memory"]
    changes = refused = 0
    for index, entry in enumerate(memory):
        word, *rest = entry.split()
        others = [[], [entry, entry]]
        others += [[f"{word} {(int(rest[0]) + 1) % 4} {rest[1]}"]] if len(rest) == 2 else []
        last = {"renew": "5" if rest[-1] != "5" else "4"}.get(word, "P48" if rest[-1] != "P48" else "P47")
        others += [[" ".join([word, *rest[:-1], last])]]
        for other in others:
            changed = remembered | {"memory": [*memory[:index], *other, *memory[index + 1 :]]}
            changes += 1
            try:
                state = notation.parse_position(changed)
            except PositionError as error:
                refused += error.reason == "MEMORY_MISMATCH" and ".memory" in error.path
                continue
            assert notation.format_position(state) == changed
            for seat in range(4):
                assert has_world(notation.parse_position(notation.view(changed, seat)))
    assert refused > changes // 2


@pytest.mark.parametrize("number", [0, 1])
def test_a_memory_of_seats_that_are_not_there_is_refused(remembered, number):
    with pytest.raises(PositionError) as error:
        notation.parse_position(remembered | {"seats": remembered["seats"][:number]})
    found = [violation for violation in error.value.violations if "memory[" in violation.path]
    assert found
    assert all(f"a seat below {number}" in violation.message for violation in found[:1])


def test_views_that_no_world_fits_are_refused(remembered):
    """In a view the cards cannot be taken back one by one; still it must be able to have come about."""
    refused = 0
    for seat in range(4):
        view = notation.view(remembered, seat)
        for index in range(len(view["memory"])):
            changed = view | {"memory": view["memory"][:index] + view["memory"][index + 1 :]}
            try:
                state = notation.parse_position(changed)
            except PositionError as error:
                refused += error.reason == "MEMORY_MISMATCH"
                continue
            state.determinize(seat, 1)
            assert notation.format_position(state) == changed
    assert refused > len(remembered["memory"])


@pytest.mark.parametrize(
    ("memory", "path"),
    [
        ([], "$.memory"),
        (None, "$.memory"),
        (["deal P07"], "$.memory[0]"),
        (["deal 4 P07"], "$.memory[0]"),
        (["deal 1 P49"], "$.memory[0]"),
        (["renew 00"], "$.memory[0]"),
        (["reveal ?"], "$.memory[0]"),
        (["renew 0 "], "$.memory[0]"),
        ([1], "$.memory[0]"),
    ],
)
def test_what_cannot_be_read_is_refused(remembered, memory, path):
    with pytest.raises(NotationError) as caught:
        notation.parse_position(remembered | {"memory": memory}, "$")
    assert caught.value.path == path


@pytest.mark.parametrize("seed", [2, 5, 8])
def test_what_another_seat_does_in_a_view_fits_what_the_viewer_has_seen(seed):
    rng = random.Random(seed)
    pushed = 0
    for _, reference in walk(rng, 2 + seed % 3):
        others = [seat for seat in range(reference.players) if seat != reference.to_move]
        if reference.pending or reference.is_over or rng.random() < 0.6:
            continue
        view = Position.from_json(reference.view(rng.choice(others)))
        texts = view_actions(view)
        for text in rng.sample(texts, min(3, len(texts))):
            after = view.copy()
            with contextlib.suppress(IllegalActionError):
                after.push_action(text)
                pushed += 1
                assert Position.from_json(after.to_json()) == after
    assert pushed > 50


def view_actions(view):
    """Return actions that are legal for every deal of the unknown cards."""
    return [notation.format_action(action) for action in view.state.legal_actions()]


def test_more_than_can_be_remembered_is_forgotten():
    # Renewals of one and the same deck, dealt and discarded again: more than any game has.
    faces = [face for face in facts.FACES for _ in range(facts.COPIES[face])]
    display, hands, public, private = faces[:6], faces[6:25], faces[25:49], faces[49:]
    once = ["renew 0", *(f"public {face}" for face in public), *(f"private 0 {face}" for face in private)]
    once += [f"reveal {face}" for face in public]
    once += [f"{word} 0 {face}" for word in ("deal", "discard") for face in private]
    seats = [
        {"stored": {"heads": "", "tails": "", "bodies": ""}, "hand": sorted(hand), "shown": [],
         "discarded": sorted(private) if not seat else [], "temples": [f"T0{seat}"], "shown_temples": [],
         "tokens": ["perfect", "promise"], "coatls": []}
        for seat, hand in enumerate((hands[:4], hands[4:9], hands[9:14], hands[14:]))
    ]  # fmt: skip
    position = Position.from_json({
        "game": "coatl", "version": 1, "players": 4, "viewer": None,
        "options": {"sacrifice_tokens": True, "strict_ends": False},
        "phase": "turn", "pending": "", "round": 9, "to_move": 0,
        "actions_left": 1, "passes": 0, "ending": None, "closing": 0,
        "supply": {"heads": "RK", "tails": "YY", "bodies": ["YY", "RG", "BB", "BB", "RR", "KK"]},
        "display": sorted(display), "deck": 0, "discarded": sorted(public),
        "piles": [{"top": "T08", "below": 4}, {"top": "T09", "below": 5}], "seats": seats, "memory": once * 4,
    })  # fmt: skip
    position.push("draw deck")
    position.draw(3)
    position.state.check()
    assert Position.from_json(position.to_json()) == position


def test_a_memory_that_nobody_could_go_through_is_refused():
    """Ten cards of each of three seats, each of a class of its own, come back in one order of trillions."""
    faces = [f"P{number:02}" for number in range(5, 35)]
    memory = []
    for seat, own in ((3, faces[:10]), (2, faces[10:20]), (1, faces[20:])):
        for face in own:
            memory += [f"unsure {seat} {face}", f"discard {seat} ?"]
    memory += ["renew 0", *(f"private {seat} ?" for seat in (1, 2, 3) for _ in range(10))]
    memory += [f"reveal {face}" for face in faces]

    def coatl(pieces, prophecies):
        return {"pieces": pieces, "head": False, "tail": False, "prophecies": prophecies, "temple": "", "closed": False}

    def seat_of(hand, temple, coatls):
        return {
            "stored": {"heads": "", "tails": "", "bodies": ""},
            "hand": hand,
            "shown": [],
            "discarded": [],
            "temples": [temple],
            "shown_temples": [],
            "tokens": ["perfect", "promise"],
            "coatls": coatls,
        }

    position = {
        "game": "coatl",
        "version": 1,
        "players": 4,
        "viewer": 0,
        "options": {"sacrifice_tokens": True, "strict_ends": False},
        "phase": "turn",
        "pending": "",
        "round": 20,
        "to_move": 0,
        "actions_left": 1,
        "passes": 0,
        "ending": None,
        "closing": 0,
        "supply": {"heads": "YR", "tails": "YR", "bodies": ["YY", "RR", "KK", "GG", "BB", "YR"]},
        "display": faces[:6],
        "deck": 0,
        "discarded": faces[6:],
        "piles": [{"top": "T04", "below": 5}, {"top": "T05", "below": 4}],
        "seats": [
            seat_of(["P35", "P36", "P37", "P38", "P39"], "T00", [coatl("YYYRRR", ["P00", "P01"])]),
            seat_of(["?"] * 5, "?", [coatl("KKKGGG", ["P02", "P03"])]),
            seat_of(["?"] * 5, "?", []),
            seat_of(["?"] * 5, "?", []),
        ],
    }
    with pytest.raises(PositionError) as caught:
        Position.from_json(position | {"memory": memory})
    assert caught.value.reason == "MEMORY_MISMATCH"
    assert caught.value.path == "$.memory"
