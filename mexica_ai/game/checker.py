"""The base of the games' checks of invariants."""

from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import Findings


class Checker:
    """Checks the invariants of a position, of the format and the rules; reports all violations, and repairs nothing.

    Parameters
    ----------
    data : dict
        A position of the right shape.
    path : str
        JSON path of the position; every violation's path begins with it.
    findings : mexica_ai.io.strict.Findings
        Collects the violations.
    """

    def __init__(self, data: JsonObject, path: str, findings: Findings) -> None:
        self.data = data
        self.path = path
        self.findings = findings
        self.seats = data["seats"]

    def add(self, where: str, reason: str, message: str) -> None:
        self.findings.add(f"{self.path}.{where}", reason, message)

    def check_range(self, where: str, value: int, low: int, high: int) -> bool:
        return self.findings.check_range(f"{self.path}.{where}", value, low, high)

    def check_num_seats(self) -> bool:
        """Check that there is an entry for each player; return whether there is."""
        players: int = self.data["players"]
        if len(self.seats) != players:
            message = f"has {len(self.seats)} entries; expected one for each of the {players} players"
            self.add("seats", "SEATS_COUNT", message)
        return len(self.seats) == players
