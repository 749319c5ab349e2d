"""Corrections to fits of Mexica's weights; see `mexica_ai.train.corrections`."""

PULL: tuple[dict[str, float], float] = ({}, 1.0)

# A search that sees no plan ends its turn, so fits overrate `end` and underrate the moves that begin plans.
FACTORS = {"end": 0.3, "end_idle": 0.3}
FACTORS |= dict.fromkeys(("cross_good", "sail_good", "teleport_good", "teleport_fair"), 3.0)
