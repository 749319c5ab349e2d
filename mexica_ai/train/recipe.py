"""Training as functions: `plan`, `play`, `sample`, `walk`, `fit`, `check`; and `evaluate`, which fits nothing.

The usual order, as in the command `mexica-ai train` (docs/training.md has an example):

1. `plan` describes a training run and checks that it is possible.
2. `play` plays the missing games of self-play into a file (`selfplay`).
3. `sample` reads the games and samples positions (`positions`).
4. `walk`, optional, makes the missing walks along these games into another file (`probes`).
5. `fit` fits the network (`mexica_ai.train.fit`) and the priors (`priors`), and measures them on held-out games.
6. `check` plays the new weights against those in use.

`play`, `walk` and `check` run on any executor of `concurrent.futures`: `mexica_ai.arena.pool.GamePool` on this machine,
or `distributed.Client(...).get_executor(pure=False)`. Jobs carry what they need; a worker of a cluster needs only the
same version of this package. Nothing here prints.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from cext.core.learning.weights import Weights
from mexica_ai.analysis.search import weights_for
from mexica_ai.arena.estimates import Estimate
from mexica_ai.arena.play import Task, play_game
from mexica_ai.arena.tournament import Tournament, reproducible_key
from mexica_ai.engines.specs import parse_spec
from mexica_ai.game import registry
from mexica_ai.game.contract import Game
from mexica_ai.game.weights import estimate
from mexica_ai.io import files
from mexica_ai.io.errors import SearchError
from mexica_ai.io.strict import quote
from mexica_ai.train import corrections, positions, priors, probes, selfplay
from mexica_ai.train import fit as network
from mexica_ai.train.corrections import Arrays
from mexica_ai.train.fit import Report
from mexica_ai.train.positions import Positions

MIN_GAMES = 10  # of a fit
ITERATIONS = 600
WALK_ITERATIONS = 1500
EPOCHS = 15
REFINING_RATE = network.LEARNING_RATE / 4
MATCH_ENGINES = ("new", "old")  # names in the records of `check`

Choices = dict[str, float | int | None]
OnProgress = Callable[[int], None]


@dataclass(frozen=True)
class Plan:
    """What a training run is made of; see `plan`, which makes and checks it.

    With the same plan and build, the games, walks and new weights are the same, on any executor.
    """

    records: tuple[Path, ...]
    weights: Weights
    games: int
    iterations: int
    refine: bool
    epochs: int
    seed: int
    probes: Path | None
    walks: int
    walk_iterations: int
    equal: bool = False

    @property
    def game(self) -> str:
        """The name of the game."""
        return self.weights.game

    @property
    def entry(self) -> Game:
        """The game, with its weights and what is made by hand of them."""
        return registry.get(self.game)


@dataclass(frozen=True)
class Samples:
    """The games of a plan's files.

    Attributes
    ----------
    records : list of (str, bytes)
        For each game: what errors call it, and its text.
    positions : Positions
        Sampled from all games.
    """

    records: list[tuple[str, bytes]]
    positions: Positions


@dataclass(frozen=True)
class Fitted:
    """New weights and how well they predict what they were not fitted to.

    Attributes
    ----------
    weights : Weights
        With their provenance. `WeightsSpec.save` writes them to a file.
    reports : dict of str to Report
        On the held-out positions, of the hand-made "estimate", of the weights in use ("before") and of the new ones
        ("after").
    choices : dict
        How well the priors predict what the search chose in held-out games, as mean log-loss of the chosen action in
        nats (None without decisions): "alike" (equal weights), "before", "fitted" (before they are flattened),
        "after". "fitted_on" and "held_out" count decisions. Empty if no priors were fitted.
    probes : Positions or None
        All probes, if the network was fitted to probes.
    probe_reports : dict of str to Report
        As `reports`, on the held-out probes; empty without probes.
    """

    weights: Weights
    reports: dict[str, Report]
    choices: Choices
    probes: Positions | None
    probe_reports: dict[str, Report]


@dataclass(frozen=True)
class Evaluation:
    """How well the weights in use predict games.

    Attributes
    ----------
    reports : dict of str to Report
        Of the hand-made "estimate" and of the weights "in_use".
    choices : dict
        Mean log-loss of the actions that the search chose: "alike" (equal weights) and "in_use"; "measured_on" counts
        the decisions. Empty if the game's priors have no weights.
    """

    reports: dict[str, Report]
    choices: Choices


@dataclass(frozen=True)
class Match:
    """The result of new weights against old ones.

    Attributes
    ----------
    games, forfeits : int
        Finished games, and how many of them one side forfeited.
    share : Estimate
        The new weights' share of the win with its 95 % interval; 0.5 is equal strength.
    records : list of dict
        The games.
    lost : list of str
        Games that could not be played, with the reasons. Their blocks do not count.
    """

    games: int
    forfeits: int
    share: Estimate
    records: list[dict[str, Any]]
    lost: list[str]


def plan(
    records: Sequence[str | PathLike[str]],
    *,
    game: str = registry.DEFAULT,
    weights: Weights | None = None,
    games: int = 1000,
    iterations: int = ITERATIONS,
    refine: bool = False,
    epochs: int = EPOCHS,
    seed: int = 1,
    probes: str | PathLike[str] | None = None,
    walks: int = 0,
    walk_iterations: int = WALK_ITERATIONS,
    equal: bool = False,
) -> Plan:
    """Describe a training run.

    Parameters
    ----------
    records : sequence of path-like
        Files of records; at least one. New games go to the first.
    game : str
    weights : Weights, optional
        The weights in use, with which games and walks are played; by default those that ship.
    games : int
        How many games of this seed and size the first file is to hold.
    iterations : int
        Of a search in these games, before `selfplay.SPREAD`; 2 or more.
    refine : bool
        Start with the network in use, at `REFINING_RATE`, instead of with the hand-made estimate.
    epochs : int
        Passes over the positions in the fit; 1 or more.
    seed : int
        Everything random derives from it; 0 or more.
    probes : path-like, optional
        A file of walks. The network is fitted to its probes, not to how games ended, and the priors stay.
    walks : int
        How many walks of this seed and size that file is to hold.
    walk_iterations : int
        Of a search in a walk; 1 or more.
    equal : bool
        In new games all seats play alike, and half of the games are forks; see `selfplay`.

    Raises
    ------
    SearchError
        The game has no weights to fit, or none to refine (reason INVALID_GAME); the weights are of another game
        (INVALID_WEIGHTS); there are no records, a number is out of range or no integer, or there are walks without
        a file for them (INVALID_LIMITS); the file of walks is a file of games (INVALID_PATH).
    """
    if not records:
        raise SearchError("records: given no files; expected at least one", reason="INVALID_LIMITS")
    _check_integer("games", games, 0)
    _check_integer("iterations", iterations, 2)
    _check_integer("epochs", epochs, 1)
    _check_integer("seed", seed, 0)
    _check_integer("walks", walks, 0)
    _check_integer("walk_iterations", walk_iterations, 1)
    if registry.get(game).learning.weights is None:
        raise SearchError(f"{game} has no weights to fit", reason="INVALID_GAME")
    weights = weights_for(game, weights)
    if refine and "estimate" in weights.provenance:
        raise SearchError(
            f"refine: {game} has no weights in use to begin with; expected to fit some first",
            reason="INVALID_GAME",
        )
    if walks and probes is None:
        raise SearchError("walks: expected a file of probes, where they go", reason="INVALID_LIMITS")
    paths = tuple(map(Path, records))
    if probes is not None:
        check_probes_file(probes, paths)
    return Plan(
        paths,
        weights,
        games,
        iterations,
        refine,
        epochs,
        seed,
        None if probes is None else Path(probes),
        walks,
        walk_iterations,
        equal,
    )


def _check_integer(name: str, value: object, lowest: int) -> None:
    if type(value) is not int or value < lowest:
        raise SearchError(
            f"{name}: given {quote(value)}; expected an integer of at least {lowest}", reason="INVALID_LIMITS"
        )


def check_probes_file(path: str | PathLike[str], others: Iterable[str | PathLike[str]]) -> None:
    """Raise SearchError (reason INVALID_PATH) if a file of probes is also one of the others."""
    if Path(path).resolve() in {Path(other).resolve() for other in others}:
        raise SearchError(
            f"probes: {path} is also a file of games, or of weights; expected one of its own", reason="INVALID_PATH"
        )


def play(
    plan: Plan, executor: Executor, *, concurrency: int = 1, on_progress: OnProgress = lambda done: None
) -> None:
    """Play the games that the plan's first file lacks; parameters and errors as of `job_file.complete`."""
    selfplay.play(
        plan.records[0],
        executor,
        game=plan.game,
        games=plan.games,
        iterations=plan.iterations,
        seed=plan.seed,
        weights=plan.weights,
        equal=plan.equal,
        concurrency=concurrency,
        on_progress=on_progress,
    )


