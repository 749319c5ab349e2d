"""Crazy Eights, a public card game, in plain Python: hidden hands, a blind stock, random events.

A seat plays a card of the suit or the rank of the card on top of the pile; an eight always fits and names the suit that
follows. Or it draws a card, which ends its turn; with an empty stock it may pass. The first seat without cards ends the
game, or a round of passes does; the seat with the fewest cards wins.
"""

from mexica_ai.pure import CHANCE, NOBODY, OWNER, SEATS, TERMINAL, Cards, Flag, Numbers, PureGame, game

SUITS, RANKS = "CDHS", "A23456789TJQK"
DECK = [rank + suit for suit in SUITS for rank in RANKS]


class CrazyEights(PureGame):
    """The rules; `mexica_ai.pure.PureGame` says what the methods do."""

    name = "eights"
    title = "Crazy Eights"
    cards = dict.fromkeys(DECK, 1)
    record = {
        "hands": Cards(SEATS, 52, seen_by=OWNER),
        "stock": Cards(52, seen_by=NOBODY),
        "pile": Cards(52, ordered=True),  # the last one is on top
        "suit": Numbers(high=3),  # that is to be followed
        "drawing": Flag(),  # a card from the stock is due
        "passes": Numbers(high=4),  # one after the other
    }
    actions = [
        *(("play", card) for card in DECK if card[0] != "8"),
        *(("play", card, suit) for card in DECK if card[0] == "8" for suit in SUITS),
        "draw",
        "pass",
    ]
    events = [("take", card) for card in DECK]
    secret = ("take",)
    max_game_length = 400

    def start(self, state, rng):
        deck = rng.sample(DECK, len(DECK))
        for hand in state.hands:
            hand += [deck.pop() for _ in range(7 if state.players == 2 else 5)]
        state.pile.append(deck.pop())
        state.suit = SUITS.index(state.pile[0][1])
        state.stock += deck

    def current_player(self, state):
        if not all(state.hands) or state.passes == state.players:
            return TERMINAL
        return CHANCE if state.drawing else state.to_move

    def legal_actions(self, state):
        suit, rank = SUITS[state.suit], state.pile[-1][0]
        legal = ["draw" if state.stock else "pass"]
        for card in state.hands[state.to_move]:
            if card[0] == "8":
                legal += [("play", card, suit) for suit in SUITS]
            elif card[1] == suit or card[0] == rank:
                legal.append(("play", card))
        return legal

    def apply_action(self, state, action):
        match action:
            case ("play", card, *named):
                state.hands[state.to_move].remove(card)
                state.pile.append(card)
                state.suit = SUITS.index(named[0] if named else card[1])
                state.passes = 0
            case "draw":
                state.drawing = True
                return
            case ("take", card):
                state.stock.remove(card)
                state.hands[state.to_move].append(card)
                state.drawing = False
            case "pass":
                state.passes += 1
        state.to_move = (state.to_move + 1) % state.players

    def outcomes(self, state):
        return [("take", card) for card in state.stock]

    def scores(self, state):
        return [-len(hand) for hand in state.hands]

    def check(self, state):
        if not state.pile:
            return "the pile is empty; expected a card on it"
        return "" if state.stock or not state.drawing else "a card is due from an empty stock"

    def board(self, state):
        hands = [f"  seat {seat}  {' '.join(hand)}" for seat, hand in enumerate(state.hands)]
        asked = f"  {state.pile[-1]} on the pile, {SUITS[state.suit]} to follow, {len(state.stock)} in the stock"
        return "\n".join([asked, *hands])


GAME = game(CrazyEights())
