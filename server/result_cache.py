"""Results of searches that would end the same again: equal questions are answered from memory."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from typing import TYPE_CHECKING

from cachetools import LRUCache

from mexica_ai.analysis.results import Result

if TYPE_CHECKING:
    from mexica_ai.server.calls import Question

_REPEATABLE = frozenset({"iterations", "solved"})  # stop reasons that the speed of the machine has no part in


class ResultCache:
    """The results last used, in a bounded number of bytes.

    Parameters
    ----------
    max_bytes : int
        0 keeps none.
    is_shared : bool
        Whether a caller may get the results of another. Then the time of an answer tells it what others have asked.
    """

    def __init__(self, max_bytes: int, is_shared: bool = False) -> None:
        self._is_shared = is_shared
        # Pickled: that is their size, and nobody changes them.
        self._results: LRUCache[bytes, bytes] = LRUCache(max_bytes, getsizeof=len)

    def get(self, question: Question, caller: str) -> Result | None:
        """Return the result of an equal question of the same caller, None if there is none.

        Equal are questions with the same position, iterations, memory, seed, level, candidates, first actions,
        options and weights, and one thread. A quick answer would tell one caller what another one has asked.
        """
        key = self._key(question, caller)
        found = None if key is None else self._results.get(key)
        return None if found is None else pickle.loads(found)

    def put(self, question: Question, result: Result, caller: str) -> None:
        """Keep a result for a caller, if an equal search would have it again."""
        key = self._key(question, caller)
        if key is None or result.stop_reason not in _REPEATABLE:
            return
        data = pickle.dumps(result)
        if len(data) <= self._results.maxsize:
            self._results[key] = data

    def _key(self, question: Question, caller: str) -> bytes | None:
        settings = question.settings
        limits, weights = settings.limits, settings.weights
        if isinstance(weights, (str, os.PathLike)):  # a file, which may change
            return None
        if not (self._results.maxsize and question.has_seed and limits.iterations and limits.threads == 1):
            return None
        parts = [
            None if self._is_shared else caller,
            question.position.to_json(),
            limits.iterations,
            limits.memory_mb,
            settings.seed,
            settings.level,
            settings.candidates,
            settings.allow,
            settings.avoid,
            dict(settings.options),
            weights.sha256 if weights else None,
        ]
        return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode()).digest()
