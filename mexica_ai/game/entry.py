"""Entering actions on a picture: a tool, then targets one after another. A game's part is in ``GAME/entry.py``.

Whoever shows a position to a person lists the entries of its legal actions and narrows the list by what is clicked. So
a page needs no rules and knows no game.
"""

from __future__ import annotations

from dataclasses import dataclass

MENU = "menu:"


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


@dataclass(frozen=True)
class Entry:
    """How a person enters an action.

    Parameters
    ----------
    tool : str
        The name of a `Tool`.
    targets : tuple of str
        The targets to click after the tool: a ``data-target`` of the picture, or ``menu:`` and the words of a choice
        that the picture does not show. Of the legal actions of a position no two have one path (the tool and the
        targets), and no path continues another.
    """

    tool: str
    targets: tuple[str, ...] = ()