def sample(plan: Plan) -> Samples:
    """Read and replay the games of the plan's files, and sample positions.

    Raises
    ------
    NotationError, PositionError, IllegalActionError
        A file cannot be read (reason UNREADABLE_FILE), or a line is not the valid record of a finished game.
    SearchError
        There are no games (reason INVALID_LIMITS).
    """
    records = [
        (f"{path}:{number}", line)
        for path in plan.records
        for number, line in enumerate(files.lines_of(path), 1)
    ]
    if not records:
        raise SearchError("no games: expected at least one", reason="INVALID_LIMITS")
    return Samples(records, positions.sample(records, plan.entry.learning.weights.features, seed=plan.seed))


def check_enough_games(samples: Samples) -> None:
    """Raise SearchError (reason INVALID_LIMITS) if there are too few games for a fit, or no different ones."""
    if len(samples.records) < MIN_GAMES:
        problem = f"{len(samples.records)} games: a fit needs at least {MIN_GAMES}"
        raise SearchError(problem, reason="INVALID_LIMITS")
    if not samples.positions.held_out.any():
        raise SearchError("all games are the same: a fit needs different ones", reason="INVALID_LIMITS")


def walk(
    plan: Plan,
    samples: Samples,
    executor: Executor,
    *,
    concurrency: int = 1,
    on_progress: OnProgress = lambda done: None,
) -> None:
    """Make the walks along the games that the plan's file of probes lacks.

    Parameters and errors as of `job_file.complete`; also those of `check_enough_games`.
    """
    check_enough_games(samples)
    probes.make(
        plan.probes,
        [json.loads(text) for _, text in samples.records],
        executor,
        game=plan.game,
        walks=plan.walks,
        iterations=plan.walk_iterations,
        seed=plan.seed,
        weights=plan.weights,
        concurrency=concurrency,
        on_progress=on_progress,
    )


