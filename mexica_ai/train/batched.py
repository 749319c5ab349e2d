"""Self-play of many games at a time with one evaluator, whose batches have leaves of all of them.

Main function: `selfplay`. The searches are in `cext.core.search.pool`. ``docs/env.md`` is the manual.

Sources: Wu, "Accelerating self-play learning in Go" (2019), for the playout caps; Danihelka et al., "Policy improvement
by planning with Gumbel" (2022).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cext.core.contract.game import CHANCE
from cext.core.learning.tensor import observation
from cext.core.search.pool import Pool
from mexica_ai.analysis.search import weights_for
from mexica_ai.game import registry
from mexica_ai.game.position import Position, new_game
from mexica_ai.io.arguments import bad_option
from mexica_ai.io.numbers import resolve_seed
from mexica_ai.train.export import Row, from_seat

if TYPE_CHECKING:
    from cext.core.search.search import Search
    from mexica_ai.analysis.evaluators import Evaluator

LEAST_SEARCHED = 8  # off its best turn, a search is used where it went with at least 1/8 of its iterations
FIRST_VISITS = 50  # as in cext/core/search/halving.pyx
MEMORY_MB, ITERATIONS_PER_MB = 2, 1000  # of a search: so much, and one more for so many iterations


def selfplay(
    game: str,
    num_games: int,
    evaluator: Evaluator,
    iterations: int,
    *,
    players: int = 2,
    seed: int | None = None,
    games: int | None = None,
    leaves: int = 8,
    threads: int = 1,
    overlap: bool = False,
    full_share: float = 1.0,
    quick_iterations: int | None = None,
    gumbel: int = 0,
    noise: float = 0.0,
    dirichlet: float = 0.0,
    dirichlet_share: float = 0.25,
    exploring_turns: int = 0,
    temperature: float = 1.0,
    positions: bool = False,
    options: Mapping[str, Any] | None = None,
    search: Mapping[str, float] | None = None,
) -> Iterator[Row]:
    """Play games, `num_games` at a time, and yield the rows of each one when it is over.

    Each turn is searched. All searches advance together: the evaluator is called with up to `leaves` leaves of each.

    Parameters
    ----------
    game : str
    num_games : int
        Games at a time. Each is a fresh deal; when one is over the next begins.
    evaluator : callable
        As for `best_turn`; see ``docs/evaluators.md``. It gets up to ``num_games * leaves`` rows.
    iterations : int
        Of each search.
    players : int
        Number of seats.
    seed : int, optional
        Everything random derives from it; the same seed gives the same rows if the evaluator gives the same answers.
        Drawn from the operating system if None.
    games : int, optional
        How many games are played; None: without end, until the iterator is closed.
    leaves : int
        Leaves of a search in a batch. More fill a batch better, and make each iteration worth less.
    threads : int
        Native threads that descend; the rows are the same with any number.
    overlap : bool
        Whether the evaluator runs in a thread of its own, on one half of the games, while the other half is searched:
        for evaluators that release the GIL, such as networks on a GPU.
    full_share : float
        Share of the turns that are searched with all iterations; only these have rows (playout caps).
    quick_iterations : int, optional
        Of the others, without noise at the root; by default a sixth.
    gumbel : int
        First actions that sequential halving compares, drawn by Gumbel noise; 0: none, PUCT chooses them. With an
        evaluator that has a policy, ``policy`` is then the improved one of Danihelka et al.
    noise : float
        Scale of Gumbel noise on the priors of the turn searched (the option ``prior_noise``).
    dirichlet : float
        With an evaluator that has a policy: at the root, priors drawn from a Dirichlet distribution with this
        concentration are mixed with its own; 0: none.
    dirichlet_share : float
        Their share.
    exploring_turns : int
        In so many first turns of each seat the actions are drawn by their visits.
    temperature : float
        There: visits count with the exponent 1 / `temperature`; above 0.
    positions : bool
        Whether rows also have the seat's view as JSON.
    options : mapping, optional
        The game's own, as `mexica_ai.new_game` takes them.
    search : mapping, optional
        Options of the search, by name; not those of `gumbel` and `noise`.

    Yields
    ------
    dict
        The columns of an export (``docs/env.md``): ``record`` is the number of the game. And ``policy``, float32
        [legal]: what the search makes of the legal actions, the shares of the visits; all 0 where it did not search.
        And what the evaluator's policy is by: ``action_ids``, int32 [legal], or ``action_features``, float32
        [legal, F].

    Raises
    ------
    UnknownGameError, NotationError, PositionError
        As `mexica_ai.new_game`.
    SearchError
        An argument is out of range (reason INVALID_OPTION), the seed is (INVALID_SEED), the game has no observations
        (NO_OBSERVATIONS), or the evaluator's answer has another form (BAD_EVALUATION). What an evaluator raises ends
        the games.
    """
    if not 0 < full_share <= 1:
        raise bad_option("full_share", full_share, "a number above 0, at most 1")
    if not temperature > 0:
        raise bad_option("temperature", temperature, "a number above 0")
    for name, count, least in (
        ("num_games", num_games, 1),
        ("iterations", iterations, 1),
        ("quick_iterations", quick_iterations, 1),
        ("games", games, 0),
        ("exploring_turns", exploring_turns, 0),
    ):
        if count is not None and (type(count) is not int or count < least):
            raise bad_option(name, count, f"an integer of at least {least}")
    _check_noise(dirichlet, search or {})
    settings = _Settings(
        game,
        players,
        resolve_seed(seed),
        iterations,
        max(1, iterations // 6) if quick_iterations is None else quick_iterations,
        full_share,
        {"prior_noise": noise, "halving": gumbel},
        (dirichlet, dirichlet_share),
        {"weights": weights_for(game, None), **(search or {})},
        exploring_turns,
        1 / temperature,
        positions,
        getattr(evaluator, "policy", None),
        dict(options or {}),
    )
    rules = registry.get(game).rules
    sizes = [num_games] if not overlap or num_games < 2 else [num_games - num_games // 2, num_games // 2]
    pools = [Pool(rules, size, evaluator, players=players, leaves=leaves, threads=threads) for size in sizes]
    numbers = _Numbers(games)
    groups = [_Group(pool, settings, numbers) for pool in pools]
    return _play_overlapped(groups, evaluator) if overlap else _play(groups, evaluator)


def _check_noise(dirichlet: float, search: Mapping[str, float]) -> None:
    """Raise SearchError if the noise is out of range, or options of the search stand for arguments."""
    if not 0 <= dirichlet < math.inf:
        raise bad_option("dirichlet", dirichlet, "a finite number of at least 0")
    for option, name in (("halving", "gumbel"), ("prior_noise", "noise")):
        if option in search:
            raise bad_option("search", option, f"the argument {name} instead, which is for full searches alone")


@dataclass(frozen=True)
class _Settings:
    """What all games have in common; see `selfplay`."""

    game: str
    players: int
    seed: int
    iterations: int
    quick_iterations: int
    full_share: float
    noise: dict[str, float]  # options of full searches
    dirichlet: tuple[float, float]
    search: dict[str, Any]
    exploring_turns: int
    exponent: float
    positions: bool
    actions: str | None
    options: dict[str, Any]


@dataclass
class _Numbers:
    """The numbers of the games, in the order in which they begin."""

    games: int | None
    begun: int = 0

    def next(self) -> int | None:
        """Return the number of the next game; None if all have begun."""
        if self.begun == self.games:
            return None
        self.begun += 1
        return self.begun - 1


class _Group:
    """The games of a pool: in each place a table."""

    def __init__(self, pool: Pool, settings: _Settings, numbers: _Numbers) -> None:
        self.pool = pool
        self._settings, self._numbers = settings, numbers
        self._tables: list[_Table | None] = [self._next() for _ in range(pool.num_places)]
        for place, table in enumerate(self._tables):
            if table is not None:
                table.begin(pool, place)

    def _next(self) -> _Table | None:
        number = self._numbers.next()
        return None if number is None else _Table(self._settings, number)

    @property
    def is_over(self) -> bool:
        return not any(self._tables)

    def go_on(self, answer: object) -> list[Row]:
        """Take the evaluator's answer; play where a search has ended, and return the rows of games that are over."""
        rows: list[Row] = []
        for place, search in self.pool.back_up(answer):
            table = self._tables[place]
            assert table is not None
            table.play(search)
            if table.is_over:
                rows += table.rows()
                table = self._tables[place] = self._next()
            if table is not None:
                table.begin(self.pool, place)
        return rows


