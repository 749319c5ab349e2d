"""The rules of Tzolk'in behind one face, so that a test of the rules runs on every implementation of them."""

from reference import tzolkin as reference

from mexica_ai.games.tzolkin import notation
from mexica_ai.io.errors import MexicaAIError


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


class Compiled:
    """The compiled rules behind the game's text. Every position on the way is read anew, so none may be refused."""

    name = "compiled"

    def _read(self, position):
        state = notation.parse_position(position, "$")
        state.check()
        return state

    def legal(self, position: dict) -> list[str]:
        """Return the legal actions of a JSON position, sorted as text."""
        return sorted(map(notation.format_action, self._read(position).legal_actions()))

    def play(self, position: dict, *actions: str) -> dict:
        """Return the JSON position after actions, each of them legal, and random events."""
        for action in actions:
            state = self._read(position)
            state.apply(notation.parse_action(action))
            position = notation.format_position(state)
        return position

    def winners(self, position: dict) -> list[int]:
        return [seat for seat, share in enumerate(self._read(position).returns()) if share > 0]

    def view(self, position: dict, seat: int) -> dict:
        return notation.view(position, seat)

    def check(self, position: dict) -> None:
        """Raise an error with `name` and `path` where an invariant is broken."""
        try:
            self._read(position)
        except MexicaAIError as error:
            raise reference.InvalidPositionError(error.reason, error.path, str(error)) from None


IMPLEMENTATIONS = [Reference(), Compiled()]
