"""Evaluators of the search's leaves: networks as ONNX files (extra `onnx`). ``docs/evaluators.md`` has the contract."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mexica_ai.game.observations import action_schema, num_action_ids, schema
from mexica_ai.game.schema import SEATS
from mexica_ai.io.errors import NotationError, SearchError

# From observations [N, size] to shares of the win [N, seats or more], or a tuple of them and the final scores. With the
# attribute `policy` it also answers for the actions, and gets their features if that is "features".
Evaluator = Callable[..., Any]
# Of the file's metadata: the game, the version of its schema, and that of its schema of actions.
GAME_KEY, SCHEMA_KEY, ACTIONS_KEY = "mexica_ai_game", "mexica_ai_schema", "mexica_ai_actions"
OTHERS = ("score", "policy")  # outputs that are not of shares


class OnnxEvaluator:
    """A network in an ONNX file, run by onnxruntime.

    Parameters
    ----------
    path : path-like
        Its first input takes observations, float32 [N, size]. Its output ``value``, or the first one without one of
        the other names, gives shares of the win, [N, P] for games of P seats, or [N, 4]; an output ``score``, if there
        is one, final scores of the same shape. An output ``policy`` gives a logit for each action id of the game,
        [N, ids]; or for each legal action, [M], if there are inputs ``actions``, their features, float32 [M, size], and
        ``offsets``, int64 [N + 1], or ``rows``, int64 [M], the observation of each.
    threads : int
        Threads of onnxruntime.

    Attributes
    ----------
    policy : str or None
        Whether it gives logits by ``ids``, by ``features``, or none.

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
        self._metadata = self._session.get_modelmeta().custom_metadata_map
        self._read_inputs({part.name: part for part in self._session.get_inputs()})
        self._read_outputs({part.name: part.shape for part in self._session.get_outputs()})

    def _read_inputs(self, inputs: dict[str, Any]) -> None:
        self._input = next(iter(inputs), "")
        first = inputs.get(self._input)
        if first is None or len(first.shape) != 2 or first.type != "tensor(float)":
            raise self._bad("expected a first input of observations, float32 of shape [N, size of an observation]")
        self._size = first.shape[1]
        others = sorted(set(inputs) - {self._input})
        self._place = next((name for name in ("offsets", "rows") if name in others), None)
        if others and others != sorted(["actions", self._place or "offsets"]):
            raise self._bad(
                f"has the inputs {', '.join(map(repr, inputs))}; expected observations, and for a policy by features "
                "'actions' and 'offsets' or 'rows', too"
            )
        self._actions_size = None
        if others:
            actions, place = inputs["actions"], inputs[str(self._place)]
            if len(actions.shape) != 2 or actions.type != "tensor(float)":
                raise self._bad("expected the input 'actions', float32 of shape [M, size of an action]")
            if len(place.shape) != 1 or place.type != "tensor(int64)":
                raise self._bad(f"expected the input {self._place!r}, int64 of one axis")
            self._actions_size = actions.shape[1]
        for part in inputs.values():
            if isinstance(part.shape[0], int):
                what = "batches" if part is first else f"{part.name!r}"
                raise self._bad(f"takes {what} of {part.shape[0]} alone; expected a first axis of any length")

    def _read_outputs(self, shapes: dict[str, Any]) -> None:
        value = "value" if "value" in shapes else next((name for name in shapes if name not in OTHERS), None)
        if value is None:
            raise self._bad(f"has the outputs {', '.join(map(repr, shapes))}; expected one of shares of the win, too")
        self._outputs = [value, *(name for name in OTHERS if name in shapes)]
        for name in self._outputs:
            shape = shapes[name]
            if name != "policy" and (len(shape) != 2 or (isinstance(shape[1], int) and not 2 <= shape[1] <= SEATS)):
                raise self._bad(f"expected the output {name!r} of shape [N, P] for P seats, or [N, {SEATS}]")
        self.policy = None
        self._num_ids = None
        if "policy" not in self._outputs:
            if self._place is not None:
                raise self._bad("has inputs for a policy; expected the output 'policy' of shape [M]")
        elif self._place is not None:
            self.policy = "features"
            if len(shapes["policy"]) != 1:
                raise self._bad("expected the output 'policy' of shape [M], a logit for each action")
        else:
            self.policy = "ids"
            if len(shapes["policy"]) != 2:
                raise self._bad("expected the output 'policy' of shape [N, ids], a logit for each id of an action")
            self._num_ids = shapes["policy"][1]

    def __reduce__(self) -> tuple[Any, ...]:
        # The other process reads the file, and may have another working directory.
        return functools.partial(type(self), threads=self._threads), (os.path.abspath(self.path),)

    def check(self, game: str) -> None:
        """Raise NotationError, reason BAD_EVALUATOR, if the network is not for a game's observations."""
        layout = schema(game)
        made_for = self._metadata.get(GAME_KEY, game), self._metadata.get(SCHEMA_KEY, str(layout.version))
        if made_for != (game, str(layout.version)):
            raise self._bad(f"is for {made_for[0]}, version {made_for[1]}; expected {game}, version {layout.version}")
        self._check_size("", self._size, layout.size, game)
        if self.policy == "features":
            actions = action_schema(game)
            version = self._metadata.get(ACTIONS_KEY, str(actions.version))
            if version != str(actions.version):
                raise self._bad(f"is for actions of version {version}; expected {game}, version {actions.version}")
            self._check_size(" for an action", self._actions_size, actions.size, game)
        elif self.policy == "ids":
            num_ids = num_action_ids(game)
            if num_ids == 0 or (isinstance(self._num_ids, int) and self._num_ids != num_ids):
                raise self._bad(f"has logits of {self._num_ids} ids of actions; expected {num_ids}, those of {game}")

    def _check_size(self, what: str, size: Any, expected: int, game: str) -> None:
        if isinstance(size, int) and size != expected:
            raise self._bad(f"takes {size} numbers{what}; expected {expected}, those of {game}")

    def __call__(
        self,
        observations: npt.NDArray[np.float32],
        features: npt.NDArray[np.float32] | None = None,
        offsets: npt.NDArray[np.int64] | None = None,
    ) -> Any:
        """Return the shares of the win, or a tuple of them and the final scores; with logits as `policy` says.

        Raises
        ------
        SearchError
            The network cannot be run on them; reason BAD_EVALUATION.
        """
        inputs: dict[str, Any] = {self._input: observations}
        if self._place is not None and offsets is not None:
            inputs["actions"] = features
            counts = np.diff(offsets)
            inputs[self._place] = offsets if self._place == "offsets" else np.repeat(np.arange(len(counts)), counts)
        try:
            outputs = self._session.run(self._outputs, inputs)
        except Exception as error:  # onnxruntime's exceptions have no base of their own
            message = str(error).strip().splitlines()[0]
            raise SearchError(f"{self.path}: cannot be run: {message}", reason="BAD_EVALUATION") from None
        found = dict(zip(self._outputs, outputs, strict=True))
        score = found.get("score")
        if self.policy is not None:
            return outputs[0], score, found["policy"]
        return outputs[0] if score is None else (outputs[0], score)

    def _bad(self, message: str) -> NotationError:
        return NotationError(f"{self.path}: {message}", reason="BAD_EVALUATOR")
