"""Learning Mexica: words for what its picture shows, where the points came from, and the projected points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from cext.games.mexica.ops import scoring_now
from mexica_ai.game.contract import Fields, Teaching, try_parse
from mexica_ai.game.phrases import Phrase, phrase, seat_phrase
from mexica_ai.game.score_rows import Move, ScoreRow
from mexica_ai.games.mexica import board
from mexica_ai.games.mexica.board import format_space, parse_space
from mexica_ai.games.mexica.notation import parse_position

_START_POINTS = 5  # of a pilli on a starting space in a scoring
_LEGEND = (
    "district", "open", "canal", "bridge", "token", "small", "temple", "neutral", "pilli", "palace", "ap",
    "action_token", "now", "display", "upcoming", "ranks", "stock", "supply",
)  # fmt: skip


def values(size: int) -> tuple[int, int, int]:
    """Return the three numbers of a calpulli token: for the first, the second and the third."""
    second = (size + 1) // 2
    return size, second, (second + 1) // 2


# --- hints


def hints(fields: Fields) -> dict[str, Phrase]:
    """Return words for spaces with pieces and for the marks of the panel; see `Teaching.hints`."""
    return _spaces(fields) | _panel(fields)


def _spaces(fields: Fields) -> dict[str, Phrase]:
    found: dict[str, list[Phrase]] = {}
    for cell in board.STARTING_SPACES:
        found.setdefault(format_space(cell), []).append(phrase("hint.start", points=_START_POINTS))
    found[format_space(board.PALACE_CENTRE)] = [phrase("hint.palace")]
    for bridge in fields["bridges"]:
        found.setdefault(bridge["at"], []).append(phrase(f"hint.bridge.{bridge['axis']}"))
    for token in fields["calpulli"]["placed"]:
        found.setdefault(token["at"], []).append(_token("hint.token", token["size"]))
    for temple in fields["temples"]:
        level = temple["level"]
        words = (
            phrase("hint.neutral", level=level)
            if temple["seat"] == board.NEUTRAL
            else phrase("hint.temple", level=level, seat=seat_phrase(temple["seat"]))
        )
        found.setdefault(temple["at"], []).append(words)
    for seat, own in enumerate(fields["seats"]):
        if own["pilli"]:
            found.setdefault(own["pilli"], []).append(phrase("hint.pilli", seat=seat_phrase(seat)))
    for name in fields["canals"]:
        found.setdefault(name, [phrase("hint.canal")])
    return {
        name: words[0] if len(words) == 1 else phrase("two", one=words[0], two=words[1])
        for name, words in found.items()
    }


def _token(key: str, size: int) -> Phrase:
    first, second, third = values(size)
    return phrase(key, size=size, first=first, second=second, third=third)


def open_districts(fields: Fields) -> list[frozenset[int]]:
    """Return the districts without a token."""
    tokens = {parse_space(token["at"]) for token in fields["calpulli"]["placed"]}
    districts = board.districts({parse_space(name) for name in fields["canals"]})
    return [district for district in districts if not district & tokens]


def _panel(fields: Fields) -> dict[str, Phrase]:
    found = {f"open:{len(district)}": phrase("hint.open", size=len(district)) for district in open_districts(fields)}
    calpulli = fields["calpulli"]
    found |= {f"display:{size}": _token("hint.display", size) for size in calpulli["display"]}
    if fields["period"] == 1:
        found |= {f"upcoming:{size}": _token("hint.upcoming", size) for size in calpulli.get("upcoming") or ()}
    found |= {f"rank:{token['at']}": _token("hint.rank", token["size"]) for token in calpulli["placed"]}
    state = try_parse(parse_position, fields) if fields["phase"] == "play" else None
    for seat, own in enumerate(fields["seats"]):
        whose = seat_phrase(seat)
        found[f"points:{seat}"] = phrase("hint.points", seat=whose, points=own["score"])
        found[f"tokens:{seat}"] = phrase("hint.tokens", seat=whose, number=own["action_tokens"])
        for level, number in enumerate(own["temples"], 1):
            found[f"stock:{seat}:{level}"] = phrase("hint.stock", seat=whose, number=number, level=level)
        if state is not None:
            gain = scoring_now(state)[seat]
            found[f"now:{seat}"] = phrase("hint.now", seat=whose, points=gain, total=own["score"] + gain)
    if fields["phase"] != "over":
        found[f"moves:{fields['to_move']}"] = phrase("hint.ap", number=fields["action_points"])
    tiles, held = fields["canal_tiles"], sum(own["action_tokens"] for own in fields["seats"])
    if fields["phase"] == "play":
        found["period"] = phrase("hint.period", period=fields["period"], number=fields["round"])
    else:
        found["period"] = phrase(f"hint.period.{fields['phase']}")
    found["supply:double"] = phrase("hint.double", number=tiles["double"])
    found["supply:single"] = phrase("hint.single", number=tiles["single"])
    found["supply:bridge"] = phrase("hint.bridges", number=board.NUM_BRIDGES - len(fields["bridges"]))
    found["supply:token"] = phrase("hint.token_supply", number=board.NUM_ACTION_TOKENS - held)
    return found


# --- points


def district_points(levels: Counter[int], size: int, players: int) -> list[float]:
    """Return what a district brings each seat in a scoring; ties use up the places below them."""
    points = [0.0] * players
    for seat in range(players):
        above = sum(level > levels[seat] for level in levels.values())
        if levels[seat] and above < 3:
            points[seat] = values(size)[above]
    return points


def score_period(fields: Fields) -> list[ScoreRow]:
    """Return the rows of the scoring of a position's period; unfounded districts count in the second one."""
    players, period = fields["players"], fields["period"]
    section = phrase("sheet.period", number=period)
    temples = board.read_temples(fields["temples"])
    tokens = {parse_space(token["at"]): token["size"] for token in fields["calpulli"]["placed"]}
    rows = []
    for district in board.districts({parse_space(name) for name in fields["canals"]}):
        at = next((cell for cell in tokens if cell in district), None)
        if at is None and period == 1:
            continue
        size, where = (len(district), min(district)) if at is None else (tokens[at], at)
        points = district_points(board.levels(temples, district), size, players)
        label = phrase("sheet.open" if at is None else "sheet.district", size=size, at=format_space(where))
        rows.append(ScoreRow(section, label, points))
    starts = {format_space(cell) for cell in board.STARTING_SPACES}
    points = [float(_START_POINTS * (own["pilli"] in starts)) for own in fields["seats"]]
    return [*rows, ScoreRow(section, phrase("sheet.start"), points)]


def score_sheet(start: Fields, moves: Sequence[Move]) -> list[ScoreRow]:
    """Return the points by period and district; see `Teaching.score_sheet`."""
    rows = []
    for action, before, after in moves:
        verb, *operands = action.split()
        if verb == "found":
            points = [
                float(new["score"] - old["score"]) for old, new in zip(before["seats"], after["seats"], strict=True)
            ]
            label = phrase("sheet.founding", size=int(operands[0]), at=operands[1])
            rows.append(ScoreRow(phrase("sheet.period", number=before["period"]), label, points))
        elif after["period"] > before["period"] or (after["phase"] == "over" and before["phase"] != "over"):
            rows += score_period(before)
    return rows


def projected(fields: Fields) -> list[float]:
    """Return the points if the period were scored now: the score, and what a scoring of this period would bring.

    Temples still to be built, foundings and, in the first period, the second one are not in it.
    """
    scores = [float(own["score"]) for own in fields["seats"]]
    if fields["phase"] != "play":
        return scores
    for row in score_period(fields):
        scores = [score + points for score, points in zip(scores, row.points, strict=True)]
    return scores


TEACHING = Teaching(Path(__file__).with_name("texts"), _LEGEND, hints, score_sheet, projected)
