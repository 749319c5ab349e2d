"""The options of the search: one table, from which their values are checked and filled in."""

from cext.core.errors import SearchError

# Name: (default, smallest, largest), where the name is also that of the field of `OptionsC`. All of them are numbers
# without a unit unless said. A game may set other defaults, see `Game.search_options`.
OPTIONS = {
    # PUCT constant at the first decision of a turn.
    "exploration": (0.7, 0.0, 100.0),
    # PUCT constant within a turn: low, since the same seat goes on choosing.
    "exploration_in_turn": (0.4, 0.0, 100.0),
    # How far below its parent's mean an action without visits is assumed to be (utility).
    "first_play_reduction": (0.0, 0.0, 1.0),
    # The first_visits * sqrt(visits) actions with the best priors are visited at least once.
    "first_visits": (0.5, 0.0, 1000.0),
    # Actions in view after n visits: base + factor * n ** exponent, best priors first.
    "widening_base": (4.0, 1.0, 10000.0),
    "widening_factor": (1.0, 0.0, 1000.0),
    "widening_exponent": (0.5, 0.0, 1.0),
    # Where a random event is due, 1 + factor * n ** exponent different outcomes happen in n visits, each of them again and
    # again, so that the search sees what follows them. Factor 0: each visit draws its own.
    "events_factor": (1.0, 0.0, 1000.0),
    "events_exponent": (0.5, 0.0, 1.0),
    # Above 0: within the root's turn an iteration goes on through new nodes, by the best priors, to the end of the turn;
    # above 1: in every turn. 0, and games without priors: it ends in the first new node.
    "whole_turns": (1.0, 0.0, 2.0),
    # Weight of the evaluation after a playout to the end of the round, against the evaluation of the leaf itself.
    "playout_weight": (0.3, 0.0, 1.0),
    # Weight of the score margin in what is maximised, and the margin in game points that counts for half of it.
    "margin_weight": (0.3, 0.0, 1.0),
    "margin_scale": (20.0, 0.001, 1e6),
    # Scale of a random error on the logarithm of the priors within the root's turn, the same at each visit. Its
    # distribution is Gumbel's, so that with 1 the order of the actions is as if drawn from the priors (Kool, van Hoof and
    # Welling, 2019). 0: none.
    "prior_noise": (0.0, 0.0, 10.0),
    # Scale of the mean advantage learnt of an action, in utility, on the logarithm of its prior; 0, and games without
    # priors: nothing is learnt.
    "history": (30.0, 0.0, 50.0),
    # Visits without any advantage that are added to those that an action had.
    "history_doubt": (16.0, 0.0, 1e6),
    # Share of the time or iterations, at the end, in which the search does not explore within the root's turn.
    "confirming_share": (0.25, 0.0, 1.0),
    # Above 0: in the confirming part of a search limited by time alone, it ends when no other turn can have as many
    # visits as the best one in the time left. 0: it uses all of its time.
    "early_stop": (1.0, 0.0, 1.0),
}


cdef OptionsC options_read(dict given) except *:
    values = {name: default for name, (default, _, _) in OPTIONS.items()}
    for name, value in given.items():
        if name not in OPTIONS:
            raise SearchError(f"unknown search option {name!r}, expected one of {', '.join(OPTIONS)}",
                              reason="UNKNOWN_OPTION")
        _, low, high = OPTIONS[name]
        if not low <= value <= high:
            raise SearchError(f"search option {name}: {value}, expected {low} to {high}", reason="INVALID_OPTION")
        values[name] = float(value)
    return values       # Cython fills the struct by the names of its fields, and raises if one is missing


cdef OptionsC _fields
if set(OPTIONS) != set(_fields):
    raise ImportError("the table OPTIONS and the fields of OptionsC have different names")
