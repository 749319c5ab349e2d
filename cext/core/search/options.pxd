"""The options of the search. The table `OPTIONS` in ``options.pyx`` has the range, default and meaning of each."""

# The values of the options, by their names in the table.
ctypedef struct OptionsC:
    double exploration, exploration_in_turn, first_play_reduction, first_visits
    double widening_base, widening_factor, widening_exponent
    double events_factor, events_exponent
    double whole_turns, playout_weight, margin_weight, margin_scale
    double prior_noise, history, history_doubt
    double belief
    double confirming_share, early_stop
    double best_reply
    double halving, halving_scale, gumbel_scale
    double solve, paranoia

# Returns the given values, and the defaults of the options not given. Raises SearchError for an unknown name (reason
# UNKNOWN_OPTION) and for a value out of range (INVALID_OPTION).
cdef OptionsC options_read(dict given) except *
