"""Plans: what could be made of a seat's Coatls with the prophecies that it holds, all of them together.

Two prophecies may each want one more piece, and not the same one. A plan is a Coatl that has grown, judged by all
its prophecies at once: those played on it, and the best of the hand that there is room for.
"""

from libc.stdint cimport uint8_t

from cext.games.coatl.state cimport CoatlStateC

cdef enum:
    PLANS_MISSING = 4           # pieces that a plan may lack at most

# Of all Coatls that a seat is building, and of one that it could start. What the plan that is chosen for one takes,
# pieces and prophecies, is gone for the next.
ctypedef struct PlansC:
    int points[PLANS_MISSING + 1]   # of the best plans with at most so many pieces that the seat has not stored
    int best[PLANS_MISSING + 1]     # the same of that Coatl alone which promises most
    int missing                     # of the plans that are chosen: pieces,
    int chosen_points               # points
    int cards                       # prophecies from the hand
    int temples                     # and what a temple could bring on each, open ends being ended as it likes
    int on_display                  # points that the prophecies on display would bring on the most promising one
    int on_supply                   # pieces it lacks that one pair on the supply board brings

cdef void plans_find(const CoatlStateC* state, int seat, PlansC* plans) noexcept nogil
