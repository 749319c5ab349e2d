"""Actions of Nim in words."""

from __future__ import annotations

from collections.abc import Sequence

from mexica_ai.game.contract import Words
from mexica_ai.game.text_forms import listed
from mexica_ai.io.json_types import JsonObject


def tell(actions: Sequence[str], before: JsonObject, after: JsonObject) -> str:
    """Return actions in words; see `Words.tell`."""
    return "took " + listed([f"{number} from pile {pile}" for _, number, pile in map(str.split, actions)])


def joins(actions: Sequence[str], following: str) -> bool:
    """Return whether an action is told with those before it; see `Words.joins`."""
    return True


WORDS = Words(tell, joins)
