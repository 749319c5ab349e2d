"""The invariants of the temples: each is there once, and every seat has got what it may have."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mexica_ai.games.coatl import facts
from mexica_ai.games.coatl.shape import HIDDEN

if TYPE_CHECKING:
    from mexica_ai.games.coatl.invariants import CoatlChecker


def check_temples(checker: CoatlChecker) -> None:
    """Check the temples of the piles, and those of the seats."""
    _check_temples_of_all(checker)
    _check_temples_of_seats(checker)


def _check_temples_of_all(checker: CoatlChecker) -> None:
    """Check that each temple is there once, that all add up, and what is uncovered."""
    piles = checker.data["piles"]
    if len(piles) != facts.NUM_PILES:
        checker.add("piles", "PILES_COUNT", f"has {len(piles)} entries; expected {facts.NUM_PILES}")
    number, covered = 0, []
    for index, pile in enumerate(piles):
        if not checker.check_range(f"piles[{index}].below", pile["below"], 0, len(facts.TEMPLE_NAMES)):
            return
        number += pile["below"]
        if pile["below"] and not pile["top"]:
            covered.append(index)
    if checker.pending == "uncover":
        if len(covered) != 1:
            checker.add(
                "pending",
                "PENDING_MISMATCH",
                f'given "uncover", with {len(covered)} piles to uncover; expected one',
            )
    elif checker.phase != "over":
        for index in covered:
            checker.add(
                f"piles[{index}].top",
                "PILE_UNCOVERED",
                f'given "", with {piles[index]["below"]} cards below; expected the top card',
            )
    cards = Counter(pile["top"] for pile in piles)
    for seat in checker.seats:
        cards.update(seat["temples"])
        cards.update(coatl["temple"] for coatl in seat["coatls"])
    del cards[""]
    number += cards.total()
    del cards[HIDDEN]
    for temple, copies in sorted(cards.items()):
        if copies > 1:
            checker.add(
                "piles",
                "CARD_COPIES",
                f"{temple} is there {copies} times, over piles, hands and Coatls; expected it once",
            )
    if number != len(facts.TEMPLE_NAMES):
        checker.add(
            "piles",
            "TEMPLES_COUNT",
            f"{number} temples in piles, hands and on Coatls; expected {len(facts.TEMPLE_NAMES)} in all",
        )


def _check_temples_of_seats(checker: CoatlChecker) -> None:
    """A seat gets one temple at the setup and one by `promise`; it may play others from the piles."""
    for index, seat in enumerate(checker.seats):
        promised = int(checker.spent(seat, "promise"))
        held, shown = len(seat["temples"]), len(seat["shown_temples"])
        played = sum(bool(coatl["temple"]) for coatl in seat["coatls"])
        if shown > promised:
            checker.add(
                f"seats[{index}].shown_temples",
                "TEMPLES_COUNT",
                f"has {shown} entries; expected {promised}, by a token promise spent, at most",
            )
        elif held - shown > 1:
            checker.add(
                f"seats[{index}].temples",
                "TEMPLES_COUNT",
                f"has {held - shown} that it has not shown; expected one at most, from the setup",
            )
        elif held + played < 1 + promised:
            checker.add(
                f"seats[{index}].temples",
                "TEMPLES_COUNT",
                f"has {held}, with {played} played; expected {1 + promised} at least together",
            )