def _play(groups: list[_Group], evaluator: Evaluator) -> Iterator[Row]:
    """Play the games of all groups, the evaluator in this thread."""
    try:
        while not all(group.is_over for group in groups):
            for group in groups:
                asked = group.pool.gather()
                yield from group.go_on(evaluator(*asked) if asked else None)
    finally:
        for group in groups:
            group.pool.cancel()


def _play_overlapped(groups: list[_Group], evaluator: Evaluator) -> Iterator[Row]:
    """Play the games of all groups: while one waits for its values, another one plays and descends."""
    asked: list[Future[Any] | None] = [None] * len(groups)
    try:
        with ThreadPoolExecutor(1, "mexica-ai evaluator") as executor:
            while not all(group.is_over for group in groups):
                for i, group in enumerate(groups):
                    future, asked[i] = asked[i], None
                    if future is not None:
                        yield from group.go_on(future.result())
                    if not group.is_over:
                        leaves = group.pool.gather()
                        asked[i] = executor.submit(evaluator, *leaves) if leaves else executor.submit(_nothing)
    finally:
        for group in groups:
            group.pool.cancel()


def _nothing() -> None:
    """Stand in for an answer where nothing is asked."""


class _Table:
    """A game that is played, and its rows so far."""

    def __init__(self, settings: _Settings, number: int) -> None:
        self._settings, self._number = settings, number
        self._random = np.random.Generator(np.random.SFC64(np.random.SeedSequence((settings.seed, number))))
        start = new_game(settings.game, players=settings.players, seed=self._draw_seed(), **settings.options)
        self._state = start.state.copy()
        self._turns = 0  # and random events, as in a record
        self._actions = 0  # of this turn
        self._taken = [0] * settings.players  # turns of each seat
        self._is_full = True
        self._rows: list[Row] = []
        self._begin_turn()

    def _draw_seed(self) -> int:
        return int(self._random.integers(1 << 63))

    @property
    def is_over(self) -> bool:
        return self._state.is_terminal

    def _begin_turn(self) -> None:
        """Draw the random events that are due, and whether the turn after them is searched fully."""
        while self._state.current_player == CHANCE:
            self._state.resolve_chance(self._draw_seed())
            self._turns += 1
        self._actions = 0
        self._is_full = self._random.random() < self._settings.full_share

    def begin(self, pool: Pool, place: int) -> None:
        """Begin the search of the turn, or of the rest of it."""
        settings = self._settings
        iterations = settings.iterations if self._is_full else settings.quick_iterations
        memory_mb = MEMORY_MB + iterations / ITERATIONS_PER_MB
        # Without proofs, which would end searches before their visits tell much.
        arguments = {"solve": 0.0} | settings.search | (settings.noise if self._is_full else {})
        concentration, share = settings.dirichlet
        if self._is_full and concentration > 0:
            drawn = self._random.dirichlet([concentration] * len(self._state.legal_actions()))
            arguments |= {"noise": drawn, "noise_share": share}
        pool.begin(place, self._state, iterations, seed=self._draw_seed(), memory_mb=memory_mb, **arguments)

    def play(self, search: Search) -> None:
        """Play the turn that a search has found; only its beginning where the rest must be searched anew."""
        state, found = self._state, search.result(1)
        best, turn = found["candidates"][0], state.turn
        seat, line = state.current_player, iter(best["actions"])
        explores = self._taken[seat] < self._settings.exploring_turns
        improves = self._settings.noise["halving"] >= 2  # at the root
        while state.turn == turn and state.current_player == seat:
            legal, visits = state.legal_actions(), search.visits_at(state) or {}
            expected = next(line, None)
            if expected is None and sum(visits.values()) * LEAST_SEARCHED < found["iterations"] and len(legal) > 1:
                return
            counts = np.array([visits.get(action, 0) for action in legal], np.uint32)
            action = self._choose(legal, counts, expected, explores=explores)
            if self._is_full:
                policy = self._improved(search, legal, counts) if improves else _shares(counts)
                self._rows.append(self._row(legal, action, counts, policy, best["value"]))
            improves = False
            if action != expected:
                line = iter(())
            state.apply(action)
            self._actions += 1
        self._taken[seat] += 1
        self._turns += 1
        self._begin_turn()

    def _choose(self, legal: list[int], counts: np.ndarray, expected: int | None, *, explores: bool) -> int:
        """Return the action that is played; `expected` is that of the best turn, None off it."""
        if explores and counts.any():
            weights = np.where(counts > 0, (counts / counts.max()) ** self._settings.exponent, 0)  # 0 ** 0 is 1
            return int(self._random.choice(np.array(legal, np.uint64), p=weights / weights.sum()))
        return legal[int(counts.argmax())] if expected is None else expected

    def _improved(self, search: Search, legal: list[int], counts: np.ndarray) -> np.ndarray:
        """Return the policy of the root after sequential halving: the prior, moved by what the actions are worth.

        An action without visits counts as the root. Without an evaluator's policy: the shares of the visits.
        """
        priors = search.priors_at(search.state)
        found = search.decisions(1)
        if priors is None or not found or found[0]["actions"]:
            return _shares(counts)
        values = {action: utility for action, _, utility in found[0]["edges"]}
        completed = np.array([values.get(action, found[0]["utility"]) for action in legal])
        factor = (FIRST_VISITS + counts.max()) * self._settings.search.get("halving_scale", 1.0)
        logits = np.log(priors.astype(np.float64)) + factor * completed
        shares = np.exp(logits - logits.max())
        return np.asarray(shares / shares.sum(), np.float32)

    def _row(self, legal: list[int], action: int, counts: np.ndarray, policy: np.ndarray, value: list[float]) -> Row:
        state, seat = self._state, self._state.current_player
        row = {
            "record": self._number,
            "turn": self._turns,
            "action": self._actions,
            "seat": seat,
            "players": state.num_players,
            "observation": observation(state, seat),
            "legal": legal,
            "played": legal.index(action) if action in legal else -1,
            "searched": bool(counts.any()),
            "visits": counts.tolist(),
            "policy": policy,
            "value": from_seat(value, seat),
        }
        if self._settings.actions == "ids":
            row["action_ids"] = state.action_ids()
        elif self._settings.actions == "features":
            row["action_features"] = state.action_features()
        if self._settings.positions:
            view = Position(self._settings.game, state.copy()).view(seat)
            row["position"] = json.dumps(view.to_json())
        return row

    def rows(self) -> list[Row]:
        """Return the rows of a game that is over."""
        returns, scores = self._state.returns(), self._state.scores()
        for row in self._rows:
            row["returns"], row["scores"] = from_seat(returns, row["seat"]), from_seat(scores, row["seat"])
        return self._rows


def _shares(counts: np.ndarray) -> np.ndarray:
    """Return the shares of visits, float32; all 0 without any."""
    return np.asarray(counts / max(1, counts.sum()), np.float32)
