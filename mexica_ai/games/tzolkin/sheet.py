"""The points of Tzolk'in in Python, slow and simple: of temples, monuments and the end; where a game's came from."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cext.games.tzolkin.tables import FACTS
from mexica_ai.game.contract import Fields
from mexica_ai.game.phrases import Phrase, phrase
from mexica_ai.game.score_rows import Move, ScoreRow
from mexica_ai.games.tzolkin import facts, phrases
from mexica_ai.games.tzolkin.facts import BLOCKS, BUILDINGS, GEARS, MONUMENTS, TEMPLES, TRACKS, WEALTH
from mexica_ai.games.tzolkin.render import feeding_cost
from mexica_ai.io.json_types import JsonObject

_ARCHITECTURE_LEVEL, _ARCHITECTURE_POINTS = 2, 2  # from this level on a building to which it applies brings points
_UNFED: int = FACTS["feeding"]["points_per_unfed_worker"]
_KINDS = [day["kind"] for day in FACTS["calendar"]["food_days"]]


def temple_points(fields: Fields, temple: str, age: int) -> list[float]:
    """Return what a temple brings each seat at the end of an age, its leader's points included."""
    steps = [own["temples"][temple] for own in fields["seats"]]
    table, leader = TEMPLES[temple]["points"], TEMPLES[temple]["leader"][age - 1]
    leaders = steps.count(max(steps))
    return [
        float(table[step - facts.LOWEST] + (leader // min(leaders, 2) if step == max(steps) else 0)) for step in steps
    ]


def monument_points(fields: Fields, seat: int, monument: str) -> float:
    """Return what a seat's monument brings as things stand."""
    own, scoring = fields["seats"][seat], MONUMENTS[monument]["scoring"]
    tiles = [*(BUILDINGS[name] for name in own["buildings"]), *(MONUMENTS[name] for name in own["monuments"])]
    levels = list(own["technologies"].values())
    match scoring["kind"]:
        case "tiles_of_category":
            number = sum(tile["category"] == scoring["category"] for tile in tiles)
        case "all_tiles":
            number = len(tiles)
        case "harvest_tiles":
            number = own[f"{scoring['tile']}_tiles"]
        case "monuments_of_all":
            each = scoring["points_by_players"][str(fields["players"])]
            return float(each * sum(len(other["monuments"]) for other in fields["seats"]))
        case "full_tracks":
            return float(scoring["points_by_count"][levels.count(facts.TOP_LEVEL)])
        case "levels":
            number = sum(levels)
        case "workers":
            return float(scoring["points_by_count"][str(own["workers"])])
        case "temple_points":
            steps = own["temples"].items()
            return float(sum(TEMPLES[temple]["points"][step - facts.LOWEST] for temple, step in steps))
        case "best_temple":
            number = max(0, *own["temples"].values())
        case "skulls_placed":
            number = len(fields["skulls_placed"])
    return float(scoring["points"] * number)


def stock_points(own: JsonObject, *, is_whole: bool) -> float:
    """Return what a seat's corn and blocks bring at the end."""
    corn = own["corn"] + sum(own[block] * FACTS["market"][block] for block in BLOCKS.values())
    points = corn * float(FACTS["final"]["points_per_corn"])
    return float(math.floor(points)) if is_whole else points


def _final_rows(fields: Fields) -> list[ScoreRow]:
    """Return the rows of the end, without temples: corn and blocks, skulls, monuments."""
    section, seats = phrase("sheet.end"), fields["seats"]
    is_whole = fields["options"]["whole_points"]
    rows = [
        ScoreRow(section, phrase("sheet.stock"), [stock_points(own, is_whole=is_whole) for own in seats]),
        ScoreRow(section, phrase("sheet.skulls"),
                 [float(FACTS["final"]["points_per_skull"] * own["skulls"]) for own in seats]),
    ]  # fmt: skip
    for seat, own in enumerate(seats):
        for name in own["monuments"]:
            points = monument_points(fields, seat, name)
            rows.append(_row("sheet.monuments", phrases.scoring(name, fields["players"]), seat, points, len(seats)))
    return rows


def _row(section: str, label: Phrase, seat: int, points: float, players: int) -> ScoreRow:
    column = [0.0] * players
    column[seat] = float(points)
    return ScoreRow(phrase(section), label, column)


def _temple_rows(fields: Fields, age: int) -> list[ScoreRow]:
    day = facts.FOOD_DAYS[2 * age - 1]
    return [
        ScoreRow(phrase("sheet.temples"), phrase("sheet.temple", temple=phrases.temple(temple), day=day),
                 temple_points(fields, temple, age))
        for temple in TEMPLES
    ]  # fmt: skip


def _unfed(before: Fields) -> list[float]:
    """Return what a food day at the end of this turn costs in points; the corn on the teeth is taken before it."""
    lost = []
    for seat, own in enumerate(before["seats"]):
        corn = own["corn"] + before["teeth_corn"] * (before["start_space"] == seat == before["to_move"])
        cost = feeding_cost(own)
        hungry = feeding_cost({**own, "workers": own["workers"] + 1}) - cost  # corn a worker
        short = max(0, cost - corn)
        lost.append(float(_UNFED * -(-short // hungry)) if short else 0.0)
    return lost


def _action_rows(move: Move) -> list[ScoreRow]:
    """Return the points of an action of a turn: buildings, skulls, a full track."""
    action, before, after = move
    seat, players = before["to_move"], before["players"]
    own = before["seats"][seat]
    rows: list[ScoreRow] = []
    match action.split():
        case ["build", name, *how] if name in BUILDINGS:
            effects = BUILDINGS[name]["effects"]
            points = sum(effect["points"] for effect in effects if effect["do"] == "points")
            rows.append(_row("sheet.buildings", phrases.building(name), seat, points, players))
            level = own["technologies"]["architecture"]
            if how[:1] == ["arch"] and level >= _ARCHITECTURE_LEVEL:
                rows.append(_row("sheet.tracks", phrase("sheet.architecture"), seat, _ARCHITECTURE_POINTS, players))
            fixed = sum(effect["do"] == "research" and effect["track"] == "architecture" for effect in effects)
            rows += [_bonus(seat, players)] * (fixed if level == facts.TOP_LEVEL else 0)
        case ["research", "architecture", *_] if own["technologies"]["architecture"] == facts.TOP_LEVEL:
            rows.append(_bonus(seat, players))
        case ["keep", *_] if after["phase"] != "keep":  # the tiles of all seats are paid out
            for each in range(players):
                rows += [_bonus(each, players)] * _kept_bonuses(before, after, each)
        case ["pick" | "use", *_]:
            filled = set(after["skulls_placed"]) - set(before["skulls_placed"])
            points = sum(GEARS[facts.CHICHEN]["actions"][number - 1]["points"] for number in filled)
            rows.append(_row("sheet.chichen", phrase("sheet.placed"), seat, points, players))
    return rows


def _kept_bonuses(before: Fields, after: Fields, seat: int) -> int:
    """Return how many advances beyond the last level of architecture the tiles that a seat keeps bring."""
    effects = [effect for name in after["seats"][seat]["wealth"] for effect in WEALTH[name]["effects"]]
    advances = sum(effect.get("track") == "architecture" for effect in effects)
    level = before["seats"][seat]["technologies"]["architecture"]
    return int(max(0, level + advances - facts.TOP_LEVEL))


def _bonus(seat: int, players: int) -> ScoreRow:
    points = TRACKS["architecture"]["bonus"]["points"]
    return _row("sheet.tracks", phrase("sheet.full"), seat, points, players)


def score_sheet(start: Fields, moves: Sequence[Move]) -> list[ScoreRow]:
    """Return the points by kind; see `Teaching.score_sheet`."""
    rows: list[ScoreRow] = []
    for move in moves:
        before, after = move.before, move.after
        rows += _action_rows(move)
        number = before["food_days"]
        if after["food_days"] > number:
            label = phrase("sheet.unfed", day=facts.FOOD_DAYS[number])
            rows.append(ScoreRow(phrase("sheet.feeding"), label, _unfed(before)))
            if _KINDS[number] == "end_of_age":
                rows += _temple_rows(before, number // facts.AGE_2 + 1)
        if after["phase"] == "over" and before["phase"] != "over":
            rows += _final_rows(after)
    return _added(rows)


def _added(rows: Sequence[ScoreRow]) -> list[ScoreRow]:
    """Return rows of which those with the same words are one."""
    found: dict[str, ScoreRow] = {}
    for row in rows:
        key = repr((row.section, row.label))
        old = found.get(key)
        points = row.points if old is None else [one + more for one, more in zip(old.points, row.points, strict=True)]
        found[key] = ScoreRow(row.section, row.label, points)
    order = list(dict.fromkeys(row.section.key for row in found.values()))
    return sorted(found.values(), key=lambda row: order.index(row.section.key))


def projected(fields: Fields) -> list[float]:
    """Return the points if the game ended now.

    They are the score, temples as on the last day, corn and blocks, skulls and monuments. No worker is fed for it, and
    the turns and food days to come are not in it.
    """
    scores = [float(own["score"]) for own in fields["seats"]]
    if fields["phase"] == "over":
        return scores
    for row in [*_temple_rows(fields, 2), *_final_rows(fields)]:
        scores = [score + points for score, points in zip(scores, row.points, strict=True)]
    return scores
