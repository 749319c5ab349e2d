"""Why an action of Mexica is not legal, in words.

A reason is a fact of the position that the rules forbid; the compiled rules alone decide what is legal. If a number is
too small, such as that of the action points, they are asked for the smallest one that is enough.
"""

from __future__ import annotations

from collections.abc import Callable

from mexica_ai.game.messages import say
from mexica_ai.games.mexica import board
from mexica_ai.games.mexica.board import format_space, neighbours, parse_space, ramps
from mexica_ai.io.json_types import JsonObject


def why_illegal(data: JsonObject, action: str, is_legal: Callable[[JsonObject], bool]) -> str:
    """Return why an action is not legal; see `Reasons.why_illegal`."""
    verb, *operands = action.split()
    if data["phase"] == "placement":
        return _placement(data, operands[0]) if verb == "place" else say("the pillis are placed first")
    if verb not in _RULES:
        return say("the pillis are placed before the first round") if verb == "place" else ""
    view = _View(data)
    if problem := _RULES[verb](view, *operands):
        return problem
    return "" if is_legal(data) else _by_rules(view, verb, is_legal)


class _View:
    """A position by its spaces."""

    def __init__(self, data: JsonObject) -> None:
        self.data = data
        self.seat = data["to_move"]
        self.own = data["seats"][self.seat]
        self.pilli = parse_space(self.own["pilli"])
        self.canals = set(map(parse_space, data["canals"]))
        self.bridges = {parse_space(bridge["at"]): bridge["axis"] for bridge in data["bridges"]}
        self.pieces = {
            parse_space(seat["pilli"]): say("the pilli of seat {seat}", seat=number)
            for number, seat in enumerate(data["seats"])
        }
        self.pieces |= {parse_space(temple["at"]): say("a temple") for temple in data["temples"]}
        self.tokens = {parse_space(token["at"]): token["size"] for token in data["calpulli"]["placed"]}
        self.pieces |= dict.fromkeys(self.tokens, say("a calpulli token"))

    def district(self, cell: int) -> frozenset[int]:
        """Return the district of a dry space."""
        return next(district for district in board.districts(self.canals) if cell in district)

    def founded(self, district: frozenset[int]) -> int | None:
        """Return the size of the token of a district, None if it has none."""
        return next((size for cell, size in self.tokens.items() if cell in district), None)

    def not_dry(self, cell: int) -> str:
        if cell not in board.LAND:
            return say("{cell} is in the lake", cell=format_space(cell))
        return say("{cell} is a canal", cell=format_space(cell)) if cell in self.canals else ""

    def not_free(self, cell: int) -> str:
        """Return why nothing can be put on a space."""
        if problem := self.not_dry(cell):
            return problem
        if cell in board.PALACE:
            return say("{cell} belongs to the palace", cell=format_space(cell))
        return self.occupied(cell)

    def occupied(self, cell: int) -> str:
        return (
            say("{what} is on {cell}", what=self.pieces[cell], cell=format_space(cell)) if cell in self.pieces else ""
        )


def _placement(data: JsonObject, space: str) -> str:
    if parse_space(space) not in board.STARTING_SPACES:
        return say("{space} is no starting space", space=space)
    for seat, other in enumerate(data["seats"]):
        if other["pilli"] == space:
            return say("the pilli of seat {seat} is on {space}", seat=seat, space=space)
    return ""


def _canal(view: _View, spaces: str) -> str:
    cells = list(map(parse_space, spaces.split("-")))
    kind = "double" if len(cells) == 2 else "single"
    if not view.data["canal_tiles"][kind]:
        return (
            say("there is no double canal tile left") if len(cells) == 2 else say("there is no single canal tile left")
        )
    if len(cells) == 2 and cells[1] not in neighbours(cells[0]):
        return say("{one} and {other} are not adjacent", one=format_space(cells[0]), other=format_space(cells[1]))
    for cell in cells:
        if problem := view.not_free(cell):
            return problem
        for bridge, axis in view.bridges.items():
            if cell in ramps(bridge, axis):
                return say(
                    "the bridge on {bridge} ends on {cell}", bridge=format_space(bridge), cell=format_space(cell)
                )
        if size := view.founded(view.district(cell)):
            return say("{cell} is in the district founded with {size}", cell=format_space(cell), size=size)
    return ""


def _bridge(view: _View, at: str, axis: str) -> str:
    if len(view.bridges) >= board.NUM_BRIDGES:
        return say("there is no bridge left; one may be relocated")
    return _bridge_place(view, parse_space(at), axis)


def _bridge_place(view: _View, cell: int, axis: str) -> str:
    if cell not in view.canals:
        return say("{cell} is no canal", cell=format_space(cell))
    if cell in view.bridges:
        return say("there is a bridge on {cell}", cell=format_space(cell))
    for ramp in ramps(cell, axis):
        if ramp not in board.GRID:  # it has no name
            return say("the bridge would end in the lake")
        if problem := view.not_dry(ramp):
            return say("the bridge would end on {ramp}, and {problem}", ramp=format_space(ramp), problem=problem)
    return ""


