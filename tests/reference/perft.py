"""Perft counts that owe nothing to the compiled rules.

Coatl, Mexica and Tzolk'in: counted by the slow reference rules. Nim: by a formula. Run as a program, in the folder
`tests`, this fills in `count` and `divide` of every entry of perft files, whose other fields are written by
hand:

    python -m reference.perft data/perft/mexica.json
"""

import json
import sys
from itertools import product
from math import comb, factorial, prod

from reference import coatl, mexica, tzolkin


def coatl_divide(position: dict, depth: int) -> dict[str, int]:
    """Return for each first action the number of sequences of `depth` legal actions that begin with it."""
    counted: dict[tuple[str, int], int] = {}

    def after(state, action):
        state = state.copy()
        state.apply(action)
        state.log.clear()  # what seats remember counts for nothing here, and would be copied again and again
        return state

    def count(state, depth):
        if depth == 0:
            return 1
        actions = state.legal_actions()
        if depth == 1:
            return len(actions)
        key = (json.dumps(state.to_json()), depth)  # different orders of actions meet in one position
        if key not in counted:
            counted[key] = sum(count(after(state, action), depth - 1) for action in actions)
        return counted[key]

    state = coatl.State.from_json(position)
    return {action: count(after(state, action), depth - 1) for action in state.legal_actions()}


def mexica_divide(position: dict, depth: int) -> dict[str, int]:
    """Return for each first action the number of sequences of `depth` legal actions that begin with it."""
    counted: dict[tuple[str, int], int] = {}

    def count(position, depth):
        if depth == 0:
            return 1
        actions = mexica.legal_actions(position)
        if depth == 1:
            return len(actions)
        key = (json.dumps(position), depth)  # different orders of actions meet in one position
        if key not in counted:
            counted[key] = sum(count(mexica.apply(position, action, unchecked=True), depth - 1) for action in actions)
        return counted[key]

    return {
        action: count(mexica.apply(position, action, unchecked=True), depth - 1)
        for action in mexica.legal_actions(position)
    }


def tzolkin_divide(position: dict, depth: int) -> dict[str, int]:
    """Return for each first action the number of sequences of `depth` legal actions that begin with it."""
    counted: dict[tuple[str, int], int] = {}

    def count(position, depth):
        if depth == 0:
            return 1
        actions = tzolkin.legal_actions(position)
        if depth == 1:
            return len(actions)
        key = (json.dumps(position), depth)  # different orders of actions meet in one position
        if key not in counted:
            counted[key] = sum(count(tzolkin.apply(position, action), depth - 1) for action in actions)
        return counted[key]

    return {action: count(tzolkin.apply(position, action), depth - 1) for action in tzolkin.legal_actions(position)}


def nim_count(piles: list[int], depth: int) -> int:
    """Return the number of sequences of `depth` takes.

    Taking d times from a pile of n leaves comb(n, d) choices (the objects that are left after each take), and
    the takes from different piles may be interleaved in any way.
    """
    return sum(
        factorial(depth)
        // prod(map(factorial, takes))
        * prod(comb(pile, number) for pile, number in zip(piles, takes, strict=True))
        for takes in product(range(depth + 1), repeat=len(piles))
        if sum(takes) == depth
    )


def nim_divide(position: dict, depth: int) -> dict[str, int]:
    """Return for each first action the number of sequences of `depth` legal actions that begin with it."""
    piles = position["piles"]
    return {
        f"take {count} {index + 1}": nim_count([*piles[:index], pile - count, *piles[index + 1 :]], depth - 1)
        for index, pile in enumerate(piles)
        for count in range(1, pile + 1)
    }


DIVIDE = {"coatl": coatl_divide, "mexica": mexica_divide, "nim": nim_divide, "tzolkin": tzolkin_divide}


def main(paths: list[str]) -> None:
    for path in paths:
        with open(path) as file:
            entries = json.load(file)
        for entry in entries:
            divide = DIVIDE[entry["position"]["game"]]
            entry["divide"] = dict(sorted(divide(entry["position"], entry["depth"]).items()))
            entry["count"] = sum(entry["divide"].values())
            print(entry["id"], entry["depth"], entry["count"])
        with open(path, "w") as file:
            lines = ",\n".join(json.dumps(entry) for entry in entries)
            file.write(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main(sys.argv[1:])
