"""The rules of Tzolk'in behind one face, so that a test of the rules runs on every implementation of them."""

from reference import tzolkin as reference


class Reference:
    """The slow plain rules."""

    name = "reference"

    def legal(self, position: dict) -> list[str]:
        """Return the legal actions of a JSON position, sorted as text."""
        return reference.legal_actions(position)

    def play(self, position: dict, *actions: str) -> dict:
        """Return the JSON position after actions, each of them legal, and random events."""
        return reference.apply_all(position, actions)

    def winners(self, position: dict) -> list[int]:
        return reference.winners(position)

    def view(self, position: dict, seat: int) -> dict:
        return reference.view(position, seat)

    def check(self, position: dict) -> None:
        """Raise an error with `name` and `path` where an invariant is broken."""
        reference.check(position)


IMPLEMENTATIONS = [Reference()]
