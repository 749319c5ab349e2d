"""The settings of a search in one value, whatever runs it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

from cext.core.learning.weights import Weights
from cext.core.search.options import OPTIONS
from mexica_ai.analysis import levels
from mexica_ai.analysis.limits import DEFAULT_BATCH, DEFAULT_CANDIDATES, MAX_BATCH, MAX_CANDIDATES, Limits
from mexica_ai.io.errors import SearchError
from mexica_ai.io.numbers import resolve_seed
from mexica_ai.io.strict import quote
from mexica_ai.io.suggest import did_you_mean

if TYPE_CHECKING:
    from mexica_ai.analysis.evaluators import Evaluator


@dataclass(frozen=True)
class SearchSettings:
    """The settings of a search. With one thread and a limit of iterations, equal ones give the same result.

    Parameters
    ----------
    limits : Limits
    seed : int, optional
        0 <= seed < 2**63; drawn from the operating system, once, if None.
    candidates : int
        How many turns the result lists at most, 1-10,000.
    level : int
        Strength of play, 1 to 10 (`mexica_ai.analysis.levels`); below 10 it may lower the limit of iterations.
    weights : Weights or path-like, optional
        Of the game that is searched; by default those that ship.
    evaluator : callable, optional
        Evaluates the leaves instead of the game's evaluation and playouts; see ``docs/evaluators.md``.
    batch_size : int
        How many leaves the evaluator gets at a time at most, 1-4096.
    batches : int
        How many batches are under way, 1 or 2. With 2 leaves are gathered while the evaluator works.
    options : mapping of str to float
        Options of the search (``docs/search.md``) that override those of the level.
    allow : sequence of str, optional
        The only actions with which the turn may begin; any by default.
    avoid : sequence of str
        Actions with which it may not begin.

    Raises
    ------
    SearchError
        A setting is out of range, or of the wrong type; reason INVALID_LIMITS, of the seed INVALID_SEED, of `allow` and
        `avoid` BAD_VALUE.
    """

    limits: Limits
    seed: int | None = None
    candidates: int = DEFAULT_CANDIDATES
    level: int = levels.HIGHEST
    weights: Weights | str | os.PathLike[str] | None = None
    evaluator: Evaluator | None = None
    batch_size: int = DEFAULT_BATCH
    options: Mapping[str, float] = field(default_factory=dict, hash=False)
    allow: Sequence[str] | None = None
    avoid: Sequence[str] = ()
    batches: int = 2

    def __post_init__(self) -> None:
        if not isinstance(self.limits, Limits):
            raise SearchError(
                f"limits: given {quote(self.limits)}; expected Limits", reason="INVALID_LIMITS", path="limits"
            )
        for name, value in self.options.items():
            if name in OPTIONS and not isinstance(value, Real):
                _, low, high = OPTIONS[name]
                raise SearchError(
                    f"options: given {quote(value)} for {name}; expected a number from {low:g} to {high:g}",
                    reason="INVALID_OPTION",
                    path="options",
                )
            if name not in OPTIONS:
                expected = f"one of {', '.join(sorted(OPTIONS))}{did_you_mean(name, OPTIONS)}"
                raise SearchError(
                    f"options: given {quote(name)}; expected {expected}",
                    reason="INVALID_OPTION",
                    path="options",
                )
        levels.check(self.level)
        self._check_count("candidates", MAX_CANDIDATES)
        self._check_count("batch_size", MAX_BATCH)
        self._check_count("batches", 2)
        object.__setattr__(self, "seed", resolve_seed(self.seed))
        for name in ("allow", "avoid"):
            actions = getattr(self, name)
            if actions is None and name == "allow":
                continue
            listed = tuple(actions) if isinstance(actions, Iterable) else (None,)  # once: a generator ends then
            if isinstance(actions, str) or not all(isinstance(action, str) for action in listed):
                raise SearchError(
                    f"{name}: given {quote(actions)}; expected a list of actions", reason="BAD_VALUE", path=name
                )
            object.__setattr__(self, name, listed)

    def _check_count(self, name: str, highest: int) -> None:
        value = getattr(self, name)
        if type(value) is not int or not 1 <= value <= highest:
            raise SearchError(
                f"{name}: given {quote(value)}; expected an integer from 1 to {highest}",
                reason="INVALID_LIMITS",
                path=name,
            )

    @property
    def level_limits(self) -> Limits:
        """The limits within which the level searches."""
        return levels.limits_of(self.level, self.limits)

    def arguments(self, game: str) -> dict[str, Any]:
        """Return the arguments of a compiled search of a game, without state and weights."""
        arguments: dict[str, Any] = {
            "threads": self.limits.threads,
            "memory_mb": self.limits.memory_mb,
            "seed": self.seed,
            **levels.search_options(self.level, game),
            **self.options,
        }
        if self.evaluator is not None:
            arguments |= {"evaluator": self.evaluator, "batch_size": self.batch_size, "batches": self.batches}
        return arguments
