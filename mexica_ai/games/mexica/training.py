"""What fits of Mexica's weights add by hand; see `mexica_ai.train.corrections`."""

PULL: tuple[dict[str, float], float] = ({}, 1.0)

# A search that sees no further passes, and what it passes for is what its successor should look at more.
FACTORS = {"end": 0.3, "end_idle": 0.3}
FACTORS |= dict.fromkeys(("cross_good", "sail_good", "teleport_good", "teleport_fair"), 3.0)
