"""Corrections to fits of Coatl's weights; see `mexica_ai.train.corrections`."""

# For fits to the outcomes of games: the weight of the estimate, and of the points in it; found by matches
# (benchmarks/STRENGTH.md). The weights that ship began as such a fit, and were later fitted to results of
# searches and to outcomes.
PULL = ({"estimate_logit": 3.0, "closed_points": 5.6, "played_points": 2.8, "temple_points": 0.8}, 0.45)

FACTORS: dict[str, float] = {}
