"""What a tournament does about games that ended by a forfeit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mexica_ai.arena.outcomes import Outcome

LEAST_GAMES = 20  # before a tournament can end because of forfeits


@dataclass(frozen=True)
class Policy:
    """What is done about games that ended by a forfeit.

    Parameters
    ----------
    kind : str
        "count": they count; "drop": blocks with such a game are left out of all statistics; "stop": they count, but
        the tournament ends when there are too many.
    most : float, optional
        With "stop": the part of the games that may be forfeited, in (0, 1).

    Notes
    -----
    With "drop", whole blocks are left out, not games: the other games of the block would favour an engine by seat and
    deal. The blocks that are left are still independent, so the intervals hold, for deals in which nobody forfeits.
    """

    kind: str = "count"
    most: float | None = None

    @classmethod
    def parse(cls, text: str) -> Policy:
        """Read "count", "drop" or "stop=N%"; raise ValueError with the expected form."""
        if text in ("count", "drop"):
            return cls(text)
        word, equals, number = text.partition("=")
        try:
            most = float(number.removesuffix("%")) / 100
            if word == "stop" and equals and number.endswith("%") and 0 < most < 1:
                return cls("stop", most)
        except ValueError:
            pass
        raise ValueError("count, drop, or stop=N% with N above 0 and below 100, such as stop=10%")

    def __str__(self) -> str:
        return self.kind if self.most is None else f"{self.kind}={100 * self.most:g}%"

    def kept(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """Return the games that count in statistics."""
        return without_forfeits(outcomes) if self.kind == "drop" else list(outcomes)

    def ends(self, num_games: int, num_forfeited: int) -> bool:
        """Return whether the tournament ends after so many games, of which some were forfeited."""
        return self.most is not None and num_games >= LEAST_GAMES and num_forfeited > self.most * num_games


COUNT = Policy()


def without_forfeits(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the games of the blocks in which nobody has forfeited."""
    left_out = {outcome.block for outcome in outcomes if outcome.forfeit is not None}
    return [outcome for outcome in outcomes if outcome.block not in left_out]
