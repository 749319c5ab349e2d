"""Play games of Coatl and check every seat's view of every position, and the worlds dealt for it.

    python tests/fuzz/coatl_views.py --positions 100000 --seed 1

Of each position each seat's view is read, a world is dealt for it, and what has just happened is played in
the view before. A world names all cards, also those that the seat did not see move; so it is checked by
taking back, move by move, what the reference's log of the game says that the seat has seen. It ends with exit
code 1 at the first fault, and prints the position.
"""

import argparse
import json
import random
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from reference.coatl import State as Reference

from cext.core.search.search import Search
from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.games.coatl import notation

# Kinds of actions by which the deck runs out again and again, and cards are discarded unseen.
LEANING = {"draw deck": 8, "draw": 4, "future": 3, "discard": 12, "play": 20, "add": 6, "start": 3, "take": 3,
           "end": 0.4}  # fmt: skip
ITERATIONS = 20  # of a search for a turn
WEIGHTS = registry.get("coatl").weights()


class ViewError(Exception):
    """A view that is refused, or a world that cannot have come about."""


def leaning_action(rng, reference):
    """Return an action for a game with many discards and renewals."""
    legal = reference.legal_actions()
    renewals = sum(word == "renew" for word, *_ in reference.memory)
    if "future" in legal and len(legal) > 1 and reference.round < 6 + 6 * reference.to_move + 10 * renewals:
        legal.remove("future")
    kinds = sorted({action if action == "draw deck" else action.split()[0] for action in legal})
    kind = rng.choices(kinds, [LEANING.get(kind, 1) for kind in kinds])[0]
    if kind == "draw deck":
        return kind
    return rng.choice([each for each in legal if each.split()[0] == kind and each != "draw deck"])


def searched_turn(rng, state):
    """Return the actions of a turn that a short search chooses."""
    search = Search(state, weights=WEIGHTS, seed=rng.getrandbits(60), memory_mb=2)
    search.run(iterations=ITERATIONS)
    return [notation.format_action(action) for action in search.result(1)["candidates"][0]["actions"]]


