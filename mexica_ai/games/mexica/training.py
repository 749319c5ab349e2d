"""Hand-made corrections of fits of Mexica's weights; see `mexica_ai.train.corrections`."""

PULL: tuple[dict[str, float], float] = ({}, 1.0)

# A search that misses a plan ends its turn early, so fits to its choices overrate the end of a turn and underrate the
# actions of such plans.
FACTORS = {"end": 0.3, "end_idle": 0.3}
FACTORS |= dict.fromkeys(("cross_good", "sail_good", "teleport_good", "teleport_fair"), 3.0)

varied = None
