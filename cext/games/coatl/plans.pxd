"""Plans: what could be made of a seat's Coatls with the prophecies that it holds, all of them together.

Two prophecies may each want one more piece, and not the same one. A plan is a Coatl that has grown, judged by all
its prophecies at once: those played on it, and the best of the hand that there is room for.

These are estimates, and what they leave out they leave out for speed: a level of a prophecy is reached at one end; a
temple may count for more than one Coatl; which Coatl gets a piece or a prophecy is settled one Coatl after the other.
What could be closed is told of each Coatl nearly by itself: two may count on the same head, tail, piece or prophecy.
"""

from cext.games.coatl.state cimport CoatlStateC

cdef enum:
    PLANS_MISSING = 4           # pieces that a plan may lack at most

# Of all Coatls that a seat is building, and of those that it has yet to start. What the plan that is chosen for one
# takes, pieces and prophecies, is gone for the next.
ctypedef struct PlansC:
    int points[PLANS_MISSING + 1]   # of the best plans, each with at most so many pieces that the seat has not stored
    int best[PLANS_MISSING + 1]     # the same of that Coatl alone which promises most with PROMISING of them
    int missing                     # of the plans that are chosen: pieces,
    int chosen_points               # points
    int cards                       # prophecies from the hand
    int temples                     # and what the best temple would bring on each, see `_temple`
    int on_display                  # points of each prophecy on display, on the one with room where it brings most
    int on_supply                   # pieces they lack that one pair on the supply board brings
    int ready                       # points, with temples, of the Coatls that the seat could close in one turn
    int num_ready                   # how many these are
    int nearly                      # points of those that only lack a head, or only a tail, without that piece

cdef void plans_find(const CoatlStateC* state, int seat, PlansC* plans) noexcept nogil
