"""The layouts of Coatl's observations and actions, which ``cext/games/coatl/tensor.pyx`` writes."""

from mexica_ai.game.schema import SEATS, Field, Schema

_COATLS = (SEATS, 3)  # of each seat, in the order in which they were started
_COLORS, _KINDS = 5, 3
_FACES = (49,)
_TEMPLES = (15,)

SCHEMA = Schema(
    "coatl",
    1,
    (
        Field("pieces", (*_COATLS, _COLORS, 64), "1 where a Coatl has the colour, from its head on"),
        Field(
            "coatls",
            (*_COATLS, 5),
            "length (scale 16), 1 for a head, for a tail, for closed, points of its cards once closed",
        ),
        Field("played", (*_COATLS, *_FACES), "prophecies played on a Coatl, by face"),
        Field("played_temple", (*_COATLS, *_TEMPLES), "1 for the temple played on a Coatl"),
        Field("supply", (2, _COLORS), "heads and tails on the supply board, by colour", 4),
        Field("pairs", (15,), "pairs of bodies on it, by their two colours", 3),
        Field("bag", (_KINDS, _COLORS), "heads, tails and bodies in the bags, by colour", 10),
        Field("stored", (SEATS, _KINDS, _COLORS), "heads, tails and bodies on a seat's board, by colour", 4),
        Field("display", _FACES, "prophecies on display, by face", 2),
        Field("discarded", _FACES, "prophecies discarded face up", 2),
        Field("deck", _FACES, "always 0: only the position's memory has what was in a renewed deck", 2),
        Field("hand", (SEATS, *_FACES), "prophecies that the viewer knows to be in a hand", 2),
        Field("shown", (SEATS, *_FACES), "those of them that everybody knows", 2),
        Field("put_away", (SEATS, *_FACES), "prophecies that the viewer knows a seat to have discarded unseen", 2),
        Field("tops", (2, *_TEMPLES), "1 for the open temple of each pile"),
        Field("below", (2,), "temples below it", 7),
        Field("temples", (SEATS, *_TEMPLES), "1 for temples that the viewer knows to be in a hand"),
        Field("scores", (SEATS,), "points of the completed Coatls", 60),
        Field("num_hand", (SEATS,), "prophecies in hand", 5),
        Field("num_away", (SEATS,), "prophecies discarded unseen", 5),
        Field("num_temples", (SEATS,), "temples in hand", 3),
        Field("tokens", (SEATS, 3), "1 for sacrifice tokens left: perfect pick, see the future, priest's promise"),
        Field("phase", (7,), "1 for keep, turn, draw, foresee, build, close, over"),
        Field("event", (5,), "1 for the random event that is due: none, deal, reveal, refill, uncover"),
        Field("num_deck", (), "prophecies in the deck", 40),
        Field("num_discarded", (), "prophecies discarded face up", 40),
        Field("strict_ends", (), "1 with this option"),
        Field("sacrifice_tokens", (), "1 with this option"),
        Field("actions_left", (), "actions left in this turn", 2),
        Field("passes", (), "successive passes", 4),
        Field("third_coatl", (), "1 if the game ends because of a third Coatl"),
        Field("no_bodies", (), "1 if it ends because no bodies are left"),
        Field("closing", (), "number, from 1, of the Coatl that is being closed; 0 for none", 3),
        Field("round", (), "from 1; 0 while prophecies are kept", 40),
        Field("last_round", (), "last round of the game; 0 while it is unknown", 40),
        Field("ending_seat", (SEATS,), "1 for the seat that completed its third Coatl"),
    ),
)

ACTIONS = Schema(
    "coatl",
    1,
    (
        Field(
            "verb",
            (14,),
            "1 for keep, take, draw, start, add, play, temple, close, perfect, future, discard, promise, end, pass",
        ),
        Field("kind", (_KINDS,), "1 for the kind of its pieces: head, tail, body"),
        Field("colors", (_COLORS,), "its pieces, by colour"),
        Field("faces", _FACES, "its prophecies, by face; all 0 for the top of the deck"),
        Field("temple", _TEMPLES, "1 for its temple"),
        Field("coatl", (3,), "1 for the own Coatl that it is about"),
        Field("side", (2,), "1 for the left, for the right, where it adds a body"),
        Field("stored", (), "own stored pieces of its kind and colours", 4),
        Field("supplied", (), "pieces of its kind and colours on the supply board", 4),
        Field("length", (), "of its Coatl", 8),
        Field("has_head", (), "1 if its Coatl has a head"),
        Field("has_tail", (), "1 if its Coatl has a tail"),
        Field("num_cards", (), "prophecies on its Coatl", 4),
        Field("stored_after", (), "own stored pieces after it", 8),
        Field("hand_after", (), "own prophecies after it", 5),
        Field("points", (), "what it adds to the points of the cards of its Coatl", 4),
        Field("gain", (), "what it adds to the outlook, an estimate of the own position in points", 4),
        Field("loss", (), "what the best action adds to it more", 4),
    ),
    head=(),
)
