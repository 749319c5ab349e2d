"""Proposals: actions that seats may agree on, and an engine's answer to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from mexica_ai.game import registry
from mexica_ai.game.contract import Opinion
from mexica_ai.game.position import Position
from mexica_ai.io.errors import NotationError, PositionError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import quote


@dataclass(frozen=True)
class Verdict:
    """The engine's answer about a proposal.

    Parameters
    ----------
    agrees : bool
        Whether the engine agrees to all of its actions.
    opinions : list of Opinion
        The answer about each, in the order of the question.
    """

    agrees: bool
    opinions: list[Opinion]

    def to_json(self) -> JsonObject:
        """Return the answer as a JSON object whose keys are the attributes' names."""
        return asdict(self)


def offered(position: Position) -> list[str]:
    """Return the actions that may be proposed in a position; none if the game has no proposals."""
    proposals = registry.get(position.game).proposals
    return [] if proposals is None else proposals.offered(position.state)


def consider_proposal(position: Position, actions: Sequence[str]) -> Verdict:
    """Decide whether an engine agrees to a proposal; if it does, the seat to move may play its actions once legal.

    Parameters
    ----------
    position : Position
        Not changed.
    actions : sequence of str
        Actions that are `offered`. Of equal ones, each is considered as if only the earlier ones were agreed on.

    Returns
    -------
    Verdict

    Raises
    ------
    NotationError
        If `actions` is empty or not a list of actions.
    PositionError
        If the game has no proposals (reason GAME_MISMATCH), or an action is not offered (NOT_OFFERED).
    """
    proposals = registry.get(position.game).proposals
    if proposals is None:
        raise PositionError(
            f"position: given one of {position.game}; expected one of a game in which seats agree on actions",
            reason="GAME_MISMATCH",
            path="position",
        )
    _check(actions, position)
    opinions = proposals.judge(position.state, actions)
    return Verdict(all(opinion.agrees for opinion in opinions), opinions)


def _check(actions: Sequence[str], position: Position) -> None:
    if not isinstance(actions, (list, tuple)) or not actions:
        raise NotationError(
            f"actions: given {quote(actions)}; expected a list of one action or more",
            reason="WRONG_TYPE",
            path="actions",
        )
    found = offered(position)
    left = Counter(found)
    for index, action in enumerate(actions):
        path = f"actions[{index}]"
        registry.get(position.game).text.parse_action(action, path)
        left[action] -= 1
        if left[action] < 0:
            expected = ", ".join(found) or "none"
            raise PositionError(
                f"{path}: given {quote(action)}; expected what may be agreed on here, each once: {expected}",
                reason="NOT_OFFERED",
                path=path,
            )
