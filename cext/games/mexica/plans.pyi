from typing import TypedDict, type_check_only

from cext.core.contract.game import State

@type_check_only
class Plan(TypedDict):
    size: int
    cost: int
    worth: float
    bridge: int
    tiles: list[int]

def find(owner: State, max_plans: int = 3) -> list[Plan]: ...
