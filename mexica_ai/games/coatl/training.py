"""Hand-made corrections of fits of Coatl's weights; see `mexica_ai.train.corrections`."""

# For fits to how games ended: the estimate, and once more the points in it; found by matches (benchmarks/STRENGTH.md).
# The weights that ship came from such a fit and were later fitted to probes and to how games ended.
PULL = ({"estimate_logit": 3.0, "closed_points": 5.6, "played_points": 2.8, "temple_points": 0.8}, 0.45)

FACTORS: dict[str, float] = {}

varied = None
