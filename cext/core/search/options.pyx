"""The options of the search: one table, which is used to check values and to fill in defaults."""

from cext.core.contract.errors import SearchError

# Name: (default, minimum, maximum). The fields of `OptionsC` have the same names. Values have no unit unless stated. A
# game may set other defaults, see `Game.search_options`. A new option needs its field in ``options.pxd``, and a row in
# ``docs/search.md``; engine specs and the tests of ranges follow.
OPTIONS = {
    # PUCT constant at the first decision of a turn.
    "exploration": (0.7, 0.0, 100.0),
    # PUCT constant within a turn. Low, because the same seat goes on choosing.
    "exploration_in_turn": (0.4, 0.0, 100.0),
    # Where another seat moves, a descent through an action that is not its best counts, to this share, as the mean of
    # its best action: in the shares and points that are published, not in what is maximised.
    "best_reply": (0.0, 0.0, 1.0),
    # The assumed utility of an action without visits is that of its node less this.
    "first_play_reduction": (0.0, 0.0, 1.0),
    # The first_visits * sqrt(visits) actions with the best priors are visited at least once.
    "first_visits": (0.5, 0.0, 1000.0),
    # Number of actions in view after n visits: base + factor * n ** exponent, best priors first.
    "widening_base": (4.0, 1.0, 10000.0),
    "widening_factor": (1.0, 0.0, 1000.0),
    "widening_exponent": (0.5, 0.0, 1.0),
    # At a random event, n visits use 1 + factor * n ** exponent different draws. Draws are repeated, so that the search
    # also explores what follows them. Factor 0: every visit makes a new draw.
    "events_factor": (1.0, 0.0, 1000.0),
    "events_exponent": (0.5, 0.0, 1.0),
    # Above 0: in the root's turn an iteration continues through new nodes, by the best priors, to the end of the turn.
    # Above 1: in every turn. 0, and always in games without priors: an iteration ends in its first new node.
    "whole_turns": (1.0, 0.0, 2.0),
    # Weight of the evaluation after a playout to the end of the round; the evaluation of the leaf itself has the rest.
    "playout_weight": (0.3, 0.0, 1.0),
    # Weight of the score margin in the utility, and the margin, in game points, that counts for half of that weight.
    "margin_weight": (0.3, 0.0, 1.0),
    "margin_scale": (20.0, 0.001, 1e6),
    # Scale of the noise on the logarithm of the priors in the root's turn; the same at each visit. It has a Gumbel
    # distribution: with scale 1 the actions are ordered as if drawn from the priors without replacement (Kool, van Hoof
    # and Welling, 2019). 0: none.
    "prior_noise": (0.0, 0.0, 10.0),
    # Added to the logarithm of an action's prior for a mean advantage of 1 (in utility), see `history.pxd`. 0, and
    # always in games without priors: no history.
    "history": (30.0, 0.0, 50.0),
    # Visits with advantage 0 that are added to those of an action.
    "history_doubt": (16.0, 0.0, 1e6),
    # How much the draws of hidden cards follow what the others show: 1 as fitted, 0 uniform draws. No effect in games
    # without a belief.
    "belief": (1.0, 0.0, 2.0),
    # Share of the time or iterations, at the end, in which the search does not explore in the root's turn.
    "confirming_share": (0.25, 0.0, 1.0),
    # Above 0: a search with only a time limit ends, in that last share of it, once no other turn can get as many visits
    # as the best one in the time left. 0: it uses all of its time.
    "early_stop": (1.0, 0.0, 1.0),
    # Number of first actions that sequential halving compares, see `halving.pxd`. Below 2: PUCT chooses them, too.
    "halving": (0.0, 0.0, 256.0),
    # There: weight of the mean utility against the logarithm of the prior, and scale of the Gumbel noise on the latter.
    "halving_scale": (1.0, 0.0, 1000.0),
    "gumbel_scale": (1.0, 0.0, 10.0),
    # Above 0: nodes whose outcome is proved count as it, and the search ends when the root's is, see `proof.pxd`.
    "solve": (1.0, 0.0, 1.0),
    # With three or four seats: to which share the others minimise the utility of the searching seat, instead of
    # maximising their own.
    "paranoia": (0.0, 0.0, 1.0),
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
    return values       # Cython fills the struct by field names, and raises if one is missing


cdef OptionsC _fields
if set(OPTIONS) != set(_fields):
    raise ImportError("the table OPTIONS and the fields of OptionsC have different names")
