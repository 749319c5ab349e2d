"""The evaluation of Coatl: features of each seat, and a small network over them."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from cext.games.coatl.plans cimport PlansCacheC
from cext.games.coatl.state cimport CoatlStateC
from cext.games.coatl.weights cimport OWN_TO_MOVE

cdef enum:
    NUM_COUNTS = OWN_TO_MOVE + 1    # features of a seat without its plans
    MAX_MISSING = 4             # most missing pieces for a level of a prophecy
    COUNTS_KEPT = 512           # of a cache, a power of 2
    OUTLOOKS_KEPT = 8192        # the same
    REACHES_KEPT = 16384        # the same
    BESTS_KEPT = 16384          # the same

# The features of a seat without its plans, before scaling.
ctypedef struct CountsC:
    uint64_t key                # of what they depend on; 0: nothing
    float counts[NUM_COUNTS]

# The outlook of a seat, without its features: it is asked for after each action, and they are seldom.
ctypedef struct OutlookC:
    uint64_t key                # the same
    float outlook

# What a prophecy brings on a Coatl; 16 bytes.
ctypedef struct ReachC:
    uint32_t key                # lowest bits of the key of the Coatl, the prophecy and the bodies in stock; 0: nothing
    uint16_t more_of_key        # the bits above these; those above them say where it lies
    uint8_t points              # now
    uint8_t reached[MAX_MISSING + 1]    # possible with 0 to MAX_MISSING pieces that are not in stock
    float worth                 # of all that

# GameOps.cache_size.
ctypedef struct CoatlCacheC:
    PlansCacheC plans
    CountsC seats[COUNTS_KEPT]
    OutlookC outlooks[OUTLOOKS_KEPT]
    ReachC reaches[REACHES_KEPT]
    ReachC bests[BESTS_KEPT]    # of a prophecy in hand on the best of a seat's Coatls

# A hand-made value of a seat's own position, in points; with a cache or NULL.
cdef float evaluation_outlook(const CoatlStateC* state, int seat, CoatlCacheC* cache) noexcept nogil

# GameOps.evaluate; the weights are CoatlWeightsC.
cdef void evaluation_evaluate(const void* weights, CoatlCacheC* cache, const CoatlStateC* state, double* values,
                              double* points) noexcept nogil
