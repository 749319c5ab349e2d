"""The sets of weights that a server searches with: those that ship, and those of files, chosen by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mexica_ai.game import registry
from mexica_ai.game.registry import Weights
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import quote
from mexica_ai.rpc.wire import SHIPPED


class WeightSets:
    """The weights of each game by name; at first those that ship."""

    def __init__(self) -> None:
        # A game may be played without weights: then None ships.
        self._sets: dict[str, dict[str, Weights | None]] = {
            game: {SHIPPED: registry.get(game).weights()} for game in registry.names()
        }

    def add(self, entry: str) -> None:
        """Read a set.

        Parameters
        ----------
        entry : str
            ``NAME=FILE``. The file says of which game the weights are.

        Raises
        ------
        NotationError
            The file is not one of weights (reason BAD_WEIGHTS), or the game has a set of this name
            (NAME_TAKEN).
        """
        name, _, path = entry.partition("=")
        weights = registry.load_weights_file(path)
        sets = self._sets[weights.game]
        if name in sets:
            raise NotationError(
                f"given {quote(entry)}; expected another name: {weights.game} has weights {name} already",
                reason="NAME_TAKEN",
            )
        sets[name] = weights

    def get(self, game: str, name: str) -> Weights | None:
        """Return the weights that a request names; "" is the same as "shipped".

        Raises
        ------
        NotationError
            Reason UNKNOWN_WEIGHTS: the game has no set of this name.
        """
        sets = self._sets[game]
        name = name or SHIPPED
        if name not in sets:
            expected = f"expected one of {', '.join(sets)}, the weights of {game} here"
            if registry.get(game).learning.weights is None:
                expected = f"{game} has no weights, expected no name or {SHIPPED}"
            raise NotationError(
                f"weights: given {quote(name)}; {expected}",
                reason="UNKNOWN_WEIGHTS",
                path="weights",
            )
        return sets[name]

    def __iter__(self) -> Iterator[tuple[str, Weights]]:
        """Yield the name and the weights of each set, by game, the shipped set first."""
        for sets in self._sets.values():
            yield from ((name, weights) for name, weights in sets.items() if weights is not None)


def read_weight_sets(entries: Iterable[str]) -> tuple[WeightSets, list[str]]:
    """Return the sets that entries ``NAME=FILE`` add to the shipped ones, and what is wrong with the entries."""
    sets, faults = WeightSets(), []
    for entry in entries:
        try:
            sets.add(entry)
        except NotationError as error:
            faults.append(str(error))
    return sets, faults
