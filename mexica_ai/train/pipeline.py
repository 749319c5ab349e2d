"""Training, from the weights in use to new ones: the steps of `mexica-ai train GAME`, in a folder.

Each step leaves files in the folder; a run that was stopped continues where they end:

1. *generate*. ``games.jsonl``: games of equal seats from varied starts, with deep searches now and then (`selfplay`,
   `starts`). ``reanalysed.jsonl``: with `Settings.reanalyse`, old games with deep searches by the weights in use.
   ``probes.jsonl``: positions off the paths of these games, valued by rollouts (`probes`).
2. *value*. ``value-N.json``, one for each seed: the weights in use with a network fitted to the probes (`value`).
   With `Settings.searched` also to states of the deep searches (`searched`).
   ``value.json``: the one with the least loss on games that select. With `Settings.states` only the outputs are
   fitted, to the probes, these games and the records of others (`outputs`).
3. *belief*. ``belief.json``: these weights with a belief about hidden hands, fitted to the hands in all games
   (`belief`); only in games that have one.
4. *policy*. ``policy.json``: these weights with a learnt policy, fitted to the deep searches (`policy`).
5. *match*. ``match-N.jsonl``, one for each number of seats: the journal of a match against the weights in use
   (`match`). ``weights.json``: the new weights with their provenance: the settings, checksums of the data, and the
   figures of all steps.

Games that stop or choose a fit flatter it, so games are split into three parts (`positions.split`): a fit learns from
one, is stopped and chosen by the second, and its figures are those of the third. ``settings.json`` has the settings, so
that a run is continued with the same ones.

Games, walks and the match run on any executor of `concurrent.futures`: `mexica_ai.arena.pool.GamePool` on this machine,
or `distributed.Client(...).get_executor(pure=False)`. Jobs carry what they need; a worker of a cluster needs only the
same version of this package. Nothing here prints.

Main function: `run`.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from cext.core.learning.weights import Weights, WeightsSpec
from mexica_ai.game import registry
from mexica_ai.game.records import parse_record, replay
from mexica_ai.io.errors import NotationError, SearchError
from mexica_ai.io.strict import check_shape, quote
from mexica_ai.io.suggest import did_you_mean
from mexica_ai.train import belief, match, outputs, policy, probes, searched, selfplay, value
from mexica_ai.train import folder as folders
from mexica_ai.train.adamw import Arrays
from mexica_ai.train.folder import Figures, OnProgress
from mexica_ai.train.positions import REPORT, SELECTION, TRAIN, Positions, by_seats, record_of
from mexica_ai.train.settings import DEFAULTS, Settings
from mexica_ai.train.weights import searching_weights

STEPS = ("generate", "value", "belief", "policy", "match")
_PROVENANCE = {"command": str, "settings": dict, "refined": str} | dict.fromkeys(STEPS, dict)  # of weights.json


def run(
    folder: str | os.PathLike[str],
    executor: Executor,
    *,
    game: str,
    settings: Settings = DEFAULTS,
    weights: Weights | None = None,
    records: Sequence[tuple[str, bytes]] = (),
    until: str = STEPS[-1],
    concurrency: int = 1,
    on_progress: OnProgress = lambda what, done, count: None,
) -> dict[str, Figures]:
    """Make new weights of a game, the file ``weights.json`` of a folder.

    Parameters
    ----------
    folder : path-like
        Made if it does not exist; what is missing there is made.
    executor : Executor
        On which games, walks and the match run; not shut down.
    game : str
    settings : Settings
    weights : Weights, optional
        The weights in use, by default those that ship.
    records : sequence of (str, bytes)
        Finished games of other players: what errors call each, and its text. Half of the games begin in their middle,
        walks go along them, too, and with `Settings.states` the outputs are fitted to them.
    until : str
        The last step to do, of `STEPS`.
    concurrency : int
        Jobs at a time.
    on_progress : callable
        Called with a name of what is done, how much of it is done, and how much there is to do.

    Returns
    -------
    dict of str to dict
        The figures of each step up to the last one.

    Raises
    ------
    SearchError
        The game has no weights, or nothing is to be fitted (reason INVALID_GAME); there are too few different games,
        the game has not so many seats, or there is no such step (INVALID_LIMITS); the folder is of a run with other
        settings (INVALID_PATH); or see `job_file.complete` and `match.play`.
    NotationError, PositionError
        A file of the folder cannot be read, or is damaged.
    """
    if until not in STEPS:
        raise SearchError(
            f"until: given {quote(until)}; expected one of {', '.join(STEPS)}{did_you_mean(until, STEPS)}",
            reason="INVALID_LIMITS",
            path="until",
        )
    spec = registry.get(game).learning.weights
    if spec is None:
        raise SearchError(f"{game} has no weights to fit", reason="INVALID_GAME")
    if not settings.networks and not spec.policy:
        raise SearchError(f"{game} has no policy to fit; expected networks of at least 1", reason="INVALID_GAME")
    if settings.states and not settings.networks:
        raise SearchError("states: given without networks; expected networks of at least 1", reason="INVALID_LIMITS")
    if settings.searched and (settings.states or not settings.networks):
        problem = "searched: given with states or without networks; expected a fit of whole networks"
        raise SearchError(problem, reason="INVALID_LIMITS")
    if settings.reanalyse and not records:
        raise SearchError("reanalyse: given without records; expected some", reason="INVALID_LIMITS")
    if settings.states and not settings.own_points and not records:
        raise SearchError("own_points: given 0 without records; expected more than 0", reason="INVALID_LIMITS")
    before = searching_weights(game, weights)
    others = _Records.read(records, game)
    players = settings.players_of(game)
    made = _Pipeline(Path(folder), executor, settings, before, spec, others, players, concurrency, on_progress)
    return made.run(until)


@dataclass(frozen=True)
class _Records:
    """The games of other players that a run is given, and the checksum of their texts."""

    games: list[dict[str, Any]]
    sha256: str

    @classmethod
    def read(cls, texts: Sequence[tuple[str, bytes]], game: str) -> Self:
        games = []
        for where, text in texts:
            content = parse_record(text, where)
            if not (isinstance(content, dict) and "record" in content):  # else a line of an earlier run's games
                content = {"record": content}
            record = content["record"]
            position = replay(record, path=where)
            if position.game != game or not position.is_over or not record["turns"]:
                raise NotationError(f"{where}: expected a finished game of {game}", reason="GAME_MISMATCH", path=where)
            games.append({**record_of(content, where), "scores": position.scores, "winners": position.winners})
        return cls(games, folders.digest(list(texts)))


@dataclass(frozen=True)
class _Pipeline:
    """The arguments of `run`, and the steps. Each step returns its figures, and the weights that it leaves."""

    folder: Path
    executor: Executor
    settings: Settings
    weights: Weights
    spec: WeightsSpec
    others: _Records
    players: tuple[int, ...]  # numbers of seats of the games
    concurrency: int
    on_progress: OnProgress

    def run(self, until: str) -> dict[str, Figures]:
        folders.settle(self.folder, self._settings())
        steps = STEPS[: STEPS.index(until) + 1]
        if (self.folder / "weights.json").exists():
            provenance = self._load("weights.json").provenance
            check_shape(provenance, _PROVENANCE, f"{self.folder / 'weights.json'}: provenance")
            return {step: provenance[step] for step in steps}
        figures, made = {}, self.weights
        for step in steps:
            figures[step], made = getattr(self, f"_{step}")(made)
        if until == STEPS[-1]:
            self._save("weights.json", made.arrays(), self._made() | figures)
        return figures

    # --- the folder

    def _settings(self) -> dict[str, Any]:
        own = {"game": self.weights.game, "weights": self.weights.version}
        if self.others.games:
            own["records_sha256"] = self.others.sha256
        return own | dataclasses.asdict(self.settings)

    def _made(self) -> dict[str, Any]:
        """Return how the weights of a run are made, for their provenance."""
        return {"command": self._command(), "settings": self._settings(), "refined": self.weights.sha256}

    def _command(self) -> str:
        options = dataclasses.asdict(self.settings).items()
        given = " ".join(f"--{name.replace('_', '-')} {setting}" for name, setting in options)
        shipped = self.weights.sha256 == searching_weights(self.weights.game, None).sha256
        # Names of files differ from machine to machine; `refined` in the provenance says which weights.
        files = ("" if shipped else "--weights FILE ") + ("--records FILE " if self.others.games else "")
        return f"mexica-ai train {self.weights.game} --out FOLDER {files}{given}"

    def _load(self, name: str) -> Weights:
        return registry.load_weights_file(self.folder / name, self.spec)

    def _save(self, name: str, arrays: Arrays, provenance: dict[str, Any]) -> Weights:
        made = self.spec.make(arrays, provenance)
        self.spec.save(self.folder / name, made)
        return made

    def _lines(self, name: str) -> list[tuple[str, bytes]]:
        return folders.lines(self.folder / name)

    def _counter(self, what: str, count: int) -> Callable[[int], None]:
        return lambda done: self.on_progress(what, done, count)

    # --- the steps

    def _generate(self, weights: Weights) -> tuple[Figures, Weights]:
        sizes = self.settings
        common: dict[str, Any] = {
            "game": weights.game, "seed": sizes.seed, "weights": weights, "concurrency": self.concurrency,
        }  # fmt: skip
        selfplay.play(
            self.folder / "games.jsonl", self.executor, games=sizes.games, iterations=sizes.iterations,
            deep=sizes.deep, players=self.players, planners=sizes.planners, searched=sizes.searched,
            records=self.others.games, on_progress=self._counter("games", sizes.games), **common,
        )  # fmt: skip
        games = self._lines("games.jsonl")
        figures: Figures = {"games": len(games), "games_sha256": folders.digest(games)}
        if self.others.games:
            figures |= {"records": len(self.others.games), "records_sha256": self.others.sha256}
        if sizes.reanalyse:
            count = min(sizes.reanalyse, len(self.others.games))
            selfplay.reanalyse(
                self.folder / "reanalysed.jsonl", self.others.games, self.executor, games=count, seed=sizes.seed,
                searcher=selfplay.Searcher(weights, sizes.iterations, sizes.deep, sizes.searched),
                concurrency=self.concurrency, on_progress=self._counter("old games", count),
            )  # fmt: skip
            again = self._lines("reanalysed.jsonl")
            figures |= {"reanalysed": len(again), "reanalysed_sha256": folders.digest(again)}
        if not sizes.networks:
            return figures, weights
        probes.make(
            self.folder / "probes.jsonl", [*folders.records_of(games), *self.others.games], self.executor,
            walks=sizes.walks, iterations=sizes.rollout_iterations, rollouts=sizes.rollouts,
            on_progress=self._counter("walks", sizes.walks), **common,
        )  # fmt: skip
        walks = self._lines("probes.jsonl")
        return figures | {"walks": len(walks), "walks_sha256": folders.digest(walks)}, weights

    def _value(self, before: Weights) -> tuple[Figures, Weights]:
        """Fit the network from every seed and keep the one that predicts the probes of games that select best.

        The probes alone are fitted to. Games between good players lack what good players avoid, and a search looks
        for it; networks that were fitted to games alone lost their matches.
        """
        if not self.settings.networks:
            return {}, before
        if (self.folder / "value.json").exists():
            made = self._load("value.json")
            return made.provenance["value"], made
        samples = probes.load(self._lines("probes.jsonl"), before.game, self.spec.features)
        if self.settings.states:
            return self._outputs(samples, before)
        if self.settings.searched:
            samples = samples.joined(self._searched_states(before))
        found = [self._fitted_network(samples, before, number) for number in range(self.settings.networks)]
        losses = [weights.provenance["selection_loss"] for weights in found]
        best = found[losses.index(min(losses))]
        reported = samples.take(samples.parts == REPORT)
        figures = {
            **folders.rounded_figures(value.compare(reported, before.arrays(), best.arrays())),
            "network": losses.index(min(losses)),
            "selection_losses": losses,
            "positions": [int((samples.parts == part).sum()) for part in (TRAIN, SELECTION, REPORT)],
            "seats": {
                str(seats): folders.rounded_figures(value.compare(found, before.arrays(), best.arrays()))
                for seats, found in by_seats(reported)
            },
        }
        return figures, self._save("value.json", best.arrays(), {"value": figures})

    def _searched_states(self, before: Weights) -> Positions:
        """Return states of the deep searches to train on, with their values.

        Probes alone select and are reported on.
        """
        found = searched.load(self._searches(), self.spec.features)
        found = found.take(found.parts == TRAIN)
        return searched.drawn_by_surprise(found, before.arrays(), self.settings.surprise, self.settings.seed)

    def _searches(self) -> list[tuple[str, bytes]]:
        """Return the games whose turns were searched deeply."""
        again = self._lines("reanalysed.jsonl") if self.settings.reanalyse else []
        return [*self._lines("games.jsonl"), *again]

    def _outputs(self, samples: Positions, before: Weights) -> tuple[Figures, Weights]:
        """Fit the outputs to probes, own games and records; the layers below them, and the policy, stay.

        These weights may be used as they are, so the file says all about how they were made.
        """
        played, walks = self._lines("games.jsonl"), self._lines("probes.jsonl")
        own = folders.records_of(played)
        digests = {"probes": folders.digest(walks), "games": folders.digest(played), "records": self.others.sha256}
        sources = {"probes": samples, "games": outputs.sample(own, self.settings.states, self.spec.features)}
        score_weights = dict.fromkeys(sources, self.settings.own_points) | {"records": 1.0}
        if self.others.games:
            sources["records"] = outputs.sample(self.others.games, self.settings.states, self.spec.features)
        arrays, stiffness = outputs.fit(sources, before.arrays(), score_weights)
        arrays = arrays | folders.rounded({key: arrays[key] for key in self.spec.network})
        figures: Figures = {"stiffness": stiffness if np.isfinite(stiffness) else None}
        for name, found in sources.items():
            compared = outputs.compare(found.take(found.parts == REPORT), before.arrays(), arrays)
            counts = [int((found.parts == part).sum()) for part in (TRAIN, SELECTION, REPORT)]
            figures[name] = folders.rounded_figures(compared) | {"positions": counts, "sha256": digests[name]}
        before_them = {key: before.provenance[key] for key in ("belief", "policy") if key in before.provenance}
        return figures, self._save("value.json", arrays, before_them | self._made() | {"value": figures})

    def _fitted_network(self, samples: Positions, before: Weights, number: int) -> Weights:
        name, seed = f"value-{number}.json", self.settings.seed + number
        if (self.folder / name).exists():
            return self._load(name)
        arrays = before.arrays()
        start, rate = {key: arrays[key] for key in self.spec.network}, value.REFINING_RATE
        if not start["w1"].any():  # no network was fitted yet: its layers are all 0, and would stay so
            start = value.initial_weights(self.spec.network, self.spec.estimates, seed)
            rate = value.LEARNING_RATE
        fitted, loss = value.fit(
            samples,
            start,
            epochs=self.settings.epochs,
            seed=seed,
            learning_rate=rate,
            on_epoch=self._counter(f"network {number}", self.settings.epochs),
        )
        provenance = {"network_seed": seed, "selection_loss": round(loss, 5)}
        return self._save(name, arrays | folders.rounded(fitted), provenance)

    def _belief(self, before: Weights) -> tuple[Figures, Weights]:
        if not self.spec.belief:
            return {}, before
        if (self.folder / "belief.json").exists():
            made = self._load("belief.json")
            return made.provenance["belief"], made
        games = [*folders.records_of(self._lines("games.jsonl")), *self.others.games]
        hands = belief.sample(before.game, games, seed=self.settings.seed)
        start = before.arrays()["belief"]
        fitted = folders.rounded({"belief": belief.fit(hands, start)})
        figures: Figures = {
            **folders.rounded_figures(belief.report(hands, start, fitted["belief"])),
            "hands": [int((hands.parts == part).sum()) for part in (TRAIN, SELECTION, REPORT)],
        }
        return figures, self._save("belief.json", before.arrays() | fitted, {"belief": figures})

    def _policy(self, before: Weights) -> tuple[Figures, Weights]:
        if not self.spec.policy:
            return {}, before
        if (self.folder / "policy.json").exists():
            made = self._load("policy.json")
            return made.provenance["policy"], made
        decisions = policy.sample(self._searches(), self.weights, before)
        start, rate = policy.initial_weights(self.spec.policy, self.settings.seed), policy.LEARNING_RATE
        in_use = before.arrays() if before.has_policy else None
        if self.settings.refine_policy and in_use:
            start, rate = {key: in_use[key] for key in self.spec.policy}, policy.REFINING_RATE
        arrays, fitted = policy.fit(
            decisions,
            start,
            seed=self.settings.seed,
            max_epochs=self.settings.epochs,
            learning_rate=rate,
            surprise=self.settings.surprise,
            on_epoch=self._counter("policy", self.settings.epochs),
        )
        arrays["policy_out"] *= np.float32(self.settings.strength)
        arrays = folders.rounded(arrays)
        figures: Figures = {
            **folders.rounded_figures(policy.report(decisions, arrays, in_use) | fitted),
            "decisions": [int((decisions.parts == part).sum()) for part in (TRAIN, SELECTION, REPORT)],
        }
        return figures, self._save("policy.json", before.arrays() | arrays, {"policy": figures})

    def _match(self, new: Weights) -> tuple[Figures, Weights]:
        """Play a match for each number of seats: of one seat with new weights against others with those in use."""
        return {
            str(players): match.play(
                self.folder / f"match-{players}.jsonl",
                new,
                self.weights,
                self.executor,
                players=players,
                games=self.settings.match,
                iterations=self.settings.match_iterations,
                seed=self.settings.seed,
                concurrency=self.concurrency,
                on_progress=self._counter(f"match, {players} seats", -(-self.settings.match // players) * players),
            )
            for players in self.players
        }, new
