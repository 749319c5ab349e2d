"""Hand-made corrections of fits of Tzolk'in's weights; see `mexica_ai.train.corrections`."""

PULL: tuple[dict[str, float], float] = ({}, 1.0)

FACTORS: dict[str, float] = {}
