"""Actions as data: a tool, then targets one after another. A game's part is in ``GAME/entry.py``.

Whoever shows a position to a person lists the entries of its legal actions and narrows the list by what is clicked. So
a page, or a client of the service, needs no rules and knows no game.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import NamedTuple

MENU = "menu:"


class Kind(enum.Enum):
    """What a target is; the values are those of ``TargetKind`` in the proto, without the prefix."""

    UNSPECIFIED = "UNSPECIFIED"
    CHOICE = "CHOICE"
    SPACE = "SPACE"
    BRIDGE = "BRIDGE"
    AXIS = "AXIS"
    CARD = "CARD"
    DECK = "DECK"
    PIECE = "PIECE"
    FIGURE = "FIGURE"
    FIGURE_END = "FIGURE_END"
    GEAR = "GEAR"
    TOOTH = "TOOTH"
    GEAR_ACTION = "GEAR_ACTION"
    TEMPLE = "TEMPLE"
    TECHNOLOGY = "TECHNOLOGY"
    TILE = "TILE"
    PILE = "PILE"


@dataclass(frozen=True)
class Tool:
    """A kind of action that a person chooses by a button or a key.

    Parameters
    ----------
    name : str
        Unique in the game. ``end`` and ``pass`` are for actions that end a turn and do nothing else.
    key : str
        A letter that chooses it, unique in the game.
    label : str
        Caption of the button.
    any_order : bool
        Whether the targets may be clicked in another order, too.
    is_priced : bool
        Whether its actions differ in cost, so that each target shows its own.
    """

    name: str
    key: str
    label: str
    any_order: bool = False
    is_priced: bool = False


class Target(NamedTuple):
    """Something that an action names, in the order in which a person chooses it.

    Attributes
    ----------
    path : str
        A ``data-target`` of the picture, or ``menu:`` and the words of a choice that the picture does not show.
    kind : Kind
    name : str
        As the JSON form and the text of actions have it, such as ``H5``; of a choice, its part of the action.
    seat : int, optional
        The seat that it belongs to, if it lies before one.
    """

    path: str
    kind: Kind
    name: str
    seat: int | None = None


@dataclass(frozen=True)
class Entry:
    """How a person enters an action.

    Parameters
    ----------
    tool : str
        The name of a `Tool`; "" for an action that is chosen by its text alone.
    targets : tuple of Target
        What to click after the tool. Of the legal actions of a position no two have one way (the tool and the paths of
        the targets), and no way continues another.
    """

    tool: str
    targets: tuple[Target, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the targets."""
        return tuple(target.path for target in self.targets)


class Gain(NamedTuple):
    """What an action brings to the seat that plays it.

    Attributes
    ----------
    words : str
        Such as ``3 corn``, without what the action costs; "" if there is nothing to say.
    worth : float
        Of the choices of a menu, those of more worth come first. A rough measure for people, no evaluation.
    is_empty : bool
        Whether the action only gives up a choice; then it comes last.
    """

    words: str = ""
    worth: float = 0.0
    is_empty: bool = False


def choice(words: str, name: str = "", kind: Kind = Kind.CHOICE) -> Target:
    """Return the target of a choice that the picture does not show.

    Parameters
    ----------
    words : str
        Such as ``east to west``.
    name : str
        Its part of the action, such as ``ew``; empty if the action has none for it.
    kind : Kind
    """
    return Target(MENU + words, kind, name)
