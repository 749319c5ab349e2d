"""Priors by category, for Python: each action has a category and a share of the category's weight.

The weights are one array of floats, with a row for each kind of decision that the game distinguishes (`group`). A
learnt policy reads categories, too (`cext.core.learning.scorer`).
"""

from cext.core.contract.game cimport State
from cext.core.learning.scorer cimport scorer_find_t

# A game's inputs of a learnt policy for Python, as a tuple of arrays: the summary (float32, `SUMMARY_...` of the game's
# ``weights.pxd``); and of each action to be scored the action (uint64), the index of its category (int32), its prior
# without a policy (float32, above 0), and its features (float32, one row an action: `SCORER_...` of ``scorer.pxd``,
# then `ACTION_...` of ``weights.pxd``). Raises TypeError if the state or the weights are of another game.
cdef object priors_inputs(State owner, object weights, str game, int summary, int features, scorer_find_t find)
