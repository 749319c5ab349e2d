"""Engine kind `grpc`: a running server (`mexica-ai serve`) as an engine."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mexica_ai.analysis.limits import AUTO, MAX_THREADS, Limits
from mexica_ai.analysis.results import Result, sound
from mexica_ai.analysis.stopping import Stop
from mexica_ai.engines.base import Engine, find_fault, name_turn
from mexica_ai.game.position import Position
from mexica_ai.io.errors import SearchError
from mexica_ai.io.numbers import MAX_TIME_S
from mexica_ai.rpc.client import Client
from mexica_ai.rpc.tokens import read_token

if TYPE_CHECKING:
    from mexica_ai.engines.specs import EngineSpec

NO_DEADLINE_S = float(MAX_TIME_S)  # timeout of a call that has no deadline


class GrpcEngine(Engine):
    """The engine behind `HOST:PORT`; the connection opens with the first question.

    The key `weights` is no file: it names one of the server's sets of weights. The keys `tls_ca`, `tls_certificate`,
    `tls_key` and `authority` are those of a `Client`; `token_file` holds its token.

    The server caps the limits; `threads=auto` are as many as it allows. A search that is stopped returns no turn: it
    raises SearchError with reason CANCELLED. Without a time the call has no deadline: the server's own limit holds, and
    `stop` ends it.

    Raises
    ------
    SearchError
        The call failed (`reason` is the name of the gRPC status), or the server answered an illegal turn
        (ILLEGAL_TURN).
    """

    def __init__(self, spec: EngineSpec, defaults: Mapping[str, Any] | None = None) -> None:
        super().__init__(spec, defaults)
        assert spec.target is not None
        given = spec.options
        self._client = Client(
            spec.target,
            token=read_token(given["token_file"]) if "token_file" in given else None,
            root_certificates=given.get("tls_ca"),
            certificate=given.get("tls_certificate"),
            key=given.get("tls_key"),
            authority=given.get("authority"),
        )

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _best_turn(self, position: Position, limits: Limits, *, seed: int, candidates: int, stop: Stop) -> Result:
        if self.spec.options.get("threads") == AUTO:
            limits = dataclasses.replace(limits, threads=MAX_THREADS)
        result = self._client.run_search(
            position,
            limits,
            seed=seed,
            candidates=candidates,
            weights=self.spec.options.get("weights", self._defaults.get("weights")),
            stop=stop,
            timeout_s=NO_DEADLINE_S if limits.time_s is None else None,
            **self._first_actions,
        )
        fault = find_fault(position, result.turn)
        if fault is not None:
            raise SearchError(
                f"engine {self.name}: plays {name_turn(result.turn)}: {fault}",
                reason="ILLEGAL_TURN",
            ) from fault
        return sound(result, position.players)
