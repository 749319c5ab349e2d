"""Plans: what a seat's Coatls could become with all the prophecies that it holds.

Two prophecies may each need one more piece, but different ones. A plan is a Coatl with more pieces, valued by all its
prophecies together: those played on it, and the best ones in hand for which it has room.

Plans are estimates, simplified for speed. Each level of a prophecy is reached at one end. A temple may count for
several Coatls. Pieces and prophecies are assigned to one Coatl after the other. Coatls that could be closed are counted
almost independently: two may use the same head, tail, piece or prophecy.
"""

from libc.stdint cimport uint8_t, uint64_t

from cext.games.coatl.cards cimport NUM_COLORS
from cext.games.coatl.state cimport CAPACITY, NUM_KINDS, CoatlStateC

cdef enum:
    PLANS_MISSING = 4           # most missing pieces of a plan
    PLANS_LONGEST = 20          # longer Coatls are ignored
    PLANS_GROWTH = CAPACITY + PLANS_MISSING     # pieces that could be added to one of these
    PLANS_KEPT = 2048           # of a cache, a power of 2

# A Coatl and the pieces that the seat still has.
ctypedef struct PlanC:
    uint8_t pieces[PLANS_LONGEST + PLANS_GROWTH + 2]    # including a head and a tail
    uint8_t length
    uint8_t has_head
    uint8_t has_tail
    uint8_t missing
    uint8_t wanted[NUM_COLORS]          # the missing pieces
    uint8_t stored[NUM_KINDS][NUM_COLORS]
    int points
    int used                            # prophecies in hand that count, as a set of indexes of the cards

# What a search for the plans of one Coatl has found.
ctypedef struct FoundC:
    uint64_t key                        # of what it began with; 0: nothing
    int points[PLANS_MISSING + 1]       # possible with 0 to PLANS_MISSING missing pieces
    PlanC chosen                        # the best plan
    PlanC sure                          # the best one with nothing missing

ctypedef struct PlansCacheC:
    FoundC found[PLANS_KEPT]

# Sums over the Coatls that a seat is building or has yet to start. The pieces and prophecies of the plan chosen for one
# Coatl are not available for the next.
ctypedef struct PlansC:
    int points[PLANS_MISSING + 1]   # of the best plans, by the number of pieces that each may lack in the store
    int best[PLANS_MISSING + 1]     # the same for the single Coatl that is best with PROMISING pieces missing
    int missing                     # missing pieces of the chosen plans
    int chosen_points               # their points
    int cards                       # prophecies that they use from the hand
    int temples                     # points of the best temple for each, see `_temple`
    int on_display                  # points of each prophecy on display, on the best chosen plan with room for it
    int on_supply                   # most missing pieces that one pair on the supply board provides
    int ready                       # points, with temples, of the Coatls that the seat could close in one turn
    int num_ready                   # number of these Coatls
    int nearly                      # points of those that lack only a head or only a tail, without that piece

# The points that one prophecy alone would score on the best of a seat's unfinished Coatls, or on one yet to be started:
# as they stand (`now`), and with at most 0 to PLANS_MISSING pieces that the seat has not stored (`points`).
cdef void plans_reach(const CoatlStateC* state, int seat, int face, int* now, int* points) noexcept nogil

# The most requirements of a temple that one of a seat's unfinished Coatls meets, with any colours for missing ends.
cdef int plans_temple_met(const CoatlStateC* state, int seat, int temple) noexcept nogil

# Finds the plans of a seat; with a cache or NULL.
cdef void plans_find(const CoatlStateC* state, int seat, PlansCacheC* cache, PlansC* plans) noexcept nogil
