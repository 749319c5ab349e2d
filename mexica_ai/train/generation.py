"""A generation of weights: the whole recipe from the weights in use to new ones, in a folder.

The steps, each with its file in the folder; a run that was stopped continues where they end:

1. ``games.jsonl``: games of equal seats with deep searches now and then (`mexica_ai.train.searches`).
2. ``probes.jsonl``: positions off the paths of these games, valued by rollouts (`probes`).
3. ``network-N.json``, one for each seed: the network in use, refined on the probes until the loss on those of held-out
   games no longer falls (`mexica_ai.train.fit`). The one with the least loss goes on.
4. ``fitted.json``: these weights with a learnt policy, fitted to the deep searches (`policy`).
5. ``match.jsonl``: games against the weights in use (`recipe.check`).
6. ``weights.json``: the weights with their provenance: the settings, checksums of the data, and the figures.

``settings.json`` has the settings, so that a run is continued with the same ones.

Main function: `run`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cext.core.learning.weights import Weights
from mexica_ai.analysis.search import weights_for
from mexica_ai.game import registry
from mexica_ai.io.errors import SearchError
from mexica_ai.io.files import lines_of, read_text, replace
from mexica_ai.io.strict import check_shape, parse_json
from mexica_ai.train import fit as network
from mexica_ai.train import policy, probes, recipe, searches
from mexica_ai.train.corrections import Arrays
from mexica_ai.train.positions import Positions

OnProgress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Sizes:
    """How much of everything a generation has.

    Attributes
    ----------
    games : int
        Of self-play.
    iterations, deep : int
        Of most of their searches, and of those that a policy learns from.
    walks : int
        Along these games, for the fit of the evaluation.
    rollouts, rollout_iterations : int
        Of a probe, and of a search in a rollout.
    networks : int
        Seeds of the fit of the evaluation; 0: the network in use stays, without walks, and only a policy is fitted.
    epochs : int
        At most, of each fit.
    match, match_iterations : int
        Games against the weights in use, and of a search in them.
    """

    games: int = 4000
    iterations: int = 64
    deep: int = 800
    walks: int = 2500
    rollouts: int = 1
    rollout_iterations: int = 64
    networks: int = 3
    epochs: int = 40
    match: int = 200
    match_iterations: int = 400


SMALL = Sizes(
    games=10, iterations=4, deep=40, walks=4, rollouts=1, rollout_iterations=2, networks=2, epochs=2, match=2,
    match_iterations=4,
)  # fmt: skip


def run(
    folder: str | os.PathLike[str],
    executor: Executor,
    *,
    game: str,
    sizes: Sizes = Sizes(),
    seed: int = 1,
    strength: float = 1.0,
    weights: Weights | None = None,
    concurrency: int = 1,
    on_progress: OnProgress = lambda step, done, count: None,
) -> Weights:
    """Make a generation of weights and return it.

    Parameters
    ----------
    folder : path-like
        Made if it does not exist; what is missing there is made.
    executor : Executor
        On which games, walks and the match run (see `recipe`); not shut down.
    game : str
    sizes : Sizes
    seed : int
        Everything random derives from it; 0 or more.
    strength : float
        Factor of the fitted scores of the policy, more than 0. Below 1 the search looks at more actions.
    weights : Weights, optional
        The weights in use, by default those that ship.
    concurrency : int
        Jobs at a time.
    on_progress : callable
        Called with the name of a step, what is done of it, and how much there is to do.

    Raises
    ------
    SearchError
        The game's weights have no policy (reason INVALID_GAME); a number is out of range (INVALID_LIMITS); the folder
        is of a run with other settings (INVALID_PATH); or see `job_file.complete`.
    NotationError, PositionError
        A file of the folder cannot be read, or is damaged.
    """
    spec = registry.get(game).learning.weights
    if spec is None or not spec.policy:
        raise SearchError(f"{game} has no weights of a policy to fit", reason="INVALID_GAME")
    _check(sizes, seed, strength)
    generation = _Generation(
        Path(folder), executor, sizes, seed, strength, weights_for(game, weights), concurrency, on_progress
    )
    return generation.make()


def _check(sizes: Sizes, seed: int, strength: float) -> None:
    least = {"games": recipe.MIN_GAMES, "iterations": 2, "deep": 2, "networks": 0}
    if sizes.networks:
        least["walks"] = 2  # along two games, one of them held out
    for name, value in [*dataclasses.asdict(sizes).items(), ("seed", seed)]:
        lowest = 0 if name == "seed" else least.get(name, 1)
        if type(value) is not int or value < lowest:
            raise SearchError(
                f"{name}: given {value!r}; expected an integer of at least {lowest}", reason="INVALID_LIMITS"
            )
    if not 0 < strength <= 10:
        raise SearchError(f"strength: given {strength!r}; expected more than 0, at most 10", reason="INVALID_LIMITS")


@dataclass(frozen=True)
class _Generation:
    """The arguments of `run`, and the steps."""

    folder: Path
    executor: Executor
    sizes: Sizes
    seed: int
    strength: float
    weights: Weights
    concurrency: int
    on_progress: OnProgress

    @property
    def game(self) -> str:
        return self.weights.game

    @property
    def spec(self):
        return registry.get(self.game).learning.weights

    def make(self) -> Weights:
        self._settle()
        end = self.folder / "weights.json"
        if end.exists():
            return registry.load_weights_file(end, self.spec)
        games = self._play()
        walks = self._walk(games) if self.sizes.networks else []
        best = self._fit_network(walks) if self.sizes.networks else self.weights
        fitted = self._fit_policy(games, best)
        match = self._play_match(fitted)
        provenance = fitted.provenance | {
            "command": self._command(),
            "settings": self._settings(),
            "refined": self.weights.sha256,
            "games": len(games),
            "games_sha256": _digest(games),
            "match": match,
        }
        if walks:
            provenance |= {"walks": len(walks), "walks_sha256": _digest(walks)}
        made = self.spec.make(fitted.arrays(), provenance)
        self.spec.save(end, made)
        return made

    def _settings(self) -> dict[str, Any]:
        return {
            "game": self.game,
            "weights": self.weights.version,
            "seed": self.seed,
            "strength": self.strength,
            **dataclasses.asdict(self.sizes),
        }

    def _command(self) -> str:
        options = dataclasses.asdict(self.sizes) | {"seed": self.seed, "strength": self.strength}
        given = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in options.items())
        shipped = self.weights.sha256 == registry.get(self.game).weights().sha256
        # Names of files differ from machine to machine; `refined` in the provenance says which weights.
        return f"mexica-ai train recipe {self.game} --out FOLDER {'' if shipped else '--weights FILE '}{given}"

    def _settle(self) -> None:
        """Make the folder, or check that it is of a run with the same settings."""
        path = self.folder / "settings.json"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                replace(str(path), json.dumps(self._settings(), indent=1) + "\n")
        except OSError as error:
            raise SearchError(f"{path}: {error.strerror}; expected a folder", reason="INVALID_PATH") from None
        before = parse_json(read_text(path), str(path))
        check_shape(before, dict, str(path))
        if before != self._settings():
            names = [name for name, value in self._settings().items() if before.get(name) != value]
            given = ", ".join(f"{name} {before.get(name)}" for name in names) or "others"
            raise SearchError(
                f"{self.folder} is of a run with {given}; expected the same settings, or another folder",
                reason="INVALID_PATH",
            )

    def _counter(self, step: str, count: int) -> Callable[[int], None]:
        return lambda done: self.on_progress(step, done, count)

    def _play(self) -> list[bytes]:
        path = self.folder / "games.jsonl"
        searches.play(
            path,
            self.executor,
            game=self.game,
            games=self.sizes.games,
            iterations=self.sizes.iterations,
            deep=self.sizes.deep,
            seed=self.seed,
            weights=self.weights,
            concurrency=self.concurrency,
            on_progress=self._counter("games", self.sizes.games),
        )
        return sorted(lines_of(path))

    def _walk(self, games: list[bytes]) -> list[bytes]:
        path = self.folder / "probes.jsonl"
        probes.make(
            path,
            [json.loads(text)["record"] for text in games],
            self.executor,
            game=self.game,
            walks=self.sizes.walks,
            iterations=self.sizes.rollout_iterations,
            rollouts=self.sizes.rollouts,
            seed=self.seed,
            weights=self.weights,
            concurrency=self.concurrency,
            on_progress=self._counter("walks", self.sizes.walks),
        )
        return sorted(lines_of(path))

    def _fit_network(self, walks: list[bytes]) -> Weights:
        """Fit the network from every seed and return the weights with the one that predicts held-out probes best.

        The probes alone are fitted to. Games between good players lack what good players avoid, and a search looks
        for it; networks that were fitted to games alone lost their matches.
        """
        found = []
        samples: Positions | None = None
        for number in range(self.sizes.networks):
            path = self.folder / f"network-{number}.json"
            if not path.exists():
                if samples is None:
                    texts = ((f"probes.jsonl:{number}", text) for number, text in enumerate(walks, 1))
                    samples = probes.load(texts, self.game, self.spec.features)
                    if not samples.held_out.any():
                        raise SearchError(
                            "all walks go along one game: a fit needs others, too", reason="INVALID_LIMITS"
                        )
                self.spec.save(path, self._refined(samples, number))
            found.append(registry.load_weights_file(path, self.spec))
        return min(found, key=lambda weights: weights.provenance["held_out_loss"])

    def _refined(self, samples: Positions, number: int) -> Weights:
        before = self.weights.arrays()
        start = {name: before[name] for name in self.spec.network}
        unseen = samples.take(samples.held_out)
        fitted = network.fit(
            samples.take(~samples.held_out),
            start,
            epochs=self.sizes.epochs,
            seed=self.seed + number,
            learning_rate=recipe.REFINING_RATE,
            unseen=unseen,
            on_epoch=lambda epoch, _: self.on_progress(f"network {number}", epoch, self.sizes.epochs),
        )
        return self.spec.make(
            before | _rounded(fitted),
            {
                "states": int((~samples.held_out).sum()),
                "network_seed": self.seed + number,
                "held_out_loss": round(network.loss(unseen, fitted), 5),
                "held_out_loss_before": round(network.loss(unseen, start), 5),
            },
        )

    def _fit_policy(self, games: list[bytes], best: Weights) -> Weights:
        path = self.folder / "fitted.json"
        if path.exists():
            return registry.load_weights_file(path, self.spec)
        texts = [(f"games.jsonl:{number}", text) for number, text in enumerate(games, 1)]
        decisions = policy.sample(texts, best)
        if not decisions.held_out.any() or decisions.held_out.all():
            raise SearchError("decisions of one game alone: a fit needs others", reason="INVALID_LIMITS")
        arrays, figures = policy.fit(
            decisions,
            policy.initial_weights(self.spec.policy, self.seed),
            seed=self.seed,
            max_epochs=self.sizes.epochs,
            on_epoch=self._counter("policy", self.sizes.epochs),
        )
        arrays["policy_out"] *= np.float32(self.strength)
        own = best.provenance if self.sizes.networks else {}
        arrays = _rounded(arrays)
        figures["after"] = policy.log_loss(decisions.take(decisions.held_out), arrays)  # of what is saved
        figures = {name: round(value, 4) for name, value in figures.items()}
        fitted = self.spec.make(best.arrays() | arrays, own | {"policy": figures})
        self.spec.save(path, fitted)
        return fitted

    def _play_match(self, fitted: Weights) -> dict[str, Any]:
        path = self.folder / "match.jsonl"
        if path.exists():
            return json.loads(next(lines_of(path)))
        found = recipe.check(
            fitted,
            self.weights,
            self.executor,
            games=self.sizes.match,
            iterations=self.sizes.match_iterations,
            seed=self.seed,
            concurrency=self.concurrency,
            on_progress=self._counter("match", self.sizes.match + self.sizes.match % 2),
        )
        figures = {
            "games": found.games,
            "iterations": self.sizes.match_iterations,
            "share": [found.share.mean, found.share.low, found.share.high],
            "lost": len(found.lost),
        }
        lines = [figures, *found.records]
        replace(str(path), "".join(json.dumps(line) + "\n" for line in lines))
        return figures


def _rounded(arrays: Arrays) -> Arrays:
    return {name: recipe.rounded(array) for name, array in arrays.items()}


def _digest(lines: list[bytes]) -> str:
    return hashlib.sha256(b"\n".join(lines)).hexdigest()

