"""A seat's view of a Tzolk'in state, and its legal actions, as floats; the layouts are those of
``mexica_ai/games/tzolkin/tensor.py``.
"""

from cext.core.contract.types cimport MAX_SEATS, action_t
from cext.games.tzolkin.state cimport MAX_PENDING, REVEAL
from cext.games.tzolkin.tables cimport (NUM_ACTIONS, NUM_BLOCKS, NUM_BUILDINGS, NUM_DECISIONS, NUM_FIELDS, NUM_GEARS,
                                        NUM_MONUMENTS, NUM_TEMPLES, NUM_TRACKS, NUM_WEALTH)

cdef enum:
    NUM_SPACES = 13             # of the largest gear
    NUM_PHASES = 6
    SEAT_SCALARS = 9
    DECISION_SIZE = NUM_DECISIONS - 1 + 2 * NUM_BLOCKS
    OBSERVATION_SIZE = (1 + MAX_SEATS + (MAX_SEATS + 1) * NUM_GEARS * NUM_SPACES
                        + MAX_SEATS * (SEAT_SCALARS + NUM_BLOCKS + NUM_TEMPLES + NUM_TRACKS + NUM_BUILDINGS
                                       + NUM_MONUMENTS + 2 * NUM_WEALTH)
                        + NUM_BUILDINGS + NUM_MONUMENTS + NUM_ACTIONS + 1 + 2 * NUM_FIELDS + NUM_WEALTH
                        + NUM_PHASES + 2 * MAX_SEATS + NUM_GEARS + 1 + NUM_SPACES + MAX_PENDING * DECISION_SIZE + 6)

    ACTION_VERBS = REVEAL - 1   # of legal actions
    ACTION_EFFECTS = 7 + NUM_BLOCKS + NUM_TEMPLES + NUM_TRACKS
    ACTION_SIZE = (ACTION_VERBS + NUM_GEARS + 1 + NUM_SPACES + NUM_ACTIONS + NUM_BUILDINGS + NUM_MONUMENTS + NUM_WEALTH
                   + NUM_TEMPLES + NUM_TRACKS + NUM_BLOCKS + 2 + ACTION_EFFECTS)

# GameOps.observe.
cdef void tensor_observe(const void* data, int viewer, float* out) noexcept nogil

# GameOps.observe_actions.
cdef void tensor_observe_actions(void* cache, const void* data, const action_t* actions, int n,
                                 float* out) noexcept nogil
