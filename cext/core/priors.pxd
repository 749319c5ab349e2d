"""Priors of categories, for Python: each action has a category and a share of the category's weight.

The weights are one array of floats, a row for each kind of decision that the game tells apart (`group`). They are
fitted to what the search chose (`mexica_ai.train.priors`).
"""

from cext.core.game cimport State
from cext.core.types cimport action_t

# Of the n legal actions of a state: the category of each, and its share. Returns the row of the weights that counts.
ctypedef int (*priors_find_t)(const void* weights, const void* state, const action_t* actions, int n,
                              int* categories, float* shares) noexcept nogil

# A game's categories for Python: (row, actions, categories, shares). Raises TypeError for a state or weights of another
# game.
cdef object priors_categorize(State owner, object weights, str game, priors_find_t find)
