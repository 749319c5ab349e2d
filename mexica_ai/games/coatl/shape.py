"""The shape of a Coatl position in its JSON form, and the words in it."""

from mexica_ai.games.coatl.facts import COLORS, PAIRS, PARTS, TOKENS
from mexica_ai.io.strict import Nullable, Text, choice

EVENTS = ("deal", "reveal", "refill", "uncover")  # random; never chosen by a seat
PHASES = ("keep", "turn", "drawing", "future", "building", "closing", "over")
PENDING = ("", *EVENTS)
CAUSES = ("", "third", "bodies")  # of the end of the game
HIDDEN = "?"
MEMORIES = (
    "unsure",
    "discard",
    "deal",
    "play",
    "reveal",
    "renew",
    "public",
    "private",
    "across",
)  # words of `memory`

# Patterns of cards, colours and pairs.
FACE = r"P(?:[0-3][0-9]|4[0-8])"
TEMPLE = r"T(?:0[0-9]|1[0-4])"
COLOR = f"[{COLORS}]"
PAIR = "|".join(PAIRS)

_COLORS_TEXT = Text("".join(f"{color}*" for color in COLORS), 'colours in the order YRKGB, such as "RRG"')
_FACE_TEXT = Text(FACE, 'a prophecy P00-P48, such as "P07"')
_HAND_TEXT = Text(rf"{FACE}|\?", 'a prophecy P00-P48, such as "P07", or "?" for a hidden one')
_TEMPLE_TEXT = Text(TEMPLE, 'a temple T00-T14, such as "T03"')
_HAND_TEMPLE_TEXT = Text(rf"{TEMPLE}|\?", 'a temple T00-T14, such as "T03", or "?" for a hidden one')
_MEMORY_TEXT = Text(
    rf"(unsure|play) [0-3] {FACE}|(discard|deal|private) [0-3] ({FACE}|\?)|(reveal|public|across) {FACE}"
    "|renew (0|[1-9][0-9]?)",
    'an entry such as "deal 1 P07", "deal 1 ?" or "reveal P07"',
)
_PIECES_TEXT = dict.fromkeys(PARTS, _COLORS_TEXT)
SHAPE = {
    "game": choice("coatl"),
    "version": int,
    "players": int,
    "viewer": Nullable(int),
    "options": {"sacrifice_tokens": bool, "strict_ends": bool},
    "phase": choice(*PHASES),
    "pending": choice(*PENDING),
    "round": int,
    "to_move": int,
    "actions_left": int,
    "passes": int,
    "ending": Nullable({"cause": choice(*CAUSES[1:]), "seat?": int, "last_round?": int}),
    "closing": int,
    "supply": {
        **_PIECES_TEXT,
        "bodies": [Text(PAIR, 'two colours in the order YRKGB, such as "RG"')],
    },
    "display": [_FACE_TEXT],
    "deck": int,
    "discarded": [_FACE_TEXT],
    "piles": [{"top": Text(f"|{TEMPLE}", f'{_TEMPLE_TEXT.expected}, or ""'), "below": int}],
    "seats": [
        {
            "stored": _PIECES_TEXT,
            "hand": [_HAND_TEXT],
            "shown": [_FACE_TEXT],
            "discarded": [_HAND_TEXT],
            "temples": [_HAND_TEMPLE_TEXT],
            "shown_temples": [_TEMPLE_TEXT],
            "tokens": [choice(*TOKENS)],
            "coatls": [
                {
                    "pieces": Text(f"{COLOR}+", 'colours from head to tail, such as "RKKG"'),
                    "head": bool,
                    "tail": bool,
                    "prophecies": [_FACE_TEXT],
                    "temple": Text(f"|{TEMPLE}", f'{_TEMPLE_TEXT.expected}, or ""'),
                    "closed": bool,
                }
            ],
        }
    ],
    "memory?": [_MEMORY_TEXT],
}
