from typing import Any, Final, Self

from numpy.typing import ArrayLike, NDArray

from cext.core.contract.game import Game, State
from cext.core.search.search import Search

MAX_PLACES: Final = 65536
MAX_LEAVES: Final = 4096

class Pool:
    def __new__(
        cls, game: Game, places: int, evaluator: object, *, players: int, leaves: int = 8, threads: int = 1
    ) -> Self: ...
    @property
    def game(self) -> Game: ...
    @property
    def num_places(self) -> int: ...
    @property
    def players(self) -> int: ...
    @property
    def leaves(self) -> int: ...
    @property
    def threads(self) -> int: ...
    @property
    def is_waiting(self) -> bool: ...
    def begin(
        self,
        place: int,
        state: State,
        iterations: int,
        *,
        noise: ArrayLike | None = None,
        noise_share: float = 0.25,
        **arguments: Any,
    ) -> None: ...
    def gather(self) -> tuple[NDArray[Any], ...]: ...
    def back_up(self, answer: object) -> list[tuple[int, Search]]: ...
    def cancel(self) -> None: ...
