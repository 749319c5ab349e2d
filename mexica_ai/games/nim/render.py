"""Nim as text: one line per pile."""

from cext.core.contract.game import State
from cext.games.nim.ops import state_to_fields


def render(state: State) -> str:
    """Return the piles as rows of objects, with the seat to move."""
    fields = state_to_fields(state)
    seat, players = fields["to_move"], fields["players"]
    if state.is_terminal:
        head = f"Nim, {players} players: seat {seat} took the last object and wins"
    else:
        plies = fields["plies_left"]
        actions = "1 action" if plies == 1 else f"{plies} actions"
        head = f"Nim, {players} players: seat {seat} to move, {actions} left"
    rows = [f"  pile {number}  {pile:2}  {'o' * pile}".rstrip() for number, pile in enumerate(fields["piles"], start=1)]
    return "\n".join([head, "", *rows])
