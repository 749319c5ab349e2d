"""Engine kind `py`: a class of Python code, ``py:MODULE:CLASS``, in this process.

The code runs with all rights of the user, as a program of the kind `cmd` does. It is imported when the engine is made,
never when a spec is read, so that specs in files of other people do nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import inspect
import itertools
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.results import Candidate, Result, sound
from mexica_ai.analysis.stopping import Stop
from mexica_ai.engines.base import Engine
from mexica_ai.engines.policy import Policy
from mexica_ai.engines.specs import EngineSpec
from mexica_ai.game.position import Position
from mexica_ai.io.errors import MexicaAIError, NotationError, SearchError
from mexica_ai.io.suggest import did_you_mean

LENT = "__lent__"  # the module of objects of this process in specs
_lent: dict[str, object] = {}
_numbers = itertools.count()


@contextlib.contextmanager
def lending(source: object) -> Iterator[str]:
    """Give the target of a spec that means this object, in this process and as long as the context lasts."""
    name = f"{type(source).__name__}_{next(_numbers)}"
    _lent[name] = source
    try:
        yield f"{LENT}:{name}"
    finally:
        del _lent[name]


class PythonEngine(Engine):
    """A class of Python code as an engine, see docs/python.md; the constructor makes an object of it.

    The key `weights` is a file that the class is given as its argument ``weights``.

    Raises
    ------
    SearchError
        The class cannot be imported or made (reason ENGINE_START), or is no policy (BAD_POLICY); the errors of a turn
        are those of `Policy.answer`.
    """

    def __init__(self, spec: EngineSpec, defaults: Mapping[str, Any] | None = None) -> None:
        super().__init__(spec, defaults)
        assert spec.target is not None
        self._weights: str | None = spec.options.get("weights", self._defaults.get("weights"))
        module, _, name = spec.target.partition(":")
        source = _lent[name] if module == LENT and name in _lent else self._load(module, name)
        self._policy = Policy(self._made(source), f"engine {self.name}")

    def weights_id(self, game: str) -> str | None:
        """Return the identifier of the file `weights`, by its content; None without it."""
        if self._weights is None:
            return None
        try:
            return hashlib.sha256(Path(self._weights).read_bytes()).hexdigest()[:12]
        except OSError as error:
            raise NotationError(
                f"cannot read {self._weights}: {error.strerror or error}", reason="BAD_WEIGHTS", path="weights"
            ) from None

    def _best_turn(self, position: Position, limits: Limits, *, seed: int, candidates: int, stop: Stop) -> Result:
        began = time.perf_counter()
        answer = self._policy.answer(position, seed, limits=limits, stop=stop)
        if isinstance(answer, Result):
            return sound(answer, position.players)
        return Result(
            candidates=[Candidate(answer, 0, [], [], 1.0, [])],
            iterations=0,
            nodes=0,
            distinct_turns=0,
            seconds=time.perf_counter() - began,
            stop_reason="settled",
            seed=seed,
        )

    def _load(self, module: str, name: str) -> Any:
        """Return what a module has by a name, which may be dotted."""
        found: Any = self._import(module)
        for part in name.split("."):
            if not hasattr(found, part):
                known = [each for each, value in inspect.getmembers(found) if callable(value)]
                raise self._failure(f"{module} has no {name}; expected a class of it{did_you_mean(part, known)}")
            found = getattr(found, part)
        return found

    def _import(self, module: str) -> Any:
        """Import a module, also from the current folder, which comes last, so that it hides no other one."""
        here = os.getcwd()
        if not {here, ""} & set(sys.path):
            sys.path.append(here)
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
                raise self._failure(
                    f"there is no module {error.name}; expected one that is installed, on PYTHONPATH or in the "
                    "current folder"
                ) from None
            raise self._failure(f"the module {module} needs {error.name}, which is not installed") from error
        except Exception as error:
            raise self._failure(f"importing {module} fails: {_words(error)}") from error

    def _made(self, source: Any) -> Any:
        """Return the object of a class; what is no class is the policy itself."""
        if not inspect.isclass(source):
            if self._weights is not None:
                raise self._failure("weights are given; expected none, since it is no class")
            return source
        given = {} if self._weights is None else {"weights": self._weights}
        try:
            return source(**given)
        except Exception as error:
            raise self._failure(f"making a {source.__name__} fails: {_words(error)}") from error

    def _failure(self, problem: str) -> SearchError:
        return SearchError(f"engine {self.name}: {problem}", reason="ENGINE_START")


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, MexicaAIError) else f"{type(error).__name__}: {error}"
