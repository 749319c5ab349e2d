"""Many games of one kind, stepped together by compiled calls."""

from __future__ import annotations

import copy
import dataclasses
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cext.core.contract.game import State
from cext.core.learning.batch import Batch
from cext.core.learning.tensor import require_observations
from mexica_ai.analysis.limits import out_of_memory
from mexica_ai.game import registry
from mexica_ai.game.observations import bound_of, check_actions
from mexica_ai.game.position import Position, new_game
from mexica_ai.game.text_forms import viewer_name
from mexica_ai.io.arguments import bad_option
from mexica_ai.io.numbers import resolve_seed

if TYPE_CHECKING:
    from gymnasium.spaces import Box, Discrete, Space

DEFAULT_STARTS = 256
DEFAULT_REDEAL = 1 << 13
MAX_STARTS = 1 << 20


class VectorEnv(Batch):
    """Games that are stepped together; `vector` makes one. `cext.core.learning.batch.Batch` explains the arrays.

    It has the attributes of `gymnasium.vector.VectorEnv`, but `step` plays for all seats and returns how many games
    have ended; `mexica_ai.env.gymnasium.GymVectorEnv` around it steps in gymnasium's form.
    """

    _deals: _Deals | None = None  # of the starts; None if they are given positions
    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}
    spec = None
    render_mode = None

    @property
    def num_envs(self) -> int:
        """Number of games; gymnasium's name for `num_games`."""
        return self.num_games

    @property
    def max_actions(self) -> int:
        """The length of a row of `legal` and `masks`."""
        return self.game.max_actions

    @property
    def single_observation_space(self) -> Box:
        """The space of the observation of a seat; needs gymnasium."""
        from gymnasium.spaces import Box

        if not self.game.observation_size:
            require_observations(self.game)
        bound = bound_of(registry.get(self.game.name).learning.schema)
        return Box(-bound, bound, (self.game.observation_size,), np.float32)

    @property
    def single_action_space(self) -> Discrete:
        """The space of an action: an index into the list of legal actions, or with ids an id; needs gymnasium."""
        from gymnasium.spaces import Discrete

        return Discrete(self.max_actions if self.action_ids is None else self.game.num_action_ids)

    @property
    def observation_space(self) -> Space[Any]:
        """The space of `observations`; needs gymnasium."""
        from gymnasium.vector.utils import batch_space

        return batch_space(self.single_observation_space, self.num_games)

    @property
    def action_space(self) -> Space[Any]:
        """The space of what `step` takes; needs gymnasium."""
        from gymnasium.vector.utils import batch_space

        return batch_space(self.single_action_space, self.num_games)

    @property
    def unwrapped(self) -> VectorEnv:
        """The environment itself."""
        return self

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[np.float32] | None, dict[str, Any]]:
        """Begin all games anew.

        Parameters
        ----------
        seed : int, optional
            0 <= seed < 2**63. With one, everything is as in a new environment of this seed; without, the games go on
            with the numbers of the last one.
        options : mapping, optional
            `starts`: what games begin from, from now on, as `vector` takes it.

        Returns
        -------
        tuple
            The observations (None without them) and an empty dictionary, as gymnasium has it.

        Raises
        ------
        SearchError
            The seed or an option is out of range.
        """
        given = dict(options or {})
        starts = given.pop("starts", None)
        if given:
            raise bad_option("options", next(iter(given)), "only starts")
        if starts is not None:
            self.begin_from(starts)
        if seed is not None:
            seed = resolve_seed(seed)
            if self._deals is not None:
                self._deals = dataclasses.replace(self._deals, seed=seed, dealt=0, played=0)
                self._deal_all(self._deals)
        self.restart(seed)
        return self.observations, {}

    def close(self, **kwargs: Any) -> None:
        """Do nothing: nothing is open."""

    def step(self, actions: ArrayLike) -> int:
        """Play one action in each game, see `Batch.step`; now and then one of the starts is dealt anew."""
        ended = super().step(actions)
        deals = self._deals
        if deals is not None:
            deals.played += self.num_games
            for _ in range(min(deals.played // deals.redeal, deals.size)):
                number, position = deals.next()
                self.set_start((number - deals.first) % deals.size, position.state)
            deals.played %= deals.redeal
        return ended

    def begin_from(self, starts: int | Sequence[Position]) -> None:
        """Let games begin from other starts from now on, as `vector` takes them: a number of new deals, or positions.

        Raises
        ------
        SearchError
            An argument does not fit.
        """
        if isinstance(starts, int):
            _check_number(starts)
            if self._deals is None:
                raise bad_option("starts", starts, "positions: this environment was made with positions")
            self._deals.size = starts
            self._deal_all(self._deals)
        else:
            checked = checked_positions(starts, self.game.name, self.num_players, {})
            self.set_starts([position.state for position in checked])

    def set_position(self, index: int, position: Position) -> None:
        """Let a running game go on from a position, as for a curriculum.

        Raises
        ------
        SearchError
            It does not fit this environment, or is over.
        IndexError
            There is no such game.
        """
        (checked,) = checked_positions([position], self.game.name, self.num_players, {})
        self.set_state(index, checked.state)

    def set_starts(self, starts: list[State]) -> None:
        """Let games begin from other states from now on, see `Batch.set_starts`; none of them is dealt anew."""
        super().set_starts(starts)
        self._deals = None

    def _deal_all(self, deals: _Deals) -> None:
        deals.first = deals.dealt
        super().set_starts([deals.next()[1].state for _ in range(deals.size)])

    def __reduce__(self) -> tuple[Any, ...]:
        made = super().__reduce__()
        return (*made, {"_deals": copy.copy(self._deals)})

    def position(self, index: int) -> Position:
        """Return a copy of a running game's position, everything that is hidden included."""
        return Position(self.game.name, self.state(index))

    def action_text(self, action: int) -> str:
        """Return the text of an action of `legal` or `actions`."""
        return registry.get(self.game.name).text.format_action(int(action))


def _describe_arrays() -> None:
    """Give the arrays of `VectorEnv` docstrings, those of the attributes in the docstring of `Batch`."""
    for name, kind, text in re.findall(r"^    (\w+) : (.+)\n((?: {8}.+\n)+)", Batch.__doc__ or "", re.MULTILINE):
        attribute = vars(Batch).get(name)  # no parameter of the constructor
        if attribute is not None:
            setattr(VectorEnv, name, property(attribute.__get__, doc=f"{kind}: {' '.join(text.split())}"))


_describe_arrays()


@out_of_memory()
def vector(
    game: str = registry.DEFAULT,
    num_games: int = 256,
    players: int | None = None,
    seed: int | None = None,
    *,
    legal: bool = True,
    masks: bool = False,
    observations: bool = False,
    actions: str | None = None,
    starts: int | Sequence[Position] = DEFAULT_STARTS,
    redeal: int = DEFAULT_REDEAL,
    **options: Any,
) -> VectorEnv:
    """Return games that are stepped together by compiled calls without the GIL.

    Parameters
    ----------
    game : str
        The game's name.
    num_games : int
        How many games run at a time, 1 to 2**20.
    players : int, optional
        Number of seats; by default that of the positions of `starts`, otherwise 2.
    seed : int, optional
        0 <= seed < 2**63; with the same seed and the same actions everything is the same. Drawn from the operating
        system if None.
    legal : bool
        Whether to list the legal actions. `step` needs them, `step_random` does not.
    masks : bool
        Whether to keep masks over the lists.
    observations : bool
        Whether to keep the observation of each seat to move.
    actions : str, optional
        ``"ids"``: actions are the game's fixed ids, in `step` and in `masks`, and `action_ids` has those of the lists.
        ``"features"``: `action_features` has the features of the legal actions. By default actions are indexes of the
        lists, and mean nothing beyond their state.
    starts : int or sequence of Position
        How many new games are dealt beforehand, 1 to 2**20, or positions to begin from. A game that is over starts
        anew from one of them, drawn uniformly. Positions are full ones, all with as many seats.
    redeal : int
        After how many actions of all games by `step` the oldest of the new games is dealt anew, so that there are
        always other deals; 0: never. A deal takes 0.01 to 0.4 ms. Positions stay.
    **options
        The game's own, as `mexica_ai.new_game` takes them; none with positions.

    Raises
    ------
    UnknownGameError, NotationError, PositionError
        As `mexica_ai.new_game`.
    SearchError
        An argument is out of range (reason INVALID_OPTION or INVALID_SEED), or the game has no observations
        (NO_OBSERVATIONS), ids (NO_ACTION_IDS) or features of actions (NO_ACTION_FEATURES), or the memory does not
        suffice (OUT_OF_MEMORY).
    """
    seed = resolve_seed(seed)
    check_actions(game, actions)
    if type(num_games) is not int:
        raise bad_option("num_games", num_games, "an integer")  # `Batch` checks its range
    if type(redeal) is not int or redeal < 0:
        raise bad_option("redeal", redeal, "a number of actions, or 0")
    deals = None
    if isinstance(starts, int):
        _check_number(starts)
        deals = _Deals(game, 2 if players is None else players, options, seed, starts, redeal or sys.maxsize)
        positions = [deals.next()[1] for _ in range(starts)]
    else:
        positions = checked_positions(starts, game, players, options)
    states = [position.state for position in positions]
    games = VectorEnv(
        states, num_games, seed=seed, legal=legal, masks=masks, observations=observations, actions=actions
    )
    games._deals = deals
    return games


@dataclass
class _Deals:
    """Where starts come from: each deal follows from the seed and its number."""

    game: str
    players: int
    options: dict[str, Any]
    seed: int
    size: int  # how many starts there are at a time
    redeal: int
    dealt: int = 0
    first: int = 0  # the number of the deal that was put at index 0 when all were dealt
    played: int = 0  # actions since the last deal

    def next(self) -> tuple[int, Position]:
        """Return the number of the next deal, and the deal."""
        number = self.dealt
        self.dealt += 1
        seed = int(np.random.SeedSequence(self.seed, spawn_key=(number,)).generate_state(1, np.uint64)[0] >> 1)
        return number, new_game(self.game, players=self.players, seed=seed, **self.options)


def _check_number(starts: int) -> None:
    if not 1 <= starts <= MAX_STARTS:
        raise bad_option("starts", starts, f"1 to {MAX_STARTS}, or positions")


def checked_positions(starts: Any, game: str, players: int | None, options: Mapping[str, Any]) -> list[Position]:
    """Return the positions to begin from; SearchError, reason INVALID_OPTION, if one does not fit."""
    if not isinstance(starts, Sequence):
        raise bad_option("starts", starts, f"1 to {MAX_STARTS}, or positions")
    if options:
        name, value = next(iter(options.items()))
        raise bad_option(name, value, "no options of the game beside positions to start from")
    for index, position in enumerate(starts):
        path = f"starts[{index}]"
        if not isinstance(position, Position):
            raise bad_option(path, position, "a Position")
        if position.game != game:
            raise bad_option(path, position.game, f"a position of {game}")
        if position.viewer is not None:
            raise bad_option(path, f"the view of {viewer_name(position.viewer)}", "a full position")
        if players is None:
            players = position.players
        if position.players != players:
            raise bad_option(path, f"{position.players} seats", f"{players} seats")
    return list(starts)
