"""Priors of categories, for Python: each action has a category and a share of the category's weight.

The weights are one array of floats, a row for each kind of decision that the game tells apart (`group`). They are
fitted to what the search chose (`mexica_ai.train.priors`).
"""

from cext.core.game cimport State
from cext.core.types cimport action_t

# Of the n legal actions of a state: the category of each, and its share. Returns the row of the weights that counts.
ctypedef int (*priors_find_t)(const void* state, const action_t* actions, int n, int* categories,
                              float* shares) noexcept nogil

# A game's categories for Python: (row, actions, categories, shares). Raises TypeError for a state of another game.
cdef object priors_categorize(State owner, str game, priors_find_t find)

# Exchange of the weights with Python, as a float32 array of this shape.
cdef object priors_get(const float* weights, int rows, int columns)
cdef int priors_set(float* weights, int rows, int columns, object found) except -1
