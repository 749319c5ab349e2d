"""What the options of `mexica-ai arena` mean: the tournament, its openings and length, and when it ends."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mexica_ai.arena.tables import count
from mexica_ai.engines.make import weights_id
from mexica_ai.game.position import new_game
from mexica_ai.io import terminal
from mexica_ai.io.errors import NotationError

if TYPE_CHECKING:
    from mexica_ai.arena.adjust import Luck
    from mexica_ai.arena.outcomes import Outcome
    from mexica_ai.arena.policy import Policy
    from mexica_ai.arena.runner import Progress
    from mexica_ai.arena.sprt import SequentialTest
    from mexica_ai.arena.tournament import Tournament
    from mexica_ai.cli.arena_options import TournamentOptions

DEFAULT_BLOCKS = 10


def make_tournament(options: TournamentOptions, openings: tuple[str, ...] = ()) -> Tournament:
    """Return the tournament that the options describe; raise NotationError if they are invalid."""
    from mexica_ai.arena.openings import openings_id
    from mexica_ai.arena.tournament import (
        MAX_ENGINES,
        Tournament,
        complete_spec,
        draw_key,
        reproducible_key,
        unique_names,
    )

    typed = options.engine or []
    if not 2 <= len(typed) <= MAX_ENGINES:
        raise NotationError(
            f"--engine: {len(typed)} given; expected 2 to {MAX_ENGINES} (see `mexica-ai arena --help`)",
            reason="BAD_USAGE",
        )
    if options.sample is not None and len(typed) == 2:
        raise NotationError(
            "--sample is for more than two engines: a block of two has all its seatings", reason="BAD_USAGE"
        )
    _check_format(options, len(typed))
    if options.restart != "on" and options.cluster is not None:
        raise NotationError("--restart is for programs on this machine, not with --cluster", reason="BAD_USAGE")
    if options.restart == "off" and options.on_failure == "retry":
        raise NotationError(
            "--restart off ends the tournament when a program fails; expected no --on-failure retry with it",
            reason="BAD_USAGE",
        )
    is_paired = options.tournament in ("swiss", "knockout")
    completed = [complete_spec(text, options.time, options.iterations, options.clock is not None) for text in typed]
    new_game(options.game, players=options.players, seed=0)  # raises if the game does not allow this number
    return Tournament(
        game=options.game,
        players=options.players,
        engines=tuple(map(str, completed)),
        names=tuple(unique_names(typed, completed)),
        seed=options.seed,
        format=options.tournament,
        sample=options.sample,
        clock=options.clock,
        margin_s=options.margin,
        patience_s=options.patience,
        on_failure=options.on_failure,
        weights=tuple(weights_id(spec, options.game) for spec in completed),
        openings=openings_id(openings) if openings else None,
        resign=options.resign,
        max_turns=options.max_turns,
        round_blocks=(options.blocks or len(openings) or DEFAULT_BLOCKS) if is_paired else None,
        gauntlet=options.gauntlet,
        opening_order=None if options.opening_order == "file" else options.opening_order,
        restart=None if options.restart == "on" else options.restart,
        key=reproducible_key(options.seed) if options.reproducible else draw_key(),
    )


def _check_format(options: TournamentOptions, num_engines: int) -> None:
    """Raise NotationError if the tournament cannot be of the format that the options ask for."""
    from mexica_ai.arena.knockout import can_be_played
    from mexica_ai.arena.tournament import problem_of_gauntlet

    players, problem = options.players, ""
    if options.rounds is not None and options.tournament != "swiss":
        problem = "--rounds is for --tournament swiss"
    elif options.gauntlet is not None and options.tournament != "gauntlet":
        problem = "--gauntlet is for --tournament gauntlet"
    elif options.gauntlet is not None and (why := problem_of_gauntlet(options.gauntlet, num_engines, players)):
        problem = f"--gauntlet: given {why}"
    elif options.tournament == "swiss" and num_engines <= players:
        problem = f"--tournament swiss: {num_engines} engines for {players} seats; expected more engines than seats"
    elif options.tournament == "knockout" and not can_be_played(num_engines, players):
        few = ", ".join(str(players + number * (players - 1)) for number in range(3))
        problem = (
            f"--tournament knockout: {num_engines} engines for {players} seats; expected {few} or so on, so that all "
            "tables are full"
        )
    if problem:
        raise NotationError(problem, reason="BAD_USAGE")


def openings_of(options: TournamentOptions) -> tuple[str, ...]:
    """Return the positions from which the games begin; none without `--openings`."""
    from mexica_ai.arena.openings import read_openings

    if options.openings is None:
        if options.opening_turns is not None:
            raise NotationError("--opening-turns needs --openings", reason="BAD_USAGE")
        if options.opening_order != "file":
            raise NotationError("--opening-order needs --openings", reason="BAD_USAGE")
        return ()
    return read_openings(options.openings, options.game, options.players, options.opening_turns)


def number_of_blocks(options: TournamentOptions, tournament: Tournament, openings: tuple[str, ...]) -> int:
    """Return the number of blocks of the whole tournament."""
    blocks = options.blocks or len(openings) or DEFAULT_BLOCKS
    if openings and blocks > len(openings):
        terminal.tell(f"{blocks} blocks with {count(len(openings), 'opening')}: each is used more than once")
    if tournament.format == "knockout":
        return len(tournament.blocks)
    if tournament.format == "swiss":
        rounds = options.rounds or max(1, math.ceil(math.log(len(tournament.engines), tournament.players)))
        return rounds * tournament.blocks_per_round
    return blocks * tournament.num_lineups


def processors_of(options: TournamentOptions) -> list[frozenset[int]]:
    """Return the processors of each game that is played at the same time; none if they are not bound to any."""
    from mexica_ai.arena.affinity import share_cpus

    if options.affinity is None:
        return []
    if options.cluster is not None:
        raise NotationError("--affinity is for games on this machine, not with --cluster", reason="BAD_USAGE")
    return share_cpus(options.affinity, options.concurrency or 1)


def test_of(options: TournamentOptions, tournament: Tournament, num_engines: int) -> SequentialTest | None:
    """Return the sequential test that the options ask for, if any."""
    from mexica_ai.arena.nelo import NeloSprt, parse_test

    if options.sprt is None:
        return None
    if num_engines != 2:
        raise NotationError(f"--sprt compares two engines; there are {num_engines} in all", reason="BAD_USAGE")
    try:
        sprt = parse_test(options.sprt, tournament.players)
        seatings = [game.seating for game in tournament.block(0)]
        if options.adjust and isinstance(sprt, NeloSprt):
            raise ValueError("nelo: and --adjust do not go together: adjusted shares have another deviation")
        sprt.check_reachable(len(seatings) / sum(seating.count(0) for seating in seatings))
        return sprt
    except ValueError as error:
        raise NotationError(f"--sprt: {error}", reason="BAD_USAGE") from None


class EndTest:
    """The sequential test and the limit of forfeits, checked after each block.

    Attributes
    ----------
    sprt : SequentialTest or None
    luck : Luck or None
        Not None: the test is of shares adjusted for luck.
    too_many_forfeits : int
        How many games were forfeited when that ended the tournament; 0 if it did not.
    """

    def __init__(
        self, sprt: SequentialTest | None, policy: Policy, tournament: Tournament, luck: Luck | None = None
    ) -> None:
        self.sprt = sprt
        self.luck = luck
        self.too_many_forfeits = 0
        self._policy = policy
        self._games_per_block = tournament.games_per_block
        self._outcomes: list[Outcome] = []

    def is_decided(self, progress: Progress) -> bool:
        """Return whether the tournament is to end now."""
        from mexica_ai.arena.report import outcome_of

        if self.sprt is None and self._policy.most is None:
            return False
        for record in progress.records[len(self._outcomes) :]:
            arena = record["arena"]
            outcome = outcome_of(record, arena["block"], tuple(arena["seating"]))
            self._outcomes.append(self.luck.added(outcome, record) if self.luck else outcome)
        forfeited = sum(outcome.forfeit is not None for outcome in self._outcomes)
        if self._policy.ends(len(self._outcomes), forfeited):
            self.too_many_forfeits = forfeited
            return True
        if self.sprt is None:
            return False
        outcomes = self._policy.kept(self._outcomes)
        state = self.sprt.state(outcomes, games_per_block=self._games_per_block, adjust=self.luck is not None)
        return state.decision is not None
