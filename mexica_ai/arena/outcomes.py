"""The outcome of one game of a tournament: the input of the statistics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """One finished or forfeited game. All tuples have one entry per seat.

    Parameters
    ----------
    block : int
        Number of the block in the tournament: the games of a block share one deal.
    pattern : str
        The engines of the game without their seats, such as "AB", "ABB", "AAB". Reports also list each
        pattern separately.
    engines : tuple of int
        Engine number on each seat.
    shares : tuple of float
        Share of the win of each seat, shared wins split; sums to 1.
    ranks : tuple of float
        Rank of each seat, from 1; ties get the mean of their places.
    margins : tuple of float or None
        Score of each seat minus the best score of the others, in points; None after a forfeit or
        an adjudication.
    forfeit : int, optional
        The seat that forfeited.
    luck : tuple of float, optional
        What the random events of the game were worth to each seat (`adjust`); None if it was not asked for.
    """

    block: int
    pattern: str
    engines: tuple[int, ...]
    shares: tuple[float, ...]
    ranks: tuple[float, ...]
    margins: tuple[float, ...] | None
    forfeit: int | None = None
    luck: tuple[float, ...] | None = None
