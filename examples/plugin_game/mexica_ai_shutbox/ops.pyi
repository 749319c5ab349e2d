from typing import Any

from cext.core.contract.game import Game, State

GAME: Game

def state_from_fields(fields: dict[str, Any]) -> State: ...
def state_to_fields(owner: State) -> dict[str, Any]: ...