def _relocate(view: _View, source: str, target: str, axis: str) -> str:
    start, end = parse_space(source), parse_space(target)
    if len(view.bridges) < board.NUM_BRIDGES:
        return say("there are bridges left to build; only without any may one be relocated")
    if start not in view.bridges:
        return say("there is no bridge on {source}", source=source)
    if problem := view.occupied(start):
        return problem
    if (start, view.bridges[start]) == (end, axis):
        return say("the bridge stands there already")
    del view.bridges[start]
    return _bridge_place(view, end, axis)


def _found(view: _View, size: str, space: str) -> str:
    number, cell = int(size), parse_space(space)
    if number not in view.data["calpulli"]["display"]:
        return say("no calpulli token {size} is on display", size=size)
    if problem := view.not_free(cell):
        return problem
    district = view.district(cell)
    if founded := view.founded(district):
        return say("the district of {space} is founded already, with {founded}", space=space, founded=founded)
    if len(district) != number:
        return say(
            "the district of {space} has {number} spaces, not {size}", space=space, number=len(district), size=size
        )
    return _pilli_in(view, district, space)


def _pilli_in(view: _View, district: frozenset[int], space: str) -> str:
    if view.pilli in district:
        return ""
    on = say("on a bridge") if view.pilli in view.bridges else say("on {space}", space=format_space(view.pilli))
    return say("the pilli of seat {seat} is {on}, not in the district of {space}", seat=view.seat, on=on, space=space)


def _temple(view: _View, level: str, space: str) -> str:
    if not view.own["temples"][int(level) - 1]:
        return say("seat {seat} has no temple of level {level} left", seat=view.seat, level=level)
    cell = parse_space(space)
    return view.not_free(cell) or _pilli_in(view, view.district(cell), space)


def _walk(view: _View, space: str) -> str:
    cell = parse_space(space)
    here = view.pilli
    if cell == here:
        return say("the pilli is on {space} already", space=space)
    if problem := _standing(view, cell):
        return problem
    for bridge, other in ((here, cell), (cell, here)):
        if bridge in view.bridges and other not in ramps(bridge, view.bridges[bridge]):
            return say(
                "no end of the bridge on {bridge} is on {other}", bridge=format_space(bridge), other=format_space(other)
            )
    if cell not in neighbours(here):
        return say("{space} is not adjacent to {here}, where the pilli is", space=space, here=format_space(here))
    return ""


def _standing(view: _View, cell: int) -> str:
    """Return why no pilli can go to a space."""
    if cell not in view.bridges and (problem := view.not_dry(cell)):
        return say("{problem} without a bridge", problem=problem) if cell in view.canals else problem
    return view.occupied(cell)


def _sail(view: _View, space: str) -> str:
    cell = parse_space(space)
    if view.pilli not in view.bridges:
        return say("the pilli is on {pilli}, not on a bridge", pilli=format_space(view.pilli))
    if cell not in view.bridges:
        return say("there is no bridge on {space}", space=space)
    return view.occupied(cell)


def _teleport(view: _View, space: str) -> str:
    return _standing(view, parse_space(space))


def _token(view: _View) -> str:
    if sum(seat["action_tokens"] for seat in view.data["seats"]) >= board.NUM_ACTION_TOKENS:
        return say("there is no action token left")
    if view.data["tokens_taken"] >= board.MAX_TOKENS_PER_TURN:
        return say("a turn may take {most} action tokens", most=board.MAX_TOKENS_PER_TURN)
    if not view.data["action_points"]:
        return say("an action token costs one of the turn's own action points, and none is left")
    return ""


def _remove(view: _View, size: str) -> str:
    return say("no calpulli token {size} is on display", size=size)


_RULES: dict[str, Callable[..., str]] = {
    "canal": _canal,
    "bridge": _bridge,
    "relocate": _relocate,
    "found": _found,
    "temple": _temple,
    "walk": _walk,
    "sail": _sail,
    "teleport": _teleport,
    "token": _token,
    "remove": _remove,
}


def _by_rules(view: _View, verb: str, is_legal: Callable[[JsonObject], bool]) -> str:
    """Return why an action is not legal that no fact of the board forbids."""
    points, tokens = view.data["action_points"], view.own["action_tokens"]
    for more in range(points + 1, board.ACTION_POINTS + 1):
        if is_legal({**view.data, "action_points": more}):
            cost = say("{n:action point|action points}", n=more + tokens)
            has = say("{points} and {n:action token|action tokens}", points=points, n=tokens) if tokens else f"{points}"
            return say("it costs {cost}; seat {seat} has {has}", cost=cost, seat=view.seat, has=has)
    if view.data["round"] == 1 and any(
        is_legal({**view.data, "round": 2, "action_points": points}) for points in {points, board.ACTION_POINTS}
    ):
        return say("it would pen in another seat's pilli, which the first round forbids")
    return say("no way by water leads there under occupied bridges only") if verb == "sail" else ""