def fit(plan: Plan, samples: Samples, *, on_epoch: OnProgress = lambda epoch: None) -> Fitted:
    """Fit the network and, unless there are probes, the priors.

    Parameters
    ----------
    plan : Plan
    samples : Samples
    on_epoch : callable
        Called with the number of epochs done.

    Raises
    ------
    NotationError, PositionError
        The file of probes cannot be read (reason UNREADABLE_FILE), or a line of it is not a walk of this game with
        probes.
    SearchError
        Reason INVALID_LIMITS: see `check_enough_games`; or all walks follow one game; or the search itself made no
        decisions, to which the priors are fitted.
    """
    check_enough_games(samples)
    spec, pull = plan.entry.learning.weights, plan.entry.learning.pull
    held_out = samples.positions.held_out
    walks, probed = [], None
    if plan.probes is not None:
        walks = list(files.lines_of(plan.probes))
        probed = _load_probes(plan, walks)
    fitted_to = samples.positions if probed is None else probed
    arrays = network.fit(
        fitted_to.take(~fitted_to.held_out),
        _initial_network(plan),
        epochs=plan.epochs,
        seed=plan.seed,
        learning_rate=REFINING_RATE if plan.refine else network.LEARNING_RATE,
        on_epoch=lambda epoch, _: on_epoch(epoch),
    )
    choices: Choices = {}
    if probed is None:
        arrays = corrections.pulled(spec, arrays, pull)
    if spec.categories and probed is None:
        arrays["priors"], choices = _fit_priors(plan, samples)
    elif spec.categories:
        kept = ("priors", *(spec.policy if plan.weights.has_policy else ()))
        arrays |= {name: plan.weights.arrays()[name] for name in kept}
    arrays = {name: rounded(array) for name, array in arrays.items()}
    reports = _reports(plan, samples.positions.take(held_out), arrays)
    probe_reports = {} if probed is None else _reports(plan, probed.take(probed.held_out), arrays)
    provenance = _provenance(plan, samples, reports["after"])
    if probed is None:
        provenance["states"] = int((~held_out).sum())
    if plan.refine:
        provenance["refined"] = plan.weights.sha256
    if probed is not None:
        walked_by = Counter(json.loads(text)["walk"]["weights"] for text in walks)
        provenance |= {
            "probes": int((~probed.held_out).sum()),
            "probes_sha256": _digest(walks),
            "walked_by": dict(sorted(walked_by.items())),
            "held_out_probes_share_error": round(probe_reports["after"].share_error, 4),
        }
    if choices:
        provenance["decisions"] = choices["fitted_on"]
        provenance["held_out_choices_log_loss"] = choices["after"] and round(choices["after"], 4)
    return Fitted(spec.make(arrays, provenance), reports, choices, probed, probe_reports)