def games(rng):
    """Yield for each position: state, reference, where the memory began, and the action that follows."""
    for number in range(sys.maxsize):
        reference = Reference.new_game(2 + number % 3, rng)
        state = notation.parse_position(reference.to_json())
        how = ("leaning", "random", "searched")[number // 3 % 3]
        begin, planned = (0, reference.to_json()), []
        while not reference.is_over:
            if reference.pending:
                action, planned = reference.random_event(rng), []
            elif how == "leaning":
                action = leaning_action(rng, reference)
            elif how == "random":
                action = rng.choice(reference.legal_actions())
            else:
                planned = planned or searched_turn(rng, state)
                action = planned.pop(0)
            yield state, reference, begin, action
            reference.apply(action)
            state.apply(notation.parse_action(action))
            if not reference.memory:
                begin = len(reference.log), reference.to_json()
        yield state, reference, begin, None


def take(world, place, cards):
    """Take cards out of a place of a world, which must have them."""
    for card in cards:
        if card not in world[place]:
            raise ViewError(f"no {card} in {place}")
        world[place].remove(card)


def check_world(reference, begin, viewer, drawn):
    """Take back all moves since the memory began, with the cards that a world, another reference, names."""
    moves, (first_move, start) = reference.seen(viewer), begin
    world = defaultdict(list)
    for place, card in drawn.world():
        world[place].append(card)
    hidden = {"deal": [], "discard": []}  # cards that others were dealt, and discarded, by time
    new_decks = []  # what was public, and what each seat had put away
    for word, seat, card in drawn.memory:
        if word in hidden and seat != viewer:
            hidden[word].append(card)
        elif word == "renew":
            new_decks.append([])
        elif word in ("public", "private"):
            new_decks[-1].append((seat, card))
    for cards, origin, target in reversed(moves[first_move:]):
        if isinstance(cards, int):
            if target.startswith("hand"):
                cards = [hidden["deal"].pop()]
            elif target.startswith("discards"):
                cards = [hidden["discard"].pop()]
            elif target == "turned up":
                # Of a renewed deck come those that are no longer in it; of the old one, all the others.
                turned = Counter(world["turned up"])
                if cards < turned.total():
                    turned = Counter(card for _, card in new_decks[-1]) - Counter(world["deck"])
                if turned.total() != cards:
                    raise ViewError("the cards of a reveal are not those of its decks")
                cards = list(turned.elements())
            else:
                cards = [card for seat, card in new_decks[-1] if f"discards {seat}" == origin]
        take(world, target, cards)
        world[origin] += cards
        if origin == "discards 0" and target == "deck":  # of a renewal what is taken back last
            if world["deck"]:
                raise ViewError("a card of the new deck that was not discarded")
            new_decks.pop()
    for number, seat in enumerate(start["seats"]):
        known = seat["hand"] if number == viewer else seat["shown"]
        if Counter(known) - Counter(world[f"hand {number}"]):
            raise ViewError(f"seat {number} had {known}")
        if number == viewer and sorted(world[f"discards {number}"]) != seat["discarded"]:
            raise ViewError(f"seat {number} had discarded {seat['discarded']}")
        places = {"hand": f"hand {number}", "discarded": f"discards {number}"}
        if any(len(seat[key]) != len(world[place]) for key, place in places.items()):
            raise ViewError(f"the number of cards of seat {number}")
    played = [card for seat in start["seats"] for coatl in seat["coatls"] for card in coatl["prophecies"]]
    for place, cards in (("display", start["display"]), ("public", start["discarded"]), ("table", played)):
        if sorted(world[place]) != sorted(cards):
            raise ViewError(f"{place} was {cards}")


def check_closing(drawn):
    """A seat that closes a Coatl without a prophecy on it has one that fits."""
    if drawn.phase == "closing" and not drawn.legal_actions():
        raise ViewError("no prophecy fits the Coatl that is being closed")


def check_views(rng, state, reference, begin, action):
    """Check each seat's view, a world for it, and the action that follows; return how long a deal took."""
    slowest = 0.0
    for viewer in range(reference.players):
        view = reference.view(viewer)
        as_seen = Position.from_json(view)
        dealt = as_seen.state.copy()
        seed = rng.getrandbits(60)
        started = time.perf_counter()
        dealt.determinize(viewer, seed)
        slowest = max(slowest, time.perf_counter() - started)
        world = state.copy()
        world.determinize(viewer, seed)
        world.check()
        position = notation.format_position(world)
        drawn = Reference.from_json(position)
        if world.view_hash(viewer) != state.view_hash(viewer) or drawn.view(viewer) != view:
            raise ViewError(f"seat {viewer} sees something else in the world that is dealt for it")
        if any(world.view_hash(seat) != dealt.view_hash(seat) for seat in range(reference.players)):
            raise ViewError(f"the true cards decide what is dealt for seat {viewer}")
        try:
            check_world(reference, begin, viewer, drawn)
            check_closing(drawn)
            if action is not None:
                as_seen.push_action(action)
        except Exception as error:
            raise ViewError(f"seat {viewer}: {error}; {json.dumps(position)}") from error
    return slowest


def run(positions, seed):
    """Check so many positions; return what they were, and the longest time that a deal took."""
    rng = random.Random(seed)
    count, slowest = Counter(), 0.0
    for state, reference, begin, action in games(rng):
        if count["positions"] == positions:
            return count, slowest
        try:
            slowest = max(slowest, check_views(rng, state, reference, begin, action))
        except Exception as error:
            raise ViewError(f"{error}\n{json.dumps(reference.to_json())}\n{action}") from error
        renewals = sum(word == "renew" for word, *_ in reference.memory)
        count.update(["positions", f"{reference.players} seats"])
        count["views"] += reference.players
        count["with a memory"] += bool(reference.memory)
        count["after two renewals"] += renewals >= 2
        count["games"] += action is None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--positions", type=int, default=1000, help="how many (default 1000)")
    parser.add_argument("--seed", type=int, default=1, help="of the games (default 1)")
    args = parser.parse_args()
    try:
        count, slowest = run(args.positions, args.seed)
    except ViewError as error:
        sys.exit(f"fault: {error}")
    print(", ".join(f"{name}: {number}" for name, number in count.items()))
    print(f"no fault; the slowest deal took {1000 * slowest:.1f} ms")


if __name__ == "__main__":
    main()
