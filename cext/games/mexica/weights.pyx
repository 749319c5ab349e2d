"""The enumerations of ``weights.pxd``, for Python."""

from cext.core.learning.network cimport network_size
from cext.core.learning.scorer cimport SCORER_FEATURES, SCORER_SUMMARY, scorer_size

assert network_size(NUM_INPUTS) == NUM_WEIGHTS
assert scorer_size(NUM_SUMMARY, NUM_CATEGORIES, NUM_FEATURES) == NUM_POLICY
assert NUM_SUMMARY <= SCORER_SUMMARY and NUM_FEATURES <= SCORER_FEATURES
