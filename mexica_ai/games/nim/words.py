"""Actions of Nim in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mexica_ai.game.contract import Words
from mexica_ai.game.messages import add_messages, say
from mexica_ai.game.text_forms import listed
from mexica_ai.io.json_types import JsonObject


def tell(actions: Sequence[str], before: JsonObject, after: JsonObject) -> str:
    """Return actions in words; see `Words.tell`."""
    taken = [say("{number} from pile {pile}", number=number, pile=pile) for _, number, pile in map(str.split, actions)]
    return say("took {what}", what=listed(taken))


def joins(actions: Sequence[str], following: str) -> bool:
    """Return whether an action is told with those before it; see `Words.joins`."""
    return True


add_messages(Path(__file__).with_name("messages"))
WORDS = Words(tell, joins)
