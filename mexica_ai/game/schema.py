"""The layout of a game's observations, or of its actions: named fields, one after the other, in a row of float32."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from mexica_ai.io.json_types import JsonObject

SEATS = 4  # for which every observation has room


@dataclass(frozen=True)
class Field:
    """One field of an observation or an action.

    Parameters
    ----------
    name : str
    shape : tuple of int
        () for a single number.
    help : str
        The meaning of its numbers and of each axis.
    scale : float
        About the largest number in play: dividing by it gives numbers of about 1.
    """

    name: str
    shape: tuple[int, ...]
    help: str
    scale: float = 1.0

    @property
    def size(self) -> int:
        """How many numbers the field has."""
        return prod(self.shape)


# The first fields of every observation.
HEAD = (
    Field("players", (), "number of seats", 4),
    Field("to_move", (SEATS,), "1 for the seat to move; all 0 if a random event is due or the game is over"),
)


class Schema:
    """The fields of a game's observations, or of its actions.

    Seats are counted from the viewer: seat 0 is the viewer, seat 1 plays after it. What belongs to seats that do
    not take part is 0. The viewer of an action is the seat to move.

    Parameters
    ----------
    game : str
    version : int
        Goes up with every change of a field. Networks and data of another version do not fit.
    fields : sequence of Field
        Those after `head`.
    head : sequence of Field
        The first ones; () for actions.
    """

    def __init__(self, game: str, version: int, fields: Sequence[Field], *, head: Sequence[Field] = HEAD) -> None:
        self.game = game
        self.version = version
        self.fields = (*head, *fields)

    @cached_property
    def size(self) -> int:
        """How many numbers a row has."""
        return sum(field.size for field in self.fields)

    @cached_property
    def offsets(self) -> dict[str, int]:
        """Where each field begins, by name."""
        offsets, at = {}, 0
        for field in self.fields:
            offsets[field.name] = at
            at += field.size
        return offsets

    @cached_property
    def scale(self) -> np.ndarray:
        """The scale of each number, float32 [size]."""
        return np.concatenate([np.full(field.size, field.scale, np.float32) for field in self.fields])

    def split(self, observations: np.ndarray) -> dict[str, np.ndarray]:
        """Return the fields of rows by name.

        Parameters
        ----------
        observations : numpy.ndarray
            [..., size]; or actions.

        Returns
        -------
        dict of str to numpy.ndarray
            [..., *shape]; views where numpy can make them.

        Raises
        ------
        ValueError
            The last axis has another length.
        """
        if observations.shape[-1:] != (self.size,):
            raise ValueError(f"observations of shape {observations.shape}; expected [..., {self.size}]")
        lead = observations.shape[:-1]
        return {
            field.name: observations[..., at : at + field.size].reshape(lead + field.shape)
            for field, at in zip(self.fields, self.offsets.values(), strict=True)
        }

    def to_json(self) -> JsonObject:
        """Return the schema as a JSON object, for files of data."""
        fields = [
            {"name": field.name, "shape": list(field.shape), "scale": field.scale, "help": field.help}
            for field in self.fields
        ]
        return {"game": self.game, "version": self.version, "size": self.size, "fields": fields}
