"""Plans: what things are worth to a seat, and what it can still do until the end, in points.

A value of one thing depends on the others: blocks pay for tiles and levels, a tile brings steps, levels and workers,
and all of them are worth less with each turn that is gone. So values are found in this order: materials, steps of the
temples, levels of the tracks, a worker, the tiles, the decisions that actions bring, the actions of the gears, and last
what each worker will do: the action that pays most at a tooth that it still reaches, less what waiting costs.

Plans are estimates, simplified for speed. What lacks for an action later is bought at its price and a surcharge; what
lacks now makes it impossible. Seats do not get in each other's way.
"""

from cext.games.tzolkin.state cimport TzolkinStateC
from cext.games.tzolkin.tables cimport *

cdef enum:                  # when an action is done
    NOW = 0                 # with what the seat has
    LATER = 1
    TOGETHER = 4            # days that are looked ahead

ctypedef struct PlansC:
    int turns                               # that the seat has left if no day is jumped, the present one included
    float materials[NUM_MATERIALS]          # one more of each
    float climbs[NUM_TEMPLES]               # one more step; 0 if there is none
    float advances[NUM_TRACKS]              # one more level, or the bonus of the last one
    float worker                            # one more worker
    float hunger                            # corn for all food days to come
    float tiles[2]                          # the best building less its costs; by NOW and LATER
    float monument[2]                       # the best monument less its costs, at least 0
    float second_monument                   # the second best, LATER
    float owned_monuments                   # the points of those built, with what they are expected to gain
    float decisions[2][NUM_DECISIONS]       # the best answer less its costs, at least 0
    float actions[2][NUM_GEARS][NUM_ACTIONS + 1]    # of the gears, the same
    float skulls                            # what the seat's skulls can still bring in Chichen Itza
    float workers[NUM_GEARS]                # what the seat's workers on each gear will bring
    float now                               # what picking the best of them up at once would bring
    float all_now                           # the same for all of them together
    float waiting                           # sum of the days that they wait by these plans
    float idle                              # what the seat's other workers will bring
    # What is in reach by the next food day, in the turns before it; without waiting costs.
    int food_turns                          # that the seat has until then, the present one included
    float soon[NUM_GEARS]                   # what its workers on each gear can bring
    float soon_idle                         # what a worker that is placed in the first of these turns can bring
    float together[TOGETHER]                # picking all workers up in 1, 2, ... days, before or after the food day
    float soon_corn                         # the most corn that its workers can bring
    int soon_builders                       # workers that can build
    int soon_skulls                         # workers that can take a skull
    float pending                           # the decisions that wait for an answer, if it is the seat's turn

cdef void plans_find(const TzolkinStateC* state, int seat, PlansC* plans) noexcept nogil

# What a building or starting wealth brings, without its costs.
cdef float plans_brings(const TzolkinStateC* state, int seat, const PlansC* plans, const TileC* tile) noexcept nogil
