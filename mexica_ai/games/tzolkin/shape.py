"""The shape of a Tzolk'in position in its JSON form."""

from collections.abc import Iterable

from mexica_ai.games.tzolkin import facts
from mexica_ai.games.tzolkin.facts import BUILDINGS, GEARS, MONUMENTS, TEMPLES, TRACKS, WEALTH
from mexica_ai.io.strict import Nullable, Text, choice


def any_of(names: Iterable[str]) -> str:
    """Return the pattern of one of some names."""
    return f"(?:{'|'.join(names)})"


BUILDING, TILE = any_of(BUILDINGS), any_of(WEALTH)  # patterns
_BUILDING_TEXT = Text(BUILDING, 'a building such as "a1_farm_all"')
_MONUMENT_TEXT = Text(any_of(MONUMENTS), 'a monument such as "m_tombs"')
_WEALTH_TEXT = Text(TILE, 'a starting wealth tile such as "w_pal1"')
_SECRET_TEXT = Text(rf"{TILE}|\?", 'a starting wealth tile such as "w_pal1", or "?" for a hidden one')
SHAPE = {
    "game": choice("tzolkin"),
    "version": int,
    "players": int,
    "viewer": Nullable(int),
    "options": {"whole_points": bool},
    "phase": choice(*facts.PHASES),
    "day": int,
    "food_days": int,
    "start_player": int,
    "to_move": int,
    "placed": int,
    "last": str,
    "pending": [str],
    "reveal": int,
    "start_space": Nullable(int),
    "teeth_corn": int,
    "gears": dict.fromkeys(GEARS, str),
    "skulls_placed": [int],
    "fields": {"corn": [int], "wood": [int]},
    "display": {"buildings": [_BUILDING_TEXT], "monuments": [_MONUMENT_TEXT]},
    "drawn": [_WEALTH_TEXT],
    "seats": [
        {
            "score": float,
            **dict.fromkeys(facts.STOCKS, int),
            "skulls": int,
            "workers": int,
            "light": bool,
            "corn_tiles": int,
            "wood_tiles": int,
            "temples": dict.fromkeys(TEMPLES, int),
            "technologies": dict.fromkeys(TRACKS, int),
            "buildings": [_BUILDING_TEXT],
            "monuments": [_MONUMENT_TEXT],
            "wealth": [_SECRET_TEXT],
            "dealt": [_SECRET_TEXT],
        }
    ],
}
