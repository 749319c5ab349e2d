"""Policies: Python code that chooses turns, as engines, opponents and what is rated take it.

A policy is an object with ``best_turn(position)``, which returns a turn, or with ``act(observation, mask)``, which
returns the index of one action after the other; a function is one like `act`. Its attribute ``actions`` may say that it
wants ids or features of actions. docs/python.md describes all of them.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from cext.core.contract.game import State
from cext.core.learning.tensor import observation
from mexica_ai.analysis.limits import DEFAULT_TIME_S, Limits
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.stopping import Stop
from mexica_ai.engines.base import find_fault, name_turn
from mexica_ai.game import registry
from mexica_ai.game.observations import check_actions
from mexica_ai.game.position import Position
from mexica_ai.io.errors import MexicaAIError, SearchError
from mexica_ai.io.strict import quote
from mexica_ai.io.terminal import shorten

EXTRAS = ("limits", "seed", "stop")  # that `best_turn` may ask for, by the names of its parameters
EXPECTED = "expected a method best_turn(position) or act(observation, mask), or a function like act"


class Policy:
    """A policy and its name in messages.

    Parameters
    ----------
    source : object
        With a method ``best_turn`` or ``act``, or callable like ``act``. Of both methods, ``best_turn`` is used.
    name : str

    Raises
    ------
    SearchError
        The object is no policy; reason BAD_POLICY.
    """

    def __init__(self, source: object, name: str) -> None:
        self.name = name
        self._turn: Callable[..., Any] | None = _method(source, "best_turn")
        act = _method(source, "act")
        if act is None and callable(source) and not inspect.isclass(source):
            act = source
        if self._turn is None and act is None:
            raise SearchError(f"{name}: is {quote(type(source).__name__)}; {EXPECTED}", reason="BAD_POLICY")
        self._act: Callable[..., Any] | None = act
        self._form: Any = getattr(source, "actions", None) if self._turn is None else None
        self._extras = () if self._turn is None else _extras(self._turn)

    def answer(self, position: Position, seed: int, **extras: Any) -> list[str] | Result:
        """Return the turn of the seat to move, checked; as a result, if the policy answers with one.

        Parameters
        ----------
        position : Position
            What the seat may see. Not changed.
        seed : int
            0 <= seed < 2**63.
        **extras
            ``limits`` and ``stop``, for a policy that asks for them; by default a second, and what nobody sets.

        Raises
        ------
        SearchError
            The policy fails (reason ENGINE_ERROR), answers with no turn (ENGINE_PROTOCOL), or with one that is not
            legal (ILLEGAL_TURN).
        """
        answer: list[str] | Result
        if self._turn is None:
            state = position.state.copy()
            state.determinize(state.current_player, seed)  # a view has no cards where the seat knows none
            text = registry.get(position.game).text
            return [text.format_action(action) for action in self.actions(state)]
        given = {"limits": Limits(time_s=DEFAULT_TIME_S), "stop": Stop()} | extras | {"seed": seed}
        found = self._call(self._turn, position.copy(), **{name: given[name] for name in self._extras})
        if isinstance(found, Result):
            answer, turn = found, found.turn
        else:
            answer = turn = self._texts(found)
        fault = find_fault(position, turn)
        if fault is not None:
            raise self._error(f"plays {name_turn(turn)}: {fault}", "ILLEGAL_TURN") from fault
        return answer

    def actions(self, state: State) -> list[int]:
        """Return the turn of the seat to move, as actions that a policy with ``act`` chooses one after the other.

        Raises
        ------
        SearchError
            As `answer`.
        """
        now, turn = state.copy(), []
        while now.turn == state.turn and now.current_player == state.current_player:
            turn.append(self.choice(now))
            now.apply(turn[-1])
        return turn

    def choice(self, state: State) -> int:
        """Return the action that a policy with ``act`` chooses; see `actions`."""
        assert self._act is not None
        try:
            check_actions(state.game.name, self._form)
        except SearchError as error:
            raise self._error(str(error), error.reason) from None
        seen = observation(state, state.current_player)
        if self._form == "ids":
            by_id = actions_by_id(state)
            number = self._index(self._call(self._act, seen, mask_of(state.game.num_action_ids, list(by_id))))
            if number not in by_id:
                known = shorten(", ".join(map(str, by_id)))
                raise self._error(f"chooses the action {number}; expected an id of {known}", "ILLEGAL_TURN")
            return by_id[number]
        legal = state.legal_actions()
        is_described = self._form == "features"
        shown = state.action_features() if is_described else mask_of(state.game.max_actions, slice(len(legal)))
        number = self._index(self._call(self._act, seen, shown))
        if not 0 <= number < len(legal):
            raise self._error(f"chooses the action {number}; expected 0 to {len(legal) - 1}", "ILLEGAL_TURN")
        return legal[number]

    @property
    def acts(self) -> bool:
        """Whether it chooses action by action."""
        return self._turn is None

    def _call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            what = str(error) if isinstance(error, MexicaAIError) else f"{type(error).__name__}: {error}"
            raise self._error(f"fails: {what}", "ENGINE_ERROR") from error

    def _texts(self, found: Any) -> list[str]:
        """Return a turn as a list of actions; a text is one with semicolons."""
        if isinstance(found, str):
            return [action.strip() for action in found.split(";")]
        if isinstance(found, (list, tuple)) and all(isinstance(action, str) for action in found):
            return list(found)
        raise self._error(f"answers {quote(found)}; expected a list of actions, texts", "ENGINE_PROTOCOL")

    def _index(self, found: Any) -> int:
        try:
            return operator.index(found.item() if hasattr(found, "item") else found)
        except (TypeError, ValueError, RuntimeError):
            raise self._error(f"answers {quote(found)}; expected the index of an action", "ENGINE_PROTOCOL") from None

    def _error(self, problem: str, reason: str) -> SearchError:
        return SearchError(f"{self.name}: {problem}", reason=reason)


def actions_by_id(state: State) -> dict[int, int]:
    """Return the legal actions of a state by their fixed ids."""
    return dict(zip(state.action_ids(), state.legal_actions(), strict=True))


def mask_of(size: int, legal: slice | list[int]) -> npt.NDArray[np.int8]:
    """Return a mask over numbers of actions: 1 for those of legal ones."""
    mask = np.zeros(size, np.int8)
    mask[legal] = 1
    return mask


def _method(source: object, name: str) -> Callable[..., Any] | None:
    found = getattr(source, name, None)
    return found if callable(found) and not inspect.isclass(source) else None


def _extras(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return which extras a function asks for."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of a function that is compiled
        return ()
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    names = {parameter.name for parameter in parameters}
    return tuple(name for name in EXTRAS if takes_all or name in names)
