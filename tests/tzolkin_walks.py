"""Random players of Tzolk'in for tests, with leanings, and what happens to them that matters."""

from reference import tzolkin as reference

# How often actions that begin so are chosen, against one of 1; the longest beginning counts.
LEANINGS = {
    "even": {},
    "builder": {"pick": 6, "build": 5, "research": 3, "end": 2, "beg": 0.3, "done": 0.2},
    "hurried": {"pick": 8, "advance": 3, "end": 3},
    "pilgrim": {
        "place yaxchilan": 3,
        "place chichen_itza": 3,
        "place": 0.3,
        "pick": 3,
        "pick chichen_itza": 0.3,
        "pick chichen_itza 6": 9,
        "pick chichen_itza 8": 9,
        "pick chichen_itza 9": 9,
        "beg": 0.3,
        "pick chichen_itza 1 2": 9,
        "pick chichen_itza 2 3": 9,
        "pick chichen_itza 3 4": 9,
        "pick tikal 1 1": 9,
        "research theology": 9,
        "climb": 3,
    },
    "mason": {
        "place tikal": 9,
        "pick": 0.2,
        "pick tikal 4 4": 9,
        "pick tikal 5 4": 9,
        "pick tikal 6 4": 9,
        "pick tikal 7 4": 9,
        "build": 5,
        "build m_": 9,
        "use": 5,
        "done": 0.2,
        "place start": 0.3,
    },
}
# What a seat of a game with masons has from the beginning, so that monuments are built.
RICH = {"corn": 40, "wood": 12, "stone": 12, "gold": 12}
FREE_FROM = {gear: facts["free_choice_from"] for gear, facts in reference.GEARS.items()}
MUST_OCCUR = [
    "keep", "beg", "place", "place start", "pick with an action", "pick without one", "harvest corn",
    "harvest wood", "burn", "research", "research free", "build", "build arch", "climb", "climb two", "take",
    "sell", "buy", "use", "done", "end", "advance 1", "advance 2", "reveal", "reveal of age 2",
    "a food day jumped over", "hunger", "start player moves", "a worker pushed off", "a new worker",
    "a skull placed", "a free choice", "points below 0", "2 seats", "3 seats", "4 seats", "whole points",
    "a monument", "one space ahead", "an offering", "build more", "use more", "trade more", "build corn",
    "the marker goes to the left", "corn from the teeth",
]  # fmt: skip


def new_game(rng, players, leaning, whole_points):
    """Return the first position of a game of players with a leaning."""
    position = reference.new_game(players, rng, whole_points)
    if leaning == "mason":
        for seat in position["seats"]:
            seat.update(RICH)
    return position


def choose(rng, leaning, legal):
    weights = {}
    for action in legal:
        beginnings = [beginning for beginning in LEANINGS[leaning] if action.startswith(beginning)]
        weights[action] = LEANINGS[leaning][max(beginnings, key=len)] if beginnings else 1
        if action.startswith("pick") and len(action.split()) == 3:
            weights[action] = 0.3  # no action used
    return rng.choices(list(weights), list(weights.values()))[0]


def events(before, action, after):
    words = action.split()
    mover, decision = before["seats"][before["to_move"]], " ".join(before["pending"][:1])
    yield {
        "pick": "pick with an action" if len(words) == 4 else "pick without one",
        "harvest": " ".join(words[:2]),
        "advance": action,
    }.get(words[0], words[0])
    yield action
    if words[0] == "research" and len(words) == 2:
        yield "research free"
    if "arch" in words:
        yield "build arch"
    if decision in ("climb two", "build more", "use more", "trade more", "build corn") and action != "done":
        yield decision
    if decision == "climb more" and len(words) == 3:
        yield "an offering"
    if words[:2] == ["pick", "chichen_itza"] and len(words) == 4 and int(words[3]) == int(words[2]) + 1:
        yield "one space ahead"
    if words[0] == "build" and words[1] in reference.MONUMENTS:
        yield "a monument"
    if after["teeth_corn"] < before["teeth_corn"]:
        yield "corn from the teeth"
    if before["start_space"] == before["start_player"] != after["start_player"]:
        yield "the marker goes to the left"
    if words[0] == "pick" and len(words) == 4 and int(words[2]) >= FREE_FROM[words[1]]:
        yield "a free choice"
    if words[0] == "reveal" and before["food_days"] >= 2:
        yield "reveal of age 2"
    if action == "advance 2" and before["day"] + 1 in reference.FOOD_DAYS and before["day"] < 26:
        yield "a food day jumped over"
    if after["start_player"] != before["start_player"]:
        yield "start player moves"
    if after["food_days"] > before["food_days"] and any(
        late["score"] < early["score"] for early, late in zip(before["seats"], after["seats"], strict=True)
    ):
        yield "hunger"
    if words[0] in ("end", "advance") and any(
        reference.workers_on_gears(after, seat) < reference.workers_on_gears(before, seat)
        for seat in range(before["players"])
    ):
        yield "a worker pushed off"
    if after["seats"][before["to_move"]]["workers"] > mover["workers"]:
        yield "a new worker"
    if len(after["skulls_placed"]) > len(before["skulls_placed"]):
        yield "a skull placed"
    if min(reference.scores(after)) < 0:
        yield "points below 0"
