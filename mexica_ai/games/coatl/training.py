"""What fits of Coatl's weights add by hand; see `mexica_ai.train.corrections`."""

# Of fits to how games ended: the outlook, and once more the points in it; found by matches
# (benchmarks/STRENGTH.md). What ships came from such a fit, and was fitted to what searches found, and to
# how games ended, since.
PULL = ({"estimate_logit": 3.0, "closed_points": 5.6, "played_points": 2.8, "temple_points": 0.8}, 0.45)

FACTORS: dict[str, float] = {}
