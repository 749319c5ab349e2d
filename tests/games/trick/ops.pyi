from collections.abc import Iterable, Sequence

from cext.core.contract.game import Game, State

GAME: Game
ODD_GAME: Game
ODD_KINDS: range

def deal(hands: Sequence[Iterable[int]], out_of_play: Iterable[int] = (), odd: int | None = None) -> State: ...
def create_without_functions() -> Game: ...
def create_for_another_interface(abi: int, more_bytes: int) -> Game: ...
