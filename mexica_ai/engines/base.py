"""The base class of all engines: the interface, and how a spec's keys override the limits of a call.

An engine kind derives from `Engine` and implements `_best_turn`, which receives complete limits and a seed.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from mexica_ai.analysis.limits import (
    DEFAULT_CANDIDATES,
    DEFAULT_INTERVAL_S,
    DEFAULT_TIME_S,
    Limits,
    out_of_memory,
    resolve_threads,
)
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.stopping import Stop
from mexica_ai.engines.specs import KINDS, EngineSpec
from mexica_ai.game import registry
from mexica_ai.game.position import Position, require_seat_to_move
from mexica_ai.game.steps import UNCOVERS
from mexica_ai.io.errors import MexicaAIError, SearchError
from mexica_ai.io.numbers import resolve_seed
from mexica_ai.io.terminal import shorten

# A spec's key -> the field of Limits that it sets.
LIMIT_KEYS = {"time": "time_s", "iterations": "iterations", "memory": "memory_mb", "threads": "threads"}


class Engine(ABC):
    """An engine: it answers a position with a turn. Use as a context manager, or call `close`.

    Parameters
    ----------
    spec : EngineSpec
        The spec of the engine. Its keys override `defaults` and the arguments of a call.
    defaults : mapping, optional
        Values for keys that neither the spec nor a call gives. None counts as not given.

    Attributes
    ----------
    spec : EngineSpec
    name : str
        The spec's `name`, else the text of the spec.
    """

    def __init__(self, spec: EngineSpec, defaults: Mapping[str, Any] | None = None) -> None:
        self.spec = spec
        self.name: str = spec.options.get("name", str(spec))
        self._defaults = {key: value for key, value in (defaults or {}).items() if value is not None}
        self._first_actions: dict[str, Any] = {}  # arguments of a search

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.spec, self._defaults)

    def best_turn(
        self,
        position: Position,
        limits: Limits | None = None,
        *,
        seed: int | None = None,
        candidates: int = DEFAULT_CANDIDATES,
        stop: Stop | None = None,
    ) -> Result:
        """Search for the best turn of the seat to move, and return the result.

        Parameters
        ----------
        position : Position
            Not changed.
        limits : Limits, optional
            By default those of the engine's defaults, and one second if they give neither a time nor a number
            of iterations. Each key of the spec overrides its limit.
        seed : int, optional
            0 <= seed < 2**63. By default the engine's default; drawn if there is none. The result reports it.
        candidates : int
            How many turns the result lists at most; at least 1.
        stop : Stop, optional
            Setting it, from any thread, ends the search; the result is the best turn found so far.

        Raises
        ------
        GameOverError
            The game is over.
        PositionError
            A random event comes first, or the position is the view of another seat.
        SearchError
            The limits are invalid, or the engine failed.
        """
        limits, seed = self._budget(position, limits, seed)
        with out_of_memory():
            return self._best_turn(position, limits, seed=seed, candidates=candidates, stop=stop or Stop())

    def analyze(
        self,
        position: Position,
        limits: Limits | None = None,
        *,
        seed: int | None = None,
        candidates: int = DEFAULT_CANDIDATES,
        stop: Stop | None = None,
        interval_s: float = DEFAULT_INTERVAL_S,
    ) -> Iterator[Result]:
        """Yield the result so far every `interval_s` seconds, and the final result last.

        Only the last result has a `stop_reason`. An engine without intermediate results yields only the
        final one. The other parameters and the errors are those of `best_turn`.
        """
        limits, seed = self._budget(position, limits, seed)
        with out_of_memory():
            yield from self._analyze(
                position,
                limits,
                seed=seed,
                candidates=candidates,
                stop=stop or Stop(),
                interval_s=interval_s,
            )

    def restrict(self, allow: Sequence[str] | None, avoid: Sequence[str] = ()) -> None:
        """Restrict the actions with which the turns of all further searches may begin, as for `mexica_ai.best_turn`.

        Raises
        ------
        SearchError
            The engine cannot be restricted; reason NOT_RESTRICTABLE.
        """
        if (allow is not None or avoid) and not KINDS[self.spec.kind].is_restrictable:
            able = ", ".join(name for name, kind in KINDS.items() if kind.is_restrictable)
            raise SearchError(
                f"engine {self.name}: cannot be told which first actions to allow or avoid; expected one of {able}",
                reason="NOT_RESTRICTABLE",
            )
        for name, given in (("allow", allow), ("avoid", avoid)):
            if isinstance(given, Iterable) and not isinstance(given, str):
                given = tuple(given)  # a generator would be empty for the second search
            self._first_actions[name] = given

    def weights_id(self, game: str) -> str | None:
        """Return the identifier of the weights that the engine uses for a game.

        The identifier is the first 12 hexadecimal digits of their SHA-256. None if the engine uses no
        weights, or runs outside this process.

        Raises
        ------
        SearchError
            Its weights belong to another game (reason INVALID_WEIGHTS).
        """
        return None

    def ponder(self, position: Position, turn: Sequence[str]) -> None:
        """Begin to think in the others' time, after a turn that was answered for a position; return at once.

        Only an engine whose spec has the key `ponder` does. Its next question, `rest` and `close` end it.
        """
        return None

    def rest(self) -> None:
        """End what `ponder` has begun, and wait for its end, which takes milliseconds."""
        return None

    def close(self) -> None:
        """Release the resources of the engine (a process, a connection). May be called twice."""
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @abstractmethod
    def _best_turn(self, position: Position, limits: Limits, *, seed: int, candidates: int, stop: Stop) -> Result:
        """Answer one request; `limits` and `seed` are final and the game is not over."""

    def _analyze(
        self,
        position: Position,
        limits: Limits,
        *,
        seed: int,
        candidates: int,
        stop: Stop,
        interval_s: float,
    ) -> Iterator[Result]:
        yield self._best_turn(position, limits, seed=seed, candidates=candidates, stop=stop)

    def _budget(self, position: Position, limits: Limits | None, seed: int | None) -> tuple[Limits, int]:
        """Return the limits and the seed: from the spec's keys, else the call, else the defaults."""
        require_seat_to_move(position)
        options = self.spec.options
        if limits is None:
            keys = {**self._defaults, **options}
            fields = limits_in(keys)
            if "time_s" not in fields and "iterations" not in fields:
                fields["time_s"] = DEFAULT_TIME_S
            limits = Limits(**fields)
        else:
            limits = dataclasses.replace(limits, **limits_in(options))
        if seed is None:
            seed = self._defaults.get("seed")
        return limits, resolve_seed(options.get("seed", seed))


def limits_in(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `Limits` that keys of a spec set; `threads` as a number."""
    fields = {field: options[key] for key, field in LIMIT_KEYS.items() if key in options}
    if "threads" in fields:
        fields["threads"] = resolve_threads(fields["threads"])
    return fields


def seen_by(position: Position, seat: int) -> Position:
    """Return what the engine of a seat may know of a position."""
    view = position.view(seat)
    if view.viewer is not None:
        return view
    data = view.to_json()
    shown = registry.get(view.game).redact(view.to_json())  # what is hidden from all seats
    return view if shown == data else Position.from_json(shown)


def name_turn(turn: list[str]) -> str:
    """Return the turn of an external engine as text for a message."""
    return f"the turn '{shorten('; '.join(turn))}'"


def find_fault(position: Position, turn: list[str]) -> MexicaAIError | None:
    """Return the error of a turn of an external engine, or None if the turn is legal."""
    try:
        position.copy().push(turn)
    except MexicaAIError as error:
        # With these the turn is legal; it is followed by a draw that the position does not know.
        return error if error.reason not in UNCOVERS else None
    return None
