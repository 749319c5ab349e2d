"""The exceptions for calls that fail: those of the package's own functions, read from gRPC's errors and details."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from typing import Any

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from mexica_ai.io.errors import (
    GameOverError,
    IllegalActionError,
    MexicaAIError,
    NotationError,
    PositionError,
    SearchError,
    UnknownGameError,
    Violation,
)
from mexica_ai.v1 import engine_pb2

# Of google.rpc.ErrorInfo: the package of the protos, reversed as in a host name. Servers before it used another one.
DOMAIN = "v1.mexica-ai"
_DOMAINS = ("", DOMAIN, "mexica_ai")

_CODES = {code.value[0]: code for code in grpc.StatusCode}
_ERROR_CLASSES = {
    error_class.__name__: error_class
    for error_class in (
        GameOverError,
        IllegalActionError,
        NotationError,
        PositionError,
        SearchError,
        UnknownGameError,
    )
}


def of_call(error: Any, target: str) -> MexicaAIError:
    """Return the exception for a call that failed with a gRPC error."""
    code, message = error.code(), error.details() or ""
    info, faults = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    status = None
    with contextlib.suppress(ValueError):  # a status that contradicts the call's
        status = rpc_status.from_call(error)
    for detail in status.details if status else ():
        # Unpack does not change its argument if the detail is of another type.
        found = error_details_pb2.ErrorInfo()
        if detail.Unpack(found) and found.domain in _DOMAINS:  # not the reasons of a proxy
            info = found
        detail.Unpack(faults)
        detail.Unpack(retry)
    return _exception(
        target,
        code,
        message,
        info.reason,
        faults.field_violations,
        retry.retry_delay.ToTimedelta().total_seconds() if retry.HasField("retry_delay") else None,
        info.metadata.get("error", ""),
    )


def of_one(failure: engine_pb2.Failure, target: str) -> MexicaAIError:
    """Return the exception for one of many requests of a call, as if it had been a call of its own."""
    code = _CODES.get(failure.code, grpc.StatusCode.UNKNOWN)
    for fault in failure.violations:
        fault.field = fault.field.removeprefix("search.")
    message = failure.message.removeprefix("search.")
    retry_after_s = failure.retry_after_s or None
    return _exception(target, code, message, failure.reason, failure.violations, retry_after_s, failure.error)


def _exception(
    target: str,
    code: grpc.StatusCode,
    message: str,
    reason: str,
    faults: Iterable[Any],
    retry_after_s: float | None,
    error_class: str,
) -> MexicaAIError:
    if code is grpc.StatusCode.FAILED_PRECONDITION and error_class in ("", GameOverError.__name__):
        return GameOverError(message, path="$")
    if code is grpc.StatusCode.INVALID_ARGUMENT:
        violations = [violation(fault) for fault in faults]
        return _ERROR_CLASSES.get(error_class, NotationError)(
            _local_paths(message),
            reason=reason or None,
            path=violations[0].path if violations else "",
            violations=violations,
        )
    return SearchError(
        f"server {target}: {code.name}: {message}", reason=reason or code.name, retry_after_s=retry_after_s
    )


def violation(fault: Any) -> Violation:
    """Return the violation that a FieldViolation or a message Violation reports."""
    path = _local_paths(fault.field)
    return Violation(path, fault.reason, f"{path}: {fault.description}")


def _local_paths(text: str) -> str:
    """Rewrite paths in the request to paths in the position's JSON form, which the caller knows."""
    return re.sub(r"^position(\.[a-z_]+)?(?=[.:\[]|$)", "$", text)
