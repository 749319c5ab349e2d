"""The scheduler's input: a `Call` names the caller and its deadline, a `Question` the position and the settings."""

from __future__ import annotations

from dataclasses import dataclass

from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.game.position import Position
from mexica_ai.server.slots import loop_time


@dataclass(frozen=True)
class Call:
    """The caller, and its deadline.

    Attributes
    ----------
    caller : str
        The name of the caller's token or certificate, "" without one.
    peer : str
        The connection, which stands for callers without a name.
    deadline : float, optional
        When the caller stops waiting for the answer.
    allowed_s : float, optional
        How long the caller waits in all, if it says so and this is its first attempt: what was left to the deadline
        when the call came.
    attempts : int
        How often its client has made the call before, at this server or another.
    retries : bool
        Whether its client makes a rejected call again by itself.
    """

    caller: str
    peer: str = ""
    deadline: float | None = None
    allowed_s: float | None = None
    attempts: int = 0
    retries: bool = True

    def remaining_s(self) -> float | None:
        """Return the seconds left until the deadline, None without one."""
        return None if self.deadline is None else self.deadline - loop_time()


@dataclass(frozen=True)
class Question:
    """A position to search; the limits among the settings are those of `Admission.clamp`, without any deadline.

    `has_seed` says whether the caller has chosen the seed, so that it may ask for the same again.
    """

    position: Position
    settings: SearchSettings
    has_seed: bool = False
