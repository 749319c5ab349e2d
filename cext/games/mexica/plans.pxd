"""Founding plans: districts that the seat to move could close with few canal tiles, and found."""

from cext.core.contract.types cimport action_t
from cext.games.mexica.state cimport MexicaStateC

cdef enum:
    MAX_TILES = 24

# A district, of a size on display, in which the pilli could stand, and the canals that would close it.
cdef struct PlanC:
    int size
    int num_tiles
    int cost                    # AP to close it and to move there
    action_t bridge             # an action that builds the bridge to it; 0: none needed
    double worth                # expected prestige points, less the value of the AP
    action_t tiles[MAX_TILES]   # canal actions; a plan that needs more is dropped

# Writes the most promising plans, best first, at most one for each size. Returns their number. Deterministic.
cdef int plans_find(const MexicaStateC* state, PlanC* plans, int max_plans) noexcept nogil
