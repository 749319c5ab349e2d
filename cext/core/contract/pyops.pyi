from collections.abc import Sequence
from typing import Any

from cext.core.contract.game import Game, State

HEAD_SIZE: int
SEEN_BY_ALL: int
SEEN_BY_OWNER: int
SEEN_BY_NOBODY: int
LIMITS: dict[str, int]

class PythonRules:
    name: str
    methods: Any
    actions: list[Any]
    game: Game
    def __init__(
        self,
        methods: Any,
        fields: list[dict[str, Any]],
        record: type,
        size: int,
        kinds: Sequence[tuple[str, int, int]],
        observation_size: int,
    ) -> None: ...
    def state(self, record: Any, players: int, viewer: int = -1) -> State: ...
    def record(self, owner: State) -> Any: ...
    def viewer(self, owner: State) -> int: ...
    def assign(self, owner: State, other: State) -> None: ...
    def outcomes(self, owner: State) -> list[int]: ...
    def draw(self, owner: State, seed: int) -> int: ...
