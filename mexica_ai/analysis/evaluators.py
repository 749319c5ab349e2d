"""Evaluators of the search's leaves: networks as ONNX files (extra `onnx`). ``docs/evaluators.md`` has the contract."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mexica_ai.game.observations import schema
from mexica_ai.game.schema import SEATS
from mexica_ai.io.errors import NotationError, SearchError

# From observations [N, size] to shares of the win [N, seats or more], or a tuple of them and the final scores.
Evaluator = Callable[[npt.NDArray[np.float32]], Any]
GAME_KEY, SCHEMA_KEY = "mexica_ai_game", "mexica_ai_schema"  # of the file's metadata


class OnnxEvaluator:
    """A network in an ONNX file, run by onnxruntime.

    Parameters
    ----------
    path : path-like
        Its one input takes observations, float32 [N, size]. Its output ``value``, or the first one, gives shares of the
        win [N, 4]; an output ``score``, if there is one, final scores [N, 4].
    threads : int
        Threads of onnxruntime.

    Raises
    ------
    NotationError
        The file cannot be read, or is no such network; reason BAD_EVALUATOR.
    SearchError
        onnxruntime is not installed; reason MISSING_PACKAGE.
    """

    def __init__(self, path: str | os.PathLike[str], *, threads: int = 1) -> None:
        try:
            import onnxruntime
        except ModuleNotFoundError:
            raise SearchError(
                "an evaluator needs onnxruntime, which is not installed: pip install 'mexica-ai[onnx]'",
                reason="MISSING_PACKAGE",
            ) from None
        self.path, self._threads = os.fspath(path), threads
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4  # errors become exceptions, no need to print them, too
        try:
            self._session = onnxruntime.InferenceSession(self.path, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's exceptions have no base of their own
            message = str(error).strip().splitlines()[0]
            raise NotationError(f"{self.path}: no ONNX file: {message}", reason="BAD_EVALUATOR") from None
        inputs, outputs = self._session.get_inputs(), [output.name for output in self._session.get_outputs()]
        if len(inputs) != 1 or len(inputs[0].shape) != 2 or inputs[0].type != "tensor(float)":
            raise self._bad("expected one input, float32 of shape [N, size of an observation]")
        if isinstance(inputs[0].shape[0], int):
            raise self._bad(f"takes batches of {inputs[0].shape[0]} alone; expected a first axis of any length")
        self._input, self._size = inputs[0].name, inputs[0].shape[1]
        self._outputs = ["value" if "value" in outputs else outputs[0], *(["score"] if "score" in outputs else [])]
        for output in self._session.get_outputs():
            if output.name in self._outputs and (len(output.shape) != 2 or output.shape[1] != SEATS):
                raise self._bad(f"expected the output {output.name!r} of shape [N, {SEATS}]")
        self._metadata = self._session.get_modelmeta().custom_metadata_map

    def __reduce__(self) -> tuple[Any, ...]:
        # The other process reads the file, and may have another working directory.
        return functools.partial(type(self), threads=self._threads), (os.path.abspath(self.path),)

    def check(self, game: str) -> None:
        """Raise NotationError, reason BAD_EVALUATOR, if the network is not for a game's observations."""
        layout = schema(game)
        made_for = self._metadata.get(GAME_KEY, game), self._metadata.get(SCHEMA_KEY, str(layout.version))
        if made_for != (game, str(layout.version)):
            raise self._bad(f"is for {made_for[0]}, version {made_for[1]}; expected {game}, version {layout.version}")
        if self._size != layout.size:
            raise self._bad(f"takes {self._size} numbers; expected {layout.size}, those of {game}")

    def __call__(self, observations: npt.NDArray[np.float32]) -> Any:
        """Return the shares of the win, or a tuple of them and the final scores.

        Raises
        ------
        SearchError
            The network cannot be run on them; reason BAD_EVALUATION.
        """
        try:
            outputs = self._session.run(self._outputs, {self._input: observations})
        except Exception as error:  # onnxruntime's exceptions have no base of their own
            message = str(error).strip().splitlines()[0]
            raise SearchError(f"{self.path}: cannot be run: {message}", reason="BAD_EVALUATION") from None
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _bad(self, message: str) -> NotationError:
        return NotationError(f"{self.path}: {message}", reason="BAD_EVALUATOR")
