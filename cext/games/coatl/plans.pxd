"""Plans: what a seat's Coatls could become with all the prophecies that it holds.

Two prophecies may each need one more piece, but different ones. A plan is a Coatl with more pieces, valued by all its
prophecies together: those played on it, and the best ones in hand for which it has room.

Plans are estimates, simplified for speed. Each level of a prophecy is reached at one end. A temple may count for
several Coatls. Pieces and prophecies are assigned to one Coatl after the other. Coatls that could be closed are counted
almost independently: two may use the same head, tail, piece or prophecy.
"""

from cext.games.coatl.state cimport CoatlStateC

cdef enum:
    PLANS_MISSING = 4           # most missing pieces of a plan

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

# Finds the plans of a seat.
cdef void plans_find(const CoatlStateC* state, int seat, PlansC* plans) noexcept nogil