def evaluate(plan: Plan, samples: Samples) -> Evaluation:
    """Measure the weights in use on all games; the figures are fair if they were not fitted to these games."""
    spec, arrays = plan.entry.learning.weights, plan.weights.arrays()
    reports = {
        "estimate": network.report(samples.positions, estimate(spec)),
        "in_use": network.report(samples.positions, arrays),
    }
    choices: Choices = {}
    if spec.categories:
        decisions = _decisions(plan, samples)
        choices = {
            "alike": priors.log_loss(decisions, np.ones_like(arrays["priors"])),
            "in_use": priors.log_loss(decisions, arrays["priors"]),
            "measured_on": len(decisions.chosen),
        }
    return Evaluation(reports, choices)


def check(
    new: Weights,
    old: Weights,
    executor: Executor,
    *,
    games: int,
    iterations: int = ITERATIONS,
    seed: int = 1,
    concurrency: int = 1,
    on_progress: OnProgress = lambda done: None,
) -> Match:
    """Play a match of the search with new weights against itself with old ones, on two seats.

    Parameters
    ----------
    new, old : Weights
        Of the same game. They travel with each game: workers need no files.
    executor : Executor
        Not shut down.
    games : int
        Rounded up to whole blocks: a block is one deal with both seatings.
    iterations : int
        Of the search for a turn.
    seed : int
        Of the deals and the searches.
    concurrency : int
        Games at a time.
    on_progress : callable
        Called often, with the number of finished games.

    Raises
    ------
    ValueError
        The weights are of different games.
    SearchError
        The executor takes no more games (reason EXECUTOR_FAILED).
    """
    from mexica_ai.arena.report import collect  # slow to import
    from mexica_ai.arena.runner import describe_lost, run
    from mexica_ai.arena.statistics import summarize

    if new.game != old.game:
        raise ValueError(f"weights of {new.game} cannot play against weights of {old.game}")
    tournament = Tournament(
        game=new.game,
        players=2,
        engines=tuple(f"mcts,iterations={iterations},name={name}" for name in MATCH_ENGINES),
        names=MATCH_ENGINES,
        seed=seed,
        weights=(new.version, old.version),
        key=reproducible_key(seed),
    )
    progress = run(
        tournament,
        -(-games // len(tournament.block(0))),
        executor,
        concurrency=concurrency,
        display=lambda progress: on_progress(len(progress.records)),
        play=functools.partial(_play_with, (new, old)),
    )
    collected = collect((tournament, record) for record in progress.records)
    summary = summarize(collected.outcomes, 2)[0]
    return Match(
        games=len(progress.records),
        forfeits=sum(record["termination"] == "forfeit" for record in progress.records),
        share=summary.share,
        records=progress.records,
        lost=[describe_lost(game, why) for game, why in progress.lost],
    )


def _play_with(weights: tuple[Weights, ...], task: Task) -> dict[str, Any]:
    """Play a game of a tournament whose engines have these weights: through files that exist only meanwhile.

    Files, since an engine may run in a process of its own (`Task.isolated`). The record names the engines without
    them, and the weights by version.
    """
    tournament = task.tournament
    with tempfile.TemporaryDirectory() as folder:
        engines = []
        for number, (text, value) in enumerate(zip(tournament.engines, weights, strict=True)):
            path = Path(folder, f"{number}.json")
            registry.get(value.game).learning.weights.save(path, value)
            spec = parse_spec(text)
            engines.append(str(dataclasses.replace(spec, options={**spec.options, "weights": str(path)})))
        local = dataclasses.replace(tournament, engines=tuple(engines))
        record = play_game(dataclasses.replace(task, tournament=local))
    record["engines"] = [tournament.engines[engine] for engine in task.game.seating]
    record["arena"]["tournament"] = tournament.to_json()
    return record


def _initial_network(plan: Plan) -> Arrays:
    spec = plan.entry.learning.weights
    if not plan.refine:
        return network.initial_weights(spec.network, spec.estimates, plan.seed)
    arrays = plan.weights.arrays()
    # Searches that made the probes used pulled weights; a fit to them is not pulled again.
    if plan.probes is None:
        arrays = corrections.unpulled(spec, arrays, plan.entry.learning.pull)
    return {name: arrays[name] for name in spec.network}


def _load_probes(plan: Plan, walks: Sequence[bytes]) -> Positions:
    texts = ((f"{plan.probes}:{number}", text) for number, text in enumerate(walks, 1))
    found = probes.load(texts, plan.game, plan.entry.learning.weights.features)
    if not found.held_out.any():
        raise SearchError(
            f"probes: all in {plan.probes} go along one game; expected more walks, along others too",
            reason="INVALID_LIMITS",
        )
    return found


def _decisions(plan: Plan, samples: Samples) -> priors.Decisions:
    spec = plan.entry.learning.weights
    categorize = functools.partial(spec.categorize, weights=plan.weights)
    return priors.sample(samples.records, categorize, len(spec.categories), seed=plan.seed)


def _fit_priors(plan: Plan, samples: Samples) -> tuple[np.ndarray, Choices]:
    """Return weights of the priors, and the log-losses of `Fitted.choices`."""
    spec, decisions = plan.entry.learning.weights, _decisions(plan, samples)
    if decisions.held_out.all():
        raise SearchError("no decisions of the search itself to fit the priors to", reason="INVALID_LIMITS")
    unseen = decisions.take(decisions.held_out)
    found = priors.fit(decisions.take(~decisions.held_out), spec.shapes["priors"][0])
    flattened = rounded(priors.tempered(found, spec.categories, plan.entry.learning.factors))
    return flattened, {
        "alike": priors.log_loss(unseen, np.ones_like(found)),
        "before": priors.log_loss(unseen, plan.weights.arrays()["priors"]),
        "fitted": priors.log_loss(unseen, found),
        "after": priors.log_loss(unseen, flattened),
        "fitted_on": int((~decisions.held_out).sum()),
        "held_out": int(decisions.held_out.sum()),
    }


def rounded(array: np.ndarray) -> np.ndarray:
    """Return the array with five significant digits, which keeps the files small."""
    return np.vectorize(lambda x: np.float32(f"{x:.5g}"), otypes=[np.float32])(array)


def _reports(plan: Plan, unseen: Positions, arrays: Arrays) -> dict[str, Report]:
    named = {
        "estimate": estimate(plan.entry.learning.weights),
        "before": plan.weights.arrays(),
        "after": arrays,
    }
    return {name: network.report(unseen, values) for name, values in named.items()}


def _provenance(plan: Plan, samples: Samples, after: Report) -> dict[str, Any]:
    """Return what every file of new weights says about where they come from."""
    texts = [text for _, text in samples.records]
    played_by = Counter(selfplay.weights_of(json.loads(text)) for text in texts)
    held_out = samples.positions.held_out
    return {
        "games": len(texts),
        "games_held_out": len(np.unique(samples.positions.games[held_out])),
        "played_by": dict(sorted(played_by.items())),
        "records_sha256": _digest(texts),
        "epochs": plan.epochs,
        "seed": plan.seed,
        "held_out_log_loss": {str(n): round(loss, 4) for n, loss in after.log_loss.items()},
        "held_out_score_error": round(after.score_error, 2),
    }


def _digest(texts: Iterable[bytes]) -> str:
    """Return a checksum of texts in any order."""
    return hashlib.sha256(b"\n".join(sorted(texts))).hexdigest()
