"""The invariants of the Coatls of a seat: their pieces, the prophecies and temples on them, and when one is closed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mexica_ai.games.coatl import facts
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import quote

if TYPE_CHECKING:
    from mexica_ai.games.coatl.invariants import CoatlChecker


def check_coatls(checker: CoatlChecker, index: int, seat: JsonObject) -> None:
    """Check the Coatls of a seat."""
    where = f"seats[{index}].coatls"
    coatls = seat["coatls"]
    if len(coatls) > facts.MAX_COATLS:
        checker.add(where, "COATLS_COUNT", f"has {len(coatls)} entries; expected {facts.MAX_COATLS} at most")
    unfinished = sum(not coatl["closed"] for coatl in coatls)
    if unfinished > facts.MAX_UNFINISHED:
        checker.add(
            where,
            "COATLS_COUNT",
            f"has {unfinished} unfinished Coatls; expected {facts.MAX_UNFINISHED} at most",
        )
    for number, coatl in enumerate(coatls):
        _check_coatl(checker, index, number, coatl, f"{where}[{number}]")


def _check_coatl(checker: CoatlChecker, index: int, number: int, coatl: JsonObject, where: str) -> None:
    pieces, played = coatl["pieces"], coatl["prophecies"]
    is_complete = coatl["head"] and coatl["tail"]
    if len(pieces) > facts.MAX_PIECES:
        checker.add(
            f"{where}.pieces",
            "COATL_LENGTH",
            f"has {len(pieces)} pieces; expected {facts.MAX_PIECES} at most",
        )
        return
    if is_complete and len(pieces) < 3:
        checker.add(
            f"{where}.pieces",
            "COATL_STRUCTURE",
            f"given {quote(pieces)}; expected a body piece at least between head and tail",
        )
    if len(played) > facts.MAX_PLAYED:
        checker.add(
            f"{where}.prophecies",
            "PLAYED_COUNT",
            f"has {len(played)} entries; expected {facts.MAX_PLAYED} at most",
        )
    for face, copies in Counter[str](played).items():
        if copies > 1:
            checker.add(
                f"{where}.prophecies",
                "IDENTICAL_PROPHECIES",
                f"has {face} {copies} times; expected no identical prophecies on one Coatl",
            )
    for place, face in enumerate(played[: facts.MAX_PLAYED]):
        if not _may_be_played(checker, face, coatl):
            checker.add(
                f"{where}.prophecies[{place}]",
                "PROPHECY_UNMET",
                f"given {facts.describe(face)}; expected one whose first level {pieces} may have met",
            )
    _check_closed(checker, index, number, coatl, where, is_complete)


def _may_be_played(checker: CoatlChecker, face: str, coatl: JsonObject) -> bool:
    """Return whether a prophecy can have met its first level when it was played on this Coatl.

    Once met a level stays so, except that a later piece may spoil a "not next to" at an end that counted
    as free (D7).
    """
    if checker.data["options"]["strict_ends"]:
        points = facts.prophecy_points(face, coatl["pieces"], open_left=not coatl["head"], open_right=not coatl["tail"])
        return points > 0
    return facts.has_built_up(face, coatl["pieces"])


def _check_closed(
    checker: CoatlChecker, index: int, number: int, coatl: JsonObject, where: str, is_complete: bool
) -> None:
    temple = coatl["temple"]
    if not coatl["closed"]:
        is_being_closed = (
            checker.phase == "closing" and index == checker.data["to_move"] and number == checker.data["closing"] - 1
        )
        if is_complete and not is_being_closed:
            checker.add(
                f"{where}.closed",
                "COATL_CLOSED",
                "given false; expected true, since it has head and tail and is not being closed",
            )
        if temple:
            checker.add(f"{where}.temple", "COATL_TEMPLE", f'given {quote(temple)}; expected "" until closed')
        return
    if not is_complete:
        checker.add(f"{where}.closed", "COATL_CLOSED", "given true; expected a head and a tail then")
    elif temple and not facts.temple_points(temple, coatl["pieces"]):
        checker.add(
            f"{where}.temple",
            "COATL_TEMPLE",
            f"given {facts.describe(temple)}; expected a temple that {coatl['pieces']} gives points for",
        )
    if not coatl["prophecies"]:
        checker.add(f"{where}.prophecies", "PLAYED_COUNT", "has none; expected one at least on a closed Coatl")
