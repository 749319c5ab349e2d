"""Founding plans: districts that the seat to move could close with few canal tiles, and found."""

from cext.core.types cimport action_t
from cext.games.mexica.state cimport MexicaStateC

cdef enum:
    MAX_TILES = 24

# A district of a size on display that the pilli could be in, and the canals that are left to dig to close it.
cdef struct PlanC:
    int size
    int num_tiles
    int cost                    # AP to close it and to go there
    action_t bridge             # to be built in order to go there; 0 none
    double worth                # prestige points that it promises, less what the AP are worth
    action_t tiles[MAX_TILES]

# Writes the most promising plans, best first, one a size at most, and returns how many. Deterministic.
cdef int plans_find(const MexicaStateC* state, PlanC* plans, int max_plans) noexcept nogil
